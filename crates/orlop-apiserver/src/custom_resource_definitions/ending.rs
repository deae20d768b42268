//! The end of one definition: its objects go, then it does.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go`. Of
//! several servers the one that says first that deletion is in progress does it; the others look
//! again after a while, in case it has ended itself.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use orlop_kinds::custom_resource_definition_conditions::Condition;
use orlop_machinery::meta::Meta;
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::{Str, Value};
use orlop_storage::{KeyRange, RangeRequest, Select};
use tokio::sync::Semaphore;

use super::backoff::Backoff;
use super::instances;
use super::served::Serve;
use super::status_write::{StatusChange, write_status};
use super::terminating::{self, Plan};
use crate::definition::{Definition, REGISTRY};
use crate::registry::{self, store_error};
use crate::server::Inner;

/// How long another server may take before its work is taken over.
const TAKE_OVER_AFTER: Duration = Duration::from_secs(10);
/// How many definitions have their objects deleted side by side.
const DELETIONS_MAX: usize = 8;

/// What ending definitions needs.
pub(super) struct Endings {
    server: Arc<Inner>,
    serve: Arc<dyn Serve>,
    /// What definitions are.
    definition: Arc<Definition>,
    /// Where built-in resources are stored.
    built_in: HashSet<String>,
    deletions: Semaphore,
}

/// How one attempt ended.
enum Round {
    /// There is nothing more to do.
    Done,
    /// Another server is at it.
    Elsewhere,
}

impl Endings {
    /// Nothing ends yet.
    pub(super) fn new(
        server: &Arc<Inner>,
        serve: &Arc<dyn Serve>,
        definition: &Arc<Definition>,
    ) -> Endings {
        let entries = orlop_kinds::catalog().iter();
        Endings {
            server: server.clone(),
            serve: serve.clone(),
            definition: definition.clone(),
            built_in: entries.map(|entry| format!("{REGISTRY}{}/", entry.storage_path())).collect(),
            deletions: Semaphore::new(DELETIONS_MAX),
        }
    }

    /// Ends a definition. `is_inherited` says that its end began before this server did, so that
    /// nobody may be at it.
    pub(super) async fn end(&self, name: &str, uid: &Str, is_inherited: bool) {
        let mut backoff = Backoff::default();
        let mut takes_over = is_inherited;
        loop {
            match self.round(name, uid, takes_over).await {
                Ok(Round::Done) => return,
                Ok(Round::Elsewhere) => {
                    tokio::time::sleep(TAKE_OVER_AFTER).await;
                    takes_over = true;
                }
                Err(status) => {
                    tracing::warn!(name, why = %status.message, "a definition cannot end yet");
                    tokio::time::sleep(backoff.next()).await;
                    takes_over = true;
                }
            }
        }
    }

    async fn round(&self, name: &str, uid: &Str, takes_over: bool) -> Result<Round, Status> {
        let found = registry::read(&self.server, &self.definition, "", name).await?;
        let Some(object) = found.map(|found| found.object) else { return Ok(Round::Done) };
        if Meta::of(&object).uid() != uid {
            return Ok(Round::Done);
        }
        let progress = |condition| StatusChange::Progress { uid: uid.clone(), condition };
        let condition = match terminating::plan(&object, self.is_overlapping(&object)) {
            Plan::Nothing => return Ok(Round::Done),
            Plan::Finish(condition) => condition,
            Plan::DeleteInstances if self.has_instances(&object).await? => {
                let is_ours = self.write(name, progress(terminating::in_progress())).await?;
                if !is_ours && !takes_over {
                    return Ok(Round::Elsewhere);
                }
                if let Err(condition) = self.delete_instances(name, &object).await {
                    let why = Status::internal_error(&condition.message);
                    self.write(name, progress(condition)).await?;
                    return Err(why);
                }
                terminating::completed()
            }
            Plan::DeleteInstances => terminating::completed(),
        };
        self.write(name, StatusChange::Finish { uid: uid.clone(), condition }).await?;
        Ok(Round::Done)
    }

    /// Whether the objects of a definition would be where those of a built-in resource are.
    fn is_overlapping(&self, object: &Value) -> bool {
        self.built_in.contains(&prefix(object))
    }

    async fn has_instances(&self, object: &Value) -> Result<bool, Status> {
        let range = KeyRange::prefix(prefix(object));
        let request = RangeRequest::new(range).select(Select::Count);
        let counted = self.server.store.range(request).await;
        let counted = counted.map_err(|error| store_error(&self.definition, "list", &error))?;
        Ok(counted.count > 0)
    }

    async fn delete_instances(&self, name: &str, object: &Value) -> Result<(), Condition> {
        let stored = self.serve.stored(object).map_err(|status| {
            let why = status.message;
            let message = format!("unable to find a custom resource client for {name}: {why}");
            terminating::not_listed(&message)
        })?;
        {
            let _permit = self.deletions.acquire().await;
            instances::delete_all(&self.server, &stored).await?;
        }
        instances::wait_until_gone(&self.server.store, &stored).await
    }

    /// Writes to the status of a definition; it may be gone or another one by now, in which case
    /// there is nothing to write. Returns whether it was changed.
    async fn write(&self, name: &str, change: StatusChange) -> Result<bool, Status> {
        match write_status(&self.server, &self.definition, name, change).await {
            Err(status) if status.is(&Reason::NotFound) || status.is(&Reason::Conflict) => {
                Ok(false)
            }
            written => written,
        }
    }
}

/// What the keys of the objects of a definition begin with.
fn prefix(object: &Value) -> String {
    let spec = object.at("spec");
    let (group, plural) = (spec.at("group").str(), spec.path(&["names", "plural"]).str());
    format!("{REGISTRY}{group}/{plural}/")
}
