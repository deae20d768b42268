//! The status of a custom resource, written on its own.
//!
//! After `status_strategy.go` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource`.

use std::sync::Arc;

use orlop_machinery::Value;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::node::Node;

use super::kind::validate_lists;
use super::scale;
use super::version::Version;

/// See the module's documentation.
pub(super) struct CustomResourceStatus {
    version: Arc<Version>,
}

impl CustomResourceStatus {
    pub(super) fn new(version: Arc<Version>) -> CustomResourceStatus {
        CustomResourceStatus { version }
    }
}

impl Rules for CustomResourceStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        let status = new.remove("status");
        let managed = new.get_mut("metadata").and_then(|meta| meta.remove("managedFields"));
        *new = old.clone();
        let metadata = new.entry("metadata");
        match managed {
            Some(managed) => metadata.set("managedFields", managed),
            None => drop(metadata.remove("managedFields")),
        }
        match status {
            Some(status) => new.set("status", status),
            None => drop(new.remove("status")),
        }
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (version, new, old) = (&self.version, new.value(), old.value());
        let schema = version.structural().and_then(|structural| structural.field("status"));
        if let (Some(schema), Some(status)) = (schema, new.get("status")) {
            schema.validate_update(status, old.at("status"), &Path::field("status"), errors);
        }
        scale::validate_status(version, new, errors);
        validate_lists(version, new, old, errors);
        version.validate_rules(new, Some(old), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["metadata", "spec"]
    }
}
