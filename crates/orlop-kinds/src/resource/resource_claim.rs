//! ResourceClaim: that somebody wants devices, and which were given.
//!
//! After `pkg/registry/resource/resourceclaim` and `ValidateResourceClaim` in
//! `pkg/apis/resource/validation/validation.go`.
//!
//! Not here, for they ask about more than the claim: whether the namespace allows access as an
//! administrator, and whether the writer of a status may bind claims and report on devices.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::meta::{self, update};
use orlop_machinery::node::Node;

use super::allocation::{drop_lost_devices, validate_status_update};
use super::device_claim::{default_request, validate_claim_spec};
use super::{GROUP_VERSION, PACKAGE};
use crate::rules::status;

pub(crate) static KIND: ResourceClaim = ResourceClaim;

/// The kind.
pub(crate) struct ResourceClaim;

/// Its status.
struct ResourceClaimStatus;

impl Kind for ResourceClaim {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "ResourceClaim", "resourceclaims", PACKAGE)
            .returns_deleted()
            .status(&ResourceClaimStatus)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[
            ("io.k8s.api.resource.v1.ExactDeviceRequest", default_request),
            ("io.k8s.api.resource.v1.DeviceSubRequest", default_request),
        ]
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("State"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            state(object).into(),
            context.age(object).into(),
        ])
    }
}

fn state(object: &Value) -> String {
    let status = object.at("status");
    let is_deleted = !object.path(&["metadata", "deletionTimestamp"]).is_null();
    let is_allocated = !status.at("allocation").is_null();
    let states = [
        (is_deleted, "deleted"),
        (!is_allocated && !is_deleted, "pending"),
        (is_allocated, "allocated"),
        (is_allocated && !status.at("reservedFor").is_empty(), "reserved"),
    ];
    let states: Vec<&str> = states.iter().filter(|(holds, _)| *holds).map(|it| it.1).collect();
    states.join(",")
}

impl Rules for ResourceClaim {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_claim_spec(&object.at("spec"), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        meta::validate_immutable(&new.at("spec"), &old.at("spec"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for ResourceClaimStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        update::keep_for_status(new, old);
        drop_lost_devices(new, old);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_status_update(new, old, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["metadata", "spec"]
    }
}
