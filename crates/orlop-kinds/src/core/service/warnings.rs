//! What a client should know about a service that is fine.
//!
//! After `pkg/api/service/warnings.go`.

use orlop_machinery::names::{cidr_warnings, ip_warnings};
use orlop_machinery::node::Node;

use super::spec::{NO_ADDRESS, has_type};
use super::validation::{TOPOLOGY_HINTS, TOPOLOGY_MODE};

pub(super) fn warn_of_service(service: &Node<'_>, warnings: &mut Vec<String>) {
    let annotations = service.value().path(&["metadata", "annotations"]).map();
    if annotations.contains_key(TOPOLOGY_HINTS) {
        let text = "is deprecated, please use";
        warnings.push(format!("annotation {TOPOLOGY_HINTS} {text} {TOPOLOGY_MODE} instead"));
    }
    let spec = service.at("spec");
    if !matches!(spec.at("clusterIP").str(), "" | NO_ADDRESS) {
        warn_of_addresses(&spec.at("clusterIPs"), warnings);
    }
    let is_headless =
        has_type(spec.value(), "ClusterIP") && spec.at("clusterIP").str() == NO_ADDRESS;
    if is_headless {
        warn_of_headless(&spec, warnings);
    }
    warn_of_addresses(&spec.at("externalIPs"), warnings);
    let is_external_name = has_type(spec.value(), "ExternalName");
    let has_external_ips = !spec.at("externalIPs").is_empty();
    if has_external_ips && !is_headless && !is_external_name {
        let text = "is deprecated and may no longer be implemented in some clusters";
        warnings.push(format!("spec.externalIPs {text}"));
    }
    let balancer = spec.at("loadBalancerIP");
    warnings.extend(ip_warnings(&balancer, balancer.str()));
    for range in spec.at("loadBalancerSourceRanges").items() {
        warnings.extend(cidr_warnings(&range, range.str()));
    }
    if is_external_name && has_external_ips {
        warnings.push(r#"spec.externalIPs is ignored when spec.type is "ExternalName""#.into());
    }
    if !is_external_name && !spec.at("externalName").is_empty() {
        let text = r#"spec.externalName is ignored when spec.type is not "ExternalName""#;
        warnings.push(text.into());
    }
    if spec.at("trafficDistribution").str() == "PreferClose" {
        let text = r#"spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone""#;
        warnings.push(text.into());
    }
}

/// Of the addresses of load balancers; the path is that of the item, not of the address in it.
pub(super) fn warn_of_status(service: &Node<'_>, warnings: &mut Vec<String>) {
    let status = service.at("status");
    let balancer = status.at("loadBalancer");
    for point in balancer.at("ingress").items() {
        warnings.extend(ip_warnings(&point, point.at("ip").str()));
    }
}

fn warn_of_headless(spec: &Node<'_>, warnings: &mut Vec<String>) {
    for field in ["loadBalancerIP", "externalIPs"] {
        if !spec.at(field).is_empty() {
            warnings.push(format!("spec.{field} is ignored for headless services"));
        }
    }
    if spec.at("sessionAffinity").str() != "None" {
        warnings.push("spec.SessionAffinity is ignored for headless services".into());
    }
}

fn warn_of_addresses(addresses: &Node<'_>, warnings: &mut Vec<String>) {
    for address in addresses.items() {
        warnings.extend(ip_warnings(&address, address.str()));
    }
}
