//! Pod: containers that run together on a node.
//!
//! After `pkg/registry/core/pod` and `ValidatePodCreate` in
//! `pkg/apis/core/validation/validation.go`. What a spec may say stands in `rules/pod_spec.rs`;
//! here is what only pods have: a status, updates, a node, an end. What needs the node or other
//! objects (logs, shells, the budget of an eviction) is not here.

mod container_status;
mod ephemeral_containers;
mod eviction;
mod extended_claim_status;
mod prepare;
mod quality_of_service;
mod resize;
mod row;
mod status;
mod update;

use orlop_machinery::shared::Shared;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{
    Column, Context, Defaulter, Kind, Resource, Row, Rules, Selectable, Subresource, Verb,
};
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::{Str, Value};

use super::{GROUP_VERSION, PACKAGE, binding};
use crate::rules::pod_spec::{self, PodOptions, annotations, warnings};
use crate::rules::status::keep;

pub(crate) static KIND: Pod = Pod;

/// The kind.
pub(crate) struct Pod;

const SPEC_STRUCT: &str = "io.k8s.api.core.v1.PodSpec";

/// What a connection to a pod takes.
const CONNECT: &[Verb] = &[Verb::Create, Verb::Get];
const PROXY: &[Verb] = &[Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update];
/// What an endpoint takes that changes a part of the pod.
const CHANGE: &[Verb] = &[Verb::Get, Verb::Patch, Verb::Update];

impl Kind for Pod {
    fn resource(&self) -> Resource {
        let resource = Resource::namespaced(GROUP_VERSION, "Pod", "pods", PACKAGE)
            .short(&["po"])
            .categories(&["all"])
            .returns_deleted()
            .status(&status::RULES);
        subresources().into_iter().fold(resource, Resource::subresource)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        pod_spec::DEFAULTERS
    }

    fn grace_period_seconds(&self, object: &Value) -> Option<i64> {
        if self.ends_at_once(object) {
            return Some(0);
        }
        let seconds = object.path(&["spec", "terminationGracePeriodSeconds"]).int();
        Some(if seconds < 0 { 1 } else { seconds })
    }

    /// No node has anything to end of a pod that never came to one, or has ended.
    fn ends_at_once(&self, object: &Value) -> bool {
        object.path(&["spec", "nodeName"]).is_empty()
            || is_ended(object.path(&["status", "phase"]).str())
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        SELECTABLE
    }

    fn columns(&self) -> &'static [Column] {
        row::COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        row::row(context, object)
    }
}

/// All but the status.
fn subresources() -> [Subresource; 9] {
    let connect = |name, kind, verbs| {
        let (group, version) = GROUP_VERSION;
        Subresource { name, kind: Some((group, version, kind)), verbs, rules: None }
    };
    let change = |name, rules: &'static dyn Rules| Subresource {
        name,
        kind: None,
        verbs: CHANGE,
        rules: Some(Shared::Static(rules)),
    };
    [
        connect("attach", "PodAttachOptions", CONNECT),
        Subresource {
            rules: Some(Shared::Static(&binding::KIND)),
            ..connect("binding", "Binding", &[Verb::Create])
        },
        change("ephemeralcontainers", &ephemeral_containers::RULES),
        Subresource {
            name: "eviction",
            kind: Some(("policy", "v1", "Eviction")),
            verbs: &[Verb::Create],
            rules: Some(Shared::Static(&eviction::RULES)),
        },
        connect("exec", "PodExecOptions", CONNECT),
        Subresource { name: "log", kind: None, verbs: &[Verb::Get], rules: None },
        connect("portforward", "PodPortForwardOptions", CONNECT),
        connect("proxy", "PodProxyOptions", PROXY),
        change("resize", &resize::RULES),
    ]
}

static SELECTABLE: &[Selectable] = &[
    // What very old clients call the name of the node.
    Selectable { name: "spec.host", get: |pod| text(pod, &["spec", "nodeName"]) },
    Selectable {
        name: "spec.hostNetwork",
        get: |pod| Str::from(pod.path(&["spec", "hostNetwork"]).bool().to_string()),
    },
    Selectable { name: "spec.nodeName", get: |pod| text(pod, &["spec", "nodeName"]) },
    Selectable { name: "spec.restartPolicy", get: |pod| text(pod, &["spec", "restartPolicy"]) },
    Selectable { name: "spec.schedulerName", get: |pod| text(pod, &["spec", "schedulerName"]) },
    Selectable {
        name: "spec.serviceAccountName",
        get: |pod| text(pod, &["spec", "serviceAccountName"]),
    },
    Selectable {
        name: "status.nominatedNodeName",
        get: |pod| text(pod, &["status", "nominatedNodeName"]),
    },
    Selectable { name: "status.phase", get: |pod| text(pod, &["status", "phase"]) },
    Selectable { name: "status.podIP", get: |pod| Str::from(first_ip(pod)) },
    // May be asked for, but upstream never says what it is.
    Selectable { name: "status.podIPs", get: |_| Str::default() },
];

