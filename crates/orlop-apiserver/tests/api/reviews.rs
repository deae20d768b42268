//! Questions that are answered and forgotten, and parts of the API without a future.

use orlop_apiserver::User;
use orlop_apiserver::serve::Peer;
use serde_json::{Value, json};

use crate::cluster::Cluster;

const AUTHENTICATION: &str = "/apis/authentication.k8s.io/v1";
const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";

fn alice() -> Peer {
    let groups = vec!["dev".into(), "system:authenticated".into()];
    Peer::acting_for(User { name: "alice".into(), groups, ..User::default() })
}

#[tokio::test]
async fn somebody_learns_who_they_are() {
    let cluster = Cluster::start().await;
    let path = format!("{AUTHENTICATION}/selfsubjectreviews");
    let asked = json!({"metadata": {"name": "x"}});
    let review = cluster.acting_for(alice()).post(&path, &asked).await.expect(201);
    assert_eq!(
        review["status"],
        json!({"userInfo": {"username": "alice", "groups": ["dev", "system:authenticated"]}})
    );
    let metadata = review["metadata"].as_object().unwrap();
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["creationTimestamp"]);
    cluster.get(&path).await.failure(405);
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let (_, message) = cluster.request("POST", &path, &table, "{}").await.failure(406);
    assert_eq!(
        message,
        "only the following media types are accepted: application/json, application/yaml, \
         application/vnd.kubernetes.protobuf"
    );
}

#[tokio::test]
async fn nobody_is_known_by_a_token() {
    let cluster = Cluster::start().await;
    let path = format!("{AUTHENTICATION}/tokenreviews");
    let review = cluster.post(&path, &json!({"spec": {"token": "x"}})).await.expect(201);
    assert_eq!(review["status"], json!({"user": {}, "error": "invalid bearer token"}));
    assert_eq!(review["spec"], json!({"token": "x"}));
    let (_, message) = cluster.post(&path, &json!({})).await.failure(400);
    assert_eq!(message, "token is required for TokenReview in authentication");
}

#[tokio::test]
async fn access_is_told_for_oneself_and_others() {
    let cluster = Cluster::start().await;
    let pods = json!({"verb": "get", "resource": "pods"});
    let path = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    let asked = json!({"spec": {"resourceAttributes": pods}});
    let review = cluster.post(&path, &asked).await.expect(201);
    assert_eq!(review["status"], json!({"allowed": true}));
    assert_eq!(review["spec"], asked["spec"]);
    let review = cluster.acting_for(alice()).post(&path, &asked).await.expect(201);
    assert_eq!(review["status"], json!({"allowed": false}));
    let path = format!("{AUTHORIZATION}/subjectaccessreviews");
    let check = async |spec: Value, expect: Value| {
        let review = cluster.post(&path, &json!({"spec": spec})).await.expect(201);
        assert_eq!(review["status"], expect);
    };
    check(json!({"user": "a", "resourceAttributes": pods}), json!({"allowed": false})).await;
    let masters = json!({"groups": ["system:masters"], "resourceAttributes": pods});
    check(masters, json!({"allowed": true})).await;
    let health = json!({"verb": "get", "path": "/healthz"});
    let known = json!({"groups": ["system:authenticated"], "nonResourceAttributes": health});
    check(known, json!({"allowed": true})).await;
    let unknown = json!({"groups": ["x"], "nonResourceAttributes": health});
    check(unknown, json!({"allowed": false})).await;
    let selectors = json!({"verb": "list", "resource": "pods",
        "fieldSelector": {"rawSelector": "a=b=c"}, "labelSelector": {"rawSelector": "!!"}});
    let error = "spec.resourceAttributes.fieldSelector ignored due to parse error; \
                 spec.resourceAttributes.labelSelector ignored due to parse error";
    check(
        json!({"user": "a", "resourceAttributes": selectors}),
        json!({"allowed": false, "evaluationError": error}),
    )
    .await;
}

