//! The containers of a pod: those that do the work, those that prepare it, and those that somebody
//! added to look inside.
//!
//! After `validateContainers`, `validateInitContainers` and `validateEphemeralContainers` in
//! `pkg/apis/core/validation/validation.go`. What a single part of a container must be stands in
//! the file of that part.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::visit::is_sidecar;
use super::{
    PodOptions, env, lifecycle, ports, probes, restart_policy, security_context, volume_mounts,
};
use crate::rules::resource_name::validate_container_resource_name;
use crate::rules::resource_requirements::Requirements;
use crate::rules::scalar::{validate_required_choice, validate_required_text};

/// What rules of containers need to know of their pod.
pub(super) struct Pod<'a> {
    /// The volumes that are fine, by name.
    pub(super) volumes: BTreeMap<&'a str, &'a Value>,
    /// The names of the claims.
    pub(super) claim_names: BTreeSet<&'a str>,
    /// How long the pod may take to end, if that is known.
    pub(super) grace_period: Option<i64>,
    /// The name of the operating system, if the spec says.
    pub(super) os: Option<&'a str>,
    /// When the containers start again.
    pub(super) restart_policy: &'a str,
    /// Whether users in the containers are users of the host.
    pub(super) host_users: bool,
    /// Which rules look away.
    pub(super) options: &'a PodOptions,
}

/// What a container can have only if it runs as long as its pod.
const WHILE_RUNNING: &[&str] = &["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];

const NOT_FOR_EPHEMERAL: &str = "cannot be set for an Ephemeral Container";
const ONLY_FOR_SIDECARS: &str = "may not be set for init containers without restartPolicy=Always";

/// The containers that do the work.
pub(super) fn validate_containers(containers: &Node<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    if containers.is_empty() {
        errors.required(containers, "");
        return;
    }
    let mut names = BTreeSet::new();
    for container in containers.items() {
        validate_common(&container, pod, errors);
        if !names.insert(container.value().at("name").str()) {
            errors.duplicate(&container.at("name"));
        }
        validate_while_running(&container, pod, errors);
        restart_policy::validate_container_restart_policy(&container, errors);
    }
    ports::validate_unique_host_ports(containers, errors);
}

/// The containers that prepare the work, one after the other, and the sidecars among them.
pub(super) fn validate_init_containers(
    containers: &Node<'_>,
    regular: &Node<'_>,
    pod: &Pod<'_>,
    errors: &mut Errors,
) {
    let mut names: BTreeSet<&str> = container_names(regular.value()).collect();
    for container in containers.items() {
        validate_common(&container, pod, errors);
        restart_policy::validate_init_container_restart_policy(&container, errors);
        let name = container.value().at("name").str();
        if names.contains(name) {
            errors.duplicate(&container.at("name"));
        } else if !name.is_empty() {
            names.insert(name);
        }
        ports::validate_unique_host_ports_of_init_container(containers, &container, errors);
        let is_sidecar = is_sidecar(container.value());
        if is_sidecar {
            validate_while_running(&container, pod, errors);
        } else {
            forbid(&container, WHILE_RUNNING, ONLY_FOR_SIDECARS, errors);
        }
        if !is_sidecar && !pod.options.allow_restart_for_resize_of_init_containers {
            restart_policy::validate_no_restart_for_resize(&container, errors);
        }
    }
}

/// The containers that somebody added to a pod that runs.
pub(super) fn validate_ephemeral_containers(
    containers: &Node<'_>,
    spec: &Value,
    pod: &Pod<'_>,
    errors: &mut Errors,
) {
    let others = || {
        let regular = container_names(spec.at("containers"));
        regular.chain(container_names(spec.at("initContainers")))
    };
    let targets: BTreeSet<&str> = others().collect();
    let mut names = targets.clone();
    for container in containers.items() {
        validate_common(&container, pod, errors);
        validate_image_without_space(&container, errors);
        if !names.insert(container.value().at("name").str()) {
            errors.duplicate(&container.at("name"));
        }
        let target = container.at("targetContainerName");
        if !target.is_empty() && !targets.contains(target.str()) {
            errors.not_found(&target);
        }
        forbid_parts_of_work(&container, errors);
    }
}

/// No space around the image: a rule for pods, because templates were once let through.
pub(crate) fn validate_image_without_space(container: &Node<'_>, errors: &mut Errors) {
    let image = container.at("image");
    if image.str() != image.str().trim() {
        errors.invalid(&image, "must not have leading or trailing whitespace");
    }
}

fn container_names(containers: &Value) -> impl Iterator<Item = &str> {
    containers.list().iter().map(|container| container.at("name").str())
}

/// What holds for every container.
fn validate_common(container: &Node<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    validate_required_text(&container.at("name"), names::dns_label, errors);
    if container.at("image").is_empty() {
        errors.required(&container.at("image"), "");
    }
    let policies = &["File", "FallbackToLogsOnError"];
    validate_required_choice(&container.at("terminationMessagePolicy"), policies, errors);
    ports::validate_ports(&container.at("ports"), errors);
    env::validate_env(&container.at("env"), errors);
    env::validate_env_from(&container.at("envFrom"), errors);
    volume_mounts::validate_volume_mounts(container, &pod.volumes, errors);
    volume_mounts::validate_volume_devices(container, &pod.volumes, errors);
    let policies = &["Always", "IfNotPresent", "Never"];
    validate_required_choice(&container.at("imagePullPolicy"), policies, errors);
    let requirements = Requirements {
        name_rule: validate_container_resource_name,
        claim_names: &pod.claim_names,
        allow_indivisible_huge_pages: pod.options.allow_indivisible_huge_pages_values,
    };
    requirements.validate(&container.at("resources"), errors);
    let policies = container.at("resizePolicy");
    restart_policy::validate_resize_policy(&policies, pod.restart_policy, errors);
    let security_context = container.at("securityContext");
    security_context::validate_container(&security_context, pod.host_users, errors);
}

/// What only a container has that runs as long as its pod.
fn validate_while_running(container: &Node<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    lifecycle::validate_lifecycle(&container.at("lifecycle"), pod, errors);
    probes::validate_liveness_probe(&container.at("livenessProbe"), errors);
    probes::validate_readiness_probe(&container.at("readinessProbe"), errors);
    probes::validate_startup_probe(&container.at("startupProbe"), errors);
}

/// An ephemeral container is not part of the work, so it has nothing that others could rely on.
fn forbid_parts_of_work(container: &Node<'_>, errors: &mut Errors) {
    forbid(container, &["ports"], NOT_FOR_EPHEMERAL, errors);
    // Always written, so it counts as set only when there is something in it.
    if !container.at("resources").is_empty() {
        errors.forbidden(&container.at("resources"), NOT_FOR_EPHEMERAL);
    }
    let policies = ["resizePolicy", "restartPolicy", "restartPolicyRules"];
    forbid(container, &policies, NOT_FOR_EPHEMERAL, errors);
    let probes = ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"];
    forbid(container, &probes, NOT_FOR_EPHEMERAL, errors);
    for mount in container.at("volumeMounts").items() {
        forbid(&mount, &["subPath", "subPathExpr"], NOT_FOR_EPHEMERAL, errors);
    }
}

/// Some fields are not set.
fn forbid(node: &Node<'_>, fields: &[&str], detail: &str, errors: &mut Errors) {
    for field in fields {
        let value = node.at(field);
        if value.is_set() {
            errors.forbidden(&value, detail);
        }
    }
}
