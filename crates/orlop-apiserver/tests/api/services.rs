//! Services, where they lead, and how they are taken apart.

use serde_json::{Value, json};

use crate::cluster::{Cluster, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, names};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const CIDRS: &str = "/apis/networking.k8s.io/v1/servicecidrs";
const ADDRESSES: &str = "/apis/networking.k8s.io/v1/ipaddresses";

fn service(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"test": "yes"}},
        "spec": {"type": "LoadBalancer", "ports": [{"name": "http", "port": 80}]}})
}

#[tokio::test]
async fn the_api_server_is_a_service() {
    let cluster = Cluster::start().await;
    let service = cluster.get(&format!("{SERVICES}/kubernetes")).await.expect(200);
    assert_eq!(service["spec"]["clusterIP"], "10.96.0.1");
    let port = &service["spec"]["ports"][0];
    assert_eq!((&port["name"], &port["port"]), (&json!("https"), &json!(443)));
    let everywhere = cluster.get("/api/v1/services").await.expect(200);
    assert_eq!(names(&everywhere), ["kubernetes"]);
    // A server tells where it is soon after it started.
    let mut watch = cluster.watch("/api/v1/namespaces/default/endpoints?watch=1").await;
    let endpoints = watch.next().await.unwrap()["object"].take();
    assert_eq!(endpoints["metadata"]["name"], "kubernetes");
    assert_eq!(endpoints["subsets"][0]["addresses"][0]["ip"], "192.0.2.1");
    assert_eq!(endpoints["subsets"][0]["ports"][0]["port"], 6443);
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let query = "labelSelector=kubernetes.io/service-name%3Dkubernetes";
    let mut watch = cluster.watch(&format!("{path}?watch=1&{query}")).await;
    let slice = watch.next().await.unwrap()["object"].take();
    assert_eq!(slice["endpoints"][0]["addresses"], json!(["192.0.2.1"]));
    assert_eq!(slice["endpoints"][0]["conditions"]["ready"], true);
}

