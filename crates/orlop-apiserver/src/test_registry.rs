//! A registry for tests: objects of the built-in catalog in a store in memory, with hooks.
//!
//! Defaults, hooks, preparation and validation as on the way of a request; no admission and no
//! managed fields.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::Context;
use orlop_machinery::meta::Meta;
use orlop_machinery::meta::create::{SystemFields, fill_system_fields};
use orlop_machinery::status::Status;
use orlop_machinery::{Value, decode, yaml};
use orlop_storage::{
    Action, At, Clock, Expect, KeyRange, Memory, Outcome, RangeRequest, Revision, Store, Txn, Write,
};

use crate::catalog::Catalog;
use crate::definition::Definition;
use crate::objects::{Objects, Place};
use crate::random::random_uid;
use crate::store_failure::store_failure;
use crate::write_hook::{HookContext, WriteHooks};

/// A clock on which a billionth of a second passes whenever somebody looks at it.
#[derive(Debug, Default)]
pub(crate) struct SlowClock(AtomicU64);

impl Clock for SlowClock {
    fn now(&self) -> Duration {
        NOW + Duration::from_nanos(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// How often a write is tried whose hook lost against others.
const ATTEMPTS_MAX: usize = 32;

/// The time of every test.
pub(crate) const NOW: Duration = Duration::from_secs(1_800_000_000);

/// See the module's documentation.
pub(crate) struct TestRegistry {
    pub catalog: Catalog,
    pub store: Memory,
    pub hooks: WriteHooks,
}

impl TestRegistry {
    pub(crate) fn new() -> TestRegistry {
        let (catalog, store) = (Catalog::built_in(), Memory::new());
        TestRegistry { catalog, store, hooks: WriteHooks::default() }
    }

    /// Reads an object as a client would write it.
    pub(crate) fn read(&self, text: &str) -> Value {
        let value = yaml::parse(text.as_bytes()).expect("a test writes YAML");
        let definition = self.definition(&value);
        decode::decode(&definition.schema, definition.id, value).expect("it fits").object
    }

    /// Creates an object, with its hook.
    pub(crate) async fn write_new(
        &self,
        object: &Value,
        context: HookContext,
    ) -> Result<Value, Status> {
        let definition = self.definition(object);
        let mut object = object.clone();
        definition.set_defaults(&mut object);
        let uid = random_uid()?.to_string();
        let now = crate::time::to_time(NOW).to_string();
        fill_system_fields(&mut object, SystemFields { uid: &uid, now: &now, generated_name: "" });
        for _ in 0..ATTEMPTS_MAX {
            let mut object = object.clone();
            let extra = match self.hooks.find(&definition.group_resource()) {
                Some(hook) => hook.before_create(context, &mut object).await?,
                None => Vec::new(),
            };
            definition.rules().prepare_create(&Context::default(), &mut object);
            let mut errors = Errors::new();
            let node = definition.node(&object);
            definition.rules().validate(&Context::default(), &node, &mut errors);
            check(definition, &object, &errors)?;
            if context.is_dry_run {
                assert_eq!(extra, [], "a dry run writes nothing");
                return Ok(object);
            }
            if self.commit(definition, &object, Expect::Absent, extra).await? {
                return Ok(object);
            }
            if self.get(place_of(&object)).await?.is_some() {
                let name = Meta::of(&object).name();
                return Err(Status::already_exists(&definition.group_resource(), name));
            }
        }
        Err(Status::internal_error("too many conflicts"))
    }

    /// Replaces an object, with its hook.
    pub(crate) async fn write_again(
        &self,
        object: &Value,
        context: HookContext,
    ) -> Result<Value, Status> {
        let definition = self.definition(object);
        for _ in 0..ATTEMPTS_MAX {
            let place = place_of(object);
            let Some(old) = self.get(place).await? else {
                return Err(Status::not_found(&definition.group_resource(), place.name));
            };
            let mut new = object.clone();
            definition.set_defaults(&mut new);
            let version = Meta::of(&old).resource_version();
            let asked = Meta::of(object).resource_version();
            if !asked.is_empty() && asked != version {
                return Err(Status::conflict(&definition.group_resource(), place.name, "changed"));
            }
            for field in ["uid", "creationTimestamp", "generation"] {
                new.entry("metadata").set(field, old.path(&["metadata", field]).clone());
            }
            let extra = match self.hooks.find(&definition.group_resource()) {
                Some(hook) => hook.before_update(context, &mut new, &old).await?,
                None => Vec::new(),
            };
            definition.rules().prepare_update(&Context::default(), &mut new, &old);
            let mut errors = Errors::new();
            let (node, old_node) = (definition.node(&new), definition.node(&old));
            definition.rules().validate_update(&Context::default(), &node, &old_node, &mut errors);
            check(definition, &new, &errors)?;
            if context.is_dry_run {
                assert_eq!(extra, [], "a dry run writes nothing");
                return Ok(new);
            }
            let revision = Revision(version.parse().expect("it was read"));
            if self.commit(definition, &new, Expect::Revision(revision), extra).await? {
                return Ok(new);
            }
        }
        Err(Status::internal_error("too many conflicts"))
    }

    /// The names of all objects of a kind, in order.
    pub(crate) async fn names(&self, api_version: &str, kind: &str) -> Vec<String> {
        let place = Place { api_version, kind, namespace: "", name: "" };
        let objects = self.list(place).await.expect("they can be read");
        objects.iter().map(|object| Meta::of(object).name().to_owned()).collect()
    }

    fn definition(&self, object: &Value) -> &Arc<Definition> {
        let (version, kind) = (object.at("apiVersion").str(), object.at("kind").str());
        self.catalog.find_kind(version, kind).expect("a test writes built-in kinds")
    }

    async fn commit(
        &self,
        definition: &Definition,
        object: &Value,
        expect: Expect,
        extra: Vec<Write>,
    ) -> Result<bool, Status> {
        let meta = Meta::of(object);
        let own = Write {
            key: definition.key(meta.namespace(), meta.name()).into(),
            expect,
            action: Action::Put {
                value: definition.encode(&mut object.clone()).into(),
                lease: None,
            },
        };
        let writes = std::iter::once(own).chain(extra).collect();
        // Lets other tasks in between the reads and the write.
        tokio::task::yield_now().await;
        let outcome = self.store.commit(Txn { writes }).await.map_err(store_failure)?;
        Ok(matches!(outcome, Outcome::Committed { .. }))
    }
}

fn check(definition: &Definition, object: &Value, errors: &Errors) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(&definition.group_kind(), Meta::of(object).name(), errors))
}

fn place_of(object: &Value) -> Place<'_> {
    let meta = Meta::of(object);
    Place {
        api_version: object.at("apiVersion").str(),
        kind: object.at("kind").str(),
        namespace: meta.namespace(),
        name: meta.name(),
    }
}

