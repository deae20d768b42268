//! The status of a claim.
//!
//! After `ValidatePersistentVolumeClaimStatusUpdate` in `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{Errors, Path};
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, names};

use crate::core::persistent_volume::validate_resource_version;
use crate::rules::resource_name::is_native;
use crate::rules::resource_requirements::validate_basic_resource;
use crate::rules::status::keep;

/// The endpoint.
pub(super) struct PersistentVolumeClaimStatus;

/// How far a change of the size has come.
const RESIZE_STATUSES: &[&str] = &[
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

impl Rules for PersistentVolumeClaimStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        keep(new, old, "spec");
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        _old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_resource_version(new, errors);
        if new.value().path(&["spec", "accessModes"]).is_empty() {
            errors.required(&Path::field("Spec.accessModes"), "");
        }
        let status = new.at("status");
        for (_, amount) in status.at("capacity").entries() {
            validate_basic_resource(&amount, errors);
        }
        validate_resize_statuses(&status.at("allocatedResourceStatuses"), errors);
        validate_allocated_resources(&status.at("allocatedResources"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

fn validate_resize_statuses(statuses: &Node<'_>, errors: &mut Errors) {
    for (name, status) in statuses.map().iter() {
        validate_name(statuses, name, errors);
        if !RESIZE_STATUSES.contains(&status.str()) {
            errors.not_supported_value(statuses, name, RESIZE_STATUSES);
        }
    }
}

fn validate_allocated_resources(resources: &Node<'_>, errors: &mut Errors) {
    for (name, amount) in resources.entries() {
        let before = errors.len();
        validate_name(resources, name, errors);
        if errors.len() == before {
            validate_basic_resource(&amount, errors);
        }
    }
}

/// `storage`, or a resource of somebody else's.
fn validate_name(resources: &Node<'_>, name: &str, errors: &mut Errors) {
    let messages = names::qualified_name(name);
    if messages.is_empty() && is_native(name) && name != "storage" {
        errors.not_supported_value(resources, name, &["storage"]);
    }
    for message in messages {
        errors.invalid_value(resources, name, message);
    }
}
