//! What a service must be.
//!
//! After `validateService` and what it calls in `pkg/apis/core/validation/validation.go`. The
//! rules about addresses in the cluster stand in [`super::cluster_ips`].

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::value::NULL;
use orlop_machinery::{meta, names};

use super::cluster_ips;
use super::spec::{
    has_type, has_type_of_cluster, is_externally_accessible, is_headless, needs_health_check,
};
use crate::rules::legacy_ip::{self, validate_endpoint_ip};
use crate::rules::pod_spec::ports::validate_port_number_or_name;
use crate::rules::scalar::{
    validate_choice, validate_optional_text, validate_required_choice, validate_text,
};

/// What a service says about the nodes and zones of its traffic, and the older form of it.
pub(super) const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";
pub(super) const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
/// The older form of `loadBalancerSourceRanges`.
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

const TYPES: &[&str] = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];
const AFFINITIES: &[&str] = &["ClientIP", "None"];
const TRAFFIC_POLICIES: &[&str] = &["Cluster", "Local"];
const TRAFFIC_DISTRIBUTIONS: &[&str] = &["PreferClose", "PreferSameZone", "PreferSameNode"];
const ADDRESS_MODES: &[&str] = &["Proxy", "VIP"];

/// The longest time that a client comes to the same pod: a day.
const TIMEOUT_SECONDS_MAX: i64 = 86_400;

const ONLY_LOAD_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";
const NOT_EXTERNAL_NAME: &str = "may not be set for ExternalName services";

/// A service, on creation and on update. What `old` has stays allowed where the rules are newer.
pub(super) fn validate_service(service: &Node<'_>, old: Option<&Node<'_>>, errors: &mut Errors) {
    let old = old.map_or(&NULL, |old| old.value());
    let spec = service.at("spec");
    validate_topology_annotations(service, errors);
    validate_what_the_type_needs(&spec, errors);
    validate_ports(&spec.at("ports"), errors);
    meta::validate_labels(&spec.at("selector"), errors);
    validate_session_affinity(&spec, errors);
    cluster_ips::validate_cluster_ips(&spec, old.at("spec"), errors);
    let had_external_ips = legacy_ip::set_of(old.path(&["spec", "externalIPs"]));
    validate_external_ips(&spec.at("externalIPs"), &had_external_ips, errors);
    validate_required_choice(&spec.at("type"), TYPES, errors);
    validate_node_ports(&spec, errors);
    validate_ports_are_distinct(&spec.at("ports"), errors);
    if spec.at("loadBalancerSourceRanges").is_empty() {
        let annotation = old.path(&["metadata", "annotations", SOURCE_RANGES]);
        validate_source_range_annotation(service, annotation.str(), errors);
    } else {
        let before = old.path(&["spec", "loadBalancerSourceRanges"]).list();
        let before = before.iter().map(|range| range.str().trim()).collect();
        validate_source_ranges(&spec, &before, errors);
    }
    validate_node_port_allocation(&spec, errors);
    validate_load_balancer_class(&spec, errors);
    validate_external_traffic(&spec, errors);
    validate_internal_traffic(&spec, errors);
    validate_choice(&spec.at("trafficDistribution"), TRAFFIC_DISTRIBUTIONS, errors);
}

/// What a service may not change.
pub(super) fn validate_change(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    let (new, old) = (new.at("spec"), old.at("spec"));
    cluster_ips::validate_change_of_cluster_ips(&new, old.value(), errors);
    cluster_ips::validate_change_of_ip_families(&new, old.value(), errors);
    let are_load_balancers = [&new, &old].iter().all(|spec| has_type(spec.value(), "LoadBalancer"));
    let class = new.at("loadBalancerClass");
    if are_load_balancers && class.value() != old.at("loadBalancerClass").value() {
        errors.invalid(&class, "may not change once set");
    }
    validate_load_balancer_class(&new, errors);
    let port = new.at("healthCheckNodePort");
    let need_health_checks = [&new, &old].iter().all(|spec| needs_health_check(spec.value()));
    if need_health_checks && port.int() != old.at("healthCheckNodePort").int() {
        errors.forbidden(&port, "field is immutable");
    }
}

