//! What a kind, its group and its resource are called.
//!
//! After `ValidateCustomResourceDefinitionNames` and the start of
//! `validateCustomResourceDefinitionSpec`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::validate_required_choice;

/// The group: a domain with a dot.
pub(super) fn validate_group(group: &Node<'_>, errors: &mut Errors) {
    let messages = names::dns_subdomain(group.str());
    if group.is_empty() {
        errors.required(group, "");
    } else if !messages.is_empty() {
        errors.invalid(group, messages.join(","));
    } else if !group.str().contains('.') {
        errors.invalid(group, "should be a domain with at least one dot");
    }
}

/// Whether objects are in namespaces.
pub(super) fn validate_scope(scope: &Node<'_>, errors: &mut Errors) {
    validate_required_choice(scope, &["Cluster", "Namespaced"], errors);
}

/// The names that are asked for.
pub(super) fn validate_spec_names(names: &Node<'_>, errors: &mut Errors) {
    for field in ["plural", "singular", "kind", "listKind"] {
        if names.at(field).is_empty() {
            errors.required(&names.at(field), "");
        }
    }
    validate_names(names, errors);
}

/// Names that are asked for or given.
pub(super) fn validate_names(names: &Node<'_>, errors: &mut Errors) {
    for field in ["plural", "singular"] {
        if !names.at(field).is_empty() {
            validate_label(&names.at(field), errors);
        }
    }
    let (kind, list_kind) = (names.at("kind"), names.at("listKind"));
    for name in [&kind, &list_kind] {
        let messages = names::dns1035_label(&name.str().to_lowercase());
        if !name.is_empty() && !messages.is_empty() {
            let detail = messages.join(",");
            let detail = format!("may have mixed case, but should otherwise match: {detail}");
            errors.invalid(name, detail);
        }
    }
    for name in names.at("shortNames").items() {
        validate_label(&name, errors);
    }
    if !kind.is_empty() && kind.str() == list_kind.str() {
        errors.invalid(&list_kind, "kind and listKind may not be the same");
    }
    for name in names.at("categories").items() {
        validate_label(&name, errors);
    }
}

/// A name as DNS has it, with all that is wrong in one error.
pub(super) fn validate_label(name: &Node<'_>, errors: &mut Errors) {
    let messages = names::dns1035_label(name.str());
    if !messages.is_empty() {
        errors.invalid(name, messages.join(","));
    }
}
