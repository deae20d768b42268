//! Services in a store: what they get, what they give back, and what others cannot have.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::sync::Arc;

use orlop_machinery::names::IpFamily;
use orlop_machinery::{Str, json};
use orlop_storage::{Expect, KeyRange, Memory, RangeRequest, Select};

use super::*;
use crate::objects::{Objects, Place};
use crate::test_registry::{NOW, SlowClock, TestRegistry};

const DRY_RUN: HookContext = HookContext { is_dry_run: true };
const REAL: HookContext = HookContext { is_dry_run: false };

struct Cluster {
    registry: Arc<TestRegistry>,
    allocator: Arc<ServiceAllocator>,
}

/// A cluster with these networks, and with five ports of nodes.
async fn cluster(cidrs: &[&str]) -> Cluster {
    let mut registry = TestRegistry::new();
    let range = NodePortRange { first: 30000, last: 30004 };
    let allocator = Arc::new(new_allocator(&registry, cidrs.len() == 2, range));
    registry.hooks.add(allocator.resource(), allocator.clone());
    let cidrs = cidrs.join("\", \"");
    let service_cidr = format!(
        "{{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {{name: kubernetes}}, \
         spec: {{cidrs: [\"{cidrs}\"]}}}}"
    );
    registry.create(registry.read(&service_cidr), "").await.unwrap();
    Cluster { registry: Arc::new(registry), allocator }
}

fn new_allocator(
    registry: &TestRegistry,
    is_dual_stack: bool,
    node_ports: NodePortRange,
) -> ServiceAllocator {
    let families = ClusterFamilies { default: IpFamily::V4, is_dual_stack };
    let options = AllocationOptions { families, node_ports };
    let (store, clock) = (Arc::new(registry.store.clone()), Arc::new(SlowClock::default()));
    ServiceAllocator::new(&registry.catalog, store, clock, options).unwrap()
}

impl Cluster {
    fn service(&self, name: &str, spec: &str) -> Value {
        let text = format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: {name}, namespace: ns}}, \
             spec: {spec}}}"
        );
        self.registry.read(&text)
    }

    async fn create(&self, name: &str, spec: &str) -> Result<Value, String> {
        let made = self.registry.write_new(&self.service(name, spec), REAL).await;
        made.map_err(|status| status.to_string())
    }

    async fn update(&self, name: &str, spec: &str) -> Result<Value, String> {
        let made = self.registry.write_again(&self.service(name, spec), REAL).await;
        made.map_err(|status| status.to_string())
    }

    async fn delete(&self, name: &str) {
        self.registry.delete(place(name)).await.unwrap();
    }

    /// The addresses that are in use.
    async fn addresses(&self) -> Vec<String> {
        self.registry.names("networking.k8s.io/v1", "IPAddress").await
    }

    /// The ports that are in use, and by whom.
    async fn ports(&self) -> Vec<(u16, String)> {
        let all = RangeRequest::new(KeyRange::prefix(node_ports::prefix()));
        let found = self.registry.store.range(all).await.unwrap();
        let blocks = found.records.iter().map(|record| node_ports::Block::read(record).unwrap());
        let ports = blocks.flat_map(|block| block.owners.into_iter());
        ports.map(|(port, owner)| (port, owner.to_string())).collect()
    }

    fn repair(&self) -> Repair {
        let objects: Arc<dyn Objects> = self.registry.clone();
        Repair::new(self.allocator.clone(), &objects, &Str::new("host"))
    }

    async fn reasons(&self) -> BTreeSet<String> {
        let place =
            Place { api_version: "events.k8s.io/v1", kind: "Event", namespace: "", name: "" };
        let events = self.registry.list(place).await.unwrap();
        events.iter().map(|event| event.at("reason").str().to_owned()).collect()
    }
}

fn place(name: &str) -> Place<'_> {
    Place { api_version: "v1", kind: "Service", namespace: "ns", name }
}

fn address(service: &Value) -> &str {
    service.path(&["spec", "clusterIP"]).str()
}

fn node_port(service: &Value, index: usize) -> i64 {
    service.path(&["spec", "ports"]).list()[index].at("nodePort").int()
}

fn range(cidr: &str) -> address_range::AddressRange {
    address_range::AddressRange::parse(cidr).unwrap()
}

