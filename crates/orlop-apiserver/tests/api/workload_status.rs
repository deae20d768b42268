//! Parts of objects that controllers write: conditions, times, counts and approvals.

use serde_json::{Value, json};

use crate::cluster::{Cluster, JSON_PATCH, MERGE_PATCH};

/// Patches a status, reads it and writes it back with a condition more.
async fn check(path: &str, object: Value, patch: Value, condition: Value) {
    let cluster = Cluster::start().await;
    let made = cluster.post(path, &object).await.expect(201);
    let name = object["metadata"]["name"].as_str().unwrap();
    let status = format!("{path}/{name}/status");
    let patched = cluster.patch(&status, MERGE_PATCH, &json!({"status": patch})).await.expect(200);
    for (field, value) in patch.as_object().unwrap() {
        assert_eq!(patched["status"][field], *value, "{path}");
    }
    assert_eq!(patched["spec"], made["spec"], "{path}");
    assert_eq!(patched["metadata"]["generation"], made["metadata"]["generation"], "{path}");
    let mut updated = cluster.get(&status).await.expect(200);
    let conditions = updated["status"].as_object_mut().unwrap().entry("conditions");
    conditions.or_insert(json!([])).as_array_mut().unwrap().push(condition.clone());
    let updated = cluster.put(&status, &updated).await.expect(200);
    let conditions = updated["status"]["conditions"].as_array().unwrap();
    assert_eq!(*conditions.last().unwrap(), condition, "{path}");
    // A write of the object itself leaves the status alone.
    let mut object = updated.clone();
    object["status"] = json!({});
    object["metadata"]["labels"] = json!({"a": "b"});
    let object = cluster.put(&format!("{path}/{name}"), &object).await.expect(200);
    assert_eq!(object["status"], updated["status"], "{path}");
    let managers = object["metadata"]["managedFields"].as_array().unwrap();
    assert!(managers.iter().any(|manager| manager["subresource"] == "status"), "{path}");
}

fn condition(kind: &str) -> Value {
    json!({"type": kind, "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z",
        "reason": "Tested", "message": "by a test"})
}

