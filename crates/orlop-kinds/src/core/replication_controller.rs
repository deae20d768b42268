//! ReplicationController: a number of equal pods, known by labels alone.
//!
//! After `pkg/registry/core/replicationcontroller` and `ValidateReplicationController` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{ErrorKind, Errors, FieldError};
use orlop_machinery::kind::{
    Column, Context, Defaulter, GarbageCollection, Kind, Resource, Row, Rules, ScalePaths,
    Selectable,
};
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;
use orlop_machinery::{Str, Value};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::pod_spec::warnings::warn_about_pod_template;
use crate::rules::pod_spec::{PodOptions, validate_pod_template_spec};
use crate::rules::replica_status::{ReplicaStatus, validate_replica_status};
use crate::rules::scalar::validate_non_negative;
use crate::rules::{generation, meaning, pod_template, scale, status};

pub(crate) static KIND: ReplicationController = ReplicationController;
static STATUS: ReplicationControllerStatus = ReplicationControllerStatus;

/// The kind.
pub(crate) struct ReplicationController;

/// Its status.
struct ReplicationControllerStatus;

const TEMPLATE: &[&str] = &["spec", "template"];
const SPEC_STRUCT: &str = "io.k8s.api.core.v1.ReplicationControllerSpec";
const STATUS_STRUCT: &str = "io.k8s.api.core.v1.ReplicationControllerStatus";

/// Starts the annotations that name fields which another version of the API cannot say.
const NON_CONVERTIBLE: &str = "non-convertible.kubernetes.io";

const COUNTS: ReplicaStatus = ReplicaStatus {
    counts: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
    ],
    parts: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
    ready: "readyReplicas",
};

impl Kind for ReplicationController {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("ReplicationController", "replicationcontrollers");
        Resource::namespaced(GROUP_VERSION, kind, plural, PACKAGE)
            .short(&["rc"])
            .categories(&["all"])
            .scale()
            .status(&STATUS)
    }

    /// What a name is generated from is not looked at.
    fn name_rule(&self) -> NameRule {
        |name, is_prefix| if is_prefix { Vec::new() } else { names::long_name(name) }
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.core.v1.ReplicationController", set_defaults)]
    }

    /// Pods stay, as they did before there was a choice.
    fn garbage_collection(&self) -> GarbageCollection {
        GarbageCollection::OrphanDependents
    }

    fn scale_paths(&self) -> Option<ScalePaths<'_>> {
        Some(scale::BY_LABELS)
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        &[Selectable {
            name: "status.replicas",
            get: |object| Str::from(object.path(&["status", "replicas"]).int().to_string()),
        }]
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
            pod_template::label_cell(spec.at("selector")),
        ])
    }
}

impl Rules for ReplicationController {
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
        validate_spec(&new.at("spec"), &options, errors);
        validate_non_convertible_fields(new, old, errors);
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
        // Upstream mixes them up and speaks of the old one.
        if generation::differs(new.value(), old.value()) {
            let (new, old) = (new.at("spec"), old.at("spec"));
            warn_about_pod_template(&old.at("template"), Some(&new.at("template")), warnings);
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for ReplicationControllerStatus {
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

/// The labels of the template are the selector and the labels of the controller too, where those
/// are missing.
fn set_defaults(controller: &mut Value) {
    let labels = controller.path(&["spec", "template", "metadata", "labels"]).clone();
    if labels.is_null() {
        return;
    }
    for part in ["spec", "metadata"] {
        let field = if part == "spec" { "selector" } else { "labels" };
        let part = controller.entry(part);
        if part.at(field).is_empty() {
            part.set(field, labels.clone());
        }
    }
}

fn validate_spec(spec: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    validate_non_negative(&spec.at("minReadySeconds"), errors);
    let selector = spec.at("selector");
    if selector.is_empty() {
        errors.required(&selector, "");
    }
    validate_non_negative(&spec.at("replicas"), errors);
    let template = spec.at("template");
    if !template.is_set() {
        errors.required(&template, "");
        return;
    }
    let selector = LabelSelector::from_labels(selector.map());
    pod_template::validate_selector_matches(&selector, &template, errors);
    validate_pod_template_spec(&template, options, errors);
    pod_template::validate_restarts_always(&template, "ReplicationController", errors);
}

/// What another version of the API could not say must stay as it is.
fn validate_non_convertible_fields(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    for (key, value) in old.value().path(&["metadata", "annotations"]).map().iter() {
        // A key has one slash: the rules of annotations see to it.
        let Some((_, field)) = key.split_once('/').filter(|_| key.starts_with(NON_CONVERTIBLE))
        else {
            continue;
        };
        if field.contains("selector") {
            let (new, old) = (new.at("spec"), old.at("spec"));
            let selector = new.at("selector");
            if selector.map() != old.at("selector").map() {
                errors.invalid(&selector, "cannot update non-convertible selector");
            }
        } else {
            errors.push(FieldError {
                kind: ErrorKind::NotFound,
                field: field.to_owned(),
                bad_value: Some(value.clone()),
                detail: "unknown non-convertible field".to_owned(),
            });
        }
    }
}
