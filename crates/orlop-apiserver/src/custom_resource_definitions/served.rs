//! The seam between definitions and what the server serves.
//!
//! A definition is served from when its names are accepted until it is gone, whoever has written
//! so: whether it is established is written after it is served, so that no client that waits for
//! it comes too early. After the conditions in `ServeHTTP` of
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go`.

use std::sync::Arc;

use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};

use crate::definition::Definition;

/// A definition whose objects are served.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Served {
    /// The name of the definition: `widgets.example.com`.
    pub name: Str,
    /// The definition. Its status says what is or is about to be stored: the names under which it
    /// is served are `status.acceptedNames`.
    pub object: Value,
    /// Whether it is established; discovery shows it then.
    pub is_established: bool,
    /// Whether it is being deleted: no objects can be made any more (`refuse_create`), and
    /// discovery shows fewer verbs.
    pub is_terminating: bool,
}

/// A change of what is served.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ServedChange {
    /// A definition is served from now on, or in another way than before.
    Set(Served),
    /// A definition is not served any more; this is its name.
    Remove(Str),
}

/// Who serves the objects of definitions.
pub(crate) trait Serve: Send + Sync {
    /// Serves what has changed. When this returns, requests see it. Where a built-in resource has
    /// the same group and version, the built-in one is served.
    fn serve(&self, changes: Vec<ServedChange>);

    /// The resource of a definition in the version in which its objects are stored, whether or not
    /// that version is served.
    ///
    /// # Errors
    ///
    /// When the definition cannot be understood.
    fn stored(&self, object: &Value) -> Result<Arc<Definition>, Status>;
}
