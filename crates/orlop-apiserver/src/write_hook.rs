//! What a kind adds to the writing of its objects, in the same transaction.
//!
//! Some objects own things that other objects must not own too, such as addresses. A [`WriteHook`]
//! of their resource turns that into further writes, which are committed together with the object
//! or not at all; so nothing is ever lost between two writes, and several servers on one store
//! need not know of each other. Whoever writes objects finds the hooks by resource and knows no
//! kind by name.
//!
//! The contract with the writer:
//! - A hook runs after mutating admission and after names and uids are given, before the rules of
//!   the kind (`rest.BeginCreate` and `rest.BeginUpdate` of upstream's generic store).
//! - All writes of the hook go into the transaction of the object. When one of *their*
//!   expectations fails, the writer starts again with a fresh copy of the object as it was
//!   *before* the hook, a bounded number of times; a conflict of the object's own key is the
//!   writer's business.
//! - In a dry run a hook returns no writes.

use std::sync::Arc;

use async_trait::async_trait;
use orlop_machinery::Value;
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::status::Status;
use orlop_storage::Write;

/// What a hook knows of the request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HookContext {
    /// Whether nothing is to be kept.
    pub is_dry_run: bool,
}

/// See the module's documentation.
#[async_trait]
pub(crate) trait WriteHook: Send + Sync {
    /// Before an object is created: what else is written. May complete the object.
    async fn before_create(
        &self,
        context: HookContext,
        object: &mut Value,
    ) -> Result<Vec<Write>, Status>;

    /// Before an object is changed, at the resource itself, not at a subresource.
    async fn before_update(
        &self,
        context: HookContext,
        new: &mut Value,
        old: &Value,
    ) -> Result<Vec<Write>, Status>;

    /// Before the record of an object goes away, at whichever endpoint that happens; not when it
    /// is only marked as being deleted.
    async fn before_delete(
        &self,
        context: HookContext,
        object: &Value,
    ) -> Result<Vec<Write>, Status>;

    /// Completes an object that was stored before there were fields that it should have.
    fn after_read(&self, object: &mut Value);
}

/// The hooks of all resources that have one.
#[derive(Clone, Default)]
pub(crate) struct WriteHooks(Vec<(GroupResource, Arc<dyn WriteHook>)>);

impl WriteHooks {
    /// Adds the hook of a resource.
    pub(crate) fn add(&mut self, resource: GroupResource, hook: Arc<dyn WriteHook>) {
        self.0.push((resource, hook));
    }

    /// The hook of a resource, if it has one.
    pub(crate) fn find(&self, resource: &GroupResource) -> Option<&Arc<dyn WriteHook>> {
        self.0.iter().find(|(known, _)| known == resource).map(|(_, hook)| hook)
    }
}
