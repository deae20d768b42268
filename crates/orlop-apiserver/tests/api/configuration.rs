//! ConfigMaps, Secrets, ServiceAccounts, PodTemplates and Leases: plain data with few rules.

use serde_json::json;

use crate::cluster::{Cluster, MERGE_PATCH, STRATEGIC_PATCH, names, version};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const TEMPLATES: &str = "/api/v1/namespaces/default/podtemplates";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

#[tokio::test]
async fn a_key_is_not_empty() {
    let cluster = Cluster::start().await;
    let (reason, message) = cluster
        .post(MAPS, &json!({"metadata": {"name": "m"}, "data": {"": "value-1"}}))
        .await
        .failure(422);
    assert_eq!(reason, "Invalid");
    assert!(message.starts_with("ConfigMap \"m\" is invalid: data[]: Invalid value: \"\""));
    let secret = json!({"metadata": {"name": "s"}, "data": {"": "dmFsdWUtMQ=="}});
    let (reason, message) = cluster.post(SECRETS, &secret).await.failure(422);
    assert_eq!(reason, "Invalid");
    assert!(message.starts_with("Secret \"s\" is invalid: data[]: Invalid value: \"\""));
}

#[tokio::test]
async fn what_is_immutable_stays() {
    let cluster = Cluster::start().await;
    for (path, first, second) in [(MAPS, "1", "2"), (SECRETS, "MQ==", "Mg==")] {
        let object = json!({"metadata": {"name": "x"}, "data": {"a": first}});
        let mut made = cluster.post(path, &object).await.expect(201);
        let name = format!("{path}/x");
        made["data"]["a"] = json!(second);
        let mut changed = cluster.put(&name, &made).await.expect(200);
        assert_eq!(changed["data"]["a"], second);
        changed["immutable"] = json!(true);
        let fixed = cluster.put(&name, &changed).await.expect(200);
        let mut other = fixed.clone();
        other["data"]["a"] = json!(first);
        let (reason, message) = cluster.put(&name, &other).await.failure(422);
        assert_eq!(reason, "Invalid");
        assert!(message.contains("field is immutable when `immutable` is set"), "{message}");
        let mut loose = fixed.clone();
        loose.as_object_mut().unwrap().remove("immutable");
        cluster.put(&name, &loose).await.failure(422);
        let mut labelled = fixed.clone();
        labelled["metadata"]["labels"] = json!({"a": "b"});
        cluster.put(&name, &labelled).await.expect(200);
        cluster.delete(&name).await.expect(200);
    }
}

#[tokio::test]
async fn data_is_patched_found_everywhere_and_deleted_by_label() {
    let cluster = Cluster::start().await;
    cluster.namespace("other").await;
    let map = json!({"metadata": {"name": "m", "labels": {"test": "static"}}, "data": {"v": "1"}});
    for namespace in ["default", "other"] {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        cluster.post(&path, &map).await.expect(201);
    }
    let patch = json!({"metadata": {"labels": {"test": "patched"}}, "data": {"v": "2"}});
    let patched = cluster.patch(&format!("{MAPS}/m"), STRATEGIC_PATCH, &patch).await.expect(200);
    assert_eq!(patched["data"]["v"], "2");
    let list = cluster.get("/api/v1/configmaps?labelSelector=test%3Dpatched").await.expect(200);
    assert_eq!(names(&list), ["m"]);
    assert_eq!(list["items"][0]["metadata"]["namespace"], "default");
    let by_namespace = "fieldSelector=metadata.namespace%3Dother,metadata.name%3Dm";
    let list = cluster.get(&format!("/api/v1/configmaps?{by_namespace}")).await.expect(200);
    assert_eq!(list["items"][0]["metadata"]["namespace"], "other");
    cluster.delete(&format!("{MAPS}?labelSelector=test%3Dpatched")).await.expect(200);
    let list = cluster.get("/api/v1/configmaps?labelSelector=test").await.expect(200);
    assert_eq!(names(&list), ["m"]);
}

