//! Objects that the server itself reads and writes, as any client would.
//!
//! What the server makes for itself (namespaces, its own service, events) goes the way of every
//! other write: defaults, admission, rules, hooks, managed fields. This is that way without HTTP.
//! Upstream has a client that calls its own server for it, as `system:apiserver`.

use async_trait::async_trait;
use orlop_machinery::Value;
use orlop_machinery::status::Status;

/// Who is said to have written what the server writes for itself.
pub(crate) const FIELD_MANAGER: &str = "kube-apiserver";

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// `apps/v1`, or `v1` for core.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The namespace; empty for objects of the cluster.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

/// See the module's documentation. Objects say their `apiVersion`, `kind`, namespace and name.
#[async_trait]
pub(crate) trait Objects: Send + Sync {
    /// An object, if it exists, as it is now.
    async fn get(&self, place: Place<'_>) -> Result<Option<Value>, Status>;

    /// All objects of a namespace, or of all namespaces if `place` has none; its name is not
    /// looked at.
    async fn list(&self, place: Place<'_>) -> Result<Vec<Value>, Status>;

    /// Creates an object; the status says if it exists.
    async fn create(&self, object: Value, field_manager: &str) -> Result<Value, Status>;

    /// Replaces an object that is still as its `resourceVersion` says.
    async fn update(&self, object: Value, field_manager: &str) -> Result<Value, Status>;

    /// Applies the status of an object, with force.
    async fn apply_status(&self, object: Value, field_manager: &str) -> Result<Value, Status>;

    /// Deletes an object; the status says if it does not exist.
    async fn delete(&self, place: Place<'_>) -> Result<(), Status>;
}
