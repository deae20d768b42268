//! The life of an object.

use serde_json::json;

use crate::cluster::{APPLY, Cluster, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, names, version};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn an_object_is_made_read_changed_and_deleted() {
    let cluster = Cluster::start().await;
    let map = json!({"metadata": {"name": "a"}, "data": {"x": "1"}});
    let made = cluster.post(MAPS, &map).await.expect(201);
    assert_eq!(made["apiVersion"], "v1");
    assert_eq!(made["kind"], "ConfigMap");
    assert_eq!(made["metadata"]["namespace"], "default");
    let path = format!("{MAPS}/a");
    assert_eq!(cluster.get(&path).await.expect(200), made);
    let mut changed = made.clone();
    changed["data"]["x"] = json!("2");
    let changed = cluster.put(&path, &changed).await.expect(200);
    assert!(version(&changed) > version(&made));
    let (reason, message) = cluster.put(&path, &made).await.failure(409);
    assert_eq!(reason, "Conflict");
    assert_eq!(
        message,
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please \
         apply your changes to the latest version and try again"
    );
    let status = cluster.delete(&path).await.expect(200);
    assert_eq!(status["status"], "Success");
    assert_eq!(status["details"]["uid"], made["metadata"]["uid"]);
    let (reason, message) = cluster.get(&path).await.failure(404);
    assert_eq!((reason.as_str(), message.as_str()), ("NotFound", "configmaps \"a\" not found"));
}

#[tokio::test]
async fn an_object_is_patched_in_four_ways() {
    let cluster = Cluster::start().await;
    let map = json!({"metadata": {"name": "a"}, "data": {"x": "1"}});
    cluster.post(MAPS, &map).await.expect(201);
    let path = format!("{MAPS}/a");
    let patch = json!([{"op": "replace", "path": "/data/x", "value": "2"}]);
    let patched = cluster.patch(&path, JSON_PATCH, &patch).await.expect(200);
    assert_eq!(patched["data"]["x"], "2");
    for (patch_type, value) in [(MERGE_PATCH, "3"), (STRATEGIC_PATCH, "4")] {
        let patch = json!({"data": {"x": value}});
        let patched = cluster.patch(&path, patch_type, &patch).await.expect(200);
        assert_eq!(patched["data"]["x"], value);
    }
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"y": "5"}});
    let apply = format!("{path}?fieldManager=me");
    let patched = cluster.patch(&apply, APPLY, &applied).await.expect(200);
    assert_eq!(patched["data"], json!({"x": "4", "y": "5"}));
    let again = cluster.patch(&apply, APPLY, &applied).await.expect(200);
    assert_eq!(version(&again), version(&patched));
    let taken = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"y": "6"}});
    let other = format!("{path}?fieldManager=other");
    let (reason, message) = cluster.patch(&other, APPLY, &taken).await.failure(409);
    assert_eq!(reason, "Conflict");
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"me\": .data.y");
}

#[tokio::test]
async fn a_list_comes_in_pages_of_one_moment() {
    let cluster = Cluster::start().await;
    for name in ["a", "b", "c"] {
        cluster.post(MAPS, &json!({"metadata": {"name": name}})).await.expect(201);
    }
    let first = cluster.get(&format!("{MAPS}?limit=2")).await.expect(200);
    assert_eq!(names(&first), ["a", "b"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 1);
    cluster.post(MAPS, &json!({"metadata": {"name": "d"}})).await.expect(201);
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = cluster.get(&format!("{MAPS}?limit=2&continue={token}")).await.expect(200);
    assert_eq!(names(&second), ["c"]);
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
}

#[tokio::test]
async fn a_watch_tells_what_happens() {
    let cluster = Cluster::start().await;
    let list = cluster.get(MAPS).await.expect(200);
    let since = list["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = cluster.watch(&format!("{MAPS}?watch=1&resourceVersion={since}")).await;
    let path = format!("{MAPS}/a");
    cluster.post(MAPS, &json!({"metadata": {"name": "a"}})).await.expect(201);
    cluster.patch(&path, MERGE_PATCH, &json!({"data": {"x": "1"}})).await.expect(200);
    cluster.delete(&path).await.expect(200);
    assert_eq!(watch.events(3).await, ["ADDED a", "MODIFIED a", "DELETED a"]);
}
