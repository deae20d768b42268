//! Warnings about ports that stand twice, or nearly so.

use std::collections::BTreeMap;

use orlop_machinery::Value;
use orlop_machinery::field::At;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;

use super::{REMEMBERED_MAX, push};
use crate::rules::pod_spec::visit::for_each_container;

/// A port that was seen.
struct Seen {
    path: String,
    host_ip: String,
    host_port: i64,
}

/// Warns about the ports of all containers.
pub(super) fn warn_about_ports(spec: &Node<'_>, warnings: &mut Vec<String>) {
    let mut known: BTreeMap<(i64, String), Vec<Seen>> = BTreeMap::new();
    for_each_container(spec, |container| {
        for port in container.at("ports").items() {
            let (host_ip, host_port) = (port.at("hostIP").str(), port.at("hostPort").int());
            if !host_ip.is_empty() && host_port == 0 {
                let message = format!("hostIP set without hostPort: {}", shown(port.value()));
                push(&port, &message, warnings);
            }
            let key = (port.at("containerPort").int(), port.at("protocol").str().to_owned());
            let others = known.entry(key).or_default();
            for other in others.iter() {
                if let Some(problem) = problem_with(other, host_ip, host_port) {
                    let message = format!("{problem} port definition with {}", other.path);
                    push(&port, &message, warnings);
                }
            }
            if others.len() < REMEMBERED_MAX {
                let (path, host_ip) = (port.path().to_string(), host_ip.to_owned());
                others.push(Seen { path, host_ip, host_port });
            }
        }
    });
    warn_about_names(spec, warnings);
}

/// What is wrong with a second port of a number, given where both are on the host.
fn problem_with(other: &Seen, host_ip: &str, host_port: i64) -> Option<&'static str> {
    if host_port == other.host_port && host_ip == other.host_ip {
        Some("duplicate")
    } else if host_port == 0 || other.host_port == 0 {
        Some("overlapping")
    } else if host_port == other.host_port && host_ip.is_empty() != other.host_ip.is_empty() {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

fn warn_about_names(spec: &Node<'_>, warnings: &mut Vec<String>) {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for_each_container(spec, |container| {
        for port in container.at("ports").items().filter(|port| !port.at("name").is_empty()) {
            let name = port.at("name").str();
            if let Some(other) = known.get(name) {
                let name = quote(name);
                let message = format!(
                    "duplicate port name {name} with {other}, services and probes that select \
                     ports by name will use {other}"
                );
                push(&port, &message, warnings);
            } else {
                known.insert(name.to_owned(), port.path().to_string());
            }
        }
    });
}

/// A port as upstream shows it here.
fn shown(port: &Value) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        port.at("name").str(),
        port.at("hostPort").int(),
        port.at("containerPort").int(),
        port.at("protocol").str(),
        port.at("hostIP").str(),
    )
}