impl Rules for Pod {
    fn prepare_create(&self, context: &Context<'_>, object: &mut Value) {
        prepare::prepare_create(context, object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        keep(new, old, "status");
        prepare::settle_spec(new, old);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_metadata_and_spec(object, &PodOptions::default().of_pod(), errors);
        let spec = object.at("spec");
        let ephemeral_containers = spec.at("ephemeralContainers");
        if !ephemeral_containers.is_empty() {
            errors.forbidden(&ephemeral_containers, "cannot be set on create");
        }
        let node_name = spec.at("nodeName");
        if !node_name.is_empty() && !spec.at("schedulingGates").is_empty() {
            let detail = "cannot be set until all schedulingGates have been cleared";
            errors.forbidden(&node_name, detail);
        }
        let annotations = object.value().path(&["metadata", "annotations"]);
        annotations::validate_profiles_match_annotations(annotations, &spec, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let messages = names::dns_label(object.value().path(&["metadata", "name"]).str());
        if !messages.is_empty() {
            warnings.push(format!(
                "metadata.name: this is used in the Pod's hostname, which can result in \
                 surprising behavior; a DNS label is recommended: [{}]",
                messages.join(" ")
            ));
        }
        warnings::warn_about_pod(object, warnings);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = options_from_old(old.value());
        validate_metadata_and_spec(new, &options, errors);
        update::validate_annotation_updates(new, old, &options, errors);
        update::validate_spec_update(&new.at("spec"), &old.at("spec"), &options, errors);
    }

    /// Few people change pods by hand, and those who change them often need not hear it.
    fn warn_update(
        &self,
        _context: &Context<'_>,
        _new: &Node<'_>,
        _old: &Node<'_>,
        _warnings: &mut Vec<String>,
    ) {
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

/// What a pod may break because it did before.
fn options_from_old(old: &Value) -> PodOptions {
    PodOptions::from_old(old.at("spec"), old.at("metadata")).of_pod()
}

fn validate_metadata_and_spec(pod: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    let (metadata, spec) = (pod.at("metadata"), pod.at("spec"));
    let annotations = metadata.at("annotations");
    annotations::validate_pod_annotations(&annotations, spec.value(), options, errors);
    pod_spec::validate_pod_spec(&spec, &metadata, options, errors);
    pod_spec::validate_pod_spec_beyond_template(&spec, errors);
}

/// Whether this is the image of a pod that a node runs by itself.
fn is_mirror(pod: &Value) -> bool {
    !pod.path(&["metadata", "annotations", annotations::MIRROR_POD]).is_null()
}

fn is_ended(phase: &str) -> bool {
    matches!(phase, "Failed" | "Succeeded")
}

fn first_ip(pod: &Value) -> &str {
    pod.path(&["status", "podIPs"]).list().first().map_or("", |address| address.at("ip").str())
}

fn text(pod: &Value, path: &[&str]) -> Str {
    Str::from(pod.path(path).str())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;

    #[test]
    fn only_a_pod_that_a_node_runs_gets_time_to_end() {
        let check = |spec: &str, phase: &str, expect: i64| {
            let pod = format!(r#"{{"spec":{{{spec}}},"status":{{"phase":"{phase}"}}}}"#);
            let pod = json::parse(pod.as_bytes()).unwrap();
            assert_eq!(KIND.grace_period_seconds(&pod), Some(expect), "{spec} {phase}");
        };
        let seconds = r#""terminationGracePeriodSeconds":30"#;
        let on_node = format!(r#"{seconds},"nodeName":"n1""#);
        check(&on_node, "Running", 30);
        check(&on_node, "Pending", 30);
        check(&on_node, "Succeeded", 0);
        check(&on_node, "Failed", 0);
        check(seconds, "Pending", 0);
        check(r#""nodeName":"n1""#, "Running", 0);
        check(r#""nodeName":"n1","terminationGracePeriodSeconds":-5"#, "Running", 1);
    }

    #[test]
    fn the_row_of_a_pod_that_has_ended_says_so() {
        let check = |phase: &str, expect: &str| {
            let pod = format!(r#"{{"status":{{"phase":"{phase}"}}}}"#);
            let pod = json::parse(pod.as_bytes()).unwrap();
            let row = KIND.row(&Context::default(), &pod);
            let conditions: Vec<String> = row.conditions.iter().map(json::to_string).collect();
            assert_eq!(conditions.join(" "), expect, "{phase}");
        };
        let condition = |message: &str, reason: &str| {
            let start = format!(r#"{{"message":"{message}","reason":"{reason}","#);
            start + r#""status":"True","type":"Completed"}"#
        };
        check("Running", "");
        let message = "The pod has completed successfully.";
        check("Succeeded", &condition(message, "Succeeded"));
        check("Failed", &condition("The pod failed.", "Failed"));
    }
}
