//! Fields that the server does not know, and fields that stand twice.

use serde_json::json;

use crate::cluster::{APPLY, Answer, Cluster, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// A field that nobody knows in the spec, and replicas twice.
const DUBIOUS: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
"spec":{"foo":"bar","replicas":2,"replicas":3,"selector":{"matchLabels":{"a":"b"}},
"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}}"#;

const DUBIOUS_YAML: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
spec:
  foo: bar
  replicas: 2
  replicas: 3
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: x}]}
";

async fn post(cluster: &Cluster, validation: &str, content_type: &str, text: &str) -> Answer {
    let path = format!("{DEPLOYMENTS}?dryRun=All&fieldValidation={validation}");
    cluster.request("POST", &path, &[("content-type", content_type)], text.to_owned()).await
}

#[tokio::test]
async fn a_strict_client_is_refused() {
    let cluster = Cluster::start().await;
    let (reason, message) = post(&cluster, "Strict", JSON, DUBIOUS).await.failure(400);
    assert_eq!(reason, "BadRequest");
    assert_eq!(
        message,
        "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: \
         unknown field \"spec.foo\", duplicate field \"spec.replicas\""
    );
    let (_, message) = post(&cluster, "Strict", YAML, DUBIOUS_YAML).await.failure(400);
    assert_eq!(
        message,
        "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: \
         yaml: unmarshal errors:\n  line 8: key \"replicas\" already set in map, unknown field \
         \"spec.foo\""
    );
}

#[tokio::test]
async fn others_are_warned_or_left_alone() {
    let cluster = Cluster::start().await;
    for validation in ["Warn", ""] {
        let answer = post(&cluster, validation, JSON, DUBIOUS).await;
        let warnings = answer.warnings();
        assert_eq!(answer.expect(201)["spec"]["replicas"], 3);
        assert_eq!(
            warnings,
            [
                "299 - \"unknown field \\\"spec.foo\\\"\"",
                "299 - \"duplicate field \\\"spec.replicas\\\"\""
            ]
        );
        let answer = post(&cluster, validation, YAML, DUBIOUS_YAML).await;
        let warnings = answer.warnings();
        assert_eq!(answer.expect(201)["spec"]["replicas"], 3);
        assert_eq!(
            warnings,
            [
                "299 - \"line 8: key \\\"replicas\\\" already set in map\"",
                "299 - \"unknown field \\\"spec.foo\\\"\""
            ]
        );
    }
    for (content_type, text) in [(JSON, DUBIOUS), (YAML, DUBIOUS_YAML)] {
        let answer = post(&cluster, "Ignore", content_type, text).await;
        assert_eq!(answer.warnings(), [""; 0]);
        assert_eq!(answer.expect(201)["spec"]["replicas"], 3);
    }
    let (reason, _) = post(&cluster, "Sometimes", JSON, DUBIOUS).await.failure(422);
    assert_eq!(reason, "Invalid");
}

#[tokio::test]
async fn metadata_is_looked_at_too() {
    let cluster = Cluster::start().await;
    let text = DUBIOUS.replace(r#""name":"d""#, r#""name":"d","nickname":"e","labels":{"a":"b"}"#);
    let (_, message) = post(&cluster, "Strict", JSON, &text).await.failure(400);
    let found = "unknown field \"metadata.nickname\", unknown field \"spec.foo\"";
    assert!(message.contains(found), "{message}");
}

#[tokio::test]
async fn patches_and_updates_are_looked_at_too() {
    let cluster = Cluster::start().await;
    cluster
        .request("POST", DEPLOYMENTS, &[("content-type", JSON)], DUBIOUS.to_owned())
        .await
        .expect(201);
    let path = |validation: &str| {
        format!("{DEPLOYMENTS}/d?dryRun=All&fieldManager=me&fieldValidation={validation}")
    };
    let dubious = json!({"spec": {"foo": "bar", "replicas": 5}});
    let operations = json!([{"op": "add", "path": "/spec/foo", "value": "bar"}]);
    for (patch_type, patch) in
        [(MERGE_PATCH, &dubious), (STRATEGIC_PATCH, &dubious), (JSON_PATCH, &operations)]
    {
        let (reason, message) =
            cluster.patch(&path("Strict"), patch_type, patch).await.failure(422);
        assert_eq!(reason, "Invalid", "{patch_type}");
        assert!(message.ends_with("unknown field \"spec.foo\""), "{patch_type}: {message}");
        let answer = cluster.patch(&path("Warn"), patch_type, patch).await;
        assert_eq!(answer.warnings(), ["299 - \"unknown field \\\"spec.foo\\\"\""]);
        answer.expect(200);
        let answer = cluster.patch(&path("Ignore"), patch_type, patch).await;
        assert_eq!(answer.warnings(), [""; 0], "{patch_type}");
        answer.expect(200);
    }
    let headers = [("content-type", JSON)];
    let put = cluster.request("PUT", &path("Strict"), &headers, DUBIOUS.to_owned()).await;
    put.failure(400);
    let put = cluster.request("PUT", &path("Warn"), &headers, DUBIOUS.to_owned()).await;
    assert_eq!(put.warnings().len(), 2);
    put.expect(200);
}

#[tokio::test]
async fn who_applies_what_nobody_knows_is_refused_always() {
    let cluster = Cluster::start().await;
    let headers = [("content-type", APPLY)];
    let unknown = DUBIOUS_YAML.replace("  replicas: 2\n", "");
    for validation in ["Strict", "Warn", "Ignore"] {
        let path = format!("{DEPLOYMENTS}/d?fieldManager=me&fieldValidation={validation}");
        let answer = cluster.request("PATCH", &path, &headers, unknown.clone()).await;
        let status = answer.expect(500);
        assert_eq!(
            status["message"],
            "failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.foo: field \
             not declared in schema"
        );
        assert!(status["reason"].is_null());
    }
    let twice = DUBIOUS_YAML.replace("  foo: bar\n", "");
    let path = format!("{DEPLOYMENTS}/d?fieldManager=me");
    let answer = cluster.request("PATCH", &path, &headers, twice).await;
    assert_eq!(answer.warnings(), ["299 - \"line 7: key \\\"replicas\\\" already set in map\""]);
    assert_eq!(answer.expect(201)["spec"]["replicas"], 3);
}
