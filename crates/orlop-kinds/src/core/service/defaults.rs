//! The defaults of services.
//!
//! After `SetDefaults_Service` in `pkg/apis/core/v1/defaults.go`. Addresses, their families and
//! ports of nodes are not given here: those are allocated (see [`super::allocation`]).

use orlop_machinery::kind::Defaulter;
use orlop_machinery::{Map, Value};

use super::spec::{has_type, has_type_of_cluster, is_externally_accessible};

pub(super) const DEFAULTERS: &[(&str, Defaulter)] =
    &[("io.k8s.api.core.v1.Service", set_service), ("io.k8s.api.core.v1.ServicePort", set_port)];

/// How long a client comes to the same pod: three hours.
const TIMEOUT_SECONDS: i64 = 10_800;

fn set_service(service: &mut Value) {
    set_spec(service.entry("spec"));
    if !has_type(service.at("spec"), "LoadBalancer") {
        return;
    }
    let Some(ingress) = service.path_mut(&["status", "loadBalancer", "ingress"]) else { return };
    for point in ingress.list_mut() {
        if !point.at("ip").is_empty() {
            point.set_default("ipMode", "VIP");
        }
    }
}

fn set_spec(spec: &mut Value) {
    set_if_empty(spec, "sessionAffinity", "None");
    set_session_affinity_config(spec);
    set_if_empty(spec, "type", "ClusterIP");
    if is_externally_accessible(spec) {
        set_if_empty(spec, "externalTrafficPolicy", "Cluster");
    }
    if has_type_of_cluster(spec) {
        spec.set_default("internalTrafficPolicy", "Cluster");
    }
    if has_type(spec, "LoadBalancer") {
        spec.set_default("allocateLoadBalancerNodePorts", true);
    }
}

fn set_session_affinity_config(spec: &mut Value) {
    match spec.at("sessionAffinity").str() {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let timeout = spec.path(&["sessionAffinityConfig", "clientIP", "timeoutSeconds"]);
            if timeout.is_null() {
                let client = Value::from([("timeoutSeconds", TIMEOUT_SECONDS)]);
                let config: Map = [("clientIP".into(), client)].into_iter().collect();
                spec.set("sessionAffinityConfig", config);
            }
        }
        _ => {}
    }
}

/// Pods listen where the service does.
fn set_port(port: &mut Value) {
    if port.at("targetPort").is_empty() {
        let number = port.at("port").int();
        port.set("targetPort", number);
    }
}

fn set_if_empty(spec: &mut Value, field: &str, value: &str) {
    if spec.at(field).is_empty() {
        spec.set(field, value);
    }
}
