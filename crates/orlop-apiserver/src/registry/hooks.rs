//! Calls the hook of a resource, where it has one.

use orlop_machinery::Value;
use orlop_machinery::status::Status;
use orlop_storage::Write as StoreWrite;

use super::Write;
use crate::server::Inner;
use crate::write_hook::{HookContext, WriteHook};

/// What else is written when an object is made.
pub(super) async fn before_create(
    server: &Inner,
    write: &Write<'_>,
    new: &mut Value,
) -> Result<Vec<StoreWrite>, Status> {
    match find(server, write) {
        Some(hook) => hook.before_create(context(write), new).await,
        None => Ok(Vec::new()),
    }
}

/// What else is written when an object is changed, at the resource itself.
pub(super) async fn before_update(
    server: &Inner,
    write: &Write<'_>,
    new: &mut Value,
    old: &Value,
) -> Result<Vec<StoreWrite>, Status> {
    match find(server, write) {
        Some(hook) if write.subresource.is_empty() => {
            hook.before_update(context(write), new, old).await
        }
        _ => Ok(Vec::new()),
    }
}

/// What else is written when an object goes away.
pub(super) async fn before_delete(
    server: &Inner,
    write: &Write<'_>,
    old: &Value,
) -> Result<Vec<StoreWrite>, Status> {
    match find(server, write) {
        Some(hook) => hook.before_delete(context(write), old).await,
        None => Ok(Vec::new()),
    }
}

/// Whether something else may be written with an object.
pub(super) fn has_hook(server: &Inner, write: &Write<'_>) -> bool {
    find(server, write).is_some()
}

fn find<'a>(server: &'a Inner, write: &Write<'_>) -> Option<&'a dyn WriteHook> {
    server.hooks.find(&write.definition.group_resource()).map(|hook| &**hook)
}

fn context(write: &Write<'_>) -> HookContext {
    HookContext { is_dry_run: write.is_dry_run }
}
