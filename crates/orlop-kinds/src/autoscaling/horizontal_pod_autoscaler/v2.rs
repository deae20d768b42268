//! HorizontalPodAutoscaler in `autoscaling/v2`: the version that is stored.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::{COLUMNS, defaults, resource, spec, targets};
use crate::rules::scalar::validate_non_negative;
use crate::rules::status;

pub(crate) static KIND: HorizontalPodAutoscaler = HorizontalPodAutoscaler;
pub(super) static STATUS: HorizontalPodAutoscalerStatus = HorizontalPodAutoscalerStatus;

/// The kind.
pub(crate) struct HorizontalPodAutoscaler;

/// Its status.
pub(super) struct HorizontalPodAutoscalerStatus;

const STATUS_STRUCT: &str = "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus";

impl Kind for HorizontalPodAutoscaler {
    fn resource(&self) -> Resource {
        resource("v2", &STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler", defaults::set_defaults)]
    }

    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let (spec, status) = (object.at("spec"), object.at("status"));
        let target = spec.at("scaleTargetRef");
        let reference = format!("{}/{}", target.at("kind").str(), target.at("name").str());
        let min = spec.at("minReplicas").as_int();
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            reference.into(),
            targets::cell(spec.at("metrics"), status.at("currentMetrics")).into(),
            min.map_or("<unset>".to_owned(), |min| min.to_string()).into(),
            spec.at("maxReplicas").int().into(),
            status.at("currentReplicas").int().into(),
            context.age(object).into(),
        ])
    }

    /// What `v1` wrote has not had the defaults of this version.
    fn from_storage(&self, object: &mut Value) {
        defaults::set_defaults(object);
    }
}

impl Rules for HorizontalPodAutoscaler {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear_struct(object, STATUS_STRUCT);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        spec::validate(&object.at("spec"), None, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        spec::validate(&new.at("spec"), Some(old.value().at("spec")), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for HorizontalPodAutoscalerStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let status = object.at("status");
        validate_non_negative(&status.at("currentReplicas"), errors);
        validate_non_negative(&status.at("desiredReplicas"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}
