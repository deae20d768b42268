//! How objects end: at once, after a while, when somebody lets go of them, or not at all.

use serde_json::{Value, json};

use crate::cluster::{Cluster, MERGE_PATCH, names, version};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

async fn make(cluster: &Cluster, name: &str, finalizers: &[&str]) -> Value {
    let map = json!({"metadata": {"name": name, "finalizers": finalizers}});
    cluster.post(MAPS, &map).await.expect(201)
}

#[tokio::test]
async fn an_object_with_finalizers_waits_for_them() {
    let cluster = Cluster::start().await;
    make(&cluster, "a", &["example.com/x"]).await;
    let path = format!("{MAPS}/a");
    let deleted = cluster.delete(&path).await.expect(200);
    assert_eq!(deleted["kind"], "ConfigMap");
    assert!(deleted["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], 0);
    let again = cluster.delete(&path).await.expect(200);
    assert_eq!(version(&again), version(&deleted));
    let (reason, message) =
        cluster.post(MAPS, &json!({"metadata": {"name": "a"}})).await.failure(409);
    assert_eq!(reason, "AlreadyExists");
    assert_eq!(message, "object is being deleted: configmaps \"a\" already exists");
    let more = json!({"metadata": {"finalizers": ["example.com/x", "example.com/y"]}});
    let (_, message) = cluster.patch(&path, MERGE_PATCH, &more).await.failure(422);
    assert!(message.contains("no new finalizers can be added if the object is being deleted"));
    // Nobody takes the end back.
    let back = json!({"metadata": {"deletionTimestamp": null}});
    let patched = cluster.patch(&path, MERGE_PATCH, &back).await.expect(200);
    assert!(patched["metadata"]["deletionTimestamp"].is_string());
    let last = json!({"metadata": {"finalizers": null}});
    cluster.patch(&path, MERGE_PATCH, &last).await.expect(200);
    cluster.get(&path).await.failure(404);
}

#[tokio::test]
async fn what_becomes_of_dependents_is_told_by_finalizers() {
    let cluster = Cluster::start().await;
    let checks = [
        (json!({"propagationPolicy": "Foreground"}), Some("foregroundDeletion")),
        (json!({"propagationPolicy": "Orphan"}), Some("orphan")),
        (json!({"orphanDependents": true}), Some("orphan")),
        (json!({"propagationPolicy": "Background"}), None),
        (json!({"orphanDependents": false}), None),
        (json!({}), None),
    ];
    for (place, (options, finalizer)) in checks.into_iter().enumerate() {
        let name = format!("a{place}");
        let path = format!("{MAPS}/{name}");
        make(&cluster, &name, &[]).await;
        let deleted = cluster.delete_with(&path, &options).await.expect(200);
        match finalizer {
            Some(finalizer) => {
                assert_eq!(deleted["metadata"]["finalizers"], json!([finalizer]), "{options}");
            }
            None => {
                assert_eq!(deleted["status"], "Success", "{options}");
                cluster.get(&path).await.failure(404);
            }
        }
    }
    make(&cluster, "b", &[]).await;
    let both = json!({"propagationPolicy": "Orphan", "orphanDependents": true});
    cluster.delete_with(&format!("{MAPS}/b"), &both).await.failure(422);
    let other = json!({"propagationPolicy": "Sometimes"});
    cluster.delete_with(&format!("{MAPS}/b"), &other).await.failure(422);
}

#[tokio::test]
async fn jobs_leave_their_pods_and_say_so() {
    let cluster = Cluster::start().await;
    let job = json!({"metadata": {"name": "j"}, "spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}}});
    cluster.post(JOBS, &job).await.expect(201);
    let path = format!("{JOBS}/j");
    let orphan = cluster.delete(&format!("{path}?dryRun=All&propagationPolicy=Orphan")).await;
    assert_eq!(orphan.warnings(), [""; 0]);
    let answer = cluster.delete(&path).await;
    let warnings = answer.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("299 - \"child pods are preserved by default"));
    assert_eq!(answer.expect(200)["metadata"]["finalizers"], json!(["orphan"]));
}

#[tokio::test]
async fn a_deletion_may_name_the_object_that_it_means() {
    let cluster = Cluster::start().await;
    let made = make(&cluster, "a", &[]).await;
    let path = format!("{MAPS}/a");
    let uid = made["metadata"]["uid"].as_str().unwrap();
    let other = json!({"preconditions": {"uid": "other"}});
    let (reason, message) = cluster.delete_with(&path, &other).await.failure(409);
    assert_eq!(reason, "Conflict");
    assert_eq!(
        message,
        format!(
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (other) \
             does not match the UID in record ({uid}). The object might have been deleted and then \
             recreated"
        )
    );
    let older = json!({"preconditions": {"resourceVersion": "1"}});
    cluster.delete_with(&path, &older).await.failure(409);
    let right = json!({"preconditions": {"uid": uid,
        "resourceVersion": made["metadata"]["resourceVersion"]}});
    let status = cluster.delete_with(&path, &right).await.expect(200);
    let details = json!({"name": "a", "kind": "configmaps", "uid": uid});
    assert_eq!(
        status,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": details})
    );
}

#[tokio::test]
async fn a_pod_on_a_node_gets_time_to_end() {
    let cluster = Cluster::start().await;
    let pod = |name: &str, node: Value| {
        json!({"metadata": {"name": name}, "spec": {"nodeName": node,
            "containers": [{"name": "c", "image": "x"}]}})
    };
    cluster.post(PODS, &pod("nowhere", Value::Null)).await.expect(201);
    let deleted = cluster.delete(&format!("{PODS}/nowhere")).await.expect(200);
    assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], 0);
    cluster.get(&format!("{PODS}/nowhere")).await.failure(404);
    cluster.post(PODS, &pod("a", json!("node"))).await.expect(201);
    let path = format!("{PODS}/a");
    let seconds = |pod: &Value| pod["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap();
    assert_eq!(seconds(&cluster.delete(&path).await.expect(200)), 30);
    let sooner = format!("{path}?gracePeriodSeconds=5");
    assert_eq!(seconds(&cluster.delete(&sooner).await.expect(200)), 5);
    // Nobody makes it later.
    let later = format!("{path}?gracePeriodSeconds=60");
    assert_eq!(seconds(&cluster.delete(&later).await.expect(200)), 5);
    cluster.delete(&format!("{path}?gracePeriodSeconds=0")).await.expect(200);
    cluster.get(&path).await.failure(404);
}

#[tokio::test]
async fn a_collection_is_deleted_as_its_selectors_and_options_say() {
    let cluster = Cluster::start().await;
    for (name, label) in [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")] {
        let map = json!({"metadata": {"name": name, "labels": {"l": label}}});
        cluster.post(MAPS, &map).await.expect(201);
    }
    let all = cluster.delete(&format!("{MAPS}?dryRun=All")).await.expect(200);
    assert_eq!(names(&all), ["a", "b", "c", "d"]);
    let deleted = cluster.delete(&format!("{MAPS}?labelSelector=l%3Dx")).await.expect(200);
    assert_eq!(deleted["kind"], "ConfigMapList");
    assert_eq!(names(&deleted), ["a", "b"]);
    cluster.delete(&format!("{MAPS}?fieldSelector=metadata.name%3Dc")).await.expect(200);
    assert_eq!(names(&cluster.get(MAPS).await.expect(200)), ["d"]);
    cluster.delete(&format!("{MAPS}?fieldSelector=spec.x%3Dc")).await.failure(400);
    let orphan = json!({"propagationPolicy": "Orphan"});
    cluster.delete_with(MAPS, &orphan).await.expect(200);
    let left = cluster.get(MAPS).await.expect(200);
    assert_eq!(left["items"][0]["metadata"]["finalizers"], json!(["orphan"]));
}
