//! What may change in the template of a job that exists.
//!
//! After `validatePodTemplateUpdate` in `pkg/apis/batch/validation/validation.go`: nothing, unless
//! the job is suspended and has no pods; then where pods run, and what they need.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

use crate::rules::{meaning, status};

const IMMUTABLE: &str = "field is immutable";

/// What of a pod spec says where pods run.
const SCHEDULING: [&str; 3] = ["nodeSelector", "tolerations", "schedulingGates"];

/// Reports a change that is not allowed; `is_mutable` if some are.
pub(super) fn validate(new: &Node<'_>, old: &Node<'_>, is_mutable: bool, errors: &mut Errors) {
    let (template, old) = (new.at("template"), old.at("template"));
    if !is_mutable {
        if !meaning::is_same("io.k8s.api.core.v1.PodTemplateSpec", template.value(), old.value()) {
            errors.invalid(&template, IMMUTABLE);
        }
        return;
    }
    let spec = template.at("spec");
    let mut expect = old.value().at("spec").clone();
    copy_scheduling(&mut expect, spec.value());
    for list in ["containers", "initContainers"] {
        copy_resources(&mut expect, spec.value(), list);
    }
    if !meaning::is_same("io.k8s.api.core.v1.PodSpec", spec.value(), &expect) {
        errors.invalid(&spec, IMMUTABLE);
    }
}

fn copy_scheduling(old: &mut Value, new: &Value) {
    let is_set = |spec: &Value| !spec.at("affinity").is_null();
    if is_set(new) {
        status::keep(old.entry("affinity"), new.at("affinity"), "nodeAffinity");
    } else if is_set(old) {
        let affinity = old.entry("affinity");
        affinity.remove("nodeAffinity");
        if affinity.is_empty() {
            old.remove("affinity");
        }
    }
    for field in SCHEDULING {
        status::keep(old, new, field);
    }
}

/// Containers are the same ones when their number and their names are.
fn copy_resources(old: &mut Value, new: &Value, list: &str) {
    let new = new.at(list).list();
    let Some(old) = old.get_mut(list) else { return };
    if old.list().len() != new.len() {
        return;
    }
    for (old, new) in old.list_mut().iter_mut().zip(new) {
        if old.at("name") == new.at("name") {
            status::keep(old, new, "resources");
        }
    }
}
