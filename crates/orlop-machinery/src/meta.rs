//! The metadata that every object has: reading it, changing it, and its rules.
//!
//! [`Meta`] reads and [`MetaMut`] writes `metadata` of an object in its normal form: what is zero
//! is not there. The rules collect errors in upstream's words, after
//! `staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go` and
//! `.../pkg/apis/meta/v1/validation/validation.go`. What a server does to metadata before it
//! writes an object ([`create`], [`update`], [`delete`]) follows
//! `staging/src/k8s.io/apiserver/pkg/registry/rest`; the time and the random parts are arguments.
//!
//! Not here: who manages which field (only the form of `managedFields` is checked), and rules of
//! single kinds.

mod access;
mod condition;
pub mod create;
pub mod delete;
mod finalizer;
mod label;
mod managed_fields;
mod object;
mod options;
mod owner_references;
pub mod update;

pub use access::{Meta, MetaMut};
pub use condition::{
    find_condition, is_condition, remove_condition, set_condition, validate_condition,
    validate_conditions,
};
pub use finalizer::{
    FINALIZER_FOREGROUND, FINALIZER_ORPHAN, validate_finalizer_name, validate_finalizers,
    validate_kube_finalizer_name, validate_kube_finalizers, validate_no_new_finalizers,
};
pub use label::{
    ANNOTATIONS_SIZE_MAX, SelectorOptions, annotations_size, has_invalid_label_value,
    validate_annotations, validate_field_selector_requirement, validate_label_name,
    validate_label_selector, validate_label_selector_requirement, validate_labels,
};
pub use managed_fields::{FIELD_MANAGER_MAX, validate_field_manager, validate_managed_fields};
pub use object::{
    FIELD_IMMUTABLE, validate_immutable, validate_kube_object_meta,
    validate_kube_object_meta_update, validate_non_negative, validate_object_meta,
    validate_object_meta_update, validate_object_meta_with,
};
pub use options::{
    validate_apply_options, validate_create_options, validate_delete_options, validate_dry_run,
    validate_field_validation, validate_list_options, validate_patch_options,
    validate_table_options, validate_update_options,
};
pub use owner_references::{drop_duplicate_owners, validate_owner_references};

/// Where the objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In the cluster.
    Cluster,
    /// In a namespace.
    Namespaced,
}
