//! HorizontalPodAutoscaler in `autoscaling/v1`, which knows one metric: the use of processors.
//!
//! Everything else travels in annotations. The rules are those of `v2`, and so are the fields that
//! errors name. Each rule turns the objects that it is given into `v2`; those that are `v2`
//! already, as stored ones are, it takes as they are.

use std::borrow::Cow;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::{COLUMNS, conversion, defaults, resource, v2};
use crate::schema;

pub(crate) static KIND: HorizontalPodAutoscaler = HorizontalPodAutoscaler;
static STATUS: HorizontalPodAutoscalerStatus = HorizontalPodAutoscalerStatus;

/// The kind.
pub(crate) struct HorizontalPodAutoscaler;

/// Its status.
struct HorizontalPodAutoscalerStatus;

impl Kind for HorizontalPodAutoscaler {
    fn resource(&self) -> Resource {
        resource("v1", &STATUS)
    }

    /// How much of a processor is enough is decided by the conversion, which knows whether there
    /// are other metrics.
    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler", |object| {
            object.entry("spec").set_default("minReplicas", 1);
        })]
    }

    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        v2::KIND.row(context, &in_v2(object))
    }

    fn to_storage(&self, object: &mut Value) {
        conversion::to_v2(object);
    }

    fn from_storage(&self, object: &mut Value) {
        defaults::set_defaults(object);
        conversion::to_v1(object);
    }
}

impl Rules for HorizontalPodAutoscaler {
    fn prepare_create(&self, context: &Context<'_>, object: &mut Value) {
        change_in_v2(object, |object| v2::KIND.prepare_create(context, object));
    }

    fn prepare_update(&self, context: &Context<'_>, new: &mut Value, old: &Value) {
        change_in_v2(new, |new| v2::KIND.prepare_update(context, new, &in_v2(old)));
    }

    fn validate(&self, context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        v2::KIND.validate(context, &node(&in_v2(object.value())), errors);
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (new, old) = (in_v2(new.value()), in_v2(old.value()));
        v2::KIND.validate_update(context, &node(&new), &node(&old), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        v2::KIND.reset_fields()
    }
}

impl Rules for HorizontalPodAutoscalerStatus {
    fn prepare_update(&self, context: &Context<'_>, new: &mut Value, old: &Value) {
        change_in_v2(new, |new| v2::STATUS.prepare_update(context, new, &in_v2(old)));
    }

    fn validate(&self, context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        v2::STATUS.validate(context, &node(&in_v2(object.value())), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        v2::STATUS.reset_fields()
    }
}

fn in_v2(object: &Value) -> Cow<'_, Value> {
    if conversion::is_v2(object) {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    conversion::to_v2(&mut object);
    Cow::Owned(object)
}

/// Changes an object as `v2`, and leaves it in the version that it came in.
fn change_in_v2(object: &mut Value, change: impl FnOnce(&mut Value)) {
    let is_v2 = conversion::is_v2(object);
    if !is_v2 {
        conversion::to_v2(object);
    }
    change(object);
    if !is_v2 {
        conversion::to_v1(object);
    }
}

fn node(object: &Value) -> Node<'_> {
    let name = "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler";
    let id = schema().find(name).expect("the catalog names this struct too");
    Node::of(object, schema(), id)
}