#[tokio::test]
async fn a_secret_keeps_its_type_and_takes_text() {
    let cluster = Cluster::start().await;
    let secret = json!({"metadata": {"name": "s", "labels": {"testsecret": "true"}},
        "stringData": {"key": "value"}});
    let made = cluster.post(SECRETS, &secret).await.expect(201);
    assert_eq!(made["type"], "Opaque");
    assert_eq!(made["data"]["key"], "dmFsdWU=");
    assert!(made["stringData"].is_null());
    let patch = json!({"metadata": {"labels": {"testsecret": "patched"}},
        "data": {"key": "dmFsdWUy"}});
    let patched = cluster.patch(&format!("{SECRETS}/s"), MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(patched["data"]["key"], "dmFsdWUy");
    let other = json!({"type": "kubernetes.io/tls"});
    cluster.patch(&format!("{SECRETS}/s"), MERGE_PATCH, &other).await.failure(422);
    let list = cluster.get("/api/v1/secrets?fieldSelector=type%3DOpaque").await.expect(200);
    assert_eq!(names(&list), ["s"]);
    let query = "labelSelector=testsecret%3Dpatched";
    cluster.delete(&format!("{SECRETS}?{query}")).await.expect(200);
    assert_eq!(names(&cluster.get(SECRETS).await.expect(200)), [""; 0]);
}

#[tokio::test]
async fn a_service_account_has_a_life() {
    let cluster = Cluster::start().await;
    let path = format!("{ACCOUNTS}?watch=1&labelSelector=test%3Dstatic");
    let mut watch = cluster.watch(&path).await;
    let account = json!({"metadata": {"name": "a", "labels": {"test": "static"}}});
    let mut made = cluster.post(ACCOUNTS, &account).await.expect(201);
    made["automountServiceAccountToken"] = json!(false);
    let updated = cluster.put(&format!("{ACCOUNTS}/a"), &made).await.expect(200);
    assert_eq!(updated["automountServiceAccountToken"], false);
    let patch = json!({"automountServiceAccountToken": true});
    let patched = cluster.patch(&format!("{ACCOUNTS}/a"), STRATEGIC_PATCH, &patch).await;
    assert_eq!(patched.expect(200)["automountServiceAccountToken"], true);
    let query = "labelSelector=test%3Dstatic";
    let found = cluster.get(&format!("/api/v1/serviceaccounts?{query}")).await.expect(200);
    assert_eq!(names(&found), ["a"]);
    cluster.delete(&format!("{ACCOUNTS}?{query}")).await.expect(200);
    assert_eq!(watch.events(4).await, ["ADDED a", "MODIFIED a", "MODIFIED a", "DELETED a"]);
}

#[tokio::test]
async fn a_pod_template_is_replaced_and_its_like_deleted() {
    let cluster = Cluster::start().await;
    let template = |name: &str| {
        json!({"metadata": {"name": name, "labels": {"set": "yes"}}, "template": {
            "spec": {"containers": [{"name": "nginx", "image": "example/nginx"}]}}})
    };
    for name in ["a", "b", "c"] {
        cluster.post(TEMPLATES, &template(name)).await.expect(201);
    }
    let mut read = cluster.get(&format!("{TEMPLATES}/a")).await.expect(200);
    read["metadata"]["annotations"] = json!({"updated": "true"});
    let replaced = cluster.put(&format!("{TEMPLATES}/a"), &read).await.expect(200);
    assert_eq!(replaced["metadata"]["annotations"]["updated"], "true");
    assert!(version(&replaced) > version(&read));
    let container = &replaced["template"]["spec"]["containers"][0];
    assert_eq!(container["imagePullPolicy"], "Always");
    cluster.delete(&format!("{TEMPLATES}?labelSelector=set%3Dyes")).await.expect(200);
    assert_eq!(names(&cluster.get(TEMPLATES).await.expect(200)), [""; 0]);
}

#[tokio::test]
async fn a_lease_is_taken_over() {
    let cluster = Cluster::start().await;
    let lease = json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "holder",
        "leaseDurationSeconds": 30, "acquireTime": "2026-01-02T03:04:05.000006Z",
        "renewTime": "2026-01-02T03:04:05.000006Z", "leaseTransitions": 0}});
    let made = cluster.post(LEASES, &lease).await.expect(201);
    assert_eq!(made["spec"], lease["spec"]);
    let mut taken = made.clone();
    taken["spec"] = json!({"holderIdentity": "other", "leaseDurationSeconds": 60,
        "acquireTime": "2026-01-02T04:04:05.000006Z", "renewTime": "2026-01-02T04:04:05.000006Z",
        "leaseTransitions": 1});
    let updated = cluster.put(&format!("{LEASES}/l"), &taken).await.expect(200);
    assert_eq!(updated["spec"], taken["spec"]);
    cluster.put(&format!("{LEASES}/l"), &taken).await.failure(409);
    let patch = json!({"spec": {"holderIdentity": "third", "leaseTransitions": null}});
    let patched = cluster.patch(&format!("{LEASES}/l"), STRATEGIC_PATCH, &patch).await.expect(200);
    assert_eq!(patched["spec"]["holderIdentity"], "third");
    assert!(patched["spec"]["leaseTransitions"].is_null());
    let wrong = json!({"spec": {"leaseDurationSeconds": 0}});
    cluster.patch(&format!("{LEASES}/l"), MERGE_PATCH, &wrong).await.failure(422);
}
