//! The ports of containers.
//!
//! After `validateContainerPorts`, `AccumulateUniqueHostPorts` and `validatePodHostNetworkDeps` in
//! `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::{validate_number, validate_required_choice};

/// The ports of one container.
pub(super) fn validate_ports(ports: &Node<'_>, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.at("name");
        if !name.is_empty() {
            let messages = names::port_name(name.str());
            if messages.is_empty() && !names.insert(port.value().at("name").str()) {
                errors.duplicate(&name);
            }
            for message in messages {
                errors.invalid(&name, message);
            }
        }
        let container_port = port.at("containerPort");
        if container_port.int() == 0 {
            errors.required(&container_port, "");
        } else {
            validate_number(&container_port, names::port_number, errors);
        }
        if port.at("hostPort").int() != 0 {
            validate_number(&port.at("hostPort"), names::port_number, errors);
        }
        validate_required_choice(&port.at("protocol"), &["SCTP", "TCP", "UDP"], errors);
    }
}

/// A number or the name of a port.
pub(crate) fn validate_port_number_or_name(port: &Node<'_>, errors: &mut Errors) {
    let messages = match port.value() {
        Value::String(name) => names::port_name(name),
        number => names::port_number(number.int()),
    };
    for message in messages {
        errors.invalid(port, message);
    }
}

/// Containers that run together do not want the same port of their host.
pub(super) fn validate_unique_host_ports(containers: &Node<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for container in containers.items() {
        note_host_ports(&container, &mut known, container.path(), errors);
    }
}

/// An init container runs alone. As upstream, its errors name the first one, whichever it is.
pub(super) fn validate_unique_host_ports_of_init_container(
    containers: &Node<'_>,
    container: &Node<'_>,
    errors: &mut Errors,
) {
    note_host_ports(container, &mut BTreeSet::new(), &containers.path().index(0), errors);
}

/// In the network of its host a port of a container is a port of the host. A template may leave
/// the latter out: it is set when the pod is made.
pub(super) fn validate_host_network_ports(
    spec: &Node<'_>,
    resource_is_pod: bool,
    errors: &mut Errors,
) {
    if !spec.at("hostNetwork").bool() {
        return;
    }
    for container in spec.at("containers").items() {
        for port in container.at("ports").items() {
            let (host, inside) = (port.at("hostPort"), port.at("containerPort").int());
            if (resource_is_pod || host.int() != 0) && host.int() != inside {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.invalid(&host, detail);
            }
        }
    }
}

fn note_host_ports(
    container: &Node<'_>,
    known: &mut BTreeSet<String>,
    at: &Path<'_>,
    errors: &mut Errors,
) {
    let ports = at.child("ports");
    for (index, port) in container.value().at("ports").list().iter().enumerate() {
        let number = port.at("hostPort").int();
        if number == 0 {
            continue;
        }
        let (protocol, address) = (port.at("protocol").str(), port.at("hostIP").str());
        let text = format!("{protocol}/{address}/{number}");
        if known.contains(&text) {
            errors.duplicate_value(&ports.index(index).child("hostPort"), text);
        } else {
            known.insert(text);
        }
    }
}