#[tokio::test]
async fn a_service_gets_an_address_and_gives_it_back() {
    let cluster = cluster(&["10.96.0.0/16"]).await;
    let made = cluster.create("a", "{ports: [{port: 80}]}").await.unwrap();
    assert!(range("10.96.0.0/16").contains(address(&made).parse().unwrap()));
    assert_eq!(
        json::to_string(made.path(&["spec", "clusterIPs"])),
        format!("[{:?}]", address(&made))
    );
    assert_eq!(cluster.addresses().await, [address(&made)]);
    let place = Place {
        api_version: "networking.k8s.io/v1",
        kind: "IPAddress",
        namespace: "",
        name: address(&made),
    };
    let object = cluster.registry.get(place).await.unwrap().unwrap();
    let seen =
        json::to_string(object.at("spec")) + &json::to_string(object.path(&["metadata", "labels"]));
    assert_eq!(
        seen,
        concat!(
            r#"{"parentRef":{"name":"a","namespace":"ns","resource":"services"}}"#,
            r#"{"ipaddress.kubernetes.io/ip-family":"IPv4","#,
            r#""ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"}"#,
        )
    );
    let managed = object.path(&["metadata", "managedFields"]).list();
    assert_eq!(managed[0].at("manager").str(), "kube-apiserver");
    let endpoints = "{apiVersion: v1, kind: Endpoints, metadata: {name: a, namespace: ns}}";
    cluster.registry.create(cluster.registry.read(endpoints), "").await.unwrap();
    cluster.delete("a").await;
    assert_eq!(cluster.addresses().await, [""; 0]);
    assert_eq!(cluster.registry.names("v1", "Endpoints").await, [""; 0]);
}

#[tokio::test]
async fn headless_and_external_services_get_none() {
    let cluster = cluster(&["10.96.0.0/16"]).await;
    cluster.create("a", "{clusterIP: None, ports: [{port: 80}]}").await.unwrap();
    cluster.create("b", "{type: ExternalName, externalName: example.com}").await.unwrap();
    assert_eq!(cluster.addresses().await, [""; 0]);
    cluster.delete("a").await;
    cluster.delete("b").await;
}

#[tokio::test]
async fn an_address_that_is_asked_for_must_be_free_and_in_range() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let with = |address: &str| format!("{{clusterIP: {address}, ports: [{{port: 80}}]}}");
    cluster.create("a", &with("10.96.0.5")).await.unwrap();
    assert_eq!(
        cluster.create("b", &with("10.96.0.5")).await.unwrap_err(),
        "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.5\"]: failed to \
         allocate IP 10.96.0.5: provided IP is already allocated"
    );
    for outside in ["10.97.0.5", "10.96.0.0", "10.96.0.255"] {
        assert_eq!(
            cluster.create("b", &with(outside)).await.unwrap_err(),
            format!(
                "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [{outside:?}]: failed \
                 to allocate IP {outside}: the provided network does not match the current range"
            )
        );
    }
    assert_eq!(cluster.addresses().await, ["10.96.0.5"]);
    cluster.delete("a").await;
    cluster.create("b", &with("10.96.0.5")).await.unwrap();
}

#[tokio::test]
async fn a_full_network_says_so() {
    let cluster = cluster(&["10.96.0.0/28"]).await;
    for number in 0..14 {
        cluster.create(&format!("a{number}"), "{ports: [{port: 80}]}").await.unwrap();
    }
    assert_eq!(
        cluster.create("b", "{ports: [{port: 80}]}").await.unwrap_err(),
        "Internal error occurred: failed to allocate a serviceIP for Service \"b\": range is full"
    );
    assert_eq!(cluster.addresses().await.len(), 14);
    let second = "{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: second}, \
                  spec: {cidrs: [10.97.0.0/28]}}";
    cluster.registry.create(cluster.registry.read(second), "").await.unwrap();
    let made = cluster.create("b", "{ports: [{port: 80}]}").await.unwrap();
    assert!(address(&made).starts_with("10.97.0."));
}

