//! The conditions in the status of both kinds.

use std::collections::HashSet;

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

pub(super) fn validate_status(status: &Node<'_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for condition in status.at("conditions").items() {
        let ty = condition.at("type");
        if !seen.insert(ty.value().str()) {
            errors.duplicate(&ty);
        }
        if ty.is_empty() {
            errors.required(&ty, "");
        }
    }
}
