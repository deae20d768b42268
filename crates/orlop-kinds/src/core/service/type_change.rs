//! What a service loses when its type changes.
//!
//! After `dropTypeDependentFields` in `pkg/registry/core/service/strategy.go`: a field goes if it
//! means nothing any more, may have been filled by the server, and was not changed by the client.
//! What the client did change stays, for validation to refuse.

use orlop_machinery::{Map, Value};

use super::spec::{
    has_same, has_same_list, has_type, is_externally_accessible, may_have_node_ports,
    needs_cluster_ip, needs_health_check, node_ports,
};

/// Takes out of `new` what its type has no use for and the type of `old` had.
pub(super) fn drop_type_dependent_fields(new: &mut Value, old: &Value) {
    let old_spec = old.at("spec");
    let spec = new.entry("spec");
    drop_cluster_ips(spec, old_spec);
    let lost_node_ports = may_have_node_ports(old_spec) && !may_have_node_ports(spec);
    if lost_node_ports && node_ports(old_spec).is_superset(&node_ports(spec)) {
        for port in spec.get_mut("ports").map(Value::list_mut).unwrap_or_default() {
            port.remove("nodePort");
        }
    }
    let lost_health_check = needs_health_check(old_spec) && !needs_health_check(spec);
    drop_if_same(spec, old_spec, "healthCheckNodePort", lost_health_check);
    let lost_balancer = has_type(old_spec, "LoadBalancer") && !has_type(spec, "LoadBalancer");
    drop_if_same(spec, old_spec, "allocateLoadBalancerNodePorts", lost_balancer);
    drop_if_same(spec, old_spec, "loadBalancerClass", lost_balancer);
    let lost_access = is_externally_accessible(old_spec) && !is_externally_accessible(spec);
    drop_if_same(spec, old_spec, "externalTrafficPolicy", lost_access);
    if !has_type(spec, "LoadBalancer") {
        new.entry("status").set("loadBalancer", Map::new());
    }
}

fn drop_cluster_ips(spec: &mut Value, old: &Value) {
    if !needs_cluster_ip(old) || needs_cluster_ip(spec) {
        return;
    }
    if has_same(spec, old, "clusterIP") && has_same_list(spec, old, "clusterIPs") {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    drop_if_same(spec, old, "ipFamilies", true);
    drop_if_same(spec, old, "ipFamilyPolicy", true);
}

fn drop_if_same(spec: &mut Value, old: &Value, field: &str, has_no_use: bool) {
    if has_no_use && has_same(spec, old, field) {
        spec.remove(field);
    }
}
