//! What the server reads and writes for itself, through the registry, as a user of its own.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use orlop_machinery::apply::OnConflict;
use orlop_machinery::meta::Meta;
use orlop_machinery::status::Status;
use orlop_machinery::{Value, decode};
use orlop_storage::{KeyRange, RangeRequest};

use crate::call::Warnings;
use crate::definition::Definition;
use crate::object::Object;
use crate::objects::{Objects, Place};
use crate::registry::{self, Change, Manager, Stored, Write, store_error};
use crate::server::Inner;
use crate::user::User;

/// See the module's documentation.
pub(crate) struct OwnObjects {
    /// The server owns this, not the other way round.
    server: Weak<Inner>,
    user: User,
}

impl OwnObjects {
    /// The objects of a server.
    pub(crate) fn of(server: &Arc<Inner>) -> Arc<dyn Objects> {
        Arc::new(OwnObjects { server: Arc::downgrade(server), user: User::apiserver() })
    }

    fn server(&self) -> Result<Arc<Inner>, Status> {
        self.server.upgrade().ok_or_else(|| Status::service_unavailable("the server has ended"))
    }

    fn write<'a>(
        &'a self,
        definition: &'a Definition,
        namespace: &'a str,
        warnings: &'a Warnings,
    ) -> Write<'a> {
        let rules = definition.rules();
        let user = &self.user;
        Write { definition, rules, subresource: "", namespace, user, is_dry_run: false, warnings }
    }
}

#[async_trait]
impl Objects for OwnObjects {
    async fn get(&self, place: Place<'_>) -> Result<Option<Value>, Status> {
        let server = self.server()?;
        let definition = find(&server, place.api_version, place.kind)?;
        let stored = registry::read(&server, &definition, place.namespace, place.name).await?;
        Ok(stored.map(|stored| stored.object))
    }

    async fn list(&self, place: Place<'_>) -> Result<Vec<Value>, Status> {
        let server = self.server()?;
        let definition = find(&server, place.api_version, place.kind)?;
        let range = KeyRange::prefix(definition.prefix(place.namespace));
        let listed = server.store.range(RangeRequest::new(range)).await;
        let listed = listed.map_err(|error| store_error(&definition, "list", &error))?;
        let read = Stored::read_all(&definition, listed.records).await?;
        Ok(read.into_iter().map(|stored| stored.object).collect())
    }

    async fn create(&self, object: Value, field_manager: &str) -> Result<Value, Status> {
        let server = self.server()?;
        let (definition, object) = normalize(&server, object)?;
        let namespace = Meta::of(&object).namespace().to_owned();
        let warnings = Warnings::default();
        let write = self.write(&definition, &namespace, &warnings);
        let object = server.manager(&write, field_manager).update(&Value::Null, object);
        let created = registry::create(&server, &write, object).await?;
        created.value(&definition, created.revision())
    }

    async fn update(&self, object: Value, field_manager: &str) -> Result<Value, Status> {
        let server = self.server()?;
        let (definition, object) = normalize(&server, object)?;
        let meta = Meta::of(&object);
        let (namespace, name) = (meta.namespace().to_owned(), meta.name().to_owned());
        let warnings = Warnings::default();
        let write = self.write(&definition, &namespace, &warnings);
        let manager = server.manager(&write, field_manager);
        let mut change = Replace { object, manager };
        let updated = registry::update(&server, &write, &name, &mut change).await?;
        value(&definition, &updated.object)
    }

    async fn apply_status(&self, object: Value, field_manager: &str) -> Result<Value, Status> {
        let server = self.server()?;
        let (api_version, kind) = (object.at("apiVersion").str(), object.at("kind").str());
        let definition = find(&server, api_version, kind)?;
        let status = definition.subresource("status").and_then(|status| status.rules.as_deref());
        let rules = status.ok_or_else(|| Status::internal_error("a kind without status"))?;
        let meta = Meta::of(&object);
        let (namespace, name) = (meta.namespace().to_owned(), meta.name().to_owned());
        let warnings = Warnings::default();
        let own = self.write(&definition, &namespace, &warnings);
        let write = Write { rules, subresource: "status", ..own };
        let manager = server.manager(&write, field_manager);
        let mut change = Apply { object, manager };
        let updated = registry::update(&server, &write, &name, &mut change).await?;
        value(&definition, &updated.object)
    }

    async fn delete(&self, place: Place<'_>) -> Result<(), Status> {
        let server = self.server()?;
        let definition = find(&server, place.api_version, place.kind)?;
        let warnings = Warnings::default();
        let write = self.write(&definition, place.namespace, &warnings);
        registry::delete(&server, &write, place.name, &Value::Null).await.map(drop)
    }
}

fn find(server: &Inner, api_version: &str, kind: &str) -> Result<Arc<Definition>, Status> {
    let found = server.catalog().find_kind(api_version, kind).cloned();
    found.ok_or_else(|| Status::internal_error(format!("{api_version} {kind} is not served")))
}

/// The object in normal form and with defaults, and what it is.
fn normalize(server: &Inner, object: Value) -> Result<(Arc<Definition>, Value), Status> {
    let definition = find(server, object.at("apiVersion").str(), object.at("kind").str())?;
    let decoded = decode::decode(&definition.schema, definition.id, object);
    let mut object = decoded.map_err(Status::internal_error)?.object;
    definition.set_defaults(&mut object);
    Ok((definition, object))
}

fn value(definition: &Definition, object: &Object) -> Result<Value, Status> {
    object.value(definition, object.revision())
}

struct Replace<'a> {
    object: Value,
    manager: Manager<'a>,
}

impl Change for Replace<'_> {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        Ok(self.manager.update(live, self.object.clone()))
    }
}

struct Apply<'a> {
    object: Value,
    manager: Manager<'a>,
}

impl Change for Apply<'_> {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        self.manager.apply(live, &self.object, OnConflict::Force)
    }
}
