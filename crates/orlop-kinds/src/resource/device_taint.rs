//! Taints of devices, who tolerates them, and what must be true before a pod is bound to one.
//!
//! After `validateDeviceTaint`, `validateDeviceToleration` and `validateDeviceBindingParameters`
//! in `pkg/apis/resource/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;
use orlop_machinery::{Value, names};

use super::collection::validate_list;
use crate::rules::scalar::{validate_optional_text, validate_required_choice, validate_text};

const EFFECTS: &[&str] = &["NoExecute", "NoSchedule", "None"];
const BINDING_CONDITIONS_MAX: usize = 4;

/// A taint of a device.
pub(super) fn validate_taint(taint: &Node<'_>, errors: &mut Errors) {
    validate_text(&taint.at("key"), names::label_key, errors);
    validate_optional_text(&taint.at("value"), names::label_value, errors);
    validate_required_choice(&taint.at("effect"), EFFECTS, errors);
}

/// That a request takes devices with some taints.
pub(super) fn validate_toleration(toleration: &Node<'_>, errors: &mut Errors) {
    validate_optional_text(&toleration.at("key"), names::label_key, errors);
    let (operator, value) = (toleration.at("operator"), toleration.at("value"));
    match operator.str() {
        "Exists" if !value.is_empty() => {
            errors.invalid(&value, "must be empty for operator `Exists`");
        }
        "Exists" => {}
        "Equal" => validate_text(&value, names::label_value, errors),
        _ => validate_required_choice(&operator, &["Equal", "Exists"], errors),
    }
    let effect = toleration.at("effect");
    if !effect.is_empty() {
        validate_required_choice(&effect, EFFECTS, errors);
    }
}

/// The conditions of a device or of an allocated one: those to wait for, and those to give up at.
pub(super) fn validate_binding_conditions(device: &Node<'_>, errors: &mut Errors) {
    let wanted = device.at("bindingConditions");
    let failures = device.at("bindingFailureConditions");
    for conditions in [&wanted, &failures] {
        let validate_condition = &mut |condition: &Node<'_>, errors: &mut Errors| {
            validate_text(condition, names::label_key, errors);
        };
        validate_list(conditions, BINDING_CONDITIONS_MAX, validate_condition, errors);
    }
    let mut known = BTreeSet::new();
    for condition in wanted.items() {
        if !known.insert(condition.str().to_owned()) {
            errors.duplicate(&condition);
        }
    }
    let mut known_failures = BTreeSet::new();
    for condition in failures.items() {
        if !known_failures.insert(condition.str().to_owned()) {
            errors.duplicate(&condition);
        }
        if known.contains(condition.str()) {
            let detail = "bindingFailureConditions must not overlap with bindingConditions";
            errors.invalid(&condition, detail);
        }
    }
    match (wanted.is_empty(), failures.is_empty()) {
        (true, false) => {
            let detail = "bindingConditions are required to use bindingFailureConditions";
            errors.invalid_value(&wanted, Value::Null, detail);
        }
        (false, true) => {
            let detail = "bindingFailureConditions are required to use bindingConditions";
            errors.invalid_value(&failures, Value::Null, detail);
        }
        _ => {}
    }
}
