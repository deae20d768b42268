//! Which taints of a node a pod puts up with.
//!
//! After `ValidateTolerations` and `validateTaintEffect` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;

use super::scalar::validate_text;

const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// A list of tolerations. The operators `Lt` and `Gt` are let through for objects that already
/// have one.
pub(crate) fn validate_tolerations(
    tolerations: &Node<'_>,
    allow_comparison_operators: bool,
    errors: &mut Errors,
) {
    for toleration in tolerations.items() {
        let (key, operator) = (toleration.at("key"), toleration.at("operator"));
        if !key.is_empty() {
            validate_text(&key, names::label_key, errors);
        } else if operator.str() != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all \
                          values and all keys\"";
            errors.invalid(&operator, detail);
        }
        let effect = toleration.at("effect");
        if toleration.at("tolerationSeconds").is_set() && effect.str() != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid(&effect, detail);
        }
        validate_value(&toleration, allow_comparison_operators, errors);
        if !effect.is_empty() {
            validate_taint_effect(&effect, errors);
        }
    }
}

/// What a taint does. An empty effect is refused too: where it may be empty, ask before.
pub(crate) fn validate_taint_effect(effect: &Node<'_>, errors: &mut Errors) {
    match effect.str() {
        "" => errors.required(effect, ""),
        known if EFFECTS.contains(&known) => {}
        _ => errors.not_supported(effect, EFFECTS),
    }
}

fn validate_value(toleration: &Node<'_>, allow_comparison_operators: bool, errors: &mut Errors) {
    let (operator, value) = (toleration.at("operator"), toleration.at("value"));
    match operator.str() {
        "" | "Equal" => {
            let messages = names::label_value(value.str());
            if !messages.is_empty() {
                errors.invalid_value(&operator, value.str(), messages.join(";"));
            }
        }
        "Exists" => {
            if !value.is_empty() {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.invalid_value(&operator, value.str(), detail);
            }
        }
        "Lt" | "Gt" if !allow_comparison_operators => {
            errors.not_supported(&operator, &["Equal", "Exists", "Lt", "Gt"]);
        }
        "Lt" | "Gt" => validate_number(&value, errors),
        _ => errors.not_supported(&operator, &["Equal", "Exists"]),
    }
}

fn validate_number(value: &Node<'_>, errors: &mut Errors) {
    validate_text(value, names::decimal_integer, errors);
    if let Err(problem) = parse_int(value.str()) {
        let text = quote(value.str());
        errors.invalid(value, format!("strconv.ParseInt: parsing {text}: {problem}"));
    }
}

/// A whole number as Go reads it: a plus sign and zeros in front are fine.
fn parse_int(text: &str) -> Result<i64, &'static str> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};

    text.parse::<i64>().map_err(|error| match error.kind() {
        NegOverflow | PosOverflow => "value out of range",
        _ => "invalid syntax",
    })
}
