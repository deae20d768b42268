//! What the three access reviews share, after `pkg/apis/authorization/validation`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::node::Node;

/// The question of a review about oneself.
pub(super) fn validate_self_spec(spec: &Node<'_>, errors: &mut Errors) {
    validate_question(spec, errors);
    validate_resource_attributes(&spec.at("resourceAttributes"), errors);
}

/// The question of a review about somebody.
pub(super) fn validate_spec(spec: &Node<'_>, errors: &mut Errors) {
    validate_question(spec, errors);
    if spec.at("user").is_empty() && spec.at("groups").is_empty() {
        errors.invalid(&spec.at("user"), "at least one of user or group must be specified");
    }
    validate_resource_attributes(&spec.at("resourceAttributes"), errors);
}

/// A review is not an object with a name.
pub(super) fn validate_no_metadata(
    object: &Node<'_>,
    allowed: &[&str],
    detail: &str,
    errors: &mut Errors,
) {
    let metadata = object.at("metadata");
    let is_empty = metadata.map().iter().all(|(field, value)| {
        field == "managedFields" || allowed.contains(&field) || value.is_empty()
    });
    if !is_empty {
        errors.invalid(&metadata, detail);
    }
}

fn validate_question(spec: &Node<'_>, errors: &mut Errors) {
    let (resource, other) = (spec.at("resourceAttributes"), spec.at("nonResourceAttributes"));
    if resource.is_set() && other.is_set() {
        errors.invalid(&other, "cannot be specified in combination with resourceAttributes");
    }
    if !resource.is_set() && !other.is_set() {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.invalid(&resource, detail);
    }
}

fn validate_resource_attributes(attributes: &Node<'_>, errors: &mut Errors) {
    let options = SelectorOptions { allows_unknown_operators: true, ..SelectorOptions::default() };
    let fields = attributes.at("fieldSelector");
    if validate_selector(&fields, errors) {
        for requirement in fields.at("requirements").items() {
            validate_field_requirement(&requirement, errors);
        }
    }
    let labels = attributes.at("labelSelector");
    if validate_selector(&labels, errors) {
        for requirement in labels.at("requirements").items() {
            meta::validate_label_selector_requirement(&requirement, options, errors);
        }
    }
}

/// Whether there is a selector.
fn validate_selector(selector: &Node<'_>, errors: &mut Errors) -> bool {
    if !selector.is_set() {
        return false;
    }
    let (raw, requirements) = (selector.at("rawSelector"), selector.at("requirements"));
    if !raw.is_empty() && !requirements.is_empty() {
        errors.invalid(&raw, "may not specified at the same time as requirements");
    }
    if raw.is_empty() && requirements.is_empty() {
        let path = selector.path();
        let detail = format!("when {path} is specified, requirements or rawSelector is required");
        errors.required(&requirements, detail);
    }
    true
}

/// Newer clients may know operators that are not known here.
fn validate_field_requirement(requirement: &Node<'_>, errors: &mut Errors) {
    if requirement.at("key").is_empty() {
        errors.required(&requirement.at("key"), "must be specified");
    }
    let values = requirement.at("values");
    match requirement.at("operator").str() {
        "In" | "NotIn" if values.is_empty() => {
            errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.forbidden(&values, detail);
        }
        _ => {}
    }
}
