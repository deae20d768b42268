//! Match resources: which requests a policy or a binding is about.
//!
//! After `pkg/apis/admissionregistration/validation/validation.go` and
//! `pkg/apis/admissionregistration/v1/defaults.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Value};

use super::MATCH_POLICIES;
use super::rule::validate_named_rule;
use crate::rules::scalar::validate_choice;

/// What can be changed: there is nothing to change about a deletion.
const MUTATING_OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "UPDATE"];

/// Everything, in whichever version.
pub(super) fn set_match_defaults(resources: &mut Value) {
    resources.set_default("matchPolicy", "Equivalent");
    resources.set_default("namespaceSelector", Map::new());
    resources.set_default("objectSelector", Map::new());
}

/// What a policy is about: some resources, for types are known by them.
pub(super) fn validate_match_constraints(constraints: &Node<'_>, errors: &mut Errors) {
    if !constraints.is_set() {
        return errors.required(constraints, "");
    }
    validate_match_resources(constraints, errors);
    let rules = constraints.at("resourceRules");
    if rules.is_empty() {
        errors.required(&rules, "");
    }
}

/// What a binding narrows its policy to; nothing is fine.
pub(super) fn validate_match_resources(resources: &Node<'_>, errors: &mut Errors) {
    if !resources.is_set() {
        return;
    }
    validate_choice(&resources.at("matchPolicy"), MATCH_POLICIES, errors);
    for field in ["namespaceSelector", "objectSelector"] {
        let selector = resources.at(field);
        meta::validate_label_selector(&selector, SelectorOptions::default(), errors);
    }
    for field in ["resourceRules", "excludeResourceRules"] {
        for rule in resources.at(field).items() {
            validate_named_rule(&rule, errors);
        }
    }
}

/// The operations that something is changed in. Which rule is wrong is not told.
pub(super) fn validate_mutating_operations(resources: &Node<'_>, errors: &mut Errors) {
    let rules = resources.at("resourceRules");
    let path = rules.path().child("operations");
    let operations = rules.list().iter().flat_map(|rule| rule.at("operations").list());
    for operation in operations.filter(|operation| !MUTATING_OPERATIONS.contains(&operation.str()))
    {
        errors.not_supported_value(&path, operation.str(), MUTATING_OPERATIONS);
    }
}
