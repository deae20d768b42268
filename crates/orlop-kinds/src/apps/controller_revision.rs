//! ControllerRevision: what a controller wanted at some time, kept so that it can go back.
//!
//! After `pkg/registry/apps/controllerrevision` and `ValidateControllerRevisionCreate` in
//! `pkg/apis/apps/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::meta::{self, Meta};
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::scalar::validate_non_negative;

pub(crate) static KIND: ControllerRevision = ControllerRevision;

/// The kind.
pub(crate) struct ControllerRevision;

impl Kind for ControllerRevision {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "ControllerRevision", "controllerrevisions", PACKAGE)
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Controller"), Column::text("Revision"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let controller = Meta::of(object).controller().map_or("<none>".to_owned(), |controller| {
            let kind = controller.group_version_kind().group_kind().to_string();
            format!("{}/{}", kind.to_lowercase(), controller.name)
        });
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            controller.into(),
            object.at("revision").int().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for ControllerRevision {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_non_negative(&object.at("revision"), errors);
        let data = object.at("data");
        match data.value() {
            Value::Map(_) => {}
            Value::Null => errors.required(&data, "data is mandatory"),
            _ => errors.required(&data, "data must be a valid JSON object"),
        }
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_non_negative(&new.at("revision"), errors);
        meta::validate_immutable(&new.at("data"), &old.at("data"), errors);
    }
}
