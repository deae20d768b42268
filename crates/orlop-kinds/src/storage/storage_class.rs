//! StorageClass: a kind of storage that claims can ask for.
//!
//! After `pkg/registry/storage/storageclass`, `pkg/apis/storage/validation/validation.go` and
//! `pkg/api/storage/util.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta};

use super::parameters::{validate_driver_name, validate_parameters};
use super::{GROUP_VERSION, PACKAGE};
use crate::rules::deprecated_node_label;
use crate::rules::node_selector::validate_topology_selector_term;
use crate::rules::scalar::validate_choice;

pub(crate) static KIND: StorageClass = StorageClass;

/// The kind.
pub(crate) struct StorageClass;

const RECLAIM_POLICIES: &[&str] = &["Delete", "Retain"];
const BINDING_MODES: &[&str] = &["Immediate", "WaitForFirstConsumer"];
const DEFAULT_ANNOTATIONS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

impl Kind for StorageClass {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "StorageClass", "storageclasses", PACKAGE)
            .short(&["sc"])
            .returns_deleted()
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.storage.v1.StorageClass", |class| {
            class.set_default("reclaimPolicy", "Delete");
            class.set_default("volumeBindingMode", "Immediate");
        })]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Provisioner"),
                Column::text("ReclaimPolicy"),
                Column::text("VolumeBindingMode"),
                Column::text("AllowVolumeExpansion"),
                Column::AGE,
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let metadata = object.at("metadata");
        let mut name = metadata.at("name").str().to_owned();
        let is_set = |annotation| metadata.path(&["annotations", annotation]).str() == "true";
        if DEFAULT_ANNOTATIONS.into_iter().any(is_set) {
            name += " (default)";
        }
        Row::new(vec![
            name.into(),
            object.at("provisioner").str().into(),
            object.at("reclaimPolicy").as_str().unwrap_or("Delete").into(),
            object.at("volumeBindingMode").as_str().unwrap_or("Immediate").into(),
            object.at("allowVolumeExpansion").bool().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for StorageClass {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_driver_name(&object.at("provisioner"), errors);
        validate_parameters(&object.at("parameters"), errors);
        let policy = object.at("reclaimPolicy");
        if !policy.is_empty() {
            validate_choice(&policy, RECLAIM_POLICIES, errors);
        }
        let mode = object.at("volumeBindingMode");
        if mode.is_set() {
            validate_choice(&mode, BINDING_MODES, errors);
        } else {
            errors.required(&mode, "");
        }
        validate_allowed_topologies(&object.at("allowedTopologies"), errors);
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        self.validate(context, new, errors);
        for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
            meta::validate_immutable(&new.at(field), &old.at(field), errors);
        }
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        for term in object.at("allowedTopologies").items() {
            for expression in term.at("matchLabelExpressions").items() {
                let key = expression.at("key");
                if let Some(message) = deprecated_node_label::message(key.str()) {
                    warnings.push(format!("{}: {message}", key.path()));
                }
            }
        }
    }
}

/// Where volumes may be. No two terms say the same, and each says something: as upstream, a term
/// that says nothing is called a duplicate. A term is reported once, however many are like it.
fn validate_allowed_topologies(topologies: &Node<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for term in topologies.items() {
        let values_by_key = validate_topology_selector_term(&term, errors);
        let owned: Vec<(String, Vec<String>)> = values_by_key
            .iter()
            .map(|(key, values)| {
                ((*key).to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
            })
            .collect();
        if owned.is_empty() || !known.insert(owned) {
            errors.duplicate_value(&term.at("matchLabelExpressions"), "");
        }
    }
}
