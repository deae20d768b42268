//! Match conditions: expressions that decide whether a hook or a policy is asked.
//!
//! After `pkg/apis/admissionregistration/validation/validation.go`.

use std::collections::HashSet;

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::validate_required_text;

const CONDITIONS_MAX: usize = 64;

/// The conditions of a hook or a policy.
pub(super) fn validate_match_conditions(conditions: &Node<'_>, errors: &mut Errors) {
    if conditions.len() > CONDITIONS_MAX {
        errors.too_many(conditions, conditions.len(), CONDITIONS_MAX);
    }
    let mut seen = HashSet::new();
    for condition in conditions.items() {
        validate_match_condition_expression(&condition.at("expression"), errors);
        let name = condition.at("name");
        validate_required_text(&name, names::qualified_name, errors);
        if !name.is_empty() && !seen.insert(condition.value().at("name").str()) {
            errors.duplicate(&name);
        }
    }
}

/// An expression that says yes or no. Compiling it is not there yet and goes here; in a policy with
/// a kind of parameters it may use them.
fn validate_match_condition_expression(expression: &Node<'_>, errors: &mut Errors) {
    if expression.str().trim().is_empty() {
        errors.required(expression, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orlop_machinery::Value;

    fn check(count: usize, expect: &str) {
        let condition = |at| Value::from([("name", format!("c{at}")), ("expression", "1".into())]);
        let conditions: Value = (0..count).map(condition).collect::<Vec<_>>().into();
        let mut errors = Errors::new();
        validate_match_conditions(&Node::root(&conditions), &mut errors);
        assert_eq!(errors.to_string().trim_end(), expect);
    }

    #[test]
    fn there_are_not_too_many_conditions() {
        check(64, "");
        check(65, ": Too many: 65: must have at most 64 items");
    }
}
