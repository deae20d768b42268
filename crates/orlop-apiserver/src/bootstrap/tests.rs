//! What a cluster has after its first server has started, and after its second.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use orlop_kinds::service_allocation::ClusterFamilies;
use orlop_machinery::meta::Meta;
use orlop_machinery::names::IpFamily;
use orlop_machinery::{Value, json};
use orlop_storage::Store;

use super::*;
use crate::allocation::{AllocationOptions, NodePortRange, ServiceAllocator};
use crate::objects::Place;
use crate::test_registry::{SlowClock, TestRegistry};

fn registry() -> Arc<TestRegistry> {
    let mut registry = TestRegistry::new();
    let families = ClusterFamilies { default: IpFamily::V4, is_dual_stack: false };
    let node_ports = NodePortRange { first: 30000, last: 32767 };
    let options = AllocationOptions { families, node_ports };
    let (store, clock) = (Arc::new(registry.store.clone()), Arc::new(SlowClock::default()));
    let allocator = ServiceAllocator::new(&registry.catalog, store, clock, options).unwrap();
    registry.hooks.add(allocator.resource(), Arc::new(allocator));
    Arc::new(registry)
}

fn bootstrap(registry: &Arc<TestRegistry>, address: &str) -> Bootstrap {
    let options = BootstrapOptions {
        service_cidrs: vec![Str::new("10.96.0.0/16")],
        advertise_address: address.parse().unwrap(),
        secure_port: 6443,
        kubernetes_service_node_port: None,
        hostname: Str::from(format!("host-{address}")),
        authentication_trust: AuthenticationTrust::default(),
    };
    let store = Arc::new(registry.store.clone());
    Bootstrap::new(registry.clone(), store, Arc::new(SlowClock::default()), options).unwrap()
}

