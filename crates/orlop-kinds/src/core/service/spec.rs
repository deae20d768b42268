//! What the spec of a service says about it, for the rules of services to ask.
//!
//! After `pkg/api/service/util.go` and the small functions at the end of
//! `pkg/registry/core/service/strategy.go` and `storage/storage.go` beside it.

use std::collections::BTreeSet;

use orlop_machinery::Value;

/// The address of a service without one.
pub(super) const NO_ADDRESS: &str = "None";

pub(super) fn has_type(spec: &Value, wanted: &str) -> bool {
    spec.at("type").str() == wanted
}

/// Whether its type is one of those with addresses in the cluster; types that nobody knows are not.
pub(super) fn has_type_of_cluster(spec: &Value) -> bool {
    ["ClusterIP", "LoadBalancer", "NodePort"].contains(&spec.at("type").str())
}

/// Whether it has no address of its own, by the list of addresses.
pub(super) fn is_headless(spec: &Value) -> bool {
    matches!(spec.at("clusterIPs").list(), [only] if only.str() == NO_ADDRESS)
}

/// Whether it is a headless service that does not say which pods it has.
pub(super) fn is_headless_without_selector(spec: &Value) -> bool {
    spec.at("clusterIP").str() == NO_ADDRESS && spec.at("selector").is_empty()
}

/// Whether it has addresses in the cluster; none is an answer too.
pub(super) fn needs_cluster_ip(spec: &Value) -> bool {
    !has_type(spec, "ExternalName")
}

/// Whether its ports may be open on every node.
pub(super) fn may_have_node_ports(spec: &Value) -> bool {
    has_type(spec, "NodePort") || has_type(spec, "LoadBalancer")
}

/// Whether its ports are opened on every node, asked for or not.
pub(super) fn needs_node_ports(spec: &Value) -> bool {
    let is_left_out = spec.at("allocateLoadBalancerNodePorts") == &Value::Bool(false);
    has_type(spec, "NodePort") || (has_type(spec, "LoadBalancer") && !is_left_out)
}

/// Whether clients from outside can reach it.
pub(super) fn is_externally_accessible(spec: &Value) -> bool {
    let has_external_ips = !spec.at("externalIPs").is_empty();
    may_have_node_ports(spec) || (has_type(spec, "ClusterIP") && has_external_ips)
}

/// Whether load balancers ask every node if it has a pod of the service.
pub(super) fn needs_health_check(spec: &Value) -> bool {
    has_type(spec, "LoadBalancer") && spec.at("externalTrafficPolicy").str() == "Local"
}

/// The ports of nodes that it asks for or has.
pub(super) fn node_ports(spec: &Value) -> BTreeSet<i64> {
    let ports = spec.at("ports").list().iter().map(|port| port.at("nodePort").int());
    ports.filter(|port| *port != 0).collect()
}

/// Whether a field is the same, missing or not.
pub(super) fn has_same(new: &Value, old: &Value, field: &str) -> bool {
    new.at(field) == old.at(field)
}

/// The same for a list: none is the same as an empty one.
pub(super) fn has_same_list(new: &Value, old: &Value, field: &str) -> bool {
    new.at(field).list() == old.at(field).list()
}