#[tokio::test]
async fn the_status_of_a_service_has_a_life_of_its_own() {
    let cluster = Cluster::start().await;
    let path = format!("{SERVICES}?watch=1&labelSelector=test%3Dyes");
    let mut watch = cluster.watch(&path).await;
    cluster.post(SERVICES, &service("a")).await.expect(201);
    assert_eq!(watch.events(1).await, ["ADDED a"]);
    let status = format!("{SERVICES}/a/status");
    let balanced = json!({"status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}]}},
        "metadata": {"annotations": {"patched": "yes"}}});
    let patched = cluster.patch(&status, MERGE_PATCH, &balanced).await.expect(200);
    assert_eq!(patched["status"]["loadBalancer"]["ingress"][0]["ip"], "203.0.113.1");
    assert_eq!(patched["metadata"]["annotations"]["patched"], "yes");
    let mut read = cluster.get(&status).await.expect(200);
    read["status"]["conditions"] = json!([{"type": "StatusUpdate", "status": "True",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Tested", "message": "yes"}]);
    let updated = cluster.put(&status, &read).await.expect(200);
    assert_eq!(updated["status"]["conditions"][0]["type"], "StatusUpdate");
    let label = json!({"metadata": {"labels": {"patched": "yes"}}});
    let path = format!("{SERVICES}/a");
    let labelled = cluster.patch(&path, STRATEGIC_PATCH, &label).await.expect(200);
    assert_eq!(labelled["status"], updated["status"]);
    cluster.delete(&path).await.expect(200);
    let events = ["MODIFIED a", "MODIFIED a", "MODIFIED a", "DELETED a"];
    assert_eq!(watch.events(4).await, events);
}

#[tokio::test]
async fn services_are_deleted_together_and_give_their_addresses_back() {
    let cluster = Cluster::start().await;
    for name in ["a", "b", "c"] {
        cluster.post(SERVICES, &service(name)).await.expect(201);
    }
    let mut other = service("other");
    other["metadata"]["labels"] = json!({"test": "no"});
    cluster.post(SERVICES, &other).await.expect(201);
    assert_eq!(names(&cluster.get(ADDRESSES).await.expect(200)).len(), 5);
    let deleted = cluster.delete(&format!("{SERVICES}?labelSelector=test%3Dyes")).await.expect(200);
    assert_eq!(names(&deleted), ["a", "b", "c"]);
    assert_eq!(names(&cluster.get(SERVICES).await.expect(200)), ["kubernetes", "other"]);
    assert_eq!(names(&cluster.get(ADDRESSES).await.expect(200)).len(), 2);
}

#[tokio::test]
async fn the_range_of_addresses_is_there_to_read() {
    let cluster = Cluster::start().await;
    let path = format!("{CIDRS}/kubernetes");
    let range = cluster.get(&path).await.expect(200);
    assert_eq!(range["spec"]["cidrs"][0], "10.96.0.0/12");
    let status = cluster.get(&format!("{path}/status")).await.expect(200);
    assert_eq!(status["kind"], "ServiceCIDR");
    assert_eq!(status["metadata"]["uid"], range["metadata"]["uid"]);
    assert_eq!(names(&cluster.get(CIDRS).await.expect(200)), ["kubernetes"]);
    let mut watch = cluster.watch(&format!("{CIDRS}?watch=1")).await;
    assert_eq!(watch.events(1).await, ["ADDED kubernetes"]);
}

#[tokio::test]
async fn an_address_has_one_parent_for_life() {
    let cluster = Cluster::start().await;
    let parent =
        |name: &str| json!({"resource": "endpoints", "name": name, "namespace": "default"});
    let address = json!({"metadata": {"name": "192.168.6.7"}, "spec": {"parentRef": parent("a")}});
    cluster.post(ADDRESSES, &address).await.expect(201);
    let path = format!("{ADDRESSES}/192.168.6.7");
    let patch = json!([{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]);
    let patched = cluster.patch(&path, JSON_PATCH, &patch).await.expect(200);
    assert_eq!(patched["metadata"]["annotations"]["a"], "b");
    let other = json!({"spec": {"parentRef": parent("b")}});
    let (_, message) = cluster.patch(&path, MERGE_PATCH, &other).await.failure(422);
    assert!(message.contains("field is immutable"), "{message}");
    let named = json!({"metadata": {"name": "192.168.006.7"}, "spec": {"parentRef": parent("a")}});
    cluster.post(ADDRESSES, &named).await.failure(422);
}

#[tokio::test]
async fn endpoints_have_a_life() {
    let cluster = Cluster::start().await;
    let collection = "/api/v1/namespaces/default/endpoints";
    let mut watch = cluster.watch(&format!("{collection}?watch=1&labelSelector=test%3Dyes")).await;
    let object = json!({"metadata": {"name": "e", "labels": {"test": "yes"}},
        "subsets": [{"addresses": [{"ip": "192.0.2.24"}],
            "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}]});
    let made = cluster.post(collection, &object).await.expect(201);
    let everywhere = cluster.get("/api/v1/endpoints?labelSelector=test%3Dyes").await.expect(200);
    assert_eq!(names(&everywhere), ["e"]);
    let mut updated = made.clone();
    updated["metadata"]["labels"]["updated"] = json!("yes");
    let path = format!("{collection}/e");
    cluster.put(&path, &updated).await.expect(200);
    let patch = json!({"subsets": [{"addresses": [{"ip": "192.0.2.25"}],
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]}]});
    let patched = cluster.patch(&path, MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(patched["subsets"][0]["addresses"][0]["ip"], "192.0.2.25");
    assert_eq!(patched["subsets"][0]["ports"][0]["port"], 8080);
    cluster.delete(&format!("{collection}?labelSelector=test%3Dyes")).await.expect(200);
    assert_eq!(watch.events(4).await, ["ADDED e", "MODIFIED e", "MODIFIED e", "DELETED e"]);
}

#[tokio::test]
async fn a_service_comes_to_lead_elsewhere_and_back() {
    let cluster = Cluster::start().await;
    let made = cluster.post(SERVICES, &service("a")).await.expect(201);
    assert_eq!(made["spec"]["internalTrafficPolicy"], "Cluster");
    let path = format!("{SERVICES}/a");
    let elsewhere = json!({"spec": {"type": "ExternalName", "externalName": "a.example.com"}});
    let moved = cluster.patch(&path, MERGE_PATCH, &elsewhere).await.expect(200);
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "internalTrafficPolicy"] {
        assert!(moved["spec"][field].is_null(), "{field}: {moved}");
    }
    assert_eq!(names(&cluster.get(ADDRESSES).await.expect(200)), ["10.96.0.1"]);
    let back = json!({"spec": {"type": "ClusterIP", "externalName": null}});
    let back = cluster.patch(&path, MERGE_PATCH, &back).await.expect(200);
    assert!(back["spec"]["clusterIP"].is_string());
    assert_eq!(back["spec"]["internalTrafficPolicy"], "Cluster");
}
