//! One generic registry for every kind: how objects are made, changed and deleted.
//!
//! After `staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go` and `.../rest`.
//! What differs from kind to kind stands in its [`Rules`]; nothing here knows one by name. Every
//! write is one optimistic transaction of the store, decided on what is stored and decided again
//! when somebody else was faster.

mod create;
mod delete;
mod hooks;
mod managed_fields;
mod owner_references;
mod read;
mod transaction;
mod update;

pub(crate) use create::{admit_create, create};
pub(crate) use delete::{Deletion, delete};
pub(crate) use managed_fields::Manager;
pub(crate) use owner_references::dedup_owner_references;
pub(crate) use read::{Stored, read, read_all};
pub(crate) use update::{Change, update};

pub(crate) use crate::store_failure::store_error;

use orlop_machinery::kind::{Context, Rules, User as KindUser};
use orlop_machinery::status::Status;

use crate::admission::{Attributes, Operation};
use crate::call::Warnings;
use crate::definition::Definition;
use crate::user::User;

/// A write, as far as it is the same for all kinds of writes.
#[derive(Clone, Copy)]
pub(crate) struct Write<'a> {
    /// What is written.
    pub definition: &'a Definition,
    /// The rules of the endpoint: the resource itself, or one of its subresources.
    pub rules: &'a dyn Rules,
    /// The name of the subresource, or empty.
    pub subresource: &'a str,
    /// The namespace of the request; empty for objects of the cluster.
    pub namespace: &'a str,
    /// Who writes.
    pub user: &'a User,
    /// Whether nothing is to be stored.
    pub is_dry_run: bool,
    /// Where warnings go.
    pub warnings: &'a Warnings,
}

impl Write<'_> {
    /// Calls `use_context` with what rules may know of the world.
    fn with_context<T>(&self, now_seconds: i64, use_context: impl FnOnce(&Context<'_>) -> T) -> T {
        self.user.lend(|user: KindUser<'_>| use_context(&Context { now_seconds, user }))
    }

    /// What admission knows of the write.
    fn attributes<'b>(&'b self, operation: Operation, name: &'b str) -> Attributes<'b> {
        Attributes { operation, definition: self.definition, namespace: self.namespace, name }
    }

    /// That there is no such object.
    pub(crate) fn not_found(&self, name: &str) -> Status {
        Status::not_found(&self.definition.group_resource(), name)
    }
}
