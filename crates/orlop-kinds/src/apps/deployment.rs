//! Deployment: pods that are replaced step by step when their template changes.
//!
//! After `pkg/registry/apps/deployment`, `pkg/apis/apps/v1/defaults.go` and `ValidateDeployment` in
//! `pkg/apis/apps/validation/validation.go`. The endpoint `rollback` of older versions is not
//! there; what is left of it is an annotation with the revision to go back to.

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules, ScalePaths};
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::meta;
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE, number_annotation, replica_set};
use crate::rules::int_or_percent::{is_zero, validate_at_most_all, validate_int_or_percent};
use crate::rules::pod_spec::PodOptions;
use crate::rules::pod_spec::warnings::warn_about_pod_template;
use crate::rules::replica_status::{
    ReplicaStatus, validate_collision_count, validate_replica_status,
};
use crate::rules::scalar::validate_non_negative;
use crate::rules::{generation, meaning, pod_template, scale, status};

pub(crate) static KIND: Deployment = Deployment;
static STATUS: DeploymentStatus = DeploymentStatus;

/// The kind.
pub(crate) struct Deployment;

/// Its status.
struct DeploymentStatus;

const TEMPLATE: &[&str] = &["spec", "template"];
const SPEC_STRUCT: &str = "io.k8s.api.apps.v1.DeploymentSpec";
const STATUS_STRUCT: &str = "io.k8s.api.apps.v1.DeploymentStatus";

/// The revision to go back to.
const ROLLBACK: &str = "deprecated.deployment.rollback.to";

const COUNTS: ReplicaStatus = ReplicaStatus {
    counts: &[
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ],
    parts: &["updatedReplicas", "readyReplicas", "availableReplicas"],
    ready: "readyReplicas",
};

impl Kind for Deployment {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Deployment", "deployments", PACKAGE)
            .short(&["deploy"])
            .categories(&["all"])
            .scale()
            .status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.apps.v1.Deployment", set_defaults)]
    }

    fn scale_paths(&self) -> Option<ScalePaths<'_>> {
        Some(scale::BY_LABEL_SELECTOR)
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Ready"),
                Column::text("Up-to-date"),
                Column::text("Available"),
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
        let selector = LabelSelector::from_value(spec.at("selector"));
        let selector = selector.map_or("<invalid>".into(), |selector| selector.to_string());
        let ready = status.at("readyReplicas").int();
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            format!("{ready}/{}", spec.at("replicas").int()).into(),
            status.at("updatedReplicas").int().into(),
            status.at("availableReplicas").int().into(),
            context.age(object).into(),
            containers,
            images,
            selector.into(),
        ])
    }
}

impl Rules for Deployment {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear_struct(object, STATUS_STRUCT);
        generation::start(object);
        pod_template::drop_disabled_fields(object, None, TEMPLATE);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        pod_template::drop_disabled_fields(new, Some(old), TEMPLATE);
        // Annotations count because replica sets get a copy of them.
        let annotations = ["metadata", "annotations"];
        if !meaning::is_same(SPEC_STRUCT, new.at("spec"), old.at("spec"))
            || new.path(&annotations).map() != old.path(&annotations).map()
        {
            generation::count(new, old);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(object, &PodOptions::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = pod_template::options_from_old(old.value().path(TEMPLATE));
        validate_spec(new, &options, errors);
        let (new, old) = (new.at("spec"), old.at("spec"));
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

impl Rules for DeploymentStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        number_annotation::keep(new, old, ROLLBACK);
        status::keep(new.entry("metadata"), old.at("metadata"), "labels");
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (new, old) = (new.at("status"), old.at("status"));
        validate_replica_status(&new, &COUNTS, errors);
        validate_collision_count(&new, &old, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "metadata.labels"]
    }
}

fn set_defaults(deployment: &mut Value) {
    let spec = deployment.entry("spec");
    spec.set_default("replicas", 1);
    let strategy = spec.entry("strategy");
    if strategy.at("type").is_empty() {
        strategy.set("type", "RollingUpdate");
    }
    if strategy.at("type").str() == "RollingUpdate" {
        let rolling_update = strategy.entry("rollingUpdate");
        rolling_update.set_default("maxUnavailable", "25%");
        rolling_update.set_default("maxSurge", "25%");
    }
    spec.set_default("revisionHistoryLimit", 10);
    spec.set_default("progressDeadlineSeconds", 600);
    match number_annotation::read(deployment, ROLLBACK) {
        Some(revision) => number_annotation::write(deployment, ROLLBACK, revision),
        None if deployment.path(&["metadata", "annotations", ROLLBACK]).is_empty() => {
            number_annotation::remove(deployment, ROLLBACK);
        }
        None => {}
    }
}

fn validate_spec(deployment: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    let spec = deployment.at("spec");
    validate_non_negative(&spec.at("replicas"), errors);
    replica_set::validate_selector_and_template(&spec, options, errors);
    validate_strategy(&spec.at("strategy"), errors);
    let min_ready = spec.at("minReadySeconds");
    validate_non_negative(&min_ready, errors);
    validate_non_negative(&spec.at("revisionHistoryLimit"), errors);
    number_annotation::validate(deployment, ROLLBACK, errors);
    if let Some(revision) = number_annotation::read(deployment.value(), ROLLBACK)
        && revision < 0
    {
        let rollback = spec.path().child("rollback");
        let detail = "must be greater than or equal to 0";
        errors.invalid_value(&rollback.child("version"), revision, detail);
    }
    let deadline = spec.at("progressDeadlineSeconds");
    if deadline.is_set() {
        validate_non_negative(&deadline, errors);
        if deadline.int() <= min_ready.int() {
            errors.invalid(&deadline, "must be greater than minReadySeconds");
        }
    }
}

fn validate_strategy(strategy: &Node<'_>, errors: &mut Errors) {
    let rolling_update = strategy.at("rollingUpdate");
    match strategy.at("type").str() {
        "Recreate" => {
            if rolling_update.is_set() {
                let detail = "may not be specified when strategy `type` is 'Recreate'";
                errors.forbidden(&rolling_update, detail);
            }
        }
        "RollingUpdate" => validate_rolling_update(&rolling_update, errors),
        _ => errors.not_supported(strategy, &["Recreate", "RollingUpdate"]),
    }
}

fn validate_rolling_update(rolling_update: &Node<'_>, errors: &mut Errors) {
    let unavailable = rolling_update.at("maxUnavailable");
    let surge = rolling_update.at("maxSurge");
    validate_int_or_percent(&unavailable, errors);
    validate_int_or_percent(&surge, errors);
    if is_zero(&unavailable) && is_zero(&surge) {
        errors.invalid(&unavailable, "may not be 0 when `maxSurge` is 0");
    }
    validate_at_most_all(&unavailable, errors);
}
