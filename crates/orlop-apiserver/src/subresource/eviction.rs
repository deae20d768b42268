//! `eviction`: asks a pod to leave its node, if the budgets of its namespace allow it.
//!
//! After `EvictionREST` in `pkg/registry/core/pod/storage/eviction.go`. What is decided about a pod
//! stands in [`orlop_kinds::eviction`]; here it is done, and decided again when the pod or its
//! budget changed meanwhile. One thing is kinder than upstream: an unhealthy pod that changed
//! while it was looked at is looked at again, instead of asking the client to try again.

use std::sync::Arc;
use std::time::Duration;

use http::Response;
use orlop_kinds::eviction::{Verdict, decide, delete_options};
use orlop_machinery::field::Errors;
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::meta::{self, Meta, create as rules};
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::text::quote;
use orlop_machinery::time::Time;
use orlop_machinery::{Str, Value};

use super::payload::EVICTION;
use crate::body::Body;
use crate::call::Call;
use crate::decode_body::{self, Target};
use crate::definition::Definition;
use crate::objects::FIELD_MANAGER;
use crate::options::{WriteOptions, WriteVerb, validate_delete_options};
use crate::registry::{self, Change, Manager, Stored, Write};
use crate::server::Inner;
use crate::user::User;

/// How often an eviction is decided anew because somebody else was faster.
const ATTEMPTS_MAX: u32 = 20;
/// How much longer to wait before each further attempt.
const PAUSE: Duration = Duration::from_millis(5);

/// What clients of Kubernetes before 1.22 send, and upstream takes to this day.
const OLDER_VERSIONS: &[&str] = &["policy/v1beta1"];

/// POST of `pods/NAME/eviction`.
pub(super) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let pods = call.definition.clone();
    let query = WriteOptions::parse(call.query(), WriteVerb::Create)?;
    let target = Target { older_versions: OLDER_VERSIONS, ..Target::of(&EVICTION) };
    let mut eviction = decode_body::read_as(call, &target, query.field_validation).await?;
    rules::wipe_system_fields(&mut eviction);
    rules::match_namespace(&mut eviction, &call.info.namespace, EVICTION.resource.scope)?;
    let name = call.info.name.as_str();
    check(&pods, name, &eviction)?;
    let asked = if query.dry_run { vec![Value::from("All")] } else { Vec::new() };
    let asked = Value::from([("dryRun", Value::List(asked))]);
    let mut options = delete_options(&eviction, &asked)?;
    let is_dry_run = !options.at("dryRun").is_empty();
    let write = call.write(&pods, pods.rules(), is_dry_run);
    registry::admit_create(server, &write, name, &mut eviction).await?;
    validate_delete_options(&mut options)?;
    let job = Job { server, write, name, options };
    job.run().await?;
    Ok(super::created(call))
}

/// What an eviction may say.
fn check(pods: &Definition, name: &str, eviction: &Value) -> Result<(), Status> {
    if Meta::of(eviction).name() != name {
        let message = "name in URL does not match name in Eviction object";
        return Err(Status::bad_request(message));
    }
    let mut errors = Errors::new();
    if let Some(rules) = pods.subresource("eviction").and_then(|known| known.rules.as_deref()) {
        rules.validate(&Context::default(), &EVICTION.node(eviction), &mut errors);
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(&EVICTION.group_kind(), name, &errors))
}

/// An eviction that is being done.
struct Job<'a> {
    server: &'a Inner,
    write: Write<'a>,
    name: &'a str,
    options: Value,
}

