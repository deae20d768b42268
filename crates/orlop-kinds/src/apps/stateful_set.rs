//! StatefulSet: pods with a name, and storage, of their own.
//!
//! After `pkg/registry/apps/statefulset`, `pkg/apis/apps/v1/{defaults,conversion}.go` and
//! `ValidateStatefulSet` in `pkg/apis/apps/validation/validation.go`.

use std::collections::BTreeMap;

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules, ScalePaths};
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::meta;
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::int_or_percent::{is_zero, validate_at_most_all, validate_int_or_percent};
use crate::rules::persistent_volume_claim_spec::{
    ClaimOptions, validate_claim_spec, warn_of_claim_spec,
};
use crate::rules::pod_spec::warnings::warn_about_pod_template;
use crate::rules::pod_spec::{self, PodOptions, annotations};
use crate::rules::replica_status::{
    ReplicaStatus, validate_collision_count, validate_replica_status,
};
use crate::rules::scalar::{validate_non_negative, validate_optional_text};
use crate::rules::{generation, meaning, pod_template, scale, status};

pub(crate) static KIND: StatefulSet = StatefulSet;
static STATUS: StatefulSetStatus = StatefulSetStatus;

/// The kind.
pub(crate) struct StatefulSet;

/// Its status.
struct StatefulSetStatus;

/// Which rules look away.
#[derive(Clone, Copy)]
struct Options {
    pod: PodOptions,
    /// The name of the service and the templates of claims cannot be changed, so an update does
    /// not look at them.
    is_update: bool,
    /// The old template is not right either.
    allows_invalid_template: bool,
}

const TEMPLATE: &[&str] = &["spec", "template"];
const SPEC_STRUCT: &str = "io.k8s.api.apps.v1.StatefulSetSpec";
const STATUS_STRUCT: &str = "io.k8s.api.apps.v1.StatefulSetStatus";

const COUNTS: ReplicaStatus = ReplicaStatus {
    counts: &[
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ],
    parts: &["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
    ready: "status.readyReplicas",
};

/// What of a spec can be changed.
const MUTABLE: [&str; 7] = [
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
];
const IMMUTABLE: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
                         'template', 'updateStrategy', 'revisionHistoryLimit', \
                         'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are \
                         forbidden";

impl Kind for StatefulSet {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "StatefulSet", "statefulsets", PACKAGE)
            .short(&["sts"])
            .categories(&["all"])
            .scale()
            .status(&STATUS)
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_dns_label
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.apps.v1.StatefulSet", set_defaults)]
    }

    fn scale_paths(&self) -> Option<ScalePaths<'_>> {
        Some(scale::BY_LABEL_SELECTOR)
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Ready"),
                Column::AGE,
                Column::text("Containers").wide(),
                Column::text("Images").wide(),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let ready = object.path(&["status", "readyReplicas"]).int();
        let replicas = object.path(&["spec", "replicas"]).int();
        let [containers, images] = pod_template::container_cells(object.path(TEMPLATE));
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            format!("{ready}/{replicas}").into(),
            context.age(object).into(),
            containers,
            images,
        ])
    }
}

