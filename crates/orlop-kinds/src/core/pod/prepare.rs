//! What the server sets in a pod, whatever the client says.
//!
//! After `PrepareForCreate` and `PrepareForUpdate` in `pkg/registry/core/pod/strategy.go`.

use orlop_machinery::kind::Context;
use orlop_machinery::time::Time;
use orlop_machinery::{Map, Value};

use super::{SPEC_STRUCT, quality_of_service};
use crate::rules::pod_spec::visit::for_each_container_mut;
use crate::rules::pod_spec::{annotations, drop_disabled_fields};
use crate::rules::{generation, meaning};

/// A new pod waits for a node.
pub(super) fn prepare_create(context: &Context<'_>, pod: &mut Value) {
    generation::start(pod);
    let class = quality_of_service::of_pod(pod);
    pod.set("status", Value::from([("phase", "Pending"), ("qosClass", class.as_str())]));
    let spec = pod.entry("spec");
    drop_disabled_fields(spec, None);
    if !spec.at("schedulingGates").is_empty() {
        tell_of_gates(context, pod.entry("status"));
    }
    let labels = pod.path(&["metadata", "labels"]).map().clone();
    select_by_own_labels(pod.entry("spec"), &labels);
    let annotations = pod.path(&["metadata", "annotations"]).map().clone();
    set_app_armor_profiles(pod.entry("spec"), &annotations);
}

/// What every change of a spec does: fields of features that are off go, and the generation
/// counts it.
pub(super) fn settle_spec(new: &mut Value, old: &Value) {
    drop_disabled_fields(new.entry("spec"), old.get("spec"));
    if !meaning::is_same(SPEC_STRUCT, new.at("spec"), old.at("spec")) {
        generation::count(new, old);
    }
}

fn tell_of_gates(context: &Context<'_>, status: &mut Value) {
    let now = Time::from_unix(context.now_seconds).to_string();
    let condition = Value::from([
        ("type", "PodScheduled"),
        ("status", "False"),
        ("lastTransitionTime", now.as_str()),
        ("reason", "SchedulingGated"),
        ("message", "Scheduling is blocked due to non-empty scheduling gates"),
    ]);
    status.set("conditions", vec![condition]);
}

/// Who asks for pods like itself by the keys of labels asks for the labels that it has now.
fn select_by_own_labels(spec: &mut Value, labels: &Map) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = spec.path_mut(&["affinity", kind]) else { continue };
        if let Some(terms) = affinity.get_mut("preferredDuringSchedulingIgnoredDuringExecution") {
            for weighted in terms.list_mut() {
                add_requirements(weighted.entry("podAffinityTerm"), labels);
            }
        }
        if let Some(terms) = affinity.get_mut("requiredDuringSchedulingIgnoredDuringExecution") {
            terms.list_mut().iter_mut().for_each(|term| add_requirements(term, labels));
        }
    }
    if let Some(constraints) = spec.get_mut("topologySpreadConstraints") {
        constraints.list_mut().iter_mut().for_each(|found| add_requirements(found, labels));
    }
}

/// Adds to the selector of a term or a constraint. Without a selector no pod is meant, and that
/// stays so.
fn add_requirements(selecting: &mut Value, labels: &Map) {
    if selecting.at("labelSelector").is_null() {
        return;
    }
    let mut requirements = Vec::new();
    for (field, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        for key in selecting.at(field).list() {
            if let Some(value) = labels.get(key.str()) {
                requirements.push(Value::from([
                    ("key", key.clone()),
                    ("operator", Value::from(operator)),
                    ("values", Value::from(vec![value.clone()])),
                ]));
            }
        }
    }
    if !requirements.is_empty() {
        let selector = selecting.entry("labelSelector");
        selector.entry("matchExpressions").make_list().extend(requirements);
    }
}

/// Profiles in annotations, from before there was a field, are set in the field as well, unless
/// the pod as a whole has the same.
fn set_app_armor_profiles(spec: &mut Value, annotations: &Map) {
    if spec.path(&["os", "name"]).str() == "windows" {
        return;
    }
    let of_pod = spec.path(&["securityContext", "appArmorProfile"]).clone();
    for_each_container_mut(spec, |container| {
        let name = container.at("name").str();
        let Some(annotation) = annotations::app_armor_annotation(annotations, name) else { return };
        if !container.path(&["securityContext", "appArmorProfile"]).is_null() {
            return;
        }
        let profile = annotations::valid_app_armor_profile(annotation);
        if let Some(profile) = profile.filter(|profile| *profile != of_pod) {
            container.entry("securityContext").set("appArmorProfile", profile);
        }
    });
}