fn template() -> Value {
    json!({"metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "x"}]}})
}

#[tokio::test]
async fn the_status_of_a_deployment() {
    let object = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": template()}});
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let mut expected = condition("StatusUpdate");
    expected["lastUpdateTime"] = json!("2026-01-02T03:04:05Z");
    let patch = json!({"replicas": 2, "readyReplicas": 1, "observedGeneration": 1});
    check(path, object, patch, expected).await;
}

#[tokio::test]
async fn the_status_of_a_replica_set() {
    let object = json!({"metadata": {"name": "r"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": template()}});
    let path = "/apis/apps/v1/namespaces/default/replicasets";
    check(path, object, json!({"replicas": 2}), condition("StatusUpdate")).await;
}

#[tokio::test]
async fn the_status_of_a_stateful_set() {
    let object = json!({"metadata": {"name": "s"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": template()}});
    let path = "/apis/apps/v1/namespaces/default/statefulsets";
    check(path, object, json!({"replicas": 2}), condition("StatusUpdate")).await;
}

#[tokio::test]
async fn the_status_of_a_daemon_set() {
    let object = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": template()}});
    let path = "/apis/apps/v1/namespaces/default/daemonsets";
    let patch = json!({"desiredNumberScheduled": 2, "numberReady": 1});
    check(path, object, patch, condition("StatusUpdate")).await;
}

#[tokio::test]
async fn the_status_of_a_service_range() {
    let object = json!({"metadata": {"name": "s"}, "spec": {"cidrs": ["198.51.100.0/24"]}});
    let path = "/apis/networking.k8s.io/v1/servicecidrs";
    check(path, object, json!({"conditions": [condition("Ready")]}), condition("Other")).await;
}

#[tokio::test]
async fn the_status_of_a_flow_schema_and_of_a_priority_level() {
    let object = json!({"metadata": {"name": "f"}, "spec": {"matchingPrecedence": 9000,
        "priorityLevelConfiguration": {"name": "global-default"}}});
    let path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
    let patch = json!({"conditions": [condition("Patched")]});
    check(path, object, patch.clone(), condition("Updated")).await;
    let object = json!({"metadata": {"name": "p"}, "spec": {"type": "Limited",
        "limited": {"nominalConcurrencyShares": 2, "limitResponse": {"type": "Reject"}}}});
    let path = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
    check(path, object, patch, condition("Updated")).await;
}

#[tokio::test]
async fn the_status_of_a_node() {
    let cluster = Cluster::start().await;
    let node = json!({"metadata": {"name": "n"}, "spec": {"unschedulable": true}});
    let made = cluster.post("/api/v1/nodes", &node).await.expect(201);
    assert_eq!(made["spec"]["unschedulable"], true);
    let status = "/api/v1/nodes/n/status";
    let patch = json!({"status": {"capacity": {"cpu": "4"}, "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True", "reason": "Tested", "message": "yes",
            "lastHeartbeatTime": null, "lastTransitionTime": null}]}});
    let patched = cluster.patch(status, MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(patched["status"]["conditions"][0]["type"], "Ready");
    assert_eq!(patched["status"]["capacity"]["cpu"], "4");
    assert_eq!(patched["spec"]["unschedulable"], true);
    let mut updated = cluster.get("/api/v1/nodes/n").await.expect(200);
    updated["metadata"]["labels"]["updated"] = json!("yes");
    let updated = cluster.put("/api/v1/nodes/n", &updated).await.expect(200);
    assert_eq!(updated["metadata"]["labels"]["updated"], "yes");
    let query = "labelSelector=updated%3Dyes";
    let deleted = cluster.delete(&format!("/api/v1/nodes?{query}")).await.expect(200);
    assert_eq!(deleted["items"].as_array().unwrap().len(), 1);
    cluster.get("/api/v1/nodes/n").await.failure(404);
}

#[tokio::test]
async fn the_status_of_an_ingress_and_of_a_cron_job() {
    let cluster = Cluster::start().await;
    let path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    let ingress = json!({"metadata": {"name": "i"}, "spec": {"defaultBackend": {
        "service": {"name": "default-backend", "port": {"number": 80}}}}});
    cluster.post(path, &ingress).await.expect(201);
    let patch = json!({"status": {"loadBalancer": {"ingress": [{"ip": "169.1.1.1"}]}}});
    let status = format!("{path}/i/status");
    let mut patched = cluster.patch(&status, MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(patched["status"], patch["status"]);
    patched["status"]["loadBalancer"] = json!({"ingress": [{"ip": "169.1.1.2"}]});
    let updated = cluster.put(&status, &patched).await.expect(200);
    assert_eq!(updated["status"]["loadBalancer"]["ingress"][0]["ip"], "169.1.1.2");
    let path = "/apis/batch/v1/namespaces/default/cronjobs";
    let cron_job = json!({"metadata": {"name": "c"}, "spec": {"schedule": "* */1 * * *",
        "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "OnFailure",
            "containers": [{"name": "c", "image": "x"}]}}}}}});
    cluster.post(path, &cron_job).await.expect(201);
    let patch = json!({"status": {"lastScheduleTime": "2026-01-02T03:04:05Z"}});
    let patched = cluster.patch(&format!("{path}/c/status"), MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(patched["status"]["lastScheduleTime"], "2026-01-02T03:04:05Z");
    let dubious = json!({"spec": {"schedule": "every day"}});
    cluster.patch(&format!("{path}/c"), MERGE_PATCH, &dubious).await.failure(422);
}

#[tokio::test]
async fn a_claim_and_its_volume() {
    let cluster = Cluster::start().await;
    let volumes = "/api/v1/persistentvolumes";
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let volume = json!({"metadata": {"name": "v", "labels": {"test": "yes"}}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/srv/v"}}});
    cluster.post(volumes, &volume).await.expect(201);
    let claim = json!({"metadata": {"name": "c", "labels": {"test": "yes"}}, "spec": {
        "accessModes": ["ReadWriteOnce"], "volumeName": "v",
        "resources": {"requests": {"storage": "1Gi"}}}});
    cluster.post(claims, &claim).await.expect(201);
    for path in [format!("{volumes}/v/status"), format!("{claims}/c/status")] {
        let phase = if path.starts_with(volumes) { "Available" } else { "Bound" };
        let patch = json!({"status": {"phase": phase}});
        let patched = cluster.patch(&path, MERGE_PATCH, &patch).await.expect(200);
        assert_eq!(patched["status"]["phase"], phase);
    }
    let condition = json!({"type": "StatusUpdate", "status": "True"});
    let mut read = cluster.get(&format!("{claims}/c/status")).await.expect(200);
    read["status"]["conditions"] = json!([condition]);
    let updated = cluster.put(&format!("{claims}/c/status"), &read).await.expect(200);
    assert_eq!(updated["status"]["conditions"][0]["type"], "StatusUpdate");
    let label = json!({"metadata": {"labels": {"patched": "yes"}}});
    for path in [format!("{volumes}/v"), format!("{claims}/c")] {
        cluster.patch(&path, MERGE_PATCH, &label).await.expect(200);
        cluster.delete(&path).await.expect(200);
        cluster.get(&path).await.failure(404);
    }
}

#[tokio::test]
async fn a_signing_request_is_approved_and_signed() {
    let cluster = Cluster::start().await;
    let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let key = rcgen::KeyPair::generate().unwrap();
    let request = rcgen::CertificateParams::new(Vec::new()).unwrap();
    let pem = request.serialize_request(&key).unwrap().pem().unwrap();
    let encode = |text: &str| {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(text)
    };
    let object = json!({"metadata": {"name": "r"}, "spec": {"request": encode(&pem),
        "signerName": "example.com/signer", "expirationSeconds": 3600,
        "usages": ["digital signature", "key encipherment", "server auth"]}});
    let made = cluster.post(path, &object).await.expect(201);
    assert_eq!(made["spec"]["username"], "kubernetes-admin");
    assert!(made["spec"]["groups"].as_array().unwrap().contains(&json!("system:masters")));
    let approved = json!({"type": "Approved", "status": "True", "reason": "E2E", "message": "ok",
        "lastUpdateTime": "2026-01-02T03:04:05Z", "lastTransitionTime": "2026-01-02T03:04:05Z"});
    let mut read = cluster.get(&format!("{path}/r/approval")).await.expect(200);
    read["status"]["conditions"] = json!([approved]);
    let with = cluster.put(&format!("{path}/r/approval"), &read).await.expect(200);
    assert_eq!(with["status"]["conditions"][0]["type"], "Approved");
    // Approval is nothing for the status endpoint, nor a certificate for that of approval.
    let patch = json!({"metadata": {"annotations": {"a": "b"}},
        "status": {"certificate": encode("not a certificate")}});
    cluster.patch(&format!("{path}/r/status"), MERGE_PATCH, &patch).await.failure(422);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&key);
    let certificate = encode(&certificate.unwrap().pem());
    let patch = json!({"status": {"certificate": certificate}});
    let signed = cluster.patch(&format!("{path}/r/status"), MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(signed["status"]["certificate"], certificate);
    cluster.delete(&format!("{path}/r")).await.expect(200);
}

#[tokio::test]
async fn a_quota_and_a_limit_range_are_written() {
    let cluster = Cluster::start().await;
    let path = "/api/v1/namespaces/default/resourcequotas";
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "5", "cpu": "1"}}});
    cluster.post(path, &quota).await.expect(201);
    let mut read = cluster.get(&format!("{path}/q")).await.expect(200);
    read["spec"]["hard"] = json!({"cpu": "500m", "memory": "1024M"});
    let updated = cluster.put(&format!("{path}/q"), &read).await.expect(200);
    assert_eq!(updated["spec"]["hard"], json!({"cpu": "500m", "memory": "1024M"}));
    let patch = json!({"status": {"hard": {"cpu": "1"}, "used": {"cpu": "100m"}}});
    let patched = cluster.patch(&format!("{path}/q/status"), MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(patched["status"], patch["status"]);
    assert_eq!(patched["spec"]["hard"]["cpu"], "500m");
    let path = "/api/v1/namespaces/default/limitranges";
    let range = json!({"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container",
        "min": {"cpu": "50m"}, "max": {"cpu": "500m"}, "default": {"cpu": "300m"}}]}});
    let made = cluster.post(path, &range).await.expect(201);
    // Requests follow limits.
    assert_eq!(made["spec"]["limits"][0]["defaultRequest"]["cpu"], "300m");
    let patch = json!([{"op": "replace", "path": "/spec/limits/0/min/cpu", "value": "60m"}]);
    let patched = cluster.patch(&format!("{path}/l"), JSON_PATCH, &patch).await.expect(200);
    assert_eq!(patched["spec"]["limits"][0]["min"]["cpu"], "60m");
    let wrong = json!([{"op": "replace", "path": "/spec/limits/0/min/cpu", "value": "2"}]);
    cluster.patch(&format!("{path}/l"), JSON_PATCH, &wrong).await.failure(422);
}
