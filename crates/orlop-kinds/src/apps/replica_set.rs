//! ReplicaSet: a number of equal pods.
//!
//! After `pkg/registry/apps/replicaset`, `pkg/apis/apps/v1/defaults.go` and `ValidateReplicaSet` in
//! `pkg/apis/apps/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules, ScalePaths};
use orlop_machinery::label_selector::{self, LabelSelector};
use orlop_machinery::meta;
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::pod_spec::warnings::warn_about_pod_template;
use crate::rules::pod_spec::{PodOptions, validate_pod_template_spec};
use crate::rules::replica_status::{ReplicaStatus, validate_replica_status};
use crate::rules::scalar::validate_non_negative;
use crate::rules::{generation, meaning, pod_template, scale, status};

pub(crate) static KIND: ReplicaSet = ReplicaSet;
static STATUS: ReplicaSetStatus = ReplicaSetStatus;

/// The kind.
pub(crate) struct ReplicaSet;

/// Its status.
struct ReplicaSetStatus;

const TEMPLATE: &[&str] = &["spec", "template"];
const SPEC_STRUCT: &str = "io.k8s.api.apps.v1.ReplicaSetSpec";
const STATUS_STRUCT: &str = "io.k8s.api.apps.v1.ReplicaSetStatus";

const COUNTS: ReplicaStatus = ReplicaStatus {
    counts: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ],
    parts: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
    ready: "readyReplicas",
};

impl Kind for ReplicaSet {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "ReplicaSet", "replicasets", PACKAGE)
            .short(&["rs"])
            .categories(&["all"])
            .scale()
            .status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.apps.v1.ReplicaSet", |replica_set| {
            replica_set.entry("spec").set_default("replicas", 1);
        })]
    }

    fn scale_paths(&self) -> Option<ScalePaths<'_>> {
        Some(scale::BY_LABEL_SELECTOR)
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::integer("Desired"),
                Column::integer("Current"),
                Column::integer("Ready"),
                Column::AGE,
                Column::text("Containers").wide(),
                Column::text("Images").wide(),
                Column::text("Selector").wide(),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let (spec, status) = (object.at("spec"), object.at("status"));
        let [containers, images] = pod_template::container_cells(spec.at("template"));
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            spec.at("replicas").int().into(),
            status.at("replicas").int().into(),
            status.at("readyReplicas").int().into(),
            context.age(object).into(),
            containers,
            images,
            label_selector::format_value(spec.at("selector")).into(),
        ])
    }
}

impl Rules for ReplicaSet {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear_struct(object, STATUS_STRUCT);
        generation::start(object);
        pod_template::drop_disabled_fields(object, None, TEMPLATE);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        pod_template::drop_disabled_fields(new, Some(old), TEMPLATE);
        if !meaning::is_same(SPEC_STRUCT, new.at("spec"), old.at("spec")) {
            generation::count(new, old);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(&object.at("spec"), &PodOptions::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = pod_template::options_from_old(old.value().path(TEMPLATE));
        let (new, old) = (new.at("spec"), old.at("spec"));
        validate_spec(&new, &options, errors);
        meta::validate_immutable(&new.at("selector"), &old.at("selector"), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        pod_template::warn_about_name(object, warnings);
        warn_about_pod_template(&object.at("spec").at("template"), None, warnings);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        pod_template::warn_about_change(new, old, warnings);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for ReplicaSetStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_replica_status(&object.at("status"), &COUNTS, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

fn validate_spec(spec: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    validate_non_negative(&spec.at("replicas"), errors);
    validate_non_negative(&spec.at("minReadySeconds"), errors);
    validate_selector_and_template(spec, options, errors);
}

/// The selector and the template that fits it: the same for a Deployment, in the same words.
pub(super) fn validate_selector_and_template(
    spec: &Node<'_>,
    options: &PodOptions,
    errors: &mut Errors,
) {
    let selector = spec.at("selector");
    pod_template::validate_selector(&selector, "deployment", errors);
    let Ok(parsed) = LabelSelector::from_value(selector.value()) else {
        errors.invalid(&selector, "invalid label selector");
        return;
    };
    let template = spec.at("template");
    pod_template::validate_selector_matches(&parsed, &template, errors);
    validate_pod_template_spec(&template, options, errors);
    pod_template::validate_restarts_always(&template, "ReplicaSet", errors);
}
