//! Namespaces: their labels, conditions and finalizers.

use serde_json::json;

use crate::cluster::{Cluster, MERGE_PATCH, STRATEGIC_PATCH};

const NAMESPACES: &str = "/api/v1/namespaces";

#[tokio::test]
async fn a_namespace_is_labelled_by_patch_and_by_update() {
    let cluster = Cluster::start().await;
    cluster.namespace("a").await;
    let path = format!("{NAMESPACES}/a");
    let patch = json!({"metadata": {"labels": {"patched": "yes"}}});
    let patched = cluster.patch(&path, STRATEGIC_PATCH, &patch).await.expect(200);
    assert_eq!(patched["metadata"]["labels"]["patched"], "yes");
    assert_eq!(patched["metadata"]["labels"]["kubernetes.io/metadata.name"], "a");
    let mut updated = patched.clone();
    updated["metadata"]["labels"]["updated"] = json!("yes");
    // The label with its name comes back.
    updated["metadata"]["labels"].as_object_mut().unwrap().remove("kubernetes.io/metadata.name");
    let updated = cluster.put(&path, &updated).await.expect(200);
    assert_eq!(
        updated["metadata"]["labels"],
        json!({"kubernetes.io/metadata.name": "a", "patched": "yes", "updated": "yes"})
    );
}

#[tokio::test]
async fn the_status_of_a_namespace_is_patched_and_updated() {
    let cluster = Cluster::start().await;
    cluster.namespace("a").await;
    let path = format!("{NAMESPACES}/a/status");
    let condition = |kind: &str| {
        json!({"type": kind, "status": "False", "reason": "Tested", "message": "by a test",
            "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    let patch = json!({"status": {"conditions": [condition("StatusPatch")]}});
    let patched = cluster.patch(&path, MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(patched["status"]["conditions"], json!([condition("StatusPatch")]));
    assert_eq!(patched["status"]["phase"], "Active");
    let mut updated = cluster.get(&path).await.expect(200);
    updated["status"]["conditions"] = json!([condition("StatusPatch"), condition("StatusUpdate")]);
    let updated = cluster.put(&path, &updated).await.expect(200);
    assert_eq!(updated["status"]["conditions"][1], condition("StatusUpdate"));
}

#[tokio::test]
async fn finalizers_of_a_namespace_are_set_apart() {
    let cluster = Cluster::start().await;
    cluster.namespace("a").await;
    let path = format!("{NAMESPACES}/a");
    let mut namespace = cluster.get(&path).await.expect(200);
    assert_eq!(namespace["spec"]["finalizers"], json!(["kubernetes"]));
    namespace["spec"]["finalizers"] = json!(["kubernetes", "e2e.example.com/fake"]);
    let updated = cluster.put(&path, &namespace).await.expect(200);
    assert_eq!(updated["spec"]["finalizers"], json!(["kubernetes"]));
    let finalize = format!("{path}/finalize");
    let mut with = updated.clone();
    with["spec"]["finalizers"] = json!(["kubernetes", "e2e.example.com/fake"]);
    let with = cluster.put(&finalize, &with).await.expect(200);
    assert_eq!(with["spec"]["finalizers"], json!(["kubernetes", "e2e.example.com/fake"]));
    let mut without = with.clone();
    without["spec"]["finalizers"] = json!(["kubernetes"]);
    let without = cluster.put(&finalize, &without).await.expect(200);
    assert_eq!(without["spec"]["finalizers"], json!(["kubernetes"]));
}

#[tokio::test]
async fn a_namespace_that_ends_takes_nothing_new() {
    let cluster = Cluster::start().await;
    cluster.namespace("a").await;
    let deleted = cluster.delete(&format!("{NAMESPACES}/a")).await.expect(200);
    assert_eq!(deleted["status"]["phase"], "Terminating");
    let maps = format!("{NAMESPACES}/a/configmaps");
    let status = cluster.post(&maps, &json!({"metadata": {"name": "x"}})).await.expect(403);
    assert_eq!(status["reason"], "Forbidden");
    assert_eq!(status["details"]["causes"][0]["reason"], "NamespaceTerminating");
    for name in ["default", "kube-system", "kube-public"] {
        let (_, message) = cluster.delete(&format!("{NAMESPACES}/{name}")).await.failure(403);
        assert!(message.contains("this namespace may not be deleted"), "{message}");
    }
}
