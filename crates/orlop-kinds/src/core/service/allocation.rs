//! What the server does with a service around the giving out of addresses and ports.
//!
//! After `pkg/registry/core/service/storage/{storage,alloc}.go`. The pools themselves are the
//! server's; here is all that can be decided without them. A server uses it before the rules of
//! the kind run:
//!
//! - on creation [`normalize_cluster_ips`], [`set_ip_families`], then it gives out what
//!   [`wanted_cluster_ips`], [`needs_node_ports`] and [`needs_health_check_node_port`] ask for;
//! - on update [`default_on_read`] of the old one, [`keep_allocated_values`], and then the same;
//! - on every read [`default_on_read`].
//!
//! All of it may run twice: the second time changes nothing.

mod ip_families;

pub use ip_families::{ClusterFamilies, set_ip_families};

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::Value;
use orlop_machinery::names::IpFamily;

use super::spec::{
    self, NO_ADDRESS, has_same, has_same_list, needs_cluster_ip, needs_health_check,
};

/// Fills in what a service lacks that was stored before there were lists of addresses.
pub fn default_on_read(service: &mut Value, default_family: IpFamily) {
    normalize_cluster_ips(service, None);
    let spec = service.entry("spec");
    if !needs_cluster_ip(spec) {
        // It was once filled in for all types, without a use.
        spec.remove("internalTrafficPolicy");
    } else if spec.at("ipFamilies").is_empty() {
        ip_families::default_on_read(spec, default_family);
    }
}

/// Brings the list of addresses in line with the one address that older clients know.
pub fn normalize_cluster_ips(service: &mut Value, old: Option<&Value>) {
    let spec = service.entry("spec");
    let first = spec.at("clusterIP").clone();
    let Some(old) = old.map(|old| old.at("spec")) else {
        if !first.is_empty() && spec.at("clusterIPs").is_empty() {
            spec.set("clusterIPs", vec![first]);
        }
        return;
    };
    if has_same(spec, old, "clusterIP") {
        // An older client that changed something else.
        keep_if_empty(spec, old, "clusterIPs");
    } else if has_same_list(spec, old, "clusterIPs") {
        spec.remove("clusterIPs");
        if !first.is_empty() {
            spec.set("clusterIPs", vec![first]);
        }
    }
}

/// Puts back what the server once gave out and the client did not send along.
pub fn keep_allocated_values(service: &mut Value, old: &Value) {
    let (spec, old) = (service.entry("spec"), old.at("spec"));
    if needs_cluster_ip(spec) && needs_cluster_ip(old) {
        keep_if_empty(spec, old, "clusterIP");
        keep_if_empty(spec, old, "clusterIPs");
    }
    if spec::needs_node_ports(spec) && spec::needs_node_ports(old) {
        keep_node_ports(spec, old);
    }
    if needs_health_check(spec) && needs_health_check(old) {
        keep_if_empty(spec, old, "healthCheckNodePort");
    }
}

/// The families of addresses that a service is to have, each with the address that it asks for.
/// To be asked when the families are decided; none for services without addresses.
#[must_use]
pub fn wanted_cluster_ips(service: &Value) -> Vec<(IpFamily, Option<&str>)> {
    let spec = service.at("spec");
    let addresses = spec.at("clusterIPs").list();
    let is_headless = addresses.first().is_some_and(|first| first.str() == NO_ADDRESS);
    if !needs_cluster_ip(spec) || is_headless {
        return Vec::new();
    }
    let families = spec.at("ipFamilies").list().iter().enumerate();
    let wanted = families.filter_map(|(index, family)| {
        let address = addresses.get(index).map(Value::str).filter(|text| !text.is_empty());
        Some((ip_families::family_named(family.str())?, address))
    });
    wanted.collect()
}

/// Puts the addresses into a service that were given to it, in the order of its families.
pub fn set_cluster_ips(service: &mut Value, addresses: &[&str]) {
    let spec = service.entry("spec");
    if let Some(first) = addresses.first() {
        spec.set("clusterIP", *first);
        spec.set("clusterIPs", addresses.to_vec());
    }
}

