//! What a pod waits for before it is given a node, and before it counts as ready.
//!
//! After `validateReadinessGates`, `validateSchedulingGates` and `validateSchedulingGroup` in
//! `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::validate_text;

/// Conditions that must be true before the pod counts as ready.
pub(super) fn validate_readiness_gates(gates: &Node<'_>, errors: &mut Errors) {
    for gate in gates.items() {
        validate_text(&gate.at("conditionType"), names::qualified_name, errors);
    }
}

/// What must be taken away before the pod is given a node.
pub(super) fn validate_scheduling_gates(gates: &Node<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for gate in gates.items() {
        let name = gate.value().at("name").str();
        for message in names::qualified_name(name) {
            errors.invalid_value(&gate, name, message);
        }
        if !known.insert(name) {
            errors.duplicate_value(&gate, name);
        }
    }
}

/// The group of pods that are given nodes together.
pub(super) fn validate_scheduling_group(group: &Node<'_>, errors: &mut Errors) {
    if !group.is_set() {
        return;
    }
    let name = group.at("podGroupName");
    if name.is_set() {
        validate_text(&name, names::dns_subdomain, errors);
    } else {
        errors.invalid(&name, "must specify one of: `podGroupName`");
    }
}
