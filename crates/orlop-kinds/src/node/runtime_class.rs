//! RuntimeClass: a way to run containers, and what it costs.
//!
//! After `pkg/registry/node/runtimeclass` and `pkg/apis/node/validation`. The declarative rules of
//! the API say nothing that is not said there.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, json, meta, names};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::deprecated_node_label;
use crate::rules::resource_requirements::validate_overhead;
use crate::rules::scalar::validate_required_text;
use crate::rules::tolerations::validate_tolerations;

pub(crate) static KIND: RuntimeClass = RuntimeClass;

/// The kind.
pub(crate) struct RuntimeClass;

impl Kind for RuntimeClass {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "RuntimeClass", "runtimeclasses", PACKAGE)
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Handler"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            object.at("handler").str().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for RuntimeClass {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_required_text(&object.at("handler"), names::dns_label, errors);
        let overhead = object.at("overhead");
        validate_overhead(&overhead.at("podFixed"), overhead.path(), false, errors);
        let scheduling = object.at("scheduling");
        meta::validate_labels(&scheduling.at("nodeSelector"), errors);
        let tolerations = scheduling.at("tolerations");
        validate_tolerations(&tolerations, false, errors);
        validate_tolerations_are_distinct(&tolerations, errors);
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        self.validate(context, new, errors);
        meta::validate_immutable(&new.at("handler"), &old.at("handler"), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let scheduling = object.at("scheduling");
        let selector = scheduling.at("nodeSelector");
        for label in selector.map().keys() {
            if let Some(message) = deprecated_node_label::message(label) {
                warnings.push(format!("{}: {message}", selector.path()));
            }
        }
    }
}

/// No toleration stands twice, for however long. The error shows it as upstream does.
fn validate_tolerations_are_distinct(tolerations: &Node<'_>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for toleration in tolerations.items() {
        let value = toleration.value();
        let key = ["key", "operator", "value", "effect"].map(|field| value.at(field).str());
        if seen.insert(key) {
            continue;
        }
        let [key, operator, wanted, effect] = key.map(|text| json::to_string(&text.into()));
        let seconds = json::to_string(value.at("tolerationSeconds"));
        let json = format!(
            "{{\"Key\":{key},\"Operator\":{operator},\"Value\":{wanted},\"Effect\":{effect},\
             \"TolerationSeconds\":{seconds}}}"
        );
        errors.duplicate_json(&toleration, json);
    }
}
