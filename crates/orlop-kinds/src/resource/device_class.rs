//! DeviceClass: a kind of devices, and how they are set up.
//!
//! After `pkg/registry/resource/deviceclass` and `ValidateDeviceClass` in
//! `pkg/apis/resource/validation/validation.go`. Expressions are not compiled yet.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::collection::validate_list;
use super::configuration::{validate_configuration, validate_selectors};
use super::device_claim::CONFIGURATIONS_MAX;
use super::{GROUP_VERSION, PACKAGE};
use crate::rules::{generation, resource_name};

pub(crate) static KIND: DeviceClass = DeviceClass;

/// The kind.
pub(crate) struct DeviceClass;

impl Kind for DeviceClass {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "DeviceClass", "deviceclasses", PACKAGE).returns_deleted()
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let name = object.path(&["metadata", "name"]).clone();
        Row::new(vec![name, context.age(object).into()])
    }
}

impl Rules for DeviceClass {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(&object.at("spec"), false, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (spec, old_spec) = (new.at("spec"), old.at("spec"));
        let is_stored = spec.at("config").means_same_as(&old_spec.at("config"));
        validate_spec(&spec, is_stored, errors);
    }
}

fn validate_spec(spec: &Node<'_>, is_config_stored: bool, errors: &mut Errors) {
    validate_selectors(&spec.at("selectors"), errors);
    let validate_config = &mut |config: &Node<'_>, errors: &mut Errors| {
        validate_configuration(config, is_config_stored, errors);
    };
    validate_list(&spec.at("config"), CONFIGURATIONS_MAX, validate_config, errors);
    let name = spec.at("extendedResourceName");
    if name.is_set() && !resource_name::is_extended(name.str()) {
        errors.invalid(&name, "must be a valid extended resource name");
    }
}