impl Rules for StatefulSet {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear_struct(object, STATUS_STRUCT);
        generation::start(object);
        drop_disabled_fields(object, None);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        drop_disabled_fields(new, Some(old));
        if !meaning::is_same(SPEC_STRUCT, new.at("spec"), old.at("spec")) {
            generation::count(new, old);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let options = Options {
            pod: PodOptions::default(),
            is_update: false,
            allows_invalid_template: false,
        };
        validate_spec(&object.at("spec"), options, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let pod = pod_template::options_from_old(old.value().path(TEMPLATE));
        let mut options = Options { pod, is_update: true, allows_invalid_template: false };
        let (new, old) = (new.at("spec"), old.at("spec"));
        let mut old_errors = Errors::new();
        validate_spec(&old, options, &mut old_errors);
        options.allows_invalid_template = !old_errors.is_empty();
        validate_spec(&new, options, errors);
        let mut unchanged = new.value().clone();
        for field in MUTABLE {
            status::keep(&mut unchanged, old.value(), field);
        }
        if !meaning::is_same(SPEC_STRUCT, &unchanged, old.value()) {
            errors.forbidden(&new, IMMUTABLE);
        }
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_pod_template(&object.at("spec").at("template"), None, warnings);
        for claim in object.at("spec").at("volumeClaimTemplates").items() {
            warn_of_claim_spec(claim.path(), claim.value().at("spec"), warnings);
        }
        warn_of_endless_history(object, warnings);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        pod_template::warn_about_change(new, old, warnings);
        for claim in new.at("spec").at("volumeClaimTemplates").items() {
            // Upstream names another place here than on creation.
            warn_of_claim_spec(&claim.path().child("Spec"), claim.value().at("spec"), warnings);
        }
        warn_of_endless_history(new, warnings);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for StatefulSetStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
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
        &["spec"]
    }
}

fn warn_of_endless_history(object: &Node<'_>, warnings: &mut Vec<String>) {
    if object.at("spec").at("revisionHistoryLimit").int() < 0 {
        let warning = "spec.revisionHistoryLimit: a negative value retains all historical \
                       revisions; a value >= 0 is recommended";
        warnings.push(warning.to_owned());
    }
}

fn set_defaults(stateful_set: &mut Value) {
    let spec = stateful_set.entry("spec");
    if spec.at("podManagementPolicy").is_empty() {
        spec.set("podManagementPolicy", "OrderedReady");
    }
    let strategy = spec.entry("updateStrategy");
    if strategy.at("type").is_empty() {
        strategy.set("type", "RollingUpdate");
        strategy.entry("rollingUpdate").make_map();
    }
    if strategy.at("type").str() == "RollingUpdate"
        && let Some(rolling_update) = strategy.get_mut("rollingUpdate")
    {
        rolling_update.set_default("partition", 0);
    }
    let policy = spec.entry("persistentVolumeClaimRetentionPolicy");
    for field in ["whenDeleted", "whenScaled"] {
        if policy.at(field).is_empty() {
            policy.set(field, "Retain");
        }
    }
    spec.set_default("replicas", 1);
    spec.set_default("revisionHistoryLimit", 10);
    if let Some(claims) = spec.get_mut("volumeClaimTemplates") {
        for claim in claims.list_mut() {
            claim.set("apiVersion", "v1");
            claim.set("kind", "PersistentVolumeClaim");
        }
    }
}

/// How many pods may be missing at once is a feature that is off.
fn drop_disabled_fields(new: &mut Value, old: Option<&Value>) {
    let rolling_update = ["spec", "updateStrategy", "rollingUpdate"];
    let is_in_use =
        old.is_some_and(|old| !old.path(&rolling_update).at("maxUnavailable").is_null());
    if !is_in_use && let Some(rolling_update) = new.path_mut(&rolling_update) {
        rolling_update.remove("maxUnavailable");
    }
    pod_template::drop_disabled_fields(new, old, TEMPLATE);
}

fn validate_spec(spec: &Node<'_>, options: Options, errors: &mut Errors) {
    let policy = spec.at("podManagementPolicy");
    if !matches!(policy.str(), "OrderedReady" | "Parallel") {
        errors.invalid(&policy, "must be 'OrderedReady' or 'Parallel'");
    }
    validate_update_strategy(&spec.at("updateStrategy"), errors);
    let retention = spec.at("persistentVolumeClaimRetentionPolicy");
    for field in ["whenDeleted", "whenScaled"] {
        let policy = retention.at(field);
        if retention.is_set() && !matches!(policy.str(), "Retain" | "Delete") {
            errors.not_supported(&policy, &["Retain", "Delete"]);
        }
    }
    if !options.is_update {
        for claim in spec.at("volumeClaimTemplates").items() {
            validate_claim_spec(&claim.at("spec"), ClaimOptions::default(), errors);
        }
    }
    validate_non_negative(&spec.at("replicas"), errors);
    validate_non_negative(&spec.at("minReadySeconds"), errors);
    validate_non_negative(&spec.at("ordinals").at("start"), errors);
    if !options.is_update {
        validate_optional_text(&spec.at("serviceName"), names::dns_label, errors);
    }
    let selector = spec.at("selector");
    pod_template::validate_selector(&selector, "statefulset", errors);
    let template = spec.at("template");
    match LabelSelector::from_value(selector.value()) {
        Err(_) => errors.invalid(&selector, ""),
        Ok(selector) => {
            let completed = completed_template(spec.value());
            let completed = Node::new(&completed, *template.path());
            pod_template::validate_selector_matches(&selector, &completed, errors);
            validate_template(&completed, options, errors);
        }
    }
    pod_template::validate_restarts_always(&template, "StatefulSet", errors);
}

fn validate_update_strategy(strategy: &Node<'_>, errors: &mut Errors) {
    let rolling_update = strategy.at("rollingUpdate");
    match strategy.at("type").str() {
        "OnDelete" => {
            if rolling_update.is_set() {
                let detail = "only allowed for updateStrategy 'RollingUpdate'";
                errors.invalid(&rolling_update, detail);
            }
        }
        "RollingUpdate" => {
            validate_non_negative(&rolling_update.at("partition"), errors);
            let unavailable = rolling_update.at("maxUnavailable");
            if unavailable.is_set() {
                validate_int_or_percent(&unavailable, errors);
                if is_zero(&unavailable) {
                    errors.invalid(&unavailable, "cannot be 0");
                }
                validate_at_most_all(&unavailable, errors);
            }
        }
        _ => errors.invalid(strategy, "must be 'RollingUpdate' or 'OnDelete'"),
    }
}

/// The template as pods get it: the controller sets their names, and adds a volume for each claim.
fn completed_template(spec: &Value) -> Value {
    let mut template = spec.at("template").clone();
    let claims = spec.at("volumeClaimTemplates").list();
    let Some(pod) = template.get_mut("spec") else { return template };
    pod.remove("subdomain");
    pod.remove("hostname");
    if claims.is_empty() {
        return template;
    }
    let claimed: BTreeMap<&str, Value> = claims
        .iter()
        .map(|claim| {
            let name = claim.path(&["metadata", "name"]).str();
            let source = Value::from([("claimName", name)]);
            let volume = [("name", Value::from(name)), ("persistentVolumeClaim", source)];
            (name, Value::from(volume))
        })
        .collect();
    let others = pod.at("volumes").list().iter();
    let others = others.filter(|volume| !claimed.contains_key(volume.at("name").str())).cloned();
    let others: Vec<Value> = others.collect();
    let volumes: Vec<Value> = claimed.into_values().chain(others).collect();
    pod.set("volumes", volumes);
    template
}

/// As upstream, labels and annotations are looked at once more after all the rest.
fn validate_template(template: &Node<'_>, options: Options, errors: &mut Errors) {
    if !options.allows_invalid_template {
        pod_spec::validate_pod_template_spec(template, &options.pod, errors);
    }
    let metadata = template.value().at("metadata");
    let labels = Node::new(metadata.at("labels"), template.path().child("labels"));
    meta::validate_labels(&labels, errors);
    let found = Node::new(metadata.at("annotations"), template.path().child("annotations"));
    meta::validate_annotations(&found, errors);
    let spec = template.value().at("spec");
    annotations::validate_pod_annotations(&found, spec, &options.pod, errors);
}