#[tokio::test]
async fn no_address_is_taken_from_a_network_that_is_not_ready() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let status = "{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: \
                  kubernetes}, status: {conditions: [{type: Ready, status: \"False\", reason: a, \
                  message: b, lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}}";
    cluster.registry.apply_status(cluster.registry.read(status), "").await.unwrap();
    assert!(cluster.create("a", "{ports: [{port: 80}]}").await.unwrap_err().contains("is full"));
    let fixed = cluster.create("a", "{clusterIP: 10.96.0.5, ports: [{port: 80}]}").await;
    assert!(fixed.unwrap_err().contains("does not match the current range"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn services_made_at_once_get_different_addresses_and_ports() {
    let mut registry = TestRegistry::new();
    let range = NodePortRange { first: 30000, last: 30063 };
    // Two servers on one store.
    let first = Arc::new(new_allocator(&registry, false, range));
    registry.hooks.add(first.resource(), first.clone());
    let other = TestRegistry {
        store: registry.store.clone(),
        hooks: registry.hooks.clone(),
        ..TestRegistry::new()
    };
    let service_cidr = "{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: \
                        kubernetes}, spec: {cidrs: [10.96.0.0/26]}}";
    registry.create(registry.read(service_cidr), "").await.unwrap();
    let clusters = [registry, other].map(|registry| {
        Arc::new(Cluster { registry: Arc::new(registry), allocator: first.clone() })
    });
    let tasks: Vec<_> = (0..62)
        .map(|number| {
            let cluster = clusters[number % 2].clone();
            tokio::spawn(async move {
                let spec = "{type: NodePort, ports: [{port: 80}]}";
                cluster.create(&format!("a{number}"), spec).await.unwrap()
            })
        })
        .collect();
    let (mut addresses, mut ports) = (BTreeSet::new(), BTreeSet::new());
    for task in tasks {
        let made = task.await.unwrap();
        addresses.insert(address(&made).to_owned());
        ports.insert(node_port(&made, 0));
    }
    assert_eq!((addresses.len(), ports.len()), (62, 62));
    assert_eq!(clusters[0].addresses().await.len(), 62);
    assert_eq!(clusters[0].ports().await.len(), 62);
}

#[tokio::test]
async fn a_service_changes_its_type_and_takes_and_gives_back() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let ports = "ports: [{port: 80, protocol: TCP}]";
    let made = cluster.create("a", &format!("{{type: ClusterIP, {ports}}}")).await.unwrap();
    let first = address(&made).to_owned();

    let made = cluster.update("a", &format!("{{type: NodePort, {ports}}}")).await.unwrap();
    assert_eq!(address(&made), first, "it keeps its address");
    let port = node_port(&made, 0);
    assert_eq!(cluster.ports().await, [(u16::try_from(port).unwrap(), "ns/a".to_owned())]);

    let local = format!("{{type: LoadBalancer, externalTrafficPolicy: Local, {ports}}}");
    let made = cluster.update("a", &local).await.unwrap();
    assert_eq!(node_port(&made, 0), port, "it keeps its port");
    let health_check = made.path(&["spec", "healthCheckNodePort"]).int();
    assert_ne!(health_check, 0);
    assert_eq!(cluster.ports().await.len(), 2);

    let made = cluster.update("a", &format!("{{type: LoadBalancer, {ports}}}")).await.unwrap();
    assert!(made.path(&["spec", "healthCheckNodePort"]).is_empty());
    assert_eq!(cluster.ports().await.len(), 1);

    let made = cluster.update("a", &format!("{{type: ClusterIP, {ports}}}")).await.unwrap();
    assert_eq!(node_port(&made, 0), 0);
    assert_eq!(cluster.ports().await, []);
    assert_eq!(cluster.addresses().await, [first.as_str()]);

    let external = "{type: ExternalName, externalName: example.com}";
    let made = cluster.update("a", external).await.unwrap();
    assert_eq!(address(&made), "");
    assert_eq!(cluster.addresses().await, [""; 0]);

    let made = cluster.update("a", &format!("{{type: NodePort, {ports}}}")).await.unwrap();
    assert_eq!(cluster.addresses().await, [address(&made)]);
    assert_eq!(cluster.ports().await.len(), 1);
    let made = cluster.update("a", external).await.unwrap();
    assert!(made.path(&["spec", "clusterIPs"]).is_empty());
    assert_eq!((cluster.addresses().await.len(), cluster.ports().await.len()), (0, 0));
}

#[tokio::test]
async fn a_service_gets_a_second_family_and_gives_it_back() {
    let cluster = cluster(&["10.96.0.0/24", "fd00::/112"]).await;
    let with = |policy: &str| format!("{{ports: [{{port: 80}}], ipFamilyPolicy: {policy}}}");
    let made = cluster.create("a", &with("SingleStack")).await.unwrap();
    let first = address(&made).to_owned();
    let made = cluster.update("a", &with("RequireDualStack")).await.unwrap();
    let both = made.path(&["spec", "clusterIPs"]).list();
    assert_eq!((both.len(), both[0].str()), (2, first.as_str()));
    assert!(range("fd00::/112").contains(both[1].str().parse().unwrap()));
    assert_eq!(cluster.addresses().await.len(), 2);
    let made = cluster.update("a", &with("SingleStack")).await.unwrap();
    assert_eq!(made.path(&["spec", "clusterIPs"]).list().len(), 1);
    assert_eq!(cluster.addresses().await, [first.as_str()]);
    let both = "{ports: [{port: 80}], ipFamilyPolicy: RequireDualStack, clusterIP: \"fd00::5\", \
                clusterIPs: [\"fd00::5\", 10.96.0.5]}";
    cluster.create("b", both).await.unwrap();
    assert_eq!(cluster.addresses().await.len(), 3);
    let taken = "{ports: [{port: 80}], ipFamilyPolicy: RequireDualStack, clusterIP: \"fd00::5\", \
                 clusterIPs: [\"fd00::5\"]}";
    assert_eq!(
        cluster.create("c", taken).await.unwrap_err(),
        "Service \"c\" is invalid: spec.clusterIPs: Invalid value: [\"fd00::5\",\"\"]: failed to \
         allocate IP fd00::5: provided IP is already allocated"
    );
    cluster.delete("b").await;
    assert_eq!(cluster.addresses().await, [first.as_str()]);
}

#[tokio::test]
async fn a_port_that_is_asked_for_must_be_free_and_in_range() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let with = |port: i64| format!("{{type: NodePort, ports: [{{port: 80, nodePort: {port}}}]}}");
    cluster.create("a", &with(30001)).await.unwrap();
    assert_eq!(
        cluster.create("b", &with(30001)).await.unwrap_err(),
        "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is \
         already allocated"
    );
    assert_eq!(
        cluster.create("b", &with(30005)).await.unwrap_err(),
        "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30005: provided port is \
         not in the valid range. The range of valid ports is 30000-30004"
    );
    assert_eq!(cluster.addresses().await.len(), 1, "what is refused leaves nothing behind");
    cluster.create("b", &with(30002)).await.unwrap();
    let error = cluster.update("b", &with(30001)).await.unwrap_err();
    assert!(error.contains("provided port is already allocated"), "{error}");
    let made = cluster.update("b", &with(30003)).await.unwrap();
    assert_eq!(node_port(&made, 0), 30003);
    let ports: Vec<u16> = cluster.ports().await.into_iter().map(|(port, _)| port).collect();
    assert_eq!(ports, [30001, 30003]);
    cluster.delete("a").await;
    cluster.delete("b").await;
    assert_eq!(cluster.ports().await, []);
    let keys = RangeRequest::new(KeyRange::prefix(node_ports::prefix())).select(Select::Count);
    assert_eq!(cluster.registry.store.range(keys).await.unwrap().count, 0);
}