/// The status of a service, of which `old` is the one before.
pub(super) fn validate_status(service: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    let status = service.at("status");
    let balancer = status.at("loadBalancer");
    let ingress = balancer.at("ingress");
    if !has_type(service.at("spec").value(), "LoadBalancer") && !ingress.is_empty() {
        errors.forbidden(&ingress, "may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    let before = old.value().path(&["status", "loadBalancer", "ingress"]).list();
    let before: BTreeSet<&str> = before.iter().map(|point| point.at("ip").str()).collect();
    for point in ingress.items() {
        let (ip, mode) = (point.at("ip"), point.at("ipMode"));
        if !ip.is_empty() {
            legacy_ip::validate_ip(&ip, &before, errors);
        }
        match (mode.is_set(), ip.is_empty()) {
            (false, false) => errors.required(&mode, "must be specified when `ip` is set"),
            (true, true) => errors.forbidden(&mode, "may not be specified when `ip` is not set"),
            _ => validate_choice(&mode, ADDRESS_MODES, errors),
        }
        let host_name = point.at("hostname");
        validate_optional_text(&host_name, names::dns_subdomain, errors);
        if names::parse_ip(host_name.str()).is_some() {
            errors.invalid(&host_name, "must be a DNS name, not an IP address");
        }
    }
}

fn validate_topology_annotations(service: &Node<'_>, errors: &mut Errors) {
    let metadata = service.at("metadata");
    let annotations = metadata.at("annotations");
    let (mode, hints) = (annotations.key(TOPOLOGY_MODE), annotations.key(TOPOLOGY_HINTS));
    if mode.is_set() && hints.is_set() && mode.str() != hints.str() {
        let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        errors.invalid(&mode, detail);
    }
}

fn validate_what_the_type_needs(spec: &Node<'_>, errors: &mut Errors) {
    let (ports, cluster_ips) = (spec.at("ports"), spec.at("clusterIPs"));
    let is_headless = is_headless(spec.value());
    let ty = spec.at("type");
    if ports.is_empty() && !is_headless && ty.str() != "ExternalName" {
        errors.required(&ports, "");
    }
    match ty.str() {
        kind @ ("LoadBalancer" | "NodePort") if is_headless => {
            for address in cluster_ips.items() {
                let detail = format!("may not be set to 'None' for {kind} services");
                errors.invalid(&address, detail);
            }
        }
        "ExternalName" => {
            for field in ["clusterIPs", "ipFamilies"] {
                if !spec.at(field).is_empty() {
                    errors.forbidden(&spec.at(field), NOT_EXTERNAL_NAME);
                }
            }
            if spec.at("ipFamilyPolicy").is_set() {
                errors.forbidden(&spec.at("ipFamilyPolicy"), NOT_EXTERNAL_NAME);
            }
            validate_external_name(&spec.at("externalName"), errors);
        }
        _ => {}
    }
}

/// A name in DNS; a dot at its end says that it is a whole one.
fn validate_external_name(name: &Node<'_>, errors: &mut Errors) {
    let text = name.str().strip_suffix('.').unwrap_or(name.str());
    if text.is_empty() {
        errors.required(name, "");
        return;
    }
    for message in names::dns_subdomain(text) {
        errors.invalid_value(name, text, message);
    }
}

fn validate_ports(ports: &Node<'_>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        let name = port.at("name");
        if !name.is_empty() {
            validate_text(&name, names::dns_label, errors);
            if !seen.insert(port.value().at("name").str()) {
                errors.duplicate(&name);
            }
        } else if ports.len() > 1 {
            errors.required(&name, "");
        }
        let number = port.at("port");
        for message in names::port_number(number.int()) {
            errors.invalid(&number, message);
        }
        validate_required_choice(&port.at("protocol"), PROTOCOLS, errors);
        validate_port_number_or_name(&port.at("targetPort"), errors);
        let protocol = port.at("appProtocol");
        if protocol.is_set() {
            validate_text(&protocol, names::qualified_name, errors);
        }
    }
}

fn validate_session_affinity(spec: &Node<'_>, errors: &mut Errors) {
    let (affinity, config) = (spec.at("sessionAffinity"), spec.at("sessionAffinityConfig"));
    validate_required_choice(&affinity, AFFINITIES, errors);
    match affinity.str() {
        "ClientIP" => validate_client_affinity(&config, errors),
        "None" if config.is_set() => {
            errors.forbidden(&config, "must not be set when session affinity is None");
        }
        _ => {}
    }
}

fn validate_client_affinity(config: &Node<'_>, errors: &mut Errors) {
    let client = config.at("clientIP");
    let timeout = client.at("timeoutSeconds");
    let missing = [config, &client, &timeout].into_iter().find(|node| !node.is_set());
    if let Some(missing) = missing {
        errors.required(missing, "when session affinity type is ClientIP");
    } else if timeout.int() <= 0 || timeout.int() > TIMEOUT_SECONDS_MAX {
        let detail = format!("must be greater than 0 and less than {TIMEOUT_SECONDS_MAX}");
        errors.invalid(&timeout, detail);
    }
}

fn validate_external_ips(addresses: &Node<'_>, before: &BTreeSet<&str>, errors: &mut Errors) {
    for address in addresses.items() {
        let count = errors.len();
        legacy_ip::validate_ip(&address, before, errors);
        if errors.len() == count {
            validate_endpoint_ip(&address, errors);
        }
    }
}

fn validate_node_ports(spec: &Node<'_>, errors: &mut Errors) {
    let ports = spec.at("ports");
    if has_type(spec.value(), "ClusterIP") {
        for port in ports.items().filter(|port| !port.at("nodePort").is_empty()) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            errors.forbidden(&port.at("nodePort"), detail);
        }
    }
    let mut seen = BTreeSet::new();
    for port in ports.items().filter(|port| !port.at("nodePort").is_empty()) {
        let node_port = port.at("nodePort");
        if !seen.insert((port.value().at("protocol").str(), node_port.int())) {
            errors.duplicate(&node_port);
        }
    }
}

