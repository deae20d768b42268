//! VolumeAttributesClass: attributes of volumes that can be changed while they are in use.
//!
//! After `pkg/registry/storage/volumeattributesclass` and
//! `pkg/apis/storage/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::parameters::{validate_driver_name, validate_parameters};
use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: VolumeAttributesClass = VolumeAttributesClass;

/// The kind.
pub(crate) struct VolumeAttributesClass;

impl Kind for VolumeAttributesClass {
    fn resource(&self) -> Resource {
        let plural = "volumeattributesclasses";
        Resource::cluster(GROUP_VERSION, "VolumeAttributesClass", plural, PACKAGE)
            .short(&["vac"])
            .returns_deleted()
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("DriverName"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            object.at("driverName").str().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for VolumeAttributesClass {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_driver_name(&object.at("driverName"), errors);
        let parameters = object.at("parameters");
        validate_parameters(&parameters, errors);
        if parameters.is_empty() {
            errors.required(&parameters, "must contain at least one key/value pair");
        }
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        if new.at("driverName").str() != old.at("driverName").str() {
            errors.forbidden(&new.at("driverName"), "updates to driverName are forbidden.");
        }
        if new.at("parameters").map() != old.at("parameters").map() {
            errors.forbidden(&new.at("parameters"), "updates to parameters are forbidden.");
        }
        self.validate(context, new, errors);
    }
}
