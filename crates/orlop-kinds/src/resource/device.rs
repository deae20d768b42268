//! One device of a slice, and the counters that devices share.
//!
//! After `validateDevice` and `validateCounterSet` in
//! `pkg/apis/resource/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;
use orlop_machinery::{Value, names};

use super::collection::{validate_list, validate_map, validate_set};
use super::device_attribute::{count_values, validate_attribute};
use super::device_capacity::validate_capacity;
use super::device_identity::{validate_label, validate_qualified_name};
use super::device_taint::{validate_binding_conditions, validate_taint};
use crate::rules::node_selector::validate_node_selector;
use crate::rules::resource_list::quantity;
use crate::rules::resource_name;
use crate::rules::scalar::{validate_required_text, validate_text};

const PROPERTIES_MAX: usize = 32;
const ATTRIBUTE_VALUES_MAX: usize = 48;
const PROPERTY_NAME_MAX: usize = 96;
const TAINTS_MAX: usize = 16;
const COUNTER_CONSUMPTIONS_MAX: usize = 2;
const COUNTERS_MAX: usize = 32;
const DNS_LABEL_MAX: usize = 63;

/// Reports all that is wrong with a device. `old` is the one of the same name before, if any.
pub(super) fn validate_device(
    device: &Node<'_>,
    old: Option<&Value>,
    selects_nodes: bool,
    errors: &mut Errors,
) {
    validate_label(&device.at("name"), errors);
    validate_properties(device, errors);
    let taints = device.at("taints");
    if old.is_none_or(|old| old.at("taints") != taints.value()) {
        validate_list(&taints, TAINTS_MAX, &mut validate_taint, errors);
    }
    let validate_consumption = &mut |consumption: &Node<'_>, errors: &mut Errors| {
        validate_counters(consumption, "counterSet", errors);
    };
    let consumptions = device.at("consumesCounters");
    let max = COUNTER_CONSUMPTIONS_MAX;
    validate_set(&consumptions, max, "counterSet", validate_consumption, errors);
    validate_nodes(device, selects_nodes, errors);
    validate_binding_conditions(device, errors);
    validate_mappings(device, errors);
}

/// A set of counters, by the field that names it: where they are kept, and where they are used.
pub(super) fn validate_counters(set: &Node<'_>, name: &str, errors: &mut Errors) {
    validate_required_text(&set.at(name), names::dns_label, errors);
    let counters = set.at("counters");
    if counters.is_empty() {
        errors.required(&counters, "");
    } else {
        let bounds = (COUNTERS_MAX, DNS_LABEL_MAX);
        validate_map(&counters, bounds, &validate_label, &mut |_, _| {}, errors);
    }
}

/// The name of a node, where there is one; whether there is.
pub(super) fn validate_node_name(name: &Node<'_>, empty: &str, errors: &mut Errors) -> bool {
    if name.is_set() && name.is_empty() {
        errors.invalid(name, empty);
        return false;
    }
    if name.is_set() {
        validate_text(name, names::dns_subdomain, errors);
    }
    name.is_set()
}

/// A truth that is not set to false; whether it is one.
pub(super) fn validate_truth(truth: &Node<'_>, errors: &mut Errors) -> bool {
    if truth.is_set() && !truth.bool() {
        errors.invalid(truth, "must be either unset or set to true");
    }
    truth.bool()
}

fn validate_properties(device: &Node<'_>, errors: &mut Errors) {
    let (attributes, capacity) = (device.at("attributes"), device.at("capacity"));
    let values = attributes.map().values().map(count_values).sum();
    for (count, max, what) in [
        (attributes.len() + capacity.len(), PROPERTIES_MAX, "attributes and capacities"),
        (values, ATTRIBUTE_VALUES_MAX, "attribute values"),
    ] {
        if count > max {
            let shown = i64::try_from(count).unwrap_or(i64::MAX);
            let detail = format!("the total number of {what} must not exceed {max}");
            errors.invalid_value(device, shown, detail);
        }
    }
    let bounds = (usize::MAX, PROPERTY_NAME_MAX);
    let name = &validate_qualified_name;
    validate_map(&attributes, bounds, name, &mut validate_attribute, errors);
    let is_shared = device.at("allowMultipleAllocations").bool();
    let validate_value = &mut |capacity: &Node<'_>, errors: &mut Errors| {
        validate_capacity(capacity, is_shared, errors);
    };
    validate_map(&capacity, bounds, name, validate_value, errors);
}

/// Where the device is, if that is said of each device.
fn validate_nodes(device: &Node<'_>, selects_nodes: bool, errors: &mut Errors) {
    let (name, selector) = (device.at("nodeName"), device.at("nodeSelector"));
    let all = device.at("allNodes");
    if !selects_nodes {
        if name.is_set() || selector.is_set() || all.is_set() {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if \
                          `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            errors.invalid_value(device, Value::Null, detail);
        }
        return;
    }
    let has_name = validate_node_name(&name, "must not be empty", errors);
    if selector.is_set() {
        validate_node_selector(&selector, false, errors);
    }
    let has_all = validate_truth(&all, errors);
    let set =
        [(has_name, "`nodeName`"), (selector.is_set(), "`nodeSelector`"), (has_all, "`allNodes`")];
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
                  `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    validate_one_set(device, &set, (detail, detail), errors);
}

/// Exactly one of some fields is set. `details` are for none and for several.
pub(super) fn validate_one_set(
    at: &Node<'_>,
    fields: &[(bool, &str)],
    details: (&str, &str),
    errors: &mut Errors,
) {
    let set: Vec<&str> = fields.iter().filter(|(is_set, _)| *is_set).map(|it| it.1).collect();
    match set.len() {
        0 => errors.required(at, details.0),
        1 => {}
        _ => errors.invalid_value(at, format!("{{{}}}", set.join(", ")), details.1),
    }
}

/// What of its node a device takes up.
fn validate_mappings(device: &Node<'_>, errors: &mut Errors) {
    let capacities = device.value().at("capacity");
    for (name, mapping) in device.at("nodeAllocatableResourceMappings").entries() {
        if !resource_name::is_native(name) {
            errors.invalid_value(&mapping, name, "must be a node allocatable resource name");
        }
        let (multiplier, key) = (mapping.at("allocationMultiplier"), mapping.at("capacityKey"));
        if !multiplier.is_set() && !key.is_set() {
            let detail = "at least one of allocationMultiplier or capacityKey must be set";
            errors.invalid_value(&mapping, "", detail);
            continue;
        }
        if multiplier.is_set() && quantity(multiplier.value()).sign() <= 0 {
            errors.invalid(&multiplier, "must be positive");
        }
        if key.is_set() && key.is_empty() {
            errors.invalid(&key, "capacityKey must not be an empty string");
        } else if key.is_set() && capacities.get(key.str()).is_none() {
            errors.not_found(&key);
        }
    }
}