#[tokio::test]
async fn all_ports_in_use_is_a_fault_of_the_server() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let ports: Vec<String> =
        (0..6).map(|port| format!("{{name: p{port}, port: {}}}", 80 + port)).collect();
    let spec = |count: usize| format!("{{type: NodePort, ports: [{}]}}", ports[..count].join(", "));
    assert_eq!(
        cluster.create("a", &spec(6)).await.unwrap_err(),
        "Internal error occurred: failed to allocate a nodePort: range is full"
    );
    assert_eq!(cluster.ports().await, []);
    cluster.create("a", &spec(5)).await.unwrap();
    assert_eq!(cluster.ports().await.len(), 5);
}

#[tokio::test]
async fn ports_of_one_number_share_a_port_of_the_nodes() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let spec = "{type: NodePort, ports: [{name: a, port: 53, protocol: TCP}, {name: b, port: 53, \
                protocol: UDP}]}";
    let made = cluster.create("a", spec).await.unwrap();
    assert_eq!(node_port(&made, 0), node_port(&made, 1));
    assert_eq!(cluster.ports().await.len(), 1);
    let spec = "{type: LoadBalancer, allocateLoadBalancerNodePorts: false, ports: [{name: a, port: \
                80}, {name: b, port: 81, nodePort: 30004}]}";
    cluster.delete("a").await;
    let made = cluster.create("b", spec).await.unwrap();
    assert_eq!((node_port(&made, 0), node_port(&made, 1)), (0, 30004));
    cluster.delete("b").await;
    assert_eq!(cluster.ports().await, []);
}

#[tokio::test]
async fn a_dry_run_shows_what_would_be_and_takes_nothing() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let spec = "{type: NodePort, ports: [{name: a, port: 80}, {name: b, port: 81}]}";
    let service = cluster.service("a", spec);
    let made = cluster.registry.write_new(&service, DRY_RUN).await.unwrap();
    assert_eq!(address(&made), "10.96.0.0");
    assert_eq!((node_port(&made, 0), node_port(&made, 1)), (32769, 32770));
    assert_eq!(cluster.addresses().await, [""; 0]);
    cluster.create("a", spec).await.unwrap();
    let external = cluster.service("a", "{type: ExternalName, externalName: example.com}");
    cluster.registry.write_again(&external, DRY_RUN).await.unwrap();
    assert_eq!((cluster.addresses().await.len(), cluster.ports().await.len()), (1, 2));
    let outside = cluster.service("b", "{clusterIP: 10.97.0.1, ports: [{port: 80}]}");
    let error = cluster.registry.write_new(&outside, DRY_RUN).await.unwrap_err();
    let range = "the provided IP (10.97.0.1) is not in the valid range. The range of valid IPs is \
                 10.96.0.0/24";
    assert!(error.to_string().ends_with(range), "{error}");
}