impl Job<'_> {
    async fn run(&self) -> Result<(), Status> {
        let mut failed = None;
        for attempt in 0..ATTEMPTS_MAX {
            tokio::time::sleep(PAUSE * attempt).await;
            let (definition, namespace) = (self.write.definition, self.write.namespace);
            let pod = registry::read(self.server, definition, namespace, self.name).await?;
            let pod = pod.ok_or_else(|| self.write.not_found(self.name))?;
            match self.try_once(&pod.object).await? {
                None => return Ok(()),
                status => failed = status,
            }
        }
        Err(failed.unwrap_or_else(|| Status::timeout("too many conflicts", 10)))
    }

    /// Evicts the pod as it was read. When somebody else was faster: what to answer if it is not
    /// tried again.
    async fn try_once(&self, pod: &Value) -> Result<Option<Status>, Status> {
        let budgets = self.budgets().await?;
        match decide(pod, &budgets, &self.now()) {
            Verdict::Refuse(status) => Err(status),
            Verdict::Delete => self.delete(None).await.map(|()| None),
            Verdict::DeleteUnchanged => {
                let found = Meta::of(pod);
                let uid = self.options.path(&["preconditions", "uid"]).str();
                let is_ours = self.version().is_empty() && (uid.is_empty() || uid == found.uid());
                match self.delete(Some(found.resource_version())).await {
                    Err(status) if is_ours && status.is(&Reason::Conflict) => Ok(Some(status)),
                    outcome => outcome.map(|()| None),
                }
            }
            Verdict::Spend(budget) => {
                let name = quote(Meta::of(&budget).name());
                match self.spend(budget).await {
                    Ok(()) => self.delete(None).await.map(|()| None),
                    Err(status) if status.is(&Reason::Conflict) => {
                        let message =
                            format!("couldn't update PodDisruptionBudget {name} due to conflicts");
                        Ok(Some(Status::timeout(&message, 10)))
                    }
                    Err(status) => Err(status),
                }
            }
        }
    }

    /// The version of the pod that the client has seen, if it says.
    fn version(&self) -> &str {
        self.options.path(&["preconditions", "resourceVersion"]).str()
    }

    fn now(&self) -> String {
        Time::from_unix(self.server.now_seconds()).to_string()
    }

    /// All budgets of the namespace.
    async fn budgets(&self) -> Result<Vec<Value>, Status> {
        let definition = self.budget_definition();
        let found = registry::read_all(self.server, definition, self.write.namespace).await?;
        Ok(found.into_iter().map(|stored: Stored| stored.object).collect())
    }

    fn budget_definition(&self) -> &Definition {
        self.server.built_in("policy", "v1", "poddisruptionbudgets")
    }

    /// Writes a budget from which the eviction was taken.
    async fn spend(&self, budget: Value) -> Result<(), Status> {
        if self.write.is_dry_run {
            return Ok(());
        }
        let definition = self.budget_definition();
        let user = User::apiserver();
        let write = Write {
            definition,
            rules: status_rules(definition),
            subresource: "status",
            user: &user,
            ..self.write
        };
        let name = Meta::of(&budget).name().to_owned();
        let manager = self.server.manager(&write, FIELD_MANAGER);
        let mut change = Spend { budget, manager };
        registry::update(self.server, &write, &name, &mut change).await?;
        Ok(())
    }

    /// Deletes the pod, which says before why it ends. `version` is the one that it must have.
    async fn delete(&self, version: Option<&str>) -> Result<(), Status> {
        let mut options = self.options.clone();
        if let Some(version) = version.filter(|_| self.version().is_empty()) {
            options.entry("preconditions").set("resourceVersion", version);
        }
        if !self.write.is_dry_run {
            let definition = self.write.definition;
            let rules = status_rules(definition);
            let write = Write { rules, subresource: "status", ..self.write };
            let preconditions = options.at("preconditions").clone();
            let mut change = SayWhy { preconditions, now: self.now() };
            let updated = registry::update(self.server, &write, self.name, &mut change).await?;
            if !options.path(&["preconditions", "resourceVersion"]).is_empty() {
                let version = updated.object.revision().to_string();
                options.entry("preconditions").set("resourceVersion", version);
            }
        }
        registry::delete(self.server, &self.write, self.name, &options).await?;
        Ok(())
    }
}

/// The rules of the endpoint `status`.
fn status_rules(definition: &Definition) -> &dyn Rules {
    let status = definition.subresource("status").and_then(|known| known.rules.as_deref());
    status.expect("pods and budgets have a status")
}

/// Replaces a budget that is still as it was.
struct Spend<'a> {
    budget: Value,
    manager: Manager<'a>,
}

impl Change for Spend<'_> {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        Ok(self.manager.update(live, self.budget.clone()))
    }

    fn expected_uid(&self) -> Str {
        Str::new(Meta::of(&self.budget).uid())
    }
}

/// Says in the pod that it is evicted.
struct SayWhy {
    preconditions: Value,
    now: String,
}

impl Change for SayWhy {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        self.check(live)?;
        let mut pod = live.clone();
        let condition = Value::from([
            ("type", "DisruptionTarget"),
            ("status", "True"),
            ("reason", "EvictionByEvictionAPI"),
            ("message", "Eviction API: evicting"),
        ]);
        meta::set_condition(pod.entry("status").entry("conditions"), condition, &self.now);
        Ok(pod)
    }
}

impl SayWhy {
    fn check(&self, live: &Value) -> Result<(), Status> {
        let found = Meta::of(live);
        for (field, name, found, might) in [
            ("uid", "UID", found.uid(), "deleted and then recreated"),
            ("resourceVersion", "ResourceVersion", found.resource_version(), "modified"),
        ] {
            let asked = self.preconditions.at(field).str();
            if !asked.is_empty() && asked != found {
                let why = format!(
                    "the {name} in the precondition ({asked}) does not match the {name} in record \
                     ({found}). The object might have been {might}"
                );
                let resource = GroupResource::new("", "Pod");
                return Err(Status::conflict(&resource, Meta::of(live).name(), why));
            }
        }
        Ok(())
    }
}
