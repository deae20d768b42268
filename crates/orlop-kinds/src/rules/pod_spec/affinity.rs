//! Which nodes and which neighbours a pod wants, and which it does not.
//!
//! After `validateAffinity` and what it calls in `pkg/apis/core/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::field::{At, Errors};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::PodOptions;
use crate::rules::node_selector::{
    validate_node_selector, validate_preferred_scheduling_terms, validate_weight,
};
use crate::rules::scalar::validate_text;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// All affinities of a pod; those that are not set are fine.
pub(super) fn validate_affinity(affinity: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    validate_node_affinity(&affinity.at("nodeAffinity"), options, errors);
    let options = SelectorOptions {
        allows_invalid_values: options.allow_invalid_label_value_in_selector,
        ..SelectorOptions::default()
    };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = affinity.at(kind);
        for term in affinity.at(REQUIRED).items() {
            validate_term(&term, options, errors);
        }
        for weighted in affinity.at(PREFERRED).items() {
            validate_weight(&weighted.at("weight"), errors);
            validate_term(&weighted.at("podAffinityTerm"), options, errors);
        }
    }
}

/// The selectors of a PodAffinityTerm.
pub(super) fn validate_term_selectors(
    term: &Node<'_>,
    options: SelectorOptions,
    errors: &mut Errors,
) {
    meta::validate_label_selector(&term.at("labelSelector"), options, errors);
    meta::validate_label_selector(&term.at("namespaceSelector"), options, errors);
}

/// Keys of labels whose values are taken from the pod itself: to be equal, or to differ. They need
/// a selector, and no key stands in both lists, nor twice in the selector.
pub(super) fn validate_match_and_mismatch_label_keys(
    owner: &Node<'_>,
    mismatch_label_keys: Option<&Node<'_>>,
    errors: &mut Errors,
) {
    let (selector, keys) = (owner.at("labelSelector"), owner.at("matchLabelKeys"));
    validate_label_keys(&keys, &selector, errors);
    if let Some(mismatch_label_keys) = mismatch_label_keys {
        validate_label_keys(mismatch_label_keys, &selector, errors);
    }
    let positions = keys.list().iter().enumerate();
    let positions: BTreeMap<&str, usize> = positions.map(|(at, key)| (key.str(), at)).collect();
    let mut in_selector: BTreeSet<&str> = selector.value().at("matchLabels").map().keys().collect();
    // The server adds a requirement for each key, so a key that stands there twice was there
    // before.
    for expression in selector.value().at("matchExpressions").list() {
        let key = expression.at("key").str();
        let is_known = !in_selector.insert(key);
        if let Some(at) = positions.get(key).filter(|_| is_known) {
            let detail = "exists in both matchLabelKeys and labelSelector";
            errors.invalid_value(&owner.path().index(*at), key, detail);
        }
    }
    let Some(mismatch_label_keys) = mismatch_label_keys else { return };
    let other: BTreeSet<&str> = mismatch_label_keys.list().iter().map(|key| key.str()).collect();
    for key in keys.items().filter(|key| other.contains(key.str())) {
        errors.invalid(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}

fn validate_node_affinity(affinity: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    let required = affinity.at(REQUIRED);
    if required.is_set() {
        let allow = options.allow_invalid_label_value_in_required_node_affinity;
        validate_node_selector(&required, allow, errors);
    }
    validate_preferred_scheduling_terms(&affinity.at(PREFERRED), errors);
}

fn validate_term(term: &Node<'_>, options: SelectorOptions, errors: &mut Errors) {
    validate_term_selectors(term, options, errors);
    for namespace in term.at("namespaces").items() {
        for message in names::dns_label(namespace.str()) {
            errors.invalid_value(&term.path().child("namespace"), namespace.str(), message);
        }
    }
    validate_match_and_mismatch_label_keys(term, Some(&term.at("mismatchLabelKeys")), errors);
    let key = term.at("topologyKey");
    if key.is_empty() {
        errors.required(&key, "can not be empty");
    }
    validate_text(&key, names::label_key, errors);
}

fn validate_label_keys(keys: &Node<'_>, selector: &Node<'_>, errors: &mut Errors) {
    if keys.is_empty() {
        return;
    }
    if !selector.is_set() {
        errors.forbidden(keys, "must not be specified when labelSelector is not set");
        return;
    }
    for key in keys.items() {
        validate_text(&key, names::label_key, errors);
    }
}