#[tokio::test]
async fn a_bad_question_is_refused() {
    let cluster = Cluster::start().await;
    let path = format!("{AUTHORIZATION}/subjectaccessreviews");
    let (_, message) = cluster.post(&path, &json!({})).await.failure(422);
    assert_eq!(
        message,
        ".authorization.k8s.io \"\" is invalid: [spec.resourceAttributes: Invalid value: null: \
         exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: \
         Invalid value: \"\": at least one of user or group must be specified]"
    );
    let path = format!("{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews");
    let pods = json!({"verb": "get", "resource": "pods"});
    let asked = json!({"spec": {"user": "a", "resourceAttributes": pods}});
    let (_, message) = cluster.post(&path, &asked).await.failure(422);
    assert_eq!(
        message,
        ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: \
         \"\": must match metadata.namespace"
    );
    let pods = json!({"verb": "get", "resource": "pods", "namespace": "nope"});
    let asked = json!({"spec": {"user": "a", "resourceAttributes": pods}});
    let path = format!("{AUTHORIZATION}/namespaces/nope/localsubjectaccessreviews");
    let review = cluster.post(&path, &asked).await.expect(201);
    assert_eq!(review["metadata"]["namespace"], "nope");
}

#[tokio::test]
async fn somebody_learns_what_they_may() {
    let cluster = Cluster::start().await;
    let path = format!("{AUTHORIZATION}/selfsubjectrulesreviews");
    let asked = json!({"spec": {"namespace": "default"}});
    let review = cluster.acting_for(alice()).post(&path, &asked).await.expect(201);
    let expect = json!([
        {"verbs": ["create"], "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]},
        {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"],
            "resources": ["selfsubjectreviews"]},
    ]);
    assert_eq!(review["status"]["resourceRules"], expect);
    assert_eq!(review["spec"], json!({}));
    let review = cluster.post(&path, &asked).await.expect(201);
    let all = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]});
    assert_eq!(review["status"]["resourceRules"][0], all);
    let all = json!({"verbs": ["*"], "nonResourceURLs": ["*"]});
    assert_eq!(review["status"]["nonResourceRules"][0], all);
    let (_, message) = cluster.post(&path, &json!({"spec": {}})).await.failure(400);
    assert_eq!(message, "no namespace on request");
}

#[tokio::test]
async fn components_are_told_with_a_warning() {
    let cluster = Cluster::start().await;
    let warning = ["299 - \"v1 ComponentStatus is deprecated in v1.19+\""];
    let answer = cluster.get("/api/v1/componentstatuses/etcd-0").await;
    assert_eq!(answer.warnings(), warning);
    let condition = json!({"type": "Healthy", "status": "True", "message": "ok"});
    let expect = json!({"kind": "ComponentStatus", "apiVersion": "v1",
        "metadata": {"name": "etcd-0"}, "conditions": [condition]});
    assert_eq!(answer.expect(200), expect);
    let answer = cluster.get("/api/v1/componentstatuses").await;
    assert_eq!(answer.warnings(), warning);
    let list = answer.expect(200);
    assert_eq!((&list["kind"], &list["metadata"]), (&json!("ComponentStatusList"), &json!({})));
    let names = crate::cluster::names(&list);
    assert_eq!(names, ["controller-manager", "scheduler", "etcd-0"]);
    let one = "/api/v1/componentstatuses?fieldSelector=metadata.name%3Detcd-0";
    assert_eq!(crate::cluster::names(&cluster.get(one).await.expect(200)), ["etcd-0"]);
    let (_, message) = cluster.get("/api/v1/componentstatuses/foo").await.failure(404);
    assert_eq!(message, "componentstatus \"foo\" not found");
}

#[tokio::test]
async fn endpoints_are_deprecated_on_every_request() {
    let cluster = Cluster::start().await;
    let warning =
        ["299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\""];
    let path = "/api/v1/namespaces/default/endpoints";
    for path in ["/api/v1/endpoints".to_owned(), path.to_owned(), format!("{path}/x")] {
        assert_eq!(cluster.get(&path).await.warnings(), warning, "{path}");
    }
    let made = cluster.post(path, &json!({"metadata": {"name": "e"}})).await;
    assert_eq!(made.warnings(), warning);
}