#[tokio::test]
async fn what_is_lost_is_found_again() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let spec = "{type: NodePort, ports: [{port: 80}]}";
    let made = cluster.create("a", spec).await.unwrap();
    let ports = cluster.ports().await;
    let store: &Memory = &cluster.registry.store;
    for prefix in [node_ports::prefix(), "/registry/ipaddresses/".to_owned()] {
        let found = store.range(RangeRequest::new(KeyRange::prefix(prefix))).await.unwrap();
        for record in found.records {
            store.delete(record.key().to_vec().into(), Expect::Anything).await.unwrap();
        }
    }
    cluster.repair().run_once().await.unwrap();
    assert_eq!(cluster.addresses().await, [address(&made)]);
    assert_eq!(cluster.ports().await, ports);
    let reasons: Vec<String> = cluster.reasons().await.into_iter().collect();
    assert_eq!(reasons, ["ClusterIPNotAllocated", "PortNotAllocated"]);
    let before = store.revision().await.unwrap();
    cluster.repair().run_once().await.unwrap();
    assert_eq!(store.revision().await.unwrap(), before, "the second time there is nothing to do");
}

#[tokio::test]
async fn what_no_service_has_is_given_back() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let made = cluster.create("a", "{type: NodePort, ports: [{port: 80}]}").await.unwrap();
    let store = &cluster.registry.store;
    let definition = &cluster.allocator.ip_addresses;
    for (text, age, service) in
        [("10.96.0.7", 61, "gone"), ("10.96.0.8", 60, "new"), ("10.96.0.9", 0, "a")]
    {
        let name = ServiceName { namespace: "ns", name: service };
        let created = NOW - std::time::Duration::from_secs(age);
        let leaked =
            ip_address::new_ip_address(definition, text.parse().unwrap(), name, created).unwrap();
        let write = ip_address::create(definition, &leaked);
        store.commit(orlop_storage::Txn { writes: vec![write] }).await.unwrap();
    }
    let key = format!("{}30048", node_ports::prefix());
    store.put(key.into(), r#"{"ports":{"30050":"ns/gone"}}"#.into(), Expect::Absent).await.unwrap();
    cluster.repair().run_once().await.unwrap();
    let mut expect = vec!["10.96.0.8".to_owned(), address(&made).to_owned()];
    expect.sort_unstable();
    let mut seen = cluster.addresses().await;
    seen.sort_unstable();
    assert_eq!(seen, expect);
    assert_eq!(cluster.ports().await.len(), 1);
    let reasons: Vec<String> = cluster.reasons().await.into_iter().collect();
    assert_eq!(reasons, ["IPAddressNotAllocated", "IPAddressWrongReference"]);
}

#[tokio::test]
async fn what_cannot_be_mended_is_reported() {
    let cluster = cluster(&["10.96.0.0/24"]).await;
    let stored = |name: &str, address: &str, port: i64| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{name}","namespace":"ns"}},
            "spec":{{"type":"NodePort","clusterIP":"{address}","clusterIPs":["{address}"],
            "ports":[{{"port":80,"nodePort":{port}}}]}}}}"#
        )
    };
    let store = &cluster.registry.store;
    for (name, address, port) in
        [("a", "10.96.0.5", 30001), ("b", "10.96.0.5", 30001), ("c", "10.97.0.5", 31000)]
    {
        let key = format!("/registry/services/specs/ns/{name}");
        store.put(key.into(), stored(name, address, port).into(), Expect::Absent).await.unwrap();
    }
    cluster.repair().run_once().await.unwrap();
    cluster.repair().run_once().await.unwrap();
    assert_eq!(cluster.addresses().await, ["10.96.0.5"]);
    assert_eq!(cluster.ports().await, [(30001, "ns/a".to_owned())]);
    let reasons: Vec<String> = cluster.reasons().await.into_iter().collect();
    assert_eq!(
        reasons,
        [
            "ClusterIPAlreadyAllocated",
            "ClusterIPNotAllocated",
            "ClusterIPOutOfRange",
            "PortAlreadyAllocated",
            "PortNotAllocated",
            "PortOutOfRange",
        ]
    );
}
