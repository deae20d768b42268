//! Devices, classes of them, and claims to them.

use serde_json::json;

use crate::cluster::{APPLY, Cluster, MERGE_PATCH, names};

const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const SLICES: &str = "/apis/resource.k8s.io/v1/resourceslices";

#[tokio::test]
async fn a_claim_is_fixed_and_its_status_is_not() {
    let cluster = Cluster::start().await;
    let claim = json!({"metadata": {"name": "c"}, "spec": {"devices": {"requests": [
        {"name": "one", "exactly": {"deviceClassName": "gpu"}}]}}});
    let made = cluster.post(CLAIMS, &claim).await.expect(201);
    let request = &made["spec"]["devices"]["requests"][0]["exactly"];
    assert_eq!((&request["allocationMode"], &request["count"]), (&json!("ExactCount"), &json!(1)));
    let path = format!("{CLAIMS}/c");
    let other = json!({"spec": {"devices": {"requests": [
        {"name": "two", "exactly": {"deviceClassName": "gpu"}}]}}});
    let (_, message) = cluster.patch(&path, MERGE_PATCH, &other).await.failure(422);
    assert!(message.contains("field is immutable"), "{message}");
    let status = format!("{path}/status");
    let result = json!({"request": "one", "driver": "driver.example.com", "pool": "pool",
        "device": "device-0"});
    let allocated = json!({"status": {"allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": "p", "uid": "1"}]}});
    let patched = cluster.patch(&status, MERGE_PATCH, &allocated).await.expect(200);
    assert_eq!(patched["status"]["allocation"]["devices"]["results"][0]["device"], "device-0");
    let mut applied = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": "c"}, "status": {"devices": [{"driver": "driver.example.com",
            "pool": "pool", "device": "device-0", "data": {"any": "thing"}}]}});
    let apply = format!("{status}?fieldManager=driver");
    let updated = cluster.patch(&apply, APPLY, &applied).await.expect(200);
    assert_eq!(updated["status"]["devices"][0]["data"], json!({"any": "thing"}));
    applied["status"]["devices"][0]["device"] = json!("device-1");
    cluster.patch(&apply, APPLY, &applied).await.failure(422);
}

#[tokio::test]
async fn slices_are_found_by_driver_and_node() {
    let cluster = Cluster::start().await;
    for (name, driver, node) in [("a", "x.example.com", "n1"), ("b", "y.example.com", "n1")] {
        let slice = json!({"metadata": {"name": name}, "spec": {"driver": driver,
            "nodeName": node, "devices": [{"name": "device-0"}],
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}});
        cluster.post(SLICES, &slice).await.expect(201);
    }
    for (selector, expect) in [
        ("spec.driver%3Dx.example.com", &["a"][..]),
        ("spec.nodeName%3Dn1", &["a", "b"]),
        ("spec.nodeName%3Dn2", &[]),
    ] {
        let found = cluster.get(&format!("{SLICES}?fieldSelector={selector}")).await.expect(200);
        assert_eq!(names(&found), expect, "{selector}");
    }
    let (_, message) =
        cluster.get(&format!("{SLICES}?fieldSelector=spec.x%3Dn")).await.failure(400);
    assert_eq!(
        message,
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x"
    );
}