#[async_trait]
impl Objects for TestRegistry {
    async fn get(&self, place: Place<'_>) -> Result<Option<Value>, Status> {
        let definition = self.catalog.find_kind(place.api_version, place.kind).expect("built in");
        let key = definition.key(place.namespace, place.name);
        let found = self.store.get(key.as_bytes(), At::Latest).await.map_err(store_failure)?;
        found.record.map(|it| definition.read(it.value(), it.modified().0)).transpose()
    }

    async fn list(&self, place: Place<'_>) -> Result<Vec<Value>, Status> {
        let definition = self.catalog.find_kind(place.api_version, place.kind).expect("built in");
        let all = RangeRequest::new(KeyRange::prefix(definition.prefix(place.namespace)));
        let found = self.store.range(all).await.map_err(store_failure)?;
        let objects = found.records.iter();
        objects.map(|it| definition.read(it.value(), it.modified().0)).collect()
    }

    async fn create(&self, object: Value, _field_manager: &str) -> Result<Value, Status> {
        self.write_new(&object, HookContext::default()).await
    }

    async fn update(&self, object: Value, _field_manager: &str) -> Result<Value, Status> {
        self.write_again(&object, HookContext::default()).await
    }

    async fn apply_status(&self, object: Value, _field_manager: &str) -> Result<Value, Status> {
        let definition = self.definition(&object);
        let mut new = self.get(place_of(&object)).await?.expect("it exists");
        let revision = Revision(Meta::of(&new).resource_version().parse().expect("it was read"));
        new.set("status", object.at("status").clone());
        let is_written =
            self.commit(definition, &new, Expect::Revision(revision), Vec::new()).await?;
        assert!(is_written, "nobody else writes in this test");
        Ok(new)
    }

    async fn delete(&self, place: Place<'_>) -> Result<(), Status> {
        let definition = self.catalog.find_kind(place.api_version, place.kind).expect("built in");
        for _ in 0..ATTEMPTS_MAX {
            let Some(object) = self.get(place).await? else {
                return Err(Status::not_found(&definition.group_resource(), place.name));
            };
            let extra = match self.hooks.find(&definition.group_resource()) {
                Some(hook) => hook.before_delete(HookContext::default(), &object).await?,
                None => Vec::new(),
            };
            let revision = Meta::of(&object).resource_version().parse().expect("it was read");
            let own = Write {
                key: definition.key(place.namespace, place.name).into(),
                expect: Expect::Revision(Revision(revision)),
                action: Action::Delete,
            };
            let writes = std::iter::once(own).chain(extra).collect();
            let outcome = self.store.commit(Txn { writes }).await.map_err(store_failure)?;
            if matches!(outcome, Outcome::Committed { .. }) {
                return Ok(());
            }
        }
        Err(Status::internal_error("too many conflicts"))
    }
}
