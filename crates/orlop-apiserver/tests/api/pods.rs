//! Pods as the API server sees them, without a node.

use serde_json::{Value, json};

use crate::cluster::{Cluster, STRATEGIC_PATCH, names};

const PODS: &str = "/api/v1/namespaces/default/pods";

fn pod(name: &str, resources: &Value) -> Value {
    json!({"metadata": {"name": name}, "spec": {"containers": [
        {"name": "c", "image": "example/c:1", "resources": resources}]}})
}

#[tokio::test]
async fn a_pod_has_a_quality_of_service() {
    let cluster = Cluster::start().await;
    let amounts = json!({"cpu": "100m", "memory": "100Mi"});
    let checks = [
        (json!({"requests": amounts, "limits": amounts}), "Guaranteed"),
        (json!({"limits": amounts}), "Guaranteed"),
        (json!({"requests": amounts}), "Burstable"),
        (json!({}), "BestEffort"),
    ];
    for (place, (resources, class)) in checks.into_iter().enumerate() {
        let made = cluster.post(PODS, &pod(&format!("p{place}"), &resources)).await.expect(201);
        assert_eq!(made["status"]["qosClass"], class);
        assert_eq!(made["status"]["phase"], "Pending");
    }
}

#[tokio::test]
async fn bad_sysctls_are_refused_one_by_one() {
    let cluster = Cluster::start().await;
    let mut pod = pod("p", &json!({}));
    let names = ["foo-", "kernel.shmmax", "safe-and-unsafe", "bar.."];
    let sysctls: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "value": "1"})).collect();
    pod["spec"]["securityContext"] = json!({"sysctls": sysctls});
    let status = cluster.post(PODS, &pod).await.expect(422);
    let message = status["message"].as_str().unwrap();
    for (place, is_bad) in [(0, true), (1, false), (2, false), (3, true)] {
        let field = format!("spec.securityContext.sysctls[{place}].name: Invalid value");
        assert_eq!(message.contains(&field), is_bad, "{place}: {message}");
    }
}

#[tokio::test]
async fn a_pod_is_tried_out_without_being_changed() {
    let cluster = Cluster::start().await;
    cluster.post(PODS, &pod("p", &json!({}))).await.expect(201);
    let patch = json!({"spec": {"containers": [{"name": "c", "image": "example/c:2"}]}});
    let tried = format!("{PODS}/p?dryRun=All");
    let tried = cluster.patch(&tried, STRATEGIC_PATCH, &patch).await.expect(200);
    assert_eq!(tried["spec"]["containers"][0]["image"], "example/c:2");
    let read = cluster.get(&format!("{PODS}/p")).await.expect(200);
    assert_eq!(read["spec"]["containers"][0]["image"], "example/c:1");
    let patched = cluster.patch(&format!("{PODS}/p"), STRATEGIC_PATCH, &patch).await.expect(200);
    assert_eq!(patched["spec"]["containers"][0]["image"], "example/c:2");
    assert_eq!(patched["metadata"]["generation"], 2);
}

#[tokio::test]
async fn pods_are_found_by_where_they_are_and_how_they_do() {
    let cluster = Cluster::start().await;
    let mut on_node = pod("a", &json!({}));
    on_node["spec"]["nodeName"] = json!("n");
    cluster.post(PODS, &on_node).await.expect(201);
    cluster.post(PODS, &pod("b", &json!({}))).await.expect(201);
    let status = json!({"status": {"phase": "Running"}});
    cluster.patch(&format!("{PODS}/a/status"), STRATEGIC_PATCH, &status).await.expect(200);
    for (selector, expect) in [
        ("spec.nodeName%3Dn", &["a"][..]),
        ("spec.nodeName%3D", &["b"]),
        ("status.phase!%3DRunning", &["b"]),
        ("spec.restartPolicy%3DAlways,status.phase%3DRunning", &["a"]),
    ] {
        let found = cluster.get(&format!("{PODS}?fieldSelector={selector}")).await.expect(200);
        assert_eq!(names(&found), expect, "{selector}");
    }
    let path = format!("{PODS}?watch=1&fieldSelector=status.phase%3DPending");
    let mut watch = cluster.watch(&path).await;
    cluster.patch(&format!("{PODS}/b/status"), STRATEGIC_PATCH, &status).await.expect(200);
    assert_eq!(watch.events(2).await, ["ADDED b", "DELETED b"]);
}

#[tokio::test]
async fn a_pod_with_a_volume_of_a_driver_is_stored() {
    let cluster = Cluster::start().await;
    let mut object = pod("p", &json!({}));
    object["spec"]["volumes"] =
        json!([{"name": "v", "csi": {"driver": "driver.example.com", "readOnly": true}}]);
    cluster.post(PODS, &object).await.expect(201);
    let read = cluster.get(&format!("{PODS}/p")).await.expect(200);
    assert_eq!(read["spec"]["volumes"][0]["csi"]["driver"], "driver.example.com");
    cluster.delete(&format!("{PODS}/p")).await.expect(200);
    cluster.get(&format!("{PODS}/p")).await.failure(404);
}
