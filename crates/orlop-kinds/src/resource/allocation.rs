//! What a claim was given, who uses it, and how the devices are.
//!
//! After `validateResourceClaimStatusUpdate` in `pkg/apis/resource/validation/validation.go` and
//! `dropDeallocatedStatusDevices` in `pkg/registry/resource/resourceclaim/strategy.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, ErrorKind, Errors, FieldError};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta, names};

use super::collection::{validate_list, validate_set};
use super::configuration::{RAW_MAX, validate_configuration, validate_raw};
use super::device_claim::{CONFIGURATIONS_MAX, RequestNames};
use super::device_identity::{
    SharedDevice, validate_driver_name, validate_label, validate_pool_name, validate_uid,
};
use super::device_taint::validate_binding_conditions;
use crate::rules::node_selector::validate_node_selector;
use crate::rules::scalar::{validate_required_choice, validate_text};

const RESERVED_FOR_MAX: usize = 256;
const RESULTS_MAX: usize = 32;
const CONDITIONS_MAX: usize = 8;
const ADDRESSES_MAX: usize = 16;
const INTERFACE_NAME_MAX: usize = 256;
const HARDWARE_ADDRESS_MAX: usize = 128;

/// Reports all that is wrong with a new status of a claim.
pub(super) fn validate_status_update(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    let (status, old_status) = (new.at("status"), old.at("status"));
    let reserved = status.at("reservedFor");
    validate_set(&reserved, RESERVED_FOR_MAX, "uid", &mut validate_consumer, errors);
    validate_devices(&status, errors);
    let allocation = status.at("allocation");
    let is_deleted = new.at("metadata").at("deletionTimestamp").is_set();
    if !reserved.is_empty() && !allocation.is_set() {
        errors.forbidden(&reserved, "may not be specified when `allocated` is not set");
    } else if is_deleted && has_new_consumer(&status, &old_status) {
        let detail = "new entries may not be added while `deallocationRequested` or \
                      `deletionTimestamp` are set";
        errors.forbidden(&reserved, detail);
    }
    let old_allocation = old_status.at("allocation");
    if allocation.is_set() && old_allocation.is_set() {
        meta::validate_immutable(&allocation, &old_allocation, errors);
    } else if allocation.is_set() {
        validate_allocation(&allocation, &RequestNames::of(new.value().at("spec")), errors);
    }
}

/// Takes out how devices are that the claim has no longer.
pub(super) fn drop_lost_devices(new: &mut Value, old: &Value) {
    let mut lost = allocated_devices(old.at("status"));
    for device in allocated_devices(new.at("status")) {
        lost.remove(&device);
    }
    let Some(status) = new.get_mut("status") else { return };
    if let Some(Value::List(devices)) = status.get_mut("devices") {
        devices.retain(|device| !lost.contains(&SharedDevice::of(device)));
        if devices.is_empty() {
            status.remove("devices");
        }
    }
}

fn allocated_devices(status: &Value) -> BTreeSet<SharedDevice> {
    let results = status.path(&["allocation", "devices", "results"]).list();
    results.iter().map(SharedDevice::of).collect()
}

fn validate_consumer(consumer: &Node<'_>, errors: &mut Errors) {
    for field in ["resource", "name", "uid"] {
        if consumer.at(field).is_empty() {
            errors.required(&consumer.at(field), "");
        }
    }
}

fn has_new_consumer(status: &Node<'_>, old_status: &Node<'_>) -> bool {
    const FIELDS: [&str; 4] = ["apiGroup", "resource", "name", "uid"];
    let key = |consumer: &Value| FIELDS.map(|field| consumer.at(field).str().to_owned());
    let known: BTreeSet<_> = old_status.value().at("reservedFor").list().iter().map(key).collect();
    let new = status.value().at("reservedFor").list();
    new.iter().any(|consumer| !known.contains(&key(consumer)))
}

fn validate_devices(status: &Node<'_>, errors: &mut Errors) {
    let allocated = allocated_devices(status.value());
    let devices = status.at("devices");
    for device in devices.items() {
        validate_device_status(&device, &allocated, errors);
    }
    let mut known = BTreeSet::new();
    for device in devices.items() {
        let id = SharedDevice::of(device.value());
        if known.contains(&id) {
            errors.push(FieldError {
                kind: ErrorKind::Duplicate,
                field: device.path().to_string(),
                bad_value: None,
                detail: id.to_json(),
            });
        }
        known.insert(id);
    }
}

fn validate_device_status(
    device: &Node<'_>,
    allocated: &BTreeSet<SharedDevice>,
    errors: &mut Errors,
) {
    validate_driver_name(&device.at("driver"), errors);
    validate_pool_name(&device.at("pool"), errors);
    validate_label(&device.at("device"), errors);
    let share = device.at("shareID");
    if share.is_set() {
        validate_uid(&share, errors);
    }
    let id = SharedDevice::of(device.value());
    if !allocated.contains(&id) {
        errors.invalid_json(device, &id.to_json(), "must be an allocated device in the claim");
    }
    let conditions = device.at("conditions");
    if conditions.len() > CONDITIONS_MAX {
        errors.too_many(&conditions, conditions.len(), CONDITIONS_MAX);
    }
    meta::validate_conditions(&conditions, errors);
    let data = device.at("data");
    if data.is_set() {
        validate_raw(&data, RAW_MAX, errors);
    }
    validate_network_data(&device.at("networkData"), errors);
}

fn validate_network_data(network: &Node<'_>, errors: &mut Errors) {
    for (field, max) in
        [("interfaceName", INTERFACE_NAME_MAX), ("hardwareAddress", HARDWARE_ADDRESS_MAX)]
    {
        let text = network.at(field);
        if text.str().len() > max {
            errors.too_long(&text, max);
        }
    }
    let validate_address = &mut |address: &Node<'_>, errors: &mut Errors| {
        validate_text(address, names::interface_address, errors);
    };
    validate_set(&network.at("ips"), ADDRESSES_MAX, "", validate_address, errors);
}

fn validate_allocation(allocation: &Node<'_>, known: &RequestNames, errors: &mut Errors) {
    let devices = allocation.at("devices");
    let validate_result =
        &mut |result: &Node<'_>, errors: &mut Errors| validate_result(result, known, errors);
    validate_list(&devices.at("results"), RESULTS_MAX, validate_result, errors);
    let validate_config = &mut |config: &Node<'_>, errors: &mut Errors| {
        validate_required_choice(&config.at("source"), &["FromClaim", "FromClass"], errors);
        known.validate_set(&config.at("requests"), errors);
        validate_configuration(config, false, errors);
    };
    // Those of the claim and those of the class.
    validate_list(&devices.at("config"), 2 * CONFIGURATIONS_MAX, validate_config, errors);
    let selector = allocation.at("nodeSelector");
    if selector.is_set() {
        validate_node_selector(&selector, false, errors);
    }
}

fn validate_result(result: &Node<'_>, known: &RequestNames, errors: &mut Errors) {
    known.validate(&result.at("request"), errors);
    validate_driver_name(&result.at("driver"), errors);
    validate_pool_name(&result.at("pool"), errors);
    validate_label(&result.at("device"), errors);
    validate_binding_conditions(result, errors);
    let share = result.at("shareID");
    if share.is_set() {
        validate_uid(&share, errors);
    }
}
