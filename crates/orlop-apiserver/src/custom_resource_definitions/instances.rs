//! Deleting all objects of a definition, and waiting until they are gone.
//!
//! After `deleteInstances` of
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go`. They are
//! deleted through the registry, one by one, so that their finalizers are honoured. Upstream asks
//! every five seconds whether they are gone; here the store tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use orlop_kinds::custom_resource_definition_conditions::Condition;
use orlop_machinery::Value;
use orlop_machinery::status::{Reason, Status, aggregate};
use orlop_storage::{Error, KeyRange, RangeRequest, Revision, Select, Store, WatchRequest};
use tokio::task::JoinSet;

use super::terminating::{not_deleted, not_gone, not_listed};
use crate::call::Warnings;
use crate::definition::Definition;
use crate::registry::{self, Write};
use crate::server::Inner;
use crate::user::User;

/// How many objects are found at once.
const PAGE_MAX: usize = 500;
/// How many objects are deleted side by side.
const WORKERS: usize = 16;
/// How many failures are told.
const FAILURES_MAX: usize = 10;
/// How long objects may take to go before it is said that they are still there.
const PATIENCE: Duration = Duration::from_secs(60);

/// Deletes all objects of a resource. They may still wait for their finalizers afterwards.
///
/// # Errors
///
/// What is to be said about the definition if some could not be deleted.
pub(super) async fn delete_all(
    server: &Arc<Inner>,
    definition: &Arc<Definition>,
) -> Result<(), Condition> {
    let mut range = KeyRange::prefix(definition.storage.prefix.clone());
    let mut failures = Vec::new();
    loop {
        let request = RangeRequest::new(range.clone()).select(Select::Keys).limit(PAGE_MAX);
        let page = server.store.range(request).await;
        let page = page.map_err(|error| not_listed(&error.to_string()))?;
        let Some(last) = page.records.last() else { break };
        range = range.after(last.key());
        let keys = page.records.iter().map(|record| record.key());
        let names = keys.map(|key| names(definition, key)).collect();
        failures.extend(delete_page(server, definition, names).await);
        failures.truncate(FAILURES_MAX);
        if !page.more() {
            break;
        }
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(not_deleted(&aggregate(failures))),
    }
}

/// Waits until a resource has no objects.
///
/// # Errors
///
/// What is to be said about the definition if it still has some after a minute.
pub(super) async fn wait_until_gone(
    store: &Arc<dyn Store>,
    definition: &Definition,
) -> Result<(), Condition> {
    let range = KeyRange::prefix(definition.storage.prefix.clone());
    match tokio::time::timeout(PATIENCE, wait_until_empty(store, &range)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(not_gone(&error.to_string())),
        // In the words of Go.
        Err(_) => Err(not_gone("context deadline exceeded")),
    }
}

async fn wait_until_empty(store: &Arc<dyn Store>, range: &KeyRange) -> Result<(), Error> {
    loop {
        let (left, revision) = count(store, range).await?;
        if left == 0 {
            return Ok(());
        }
        let watch = store.watch(WatchRequest::new(range.clone()).after(revision)).await;
        let mut watch = match watch {
            Ok(watch) => watch,
            // It was a moment too late.
            Err(Error::Compacted { .. }) => continue,
            Err(error) => return Err(error),
        };
        while watch.next().await.is_ok() {
            if count(store, range).await?.0 == 0 {
                return Ok(());
            }
        }
    }
}

async fn count(store: &Arc<dyn Store>, range: &KeyRange) -> Result<(u64, Revision), Error> {
    let request = RangeRequest::new(range.clone()).select(Select::Count);
    let counted = store.range(request).await?;
    Ok((counted.count, counted.revision))
}

/// Namespace and name of an object; the namespace is empty for objects of the cluster.
fn names(definition: &Definition, key: &[u8]) -> (String, String) {
    let rest = key.get(definition.storage.prefix.len()..).unwrap_or_default();
    let rest = String::from_utf8_lossy(rest);
    let (namespace, name) = rest.split_once('/').unwrap_or(("", &rest));
    (namespace.to_owned(), name.to_owned())
}

/// Deletes some objects. Returns what went wrong.
async fn delete_page(
    server: &Arc<Inner>,
    definition: &Arc<Definition>,
    names: Vec<(String, String)>,
) -> Vec<String> {
    let workers = WORKERS.min(names.len());
    let work = Arc::new((names, AtomicUsize::new(0)));
    let mut running = JoinSet::new();
    for _ in 0..workers {
        let (server, definition, work) = (server.clone(), definition.clone(), work.clone());
        running.spawn(async move {
            let mut failures = Vec::new();
            let (names, next) = &*work;
            while let Some((namespace, name)) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                match delete(&server, &definition, namespace, name).await {
                    Err(status) if failures.len() < FAILURES_MAX => failures.push(status.message),
                    _ => {}
                }
            }
            failures
        });
    }
    running.join_all().await.into_iter().flatten().collect()
}

async fn delete(
    server: &Inner,
    definition: &Definition,
    namespace: &str,
    name: &str,
) -> Result<(), Status> {
    let (user, warnings) = (User::apiserver(), Warnings::default());
    let write = Write {
        definition,
        rules: definition.rules(),
        subresource: "",
        namespace,
        user: &user,
        is_dry_run: false,
        warnings: &warnings,
    };
    match registry::delete(server, &write, name, &Value::Null).await {
        Err(status) if !status.is(&Reason::NotFound) => Err(status),
        _ => Ok(()),
    }
}