/// No port of a protocol stands twice. The error shows what upstream looks for.
fn validate_ports_are_distinct(ports: &Node<'_>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        let (protocol, number) = (port.value().at("protocol").str(), port.at("port").int());
        if !seen.insert((protocol, number)) {
            let protocol = quote(protocol);
            let json = format!(
                "{{\"Name\":\"\",\"Protocol\":{protocol},\"AppProtocol\":null,\
                 \"Port\":{number},\"TargetPort\":0,\"NodePort\":0}}"
            );
            errors.duplicate_json(&port, json);
        }
    }
}

/// Ranges may have blanks around them. Upstream writes the field with a capital here.
fn validate_source_ranges(spec: &Node<'_>, before: &BTreeSet<&str>, errors: &mut Errors) {
    let at = spec.path().child("LoadBalancerSourceRanges");
    if !has_type(spec.value(), "LoadBalancer") {
        errors.forbidden(&at, ONLY_LOAD_BALANCER);
    }
    for (index, range) in spec.at("loadBalancerSourceRanges").list().iter().enumerate() {
        legacy_ip::validate_cidr(&at.index(index), range.str().trim(), before, errors);
    }
}

fn validate_source_range_annotation(service: &Node<'_>, before: &str, errors: &mut Errors) {
    let metadata = service.at("metadata");
    let annotations = metadata.at("annotations");
    let annotation = annotations.key(SOURCE_RANGES);
    if !annotation.is_set() {
        return;
    }
    if !has_type(service.at("spec").value(), "LoadBalancer") {
        errors.forbidden(&annotation, ONLY_LOAD_BALANCER);
    }
    let ranges = annotation.str().trim();
    if annotation.str() == before || ranges.is_empty() {
        return;
    }
    for range in ranges.split(',') {
        legacy_ip::validate_cidr(&annotation, range.trim(), &BTreeSet::new(), errors);
    }
}

/// Upstream leaves `spec` out of the path of what is required.
fn validate_node_port_allocation(spec: &Node<'_>, errors: &mut Errors) {
    let allocates = spec.at("allocateLoadBalancerNodePorts");
    let is_load_balancer = has_type(spec.value(), "LoadBalancer");
    if allocates.is_set() && !is_load_balancer {
        errors.forbidden(&allocates, ONLY_LOAD_BALANCER);
    } else if !allocates.is_set() && is_load_balancer {
        errors.required(&Path::field("allocateLoadBalancerNodePorts"), "");
    }
}

fn validate_load_balancer_class(spec: &Node<'_>, errors: &mut Errors) {
    let class = spec.at("loadBalancerClass");
    if class.is_set() && has_type(spec.value(), "LoadBalancer") {
        validate_text(&class, names::qualified_name, errors);
    } else if class.is_set() {
        errors.forbidden(&class, ONLY_LOAD_BALANCER);
    }
}

fn validate_external_traffic(spec: &Node<'_>, errors: &mut Errors) {
    let policy = spec.at("externalTrafficPolicy");
    if is_externally_accessible(spec.value()) {
        validate_required_choice(&policy, TRAFFIC_POLICIES, errors);
    } else if !policy.is_empty() {
        errors.invalid(&policy, "may only be set for externally-accessible services");
    }
    let port = spec.at("healthCheckNodePort");
    match (needs_health_check(spec.value()), port.int()) {
        (false, 0) => {}
        (false, _) => {
            let detail = "may only be set when `type` is 'LoadBalancer' and \
                          `externalTrafficPolicy` is 'Local'";
            errors.invalid(&port, detail);
        }
        (true, 0) => errors.required(&port, ""),
        (true, number) => {
            for message in names::port_number(number) {
                errors.invalid(&port, message);
            }
        }
    }
}

fn validate_internal_traffic(spec: &Node<'_>, errors: &mut Errors) {
    let policy = spec.at("internalTrafficPolicy");
    if !policy.is_set() && has_type_of_cluster(spec.value()) {
        errors.required(&policy, "");
    }
    validate_choice(&policy, TRAFFIC_POLICIES, errors);
}
