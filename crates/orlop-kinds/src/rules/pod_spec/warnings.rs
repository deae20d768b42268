//! What a client should know about a pod, or a template of pods, that is fine as far as the rules
//! go: fields that do nothing any more, and what is probably a mistake.
//!
//! After `pkg/api/pod/warnings.go`. Comparisons of all with all are bounded: whoever repeats a
//! port or a path a hundred times has been told by then.

mod containers;
mod ports;
mod volumes;

use std::collections::BTreeSet;

use orlop_machinery::field::At;
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;

use super::annotations;
use crate::rules::deprecated_node_label;

/// How many things of a kind are remembered to compare others with.
const REMEMBERED_MAX: usize = 100;

const DEPRECATED_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        r#"non-functional in v1.16+; use the "priorityClassName" field instead"#,
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        r#"non-functional in v1.11+; use the "sysctls" field instead"#,
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        r#"non-functional in v1.11+; use the "sysctls" field instead"#,
    ),
];

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Warns about a pod.
pub(crate) fn warn_about_pod(pod: &Node<'_>, warnings: &mut Vec<String>) {
    warn(pod, false, warnings);
}

/// Warns about a template of pods. What the old template had is no excuse.
pub(crate) fn warn_about_pod_template(
    template: &Node<'_>,
    _old: Option<&Node<'_>>,
    warnings: &mut Vec<String>,
) {
    warn(template, true, warnings);
}

/// Adds a warning about a field.
fn push(at: &impl At, message: &str, warnings: &mut Vec<String>) {
    warnings.push(format!("{}: {message}", at.path()));
}

/// Pods and templates have their metadata and their spec in fields of the same names.
fn warn(object: &Node<'_>, is_template: bool, warnings: &mut Vec<String>) {
    let (metadata, spec) = (object.at("metadata"), object.at("spec"));
    let annotations = metadata.at("annotations");
    warn_about_node_labels(&spec, warnings);
    warn_about_spread(&spec.at("topologySpreadConstraints"), warnings);
    for (key, message) in DEPRECATED_ANNOTATIONS {
        if annotations.map().contains_key(key) {
            push(&annotations.path().key(key), message, warnings);
        }
    }
    volumes::warn_about_volumes(&spec.at("volumes"), warnings);
    warn_about_repetitions(&spec, warnings);
    let overhead = spec.at("overhead");
    for name in ["memory", "ephemeral-storage"] {
        containers::warn_about_fraction(&overhead.key(name), warnings);
    }
    let context = spec.at("securityContext");
    let key = annotations::seccomp_key(None);
    if !context.at("seccompProfile").is_set() && annotations.map().contains_key(&key) {
        containers::warn_about_seccomp_annotation(&annotations.key(&key), warnings);
    }
    containers::warn_about_containers(&spec, &annotations, is_template, warnings);
    ports::warn_about_ports(&spec, warnings);
    let grace_period = spec.at("terminationGracePeriodSeconds");
    if grace_period.int() < 0 {
        let message = "must be >= 0; negative values are invalid and will be treated as 1";
        push(&grace_period, message, warnings);
    }
    warn_about_pod_affinity(&spec.at("affinity"), warnings);
    warn_about_addresses(&spec, warnings);
}

/// Labels of nodes that have better ones now.
fn warn_about_node_labels(spec: &Node<'_>, warnings: &mut Vec<String>) {
    for (label, at) in spec.at("nodeSelector").entries() {
        if let Some(message) = deprecated_node_label::message(label) {
            push(&at, message, warnings);
        }
    }
    let affinity = spec.at("affinity");
    let affinity = affinity.at("nodeAffinity");
    let required = affinity.at(REQUIRED);
    for term in required.at("nodeSelectorTerms").items() {
        deprecated_node_label::warn_of_node_selector_term(&term, false, warnings);
    }
    for preferred in affinity.at(PREFERRED).items() {
        let term = preferred.at("preference");
        deprecated_node_label::warn_of_node_selector_term(&term, true, warnings);
    }
}

fn warn_about_spread(constraints: &Node<'_>, warnings: &mut Vec<String>) {
    for constraint in constraints.items() {
        let key = constraint.at("topologyKey");
        if let Some(message) = deprecated_node_label::message(key.str()) {
            push(&key, &format!("{} is {message}", key.str()), warnings);
        }
        warn_about_missing_selector(&constraint.at("labelSelector"), warnings);
    }
}

fn warn_about_missing_selector(selector: &Node<'_>, warnings: &mut Vec<String>) {
    if !selector.is_set() {
        push(selector, "a null labelSelector results in matching no pod", warnings);
    }
}

fn warn_about_pod_affinity(affinity: &Node<'_>, warnings: &mut Vec<String>) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = affinity.at(kind);
        for term in affinity.at(REQUIRED).items() {
            warn_about_missing_selector(&term.at("labelSelector"), warnings);
        }
        for weighted in affinity.at(PREFERRED).items() {
            let term = weighted.at("podAffinityTerm");
            warn_about_missing_selector(&term.at("labelSelector"), warnings);
        }
    }
}

/// What stands twice in a list where apply takes it for one.
fn warn_about_repetitions(spec: &Node<'_>, warnings: &mut Vec<String>) {
    for (list, field) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        let mut known = BTreeSet::new();
        for item in spec.at(list).items() {
            let text = item.value().at(field).str();
            if !known.insert(text) {
                push(&item.at(field), &format!("duplicate {field} {}", quote(text)), warnings);
            }
        }
    }
    for secret in spec.at("imagePullSecrets").items() {
        let name = secret.at("name");
        if name.is_empty() {
            push(&name, r#"invalid empty name """#, warnings);
        }
    }
}

fn warn_about_addresses(spec: &Node<'_>, warnings: &mut Vec<String>) {
    for nameserver in spec.at("dnsConfig").at("nameservers").items() {
        warnings.extend(names::ip_warnings(&nameserver, nameserver.str()));
    }
    for alias in spec.at("hostAliases").items() {
        let ip = alias.at("ip");
        warnings.extend(names::ip_warnings(&ip, ip.str()));
    }
}
