//! A number of pods that may be a percentage of all of them.
//!
//! After `ValidatePositiveIntOrPercent` and `IsNotMoreThan100Percent` in
//! `pkg/apis/apps/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::int_or_string::IntOrString;
use orlop_machinery::names;
use orlop_machinery::node::Node;

/// It is a number that is not below 0, or a percentage.
pub(crate) fn validate_int_or_percent(node: &Node<'_>, errors: &mut Errors) {
    match IntOrString::of(node.value()) {
        IntOrString::String(text) => {
            for message in names::percent(text) {
                errors.invalid(node, message);
            }
        }
        _ => super::scalar::validate_non_negative(node, errors),
    }
}

/// If it is a percentage, it is not more than all.
pub(crate) fn validate_at_most_all(node: &Node<'_>, errors: &mut Errors) {
    if percentage(node.str()).is_some_and(|percent| percent > 100) {
        errors.invalid(node, "must not be greater than 100%");
    }
}

/// Whether it is 0 or 0%. Text that is neither counts as 0, as upstream has it.
pub(crate) fn is_zero(node: &Node<'_>) -> bool {
    let value = IntOrString::of(node.value());
    percentage(node.str()).unwrap_or_else(|| value.int_value()) == 0
}

/// The number of a percentage. One that is too large for a number is a very large one.
fn percentage(text: &str) -> Option<i64> {
    if !names::percent(text).is_empty() {
        return None;
    }
    Some(text.trim_end_matches('%').parse().unwrap_or(i64::MAX))
}
