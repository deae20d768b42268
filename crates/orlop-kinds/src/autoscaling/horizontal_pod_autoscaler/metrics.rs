//! The metrics that a HorizontalPodAutoscaler goes by.
//!
//! After `validateMetrics` in `pkg/apis/autoscaling/validation/validation.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::reference::{self, ReferenceOptions};
use crate::rules::resource_list::quantity;
use crate::rules::resource_name::validate_container_resource_name;

/// The types of metrics, each with its field. The order is that in which fields are looked at.
const SOURCES: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

/// The types, sorted as they are shown.
const TYPES: &[&str] = &["ContainerResource", "External", "Object", "Pods", "Resource"];

/// Reports all that is wrong with the metrics of a spec.
pub(super) fn validate(spec: &Node<'_>, options: ReferenceOptions, errors: &mut Errors) {
    let metrics = spec.at("metrics");
    for metric in metrics.items() {
        validate_metric(&metric, options, errors);
    }
    // Without pods, only what is outside of them can be measured.
    let mut types = metrics.list().iter().map(|metric| metric.at("type").str());
    let min = spec.at("minReplicas");
    if min.is_set() && min.int() == 0 && !types.any(|kind| matches!(kind, "Object" | "External")) {
        let detail = "must specify at least one Object or External metric to support scaling to \
                      zero replicas";
        errors.forbidden(&metrics, detail);
    }
}

fn validate_metric(metric: &Node<'_>, options: ReferenceOptions, errors: &mut Errors) {
    let kind = metric.at("type");
    let expected = SOURCES.iter().find(|(known, _)| *known == kind.str()).map(|(_, field)| *field);
    if kind.is_empty() {
        errors.required(&kind, "must specify a metric source type");
    }
    if expected.is_none() {
        errors.not_supported(&kind, TYPES);
    }
    let is_present = |(_, field): &&(&str, &str)| metric.at(field).is_set();
    let present: Vec<&str> = SOURCES.iter().filter(is_present).map(|(_, field)| *field).collect();
    if let Some(field) = present.first() {
        validate_source(&metric.at(field), field, options, errors);
    }
    match expected {
        Some(expected) if !metric.at(expected).is_set() => {
            let detail = "must populate information for the given metric source";
            errors.required(&metric.at(expected), detail);
        }
        Some(_) => {}
        // As upstream, this is said twice.
        None => errors.not_supported(&kind, TYPES),
    }
    if present.len() != 1 {
        for field in present.iter().filter(|field| Some(**field) != expected) {
            let detail = "must populate the given metric source only";
            errors.forbidden(&metric.at(field), detail);
        }
    }
}

fn validate_source(source: &Node<'_>, field: &str, options: ReferenceOptions, errors: &mut Errors) {
    let target = source.at("target");
    match field {
        "object" => {
            reference::validate(&source.at("describedObject"), options, errors);
            validate_metric_name(source, errors);
            validate_target(&target, errors);
            let detail = "must set either a target value or averageValue";
            require_one(&target, ["averageValue", "value"], detail, errors);
        }
        "external" => {
            validate_metric_name(source, errors);
            validate_target(&target, errors);
            let detail = "must set either a target value for metric or a per-pod target";
            require_one(&target, ["averageValue", "value"], detail, errors);
            let detail = "may not set both a target value for metric and a per-pod target";
            refuse_both(&target, ["value", "averageValue"], detail, errors);
        }
        "pods" => {
            validate_metric_name(source, errors);
            validate_target(&target, errors);
            let detail = "must specify a positive target averageValue";
            require_one(&target, ["averageValue", "averageValue"], detail, errors);
        }
        _ => {
            validate_resource(source, field == "containerResource", errors);
            validate_target(&target, errors);
            let detail = "must set either a target raw value or a target utilization";
            require_one(&target, ["averageUtilization", "averageValue"], detail, errors);
            let detail = "may not set both a target raw value and a target utilization";
            refuse_both(&target, ["averageValue", "averageUtilization"], detail, errors);
        }
    }
}

/// A resource of the pods, or of one of their containers.
fn validate_resource(source: &Node<'_>, is_of_container: bool, errors: &mut Errors) {
    let name = source.at("name");
    if name.is_empty() {
        errors.required(&name, "must specify a resource name");
    } else if is_of_container {
        validate_container_resource_name(name.str(), name.path(), errors);
    }
    if !is_of_container {
        return;
    }
    let container = source.at("container");
    if container.is_empty() {
        errors.required(&container, "must specify a container");
    }
    for message in names::dns_label(container.str()).into_iter().filter(|_| !container.is_empty()) {
        errors.invalid(&container, message);
    }
}

fn validate_metric_name(source: &Node<'_>, errors: &mut Errors) {
    let metric = source.at("metric");
    let name = metric.at("name");
    if name.is_empty() {
        errors.required(&name, "must specify a metric name");
    }
    for message in names::path_segment_name(name.str()) {
        errors.invalid(&name, message);
    }
}

fn validate_target(target: &Node<'_>, errors: &mut Errors) {
    let kind = target.at("type");
    if kind.is_empty() {
        errors.required(&kind, "must specify a metric target type");
    }
    if !matches!(kind.str(), "Utilization" | "Value" | "AverageValue") {
        errors.invalid(&kind, "must be either Utilization, Value, or AverageValue");
    }
    for field in ["value", "averageValue"] {
        let value = target.at(field);
        if value.is_set() && quantity(value.value()).sign() != 1 {
            errors.invalid(&value, "must be positive");
        }
    }
    let utilization = target.at("averageUtilization");
    if utilization.is_set() && utilization.int() < 1 {
        errors.invalid(&utilization, "must be greater than 0");
    }
}

/// One of the two is there; the error names the first.
fn require_one(target: &Node<'_>, fields: [&str; 2], detail: &str, errors: &mut Errors) {
    if fields.iter().all(|field| !target.at(field).is_set()) {
        errors.required(&target.at(fields[0]), detail);
    }
}

/// Not both are there; the error names the first.
fn refuse_both(target: &Node<'_>, fields: [&str; 2], detail: &str, errors: &mut Errors) {
    if fields.iter().all(|field| target.at(field).is_set()) {
        errors.forbidden(&target.at(fields[0]), detail);
    }
}
