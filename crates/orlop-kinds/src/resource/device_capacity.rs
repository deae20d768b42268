//! How much of something a device has, and how much of it one can ask for.
//!
//! After `validateMultiAllocatableDeviceCapacity` and what it calls in
//! `pkg/apis/resource/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;
use orlop_machinery::quantity::Quantity;

use super::collection::validate_list;
use crate::rules::resource_list::quantity;

const VALID_VALUES_MAX: usize = 10;

/// The capacity of a device. Only one that can be given to several has a policy.
pub(super) fn validate_capacity(capacity: &Node<'_>, is_shared: bool, errors: &mut Errors) {
    let policy = capacity.at("requestPolicy");
    if !policy.is_set() {
        return;
    }
    if !is_shared {
        errors.forbidden(&policy, "allowMultipleAllocations must be true");
        return;
    }
    let (values, range) = (policy.at("validValues"), policy.at("validRange"));
    let default = policy.at("default");
    let required = |what: &str| format!("required when {what} is defined");
    match (!values.is_empty(), range.is_set(), default.is_set()) {
        (true, true, _) => {
            let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \
                          \"validRange\" at the same time";
            errors.forbidden(&policy, detail);
        }
        (true, false, false) => errors.required(&default, required("validValues")),
        (false, true, false) => errors.required(&default, required("validRange")),
        (true, false, true) => validate_values(&values, &default, &capacity.at("value"), errors),
        (false, true, true) => validate_range(&range, &default, &capacity.at("value"), errors),
        (false, false, _) => {}
    }
}

fn validate_values(
    values: &Node<'_>,
    default: &Node<'_>,
    capacity: &Node<'_>,
    errors: &mut Errors,
) {
    let amounts: Vec<Quantity> = values.list().iter().map(quantity).collect();
    for (at, value) in values.items().enumerate().skip(1) {
        if amounts[at - 1] > amounts[at] {
            errors.invalid(&value, "values must be sorted in ascending order");
        }
    }
    let (total, wanted) = (quantity(capacity.value()), quantity(default.value()));
    let mut has_default = false;
    let validate_value = &mut |value: &Node<'_>, errors: &mut Errors| {
        let amount = quantity(value.value());
        if amount > total {
            errors.invalid(value, format!("option is larger than capacity value: {total}"));
        }
        has_default |= amount == wanted;
    };
    if validate_list(values, VALID_VALUES_MAX, validate_value, errors) {
        let mut known = BTreeSet::new();
        for (value, amount) in values.items().zip(&amounts) {
            if !known.insert(amount.value()) {
                errors.duplicate_value(&value, amount.value().to_string());
            }
        }
    }
    if !has_default {
        let detail = "default value is not valid according to the requestPolicy";
        errors.invalid_value(values, default.str(), detail);
    }
}

fn validate_range(range: &Node<'_>, default: &Node<'_>, capacity: &Node<'_>, errors: &mut Errors) {
    let (min, max, step) = (range.at("min"), range.at("max"), range.at("step"));
    if !min.is_set() {
        errors.required(&min, "required when validRange is defined");
        return;
    }
    let (total, wanted) = (quantity(capacity.value()), quantity(default.value()));
    let (low, high) = (quantity(min.value()), quantity(max.value()));
    if low > total {
        errors.invalid(&min, format!("min is larger than capacity value: {total}"));
    }
    if wanted < low {
        errors.invalid_value(&min, default.str(), format!("default is less than min: {low}"));
    }
    if max.is_set() {
        if low > high {
            errors.invalid_value(&max, min.str(), format!("min is larger than max: {high}"));
        }
        if high > total {
            errors.invalid(&max, format!("max is larger than capacity value: {total}"));
        }
        if wanted > high {
            errors.invalid_value(&max, default.str(), format!("default is more than max: {high}"));
        }
    }
    if step.is_set() {
        let mut first = low;
        first.add(quantity(step.value()));
        if first > total {
            let detail = format!("one step {first} is larger than capacity value: {total}");
            errors.invalid(&step, detail);
        }
        validate_step(&step, default, &min, errors);
        if max.is_set() {
            validate_step(&step, &max, &min, errors);
        }
    }
}

/// An amount is so many steps above the least one. A step of nothing leads nowhere: upstream
/// falls over it.
fn validate_step(step: &Node<'_>, amount: &Node<'_>, min: &Node<'_>, errors: &mut Errors) {
    let whole = |node: &Node<'_>| quantity(node.value()).value();
    let above = whole(amount).wrapping_sub(whole(min));
    if above.checked_rem(whole(step)) != Some(0) {
        let detail = format!(
            "value is not a multiple of a given step ({}) from ({})",
            step.str(),
            min.str()
        );
        errors.invalid_value(step, amount.str(), detail);
    }
}