/// Whether every port of the service is to have a port of the nodes.
#[must_use]
pub fn needs_node_ports(service: &Value) -> bool {
    spec::needs_node_ports(service.at("spec"))
}

/// Whether the service is to have a port of the nodes where load balancers ask for its pods.
#[must_use]
pub fn needs_health_check_node_port(service: &Value) -> bool {
    needs_health_check(service.at("spec"))
}

/// The ports of nodes that a service asks for or has, without that of health checks.
#[must_use]
pub fn node_ports(service: &Value) -> BTreeSet<i64> {
    spec::node_ports(service.at("spec"))
}

/// Ports are known by name. A number that another port has now is not given back.
fn keep_node_ports(spec: &mut Value, old: &Value) {
    let used = &spec::node_ports(spec) & &spec::node_ports(old);
    let ports = old.at("ports").list().iter();
    let known: BTreeMap<&str, i64> =
        ports.map(|port| (port.at("name").str(), port.at("nodePort").int())).collect();
    for port in spec.get_mut("ports").map(Value::list_mut).unwrap_or_default() {
        if !port.at("nodePort").is_empty() {
            continue;
        }
        let before = known.get(port.at("name").str()).copied().unwrap_or_default();
        if before != 0 && !used.contains(&before) {
            port.set("nodePort", before);
        }
    }
}

