//! How a pod is called, and what it shares with its host.
//!
//! After `validateHostUsers` and `validatePodHostName` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::PodOptions;
use super::visit::for_each_container;
use crate::rules::scalar::{validate_optional_text, validate_text};

/// The longest name of a host in Linux.
const HOSTNAME_MAX: usize = 64;

const WITHOUT_HOST_USERS: &str = "when `hostUsers` is false";

/// Users of its own do not go with other namespaces of the host.
pub(super) fn validate_host_users(spec: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    if spec.at("hostUsers").value().as_bool() != Some(false) {
        return;
    }
    let host_network = spec.at("hostNetwork");
    if host_network.bool() && !options.allow_user_namespaces_with_host_network {
        errors.forbidden(&host_network, WITHOUT_HOST_USERS);
    }
    // Upstream spells these two so.
    for (field, shown) in [("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec.at(field).bool() {
            errors.forbidden(&spec.path().child(shown), WITHOUT_HOST_USERS);
        }
    }
    if options.allow_user_namespaces_with_volume_devices {
        return;
    }
    for_each_container(spec, |container| {
        let devices = container.at("volumeDevices");
        if !devices.is_empty() {
            errors.forbidden(&devices, WITHOUT_HOST_USERS);
        }
    });
}

/// A name that replaces all others.
pub(super) fn validate_hostname_override(spec: &Node<'_>, errors: &mut Errors) {
    let name = spec.at("hostnameOverride");
    if !name.is_set() {
        return;
    }
    for field in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec.at(field).bool() {
            errors.forbidden(&name, format!("may not be specified when {field} is true"));
        }
    }
    if name.str().len() > HOSTNAME_MAX {
        errors.too_long(&name, HOSTNAME_MAX);
    }
    validate_text(&name, names::dns_subdomain, errors);
}

/// The parts of the pod's name in the cluster.
pub(super) fn validate_hostname(spec: &Node<'_>, errors: &mut Errors) {
    validate_optional_text(&spec.at("hostname"), names::dns_label, errors);
    validate_optional_text(&spec.at("subdomain"), names::dns_label, errors);
}
