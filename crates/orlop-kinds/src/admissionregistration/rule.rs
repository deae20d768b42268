//! Which requests: operations on resources of groups and versions.
//!
//! The fields of a rule stand in a `RuleWithOperations` and in a `NamedRuleWithOperations` alike.
//! After `pkg/apis/admissionregistration/validation/validation.go`.

use std::collections::HashSet;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::validate_choice;

const OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES: &[&str] = &["*", "Cluster", "Namespaced"];
const ALL: &str = "*";

/// A rule is about objects in namespaces and others.
pub(super) fn set_rule_defaults(rule: &mut Value) {
    rule.set_default("scope", ALL);
}

/// A rule.
pub(super) fn validate_rule(rule: &Node<'_>, errors: &mut Errors) {
    let operations = rule.at("operations");
    validate_wildcard(&operations, "operations", errors);
    for operation in operations.items() {
        validate_choice(&operation, OPERATIONS, errors);
    }
    // A group may be empty: that is the core group.
    validate_wildcard(&rule.at("apiGroups"), "API groups", errors);
    let versions = rule.at("apiVersions");
    validate_wildcard(&versions, "API versions", errors);
    for version in versions.items().filter(Node::is_empty) {
        errors.required(&version, "");
    }
    validate_resources(&rule.at("resources"), errors);
    validate_choice(&rule.at("scope"), SCOPES, errors);
}

/// A rule for the objects with some names.
pub(super) fn validate_named_rule(rule: &Node<'_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for name in rule.at("resourceNames").items() {
        for message in names::path_segment_name(name.str()) {
            errors.invalid(&name, message);
        }
        if !seen.insert(name.str()) {
            errors.duplicate(&name);
        }
    }
    validate_rule(rule, errors);
}

/// A list that has items, and no others beside `*`.
fn validate_wildcard(list: &Node<'_>, what: &str, errors: &mut Errors) {
    if list.is_empty() {
        errors.required(list, "");
    }
    if list.len() > 1 && list.list().iter().any(|item| item.str() == ALL) {
        errors.invalid(list, format!("if '*' is present, must not specify other {what}"));
    }
}

/// Resources and subresources: `pods`, `pods/status`, `pods/*`, `*/status`, `*`, `*/*`.
///
/// An item is held against those before it, not after it. Of those without a subresource the last
/// one decides whether there are others beside `*`.
fn validate_resources(resources: &Node<'_>, errors: &mut Errors) {
    if resources.is_empty() {
        errors.required(resources, "");
    }
    let (mut with_all_subresources, mut of_all_resources) = (HashSet::new(), HashSet::new());
    let mut is_last_named = false;
    for item in resources.items() {
        let text = item.str();
        if text.is_empty() {
            errors.required(&item, "");
            continue;
        }
        let Some((resource, subresource)) = text.split_once('/') else {
            is_last_named = text != ALL;
            continue;
        };
        if with_all_subresources.contains(resource) {
            let detail = format!("if '{resource}/*' is present, must not specify {text}");
            errors.invalid(&item, detail);
        }
        if of_all_resources.contains(subresource) {
            let detail = format!("if '*/{subresource}' is present, must not specify {text}");
            errors.invalid(&item, detail);
        }
        if subresource == ALL {
            with_all_subresources.insert(resource);
        }
        if resource == ALL {
            of_all_resources.insert(subresource);
        }
    }
    let has = |text: &str| resources.list().iter().any(|item| item.str() == text);
    if resources.len() > 1 && has("*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.invalid(resources, detail);
    }
    if is_last_named && has(ALL) {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.invalid(resources, detail);
    }
}
