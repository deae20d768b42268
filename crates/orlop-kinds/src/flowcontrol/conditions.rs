//! The conditions in the status of both kinds.

use std::collections::HashSet;

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

pub(super) fn validate_status(status: &Node<'_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    let conditions = status.at("conditions");
    for condition in conditions.items() {
        let ty = condition.at("type");
        if !seen.insert(condition.value().at("type").str()) {
            errors.duplicate(&ty);
        }
        if ty.is_empty() {
            errors.required(&ty, "");
        }
    }
}