fn keep_if_empty(spec: &mut Value, old: &Value, field: &str) {
    if spec.at(field).is_empty() && !old.at(field).is_empty() {
        spec.set(field, old.at(field).clone());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::{json, yaml};

    use super::*;

    fn service(spec: &str) -> Value {
        Value::from([("spec", yaml::parse(spec.as_bytes()).unwrap())])
    }

    /// What a change makes of a spec, and that doing it twice is doing it once.
    fn check(change: impl Fn(&mut Value), spec: &str, expect: &str) {
        let mut seen = service(spec);
        change(&mut seen);
        let expect = json::to_string(service(expect).at("spec"));
        assert_eq!(json::to_string(seen.at("spec")), expect, "{spec}");
        change(&mut seen);
        assert_eq!(json::to_string(seen.at("spec")), expect, "twice: {spec}");
    }

    #[test]
    fn a_service_of_an_older_client_gets_the_list_of_addresses() {
        let create = |service: &mut Value| normalize_cluster_ips(service, None);
        check(create, "{clusterIP: 1.2.3.4}", "{clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4]}");
        check(create, "{clusterIPs: [1.2.3.4]}", "{clusterIPs: [1.2.3.4]}");
        check(create, "{}", "{}");
        let old = service("{clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4, \"::1\"]}");
        let update = |service: &mut Value| normalize_cluster_ips(service, Some(&old));
        let both = "{clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4, \"::1\"]}";
        check(update, "{clusterIP: 1.2.3.4}", both);
        check(update, "{clusterIPs: [1.2.3.4, \"::1\"]}", "{}");
        check(
            update,
            "{clusterIP: 5.6.7.8, clusterIPs: [1.2.3.4, \"::1\"]}",
            "{clusterIP: 5.6.7.8, clusterIPs: [5.6.7.8]}",
        );
        check(update, "{clusterIP: 5.6.7.8}", "{clusterIP: 5.6.7.8}");
    }

    #[test]
    fn what_was_given_out_is_kept_when_a_client_sends_it_not() {
        let keep = |old: &str, new: &str, expect: &str| {
            let old = service(old);
            check(|service| keep_allocated_values(service, &old), new, expect);
        };
        let old = "{type: ClusterIP, clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4]}";
        keep(old, "{type: ClusterIP}", old);
        keep(old, "{type: ExternalName}", "{type: ExternalName}");
        keep(
            "{type: NodePort, ports: [{name: a, nodePort: 1}, {name: b, nodePort: 2}]}",
            "{type: LoadBalancer, ports: [{name: b}, {name: c}, {name: d, nodePort: 1}, \
             {name: a}]}",
            "{type: LoadBalancer, ports: [{name: b, nodePort: 2}, {name: c}, \
             {name: d, nodePort: 1}, {name: a}]}",
        );
        let without =
            "{type: LoadBalancer, allocateLoadBalancerNodePorts: false, ports: [{port: 1}]}";
        keep("{type: NodePort, ports: [{port: 1, nodePort: 2}]}", without, without);
        let local = "type: LoadBalancer, externalTrafficPolicy: Local";
        keep(
            &format!("{{{local}, healthCheckNodePort: 3}}"),
            &format!("{{{local}}}"),
            &format!("{{{local}, healthCheckNodePort: 3}}"),
        );
    }

    #[test]
    fn what_was_stored_long_ago_reads_as_if_it_were_new() {
        let read = |service: &mut Value| default_on_read(service, IpFamily::V6);
        check(read, "{type: ExternalName, internalTrafficPolicy: Cluster}", "{type: ExternalName}");
        check(
            read,
            "{clusterIP: 1.2.3.4}",
            "{clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4], ipFamilies: [IPv4], \
             ipFamilyPolicy: SingleStack}",
        );
        check(
            read,
            "{clusterIP: \"1::\", clusterIPs: [\"1::\", 1.2.3.4]}",
            "{clusterIP: \"1::\", clusterIPs: [\"1::\", 1.2.3.4], ipFamilies: [IPv6, IPv4], \
             ipFamilyPolicy: RequireDualStack}",
        );
        check(
            read,
            "{clusterIP: None, selector: {a: b}}",
            "{clusterIP: None, clusterIPs: [None], selector: {a: b}, ipFamilies: [IPv6], \
             ipFamilyPolicy: SingleStack}",
        );
        check(
            read,
            "{clusterIP: None}",
            "{clusterIP: None, clusterIPs: [None], ipFamilies: [IPv6, IPv4], \
             ipFamilyPolicy: RequireDualStack}",
        );
    }

    #[test]
    fn a_service_asks_for_one_address_of_each_family() {
        let check = |spec: &str, expect: &[(IpFamily, Option<&str>)]| {
            assert_eq!(wanted_cluster_ips(&service(spec)), expect, "{spec}");
        };
        check("{type: ExternalName, ipFamilies: [IPv4]}", &[]);
        check("{clusterIPs: [None], ipFamilies: [IPv4]}", &[]);
        check(
            "{clusterIPs: [1.2.3.4], ipFamilies: [IPv4, IPv6]}",
            &[(IpFamily::V4, Some("1.2.3.4")), (IpFamily::V6, None)],
        );
        let mut seen = service("{}");
        set_cluster_ips(&mut seen, &["1.2.3.4", "1::"]);
        let expect = "{clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4, \"1::\"]}";
        assert_eq!(seen, service(expect));
    }

    #[test]
    fn ports_of_nodes_are_for_services_that_are_open_to_the_outside() {
        let check = |spec: &str, needs_ports, needs_health_check, ports: &[i64]| {
            let service = service(spec);
            assert_eq!(needs_node_ports(&service), needs_ports, "{spec}");
            assert_eq!(needs_health_check_node_port(&service), needs_health_check, "{spec}");
            assert_eq!(node_ports(&service).into_iter().collect::<Vec<_>>(), ports, "{spec}");
        };
        check("{type: ClusterIP}", false, false, &[]);
        check("{type: NodePort, ports: [{nodePort: 2}, {}, {nodePort: 1}]}", true, false, &[1, 2]);
        check("{type: LoadBalancer, externalTrafficPolicy: Local}", true, true, &[]);
        let none = "{type: LoadBalancer, allocateLoadBalancerNodePorts: false}";
        check(none, false, false, &[]);
    }
}