async fn get(registry: &TestRegistry, api_version: &str, kind: &str, place: (&str, &str)) -> Value {
    let place = Place { api_version, kind, namespace: place.0, name: place.1 };
    registry.get(place).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_new_cluster_has_what_every_cluster_has() {
    let registry = registry();
    let server = bootstrap(&registry, "192.0.2.1");
    server.prepare().await.unwrap();
    let check = async |api_version: &str, kind: &str, expect: &[&str]| {
        assert_eq!(registry.names(api_version, kind).await, expect, "{kind}");
    };
    check("v1", "Namespace", &["default", "kube-node-lease", "kube-public", "kube-system"]).await;
    check("v1", "Service", &["kubernetes"]).await;
    check("networking.k8s.io/v1", "ServiceCIDR", &["kubernetes"]).await;
    check("networking.k8s.io/v1", "IPAddress", &["10.96.0.1"]).await;
    let classes = ["system-cluster-critical", "system-node-critical"];
    check("scheduling.k8s.io/v1", "PriorityClass", &classes).await;
    check("coordination.k8s.io/v1", "Lease", &[&server.lease.name]).await;
    check("v1", "ConfigMap", &["extension-apiserver-authentication"]).await;
    let flow = "flowcontrol.apiserver.k8s.io/v1";
    assert_eq!(registry.names(flow, "FlowSchema").await.len(), 11);
    assert_eq!(registry.names(flow, "PriorityLevelConfiguration").await.len(), 8);
    let service = get(&registry, "v1", "Service", ("default", "kubernetes")).await;
    assert_eq!(service.path(&["spec", "clusterIP"]).str(), "10.96.0.1");
    assert_eq!(
        json::to_string(service.path(&["spec", "ports"])),
        r#"[{"name":"https","port":443,"protocol":"TCP","targetPort":6443}]"#
    );
    let cidr = get(&registry, "networking.k8s.io/v1", "ServiceCIDR", ("", "kubernetes")).await;
    let condition = &cidr.path(&["status", "conditions"]).list()[0];
    assert_eq!(condition.at("message").str(), "Kubernetes default Service CIDR is ready");
}

#[tokio::test]
async fn starting_again_changes_nothing_but_the_lease() {
    let registry = registry();
    bootstrap(&registry, "192.0.2.1").prepare().await.unwrap();
    let before = registry.store.revision().await.unwrap();
    bootstrap(&registry, "192.0.2.1").prepare().await.unwrap();
    // One deletes the lease of the earlier run, one makes the new one.
    assert_eq!(registry.store.revision().await.unwrap().0, before.0 + 2);
}

#[tokio::test]
async fn the_endpoints_are_the_servers_that_are_there() {
    let registry = registry();
    let (first, second) = (bootstrap(&registry, "192.0.2.1"), bootstrap(&registry, "192.0.2.2"));
    first.prepare().await.unwrap();
    second.prepare().await.unwrap();
    let check = async |expect: &[&str]| {
        let endpoints = get(&registry, "v1", "Endpoints", ("default", "kubernetes")).await;
        let slice =
            get(&registry, "discovery.k8s.io/v1", "EndpointSlice", ("default", "kubernetes")).await;
        let subset = endpoints.at("subsets").list().first().cloned().unwrap_or_default();
        let listed = subset.at("addresses").list().iter();
        let listed: Vec<&str> = listed.map(|address| address.at("ip").str()).collect();
        assert_eq!(listed, expect);
        let sliced = slice.at("endpoints").list().iter();
        let sliced: Vec<&str> =
            sliced.map(|endpoint| endpoint.at("addresses").list()[0].str()).collect();
        assert_eq!(sliced, expect);
        assert_eq!(slice.at("addressType").str(), "IPv4");
        let label = "endpointslice.kubernetes.io/skip-mirror";
        assert_eq!(Meta::of(&endpoints).label(label), Some("true"));
    };
    first.sync_kubernetes_service().await.unwrap();
    check(&["192.0.2.1"]).await;
    second.sync_kubernetes_service().await.unwrap();
    check(&["192.0.2.1", "192.0.2.2"]).await;
    first.stop().await;
    check(&["192.0.2.2"]).await;
    first.sync_kubernetes_service().await.unwrap();
    check(&["192.0.2.2"]).await;
    second.stop().await;
    check(&[]).await;
    assert_eq!(registry.names("coordination.k8s.io/v1", "Lease").await, [""; 0]);
}

#[tokio::test]
async fn what_was_deleted_or_changed_is_made_again() {
    let registry = registry();
    let server = bootstrap(&registry, "192.0.2.1");
    server.prepare().await.unwrap();
    let flow = "flowcontrol.apiserver.k8s.io/v1";
    let kind = "PriorityLevelConfiguration";
    let place = |name| Place { api_version: flow, kind, namespace: "", name };
    registry.delete(place("system")).await.unwrap();
    let mut changed = get(&registry, flow, kind, ("", "workload-low")).await;
    let right = changed.at("spec").clone();
    changed.entry("spec").entry("limited").set("nominalConcurrencyShares", 7);
    registry.update(changed, "").await.unwrap();
    let objects: Arc<dyn Objects> = registry.clone();
    flow_control::reconcile(&objects).await.unwrap();
    assert_eq!(registry.names(flow, kind).await.len(), 8);
    assert_eq!(*get(&registry, flow, kind, ("", "workload-low")).await.at("spec"), right);
    let before = registry.store.revision().await.unwrap();
    flow_control::reconcile(&objects).await.unwrap();
    assert_eq!(registry.store.revision().await.unwrap(), before, "nothing is left to do");
}

#[tokio::test]
async fn a_server_that_nobody_can_reach_is_no_endpoint() {
    let check = async |address: &str, expect: &[&str]| {
        let registry = registry();
        let server = bootstrap(&registry, address);
        server.prepare().await.unwrap();
        server.sync_kubernetes_service().await.unwrap();
        assert_eq!(registry.names("v1", "Endpoints").await, expect, "{address}");
        let slices = registry.names("discovery.k8s.io/v1", "EndpointSlice").await;
        assert_eq!(slices, expect, "{address}");
        server.stop().await;
    };
    check("192.0.2.1", &["kubernetes"]).await;
    check("2001:db8::1", &["kubernetes"]).await;
    for nobody in ["127.0.0.1", "::1", "0.0.0.0", "169.254.0.1", "fe80::1", "224.0.0.1", "ff02::1"]
    {
        check(nobody, &[]).await;
    }
}
