//! Paths, names and methods that nobody should send. Codes and messages are those of
//! kube-apiserver 1.36, except where a test says otherwise.

use serde_json::json;

use crate::cluster::{Cluster, MERGE_PATCH, names};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const NOT_FOUND: &str = "the server could not find the requested resource";
const NOT_ALLOWED: &str = "the server does not allow this method on the requested resource";

/// Each `METHOD PATH` is refused with a status of this code and message.
async fn check(cluster: &Cluster, code: u16, message: &str, requests: &[&str]) {
    for request in requests {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = cluster.request(method, path, &[], "").await;
        assert_eq!(answer.code, code, "{request}: {}", answer.text());
        assert_eq!(answer.failure(code).1, message, "{request}");
    }
}

#[tokio::test]
async fn an_object_of_the_cluster_is_in_no_namespace_and_the_reverse() {
    let cluster = Cluster::start().await;
    for name in ["x", "default"] {
        cluster.post("/api/v1/nodes", &json!({"metadata": {"name": name}})).await.expect(201);
    }
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/x/clusterroles";
    let lists = [
        "GET /api/v1/namespaces/x/nodes",
        "GET /api/v1/namespaces/x/nodes/x",
        "GET /api/v1/namespaces/x/nodes/y",
        "GET /api/v1/namespaces/x/nodes?fieldSelector=metadata.name%3Dx",
        "GET /api/v1/namespaces/x/nodes?watch=1&fieldSelector=metadata.name%3Dx",
        "GET /api/v1/watch/namespaces/x/nodes/x",
        "GET /api/v1/watch/namespaces/x/nodes",
        "DELETE /api/v1/namespaces/x/nodes",
        "DELETE /api/v1/namespaces/default/nodes/default",
        "PUT /api/v1/namespaces/default/nodes/default",
        "PATCH /api/v1/namespaces/default/nodes/default",
        "PUT /api/v1/namespaces/default/nodes/default/status",
        "POST /api/v1/namespaces/default/nodes",
        "GET /api/v1/namespaces/x/namespaces/x",
        "GET /api/v1/namespaces/default/namespaces",
        "GET /api/v1/pods/foo",
        "DELETE /api/v1/pods/foo",
        "PUT /api/v1/configmaps/foo",
        "GET /api/v1/watch/pods/foo",
        "GET /apis/apps/v1/namespaces/default",
        "GET /api/v1/proxy/namespaces/default/pods/foo",
    ];
    check(&cluster, 404, NOT_FOUND, &lists).await;
    check(&cluster, 404, NOT_FOUND, &[&format!("GET {roles}"), &format!("GET {roles}/x")]).await;
    let missing = "Namespace parameter required.";
    check(&cluster, 400, missing, &["GET /api/v1/namespaces//pods/x"]).await;
    check(&cluster, 405, NOT_ALLOWED, &["POST /api/v1/pods", "DELETE /api/v1/pods"]).await;
    let nodes = cluster.get("/api/v1/nodes").await.expect(200);
    assert_eq!(names(&nodes), ["default", "x"]);
    cluster.get("/api/v1/nodes/x").await.expect(200);
    cluster.get("/api/v1/namespaces/default").await.expect(200);
}

#[tokio::test]
async fn a_selector_of_a_name_goes_over_all_namespaces() {
    let cluster = Cluster::start().await;
    cluster.namespace("other").await;
    for namespace in ["default", "other"] {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        cluster.post(&path, &json!({"metadata": {"name": "same"}})).await.expect(201);
    }
    let path = "/api/v1/configmaps?fieldSelector=metadata.name%3Dsame";
    assert_eq!(names(&cluster.get(path).await.expect(200)), ["same", "same"]);
    let mut watch = cluster.watch(&format!("{path}&watch=1")).await;
    assert_eq!(watch.events(2).await, ["ADDED same", "ADDED same"]);
    let path = format!("{MAPS}?fieldSelector=metadata.name%3Dsame");
    assert_eq!(names(&cluster.get(&path).await.expect(200)), ["same"]);
}

#[tokio::test]
async fn names_lead_nowhere_else() {
    let cluster = Cluster::start().await;
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"a": "b"}});
    cluster.post("/api/v1/namespaces/default/secrets", &secret).await.expect(201);
    let dots = "Name parameter invalid: \"..\": may not be '..'";
    for method in ["GET", "PUT", "DELETE"] {
        for name in ["..", "%2e%2e", ".%2E"] {
            let requests = [format!("{method} {MAPS}/{name}")];
            check(&cluster, 400, dots, &requests.each_ref().map(String::as_str)).await;
        }
    }
    let answer = cluster.patch(&format!("{MAPS}/.."), MERGE_PATCH, &json!({})).await;
    assert_eq!(answer.failure(400).1, dots);
    check(&cluster, 400, dots, &["GET /api/v1/nodes/.."]).await;
    let dot = "Name parameter invalid: \".\": may not be '.'";
    check(&cluster, 400, dot, &["GET /api/v1/nodes/."]).await;
    let percent = "Name parameter invalid: \"a%00\": may not contain '%'";
    check(&cluster, 400, percent, &[&format!("GET {MAPS}/a%2500")]).await;
    // A slash in a name is the end of the name, whether it is escaped or not.
    let paths = [format!("GET {MAPS}/..%2Fsecrets"), format!("GET {MAPS}/..%2Fsecrets%2Fs")];
    check(&cluster, 404, NOT_FOUND, &paths.each_ref().map(String::as_str)).await;
    // Upstream takes these for its own fault: 500, invalid key.
    let dots = "Namespace parameter invalid: \"..\": may not be '..'";
    let lists = [
        "GET /api/v1/namespaces/../configmaps",
        "GET /api/v1/namespaces/%2e%2e/configmaps",
        "GET /api/v1/namespaces/../configmaps/x",
        "GET /api/v1/namespaces/../configmaps?watch=1",
        "DELETE /api/v1/namespaces/../configmaps",
        "POST /api/v1/namespaces/../configmaps",
    ];
    check(&cluster, 400, dots, &lists).await;
}

#[tokio::test]
async fn odd_names_are_not_found() {
    let cluster = Cluster::start().await;
    let zero = format!("GET {MAPS}/a%00b");
    check(&cluster, 404, "configmaps \"a\\x00b\" not found", &[&zero]).await;
    let (reason, _) = cluster.get(&format!("{MAPS}/%ff%fe")).await.failure(404);
    assert_eq!(reason, "NotFound");
    let long = "a".repeat(60_000);
    let (_, message) = cluster.get(&format!("{MAPS}/{long}")).await.failure(404);
    assert_eq!(message, format!("configmaps \"{long}\" not found"));
    for namespace in ["a%00b", "%ff", &long, "kube"] {
        let list = cluster.get(&format!("/api/v1/namespaces/{namespace}/configmaps")).await;
        assert_eq!(names(&list.expect(200)), [""; 0]);
    }
}

#[tokio::test]
async fn an_object_cannot_be_made_with_a_name_that_is_none() {
    let cluster = Cluster::start().await;
    let long = "a".repeat(254);
    for name in ["../x", "..", "a/b", "a\0b", "a%b", "A", " ", "\u{fffd}", &long] {
        let (reason, message) =
            cluster.post(MAPS, &json!({"metadata": {"name": name}})).await.failure(422);
        assert_eq!(reason, "Invalid", "{name:?}");
        assert!(message.contains("metadata.name: Invalid value: "), "{message}");
    }
    let elsewhere = json!({"metadata": {"name": "a", "namespace": ".."}});
    let (_, message) = cluster.post(MAPS, &elsewhere).await.failure(400);
    let expect =
        "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(message, expect);
    // Where the name of the URL is that of the object, both are judged.
    let odd = json!({"metadata": {"name": "a\0b"}});
    cluster.put(&format!("{MAPS}/a%00b"), &odd).await.failure(404);
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a\0b"}});
    let path = format!("{MAPS}/a%00b?fieldManager=m");
    cluster.patch(&path, crate::cluster::APPLY, &applied).await.failure(422);
}

#[tokio::test]
async fn a_type_whose_name_begins_like_another_shows_only_its_own() {
    let cluster = Cluster::start().await;
    cluster.namespace("a").await;
    cluster.namespace("a-b").await;
    for (namespace, name) in [("a", "in-a"), ("a-b", "in-a-b")] {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        cluster.post(&path, &json!({"metadata": {"name": name}})).await.expect(201);
    }
    let list = cluster.get("/api/v1/namespaces/a/configmaps").await.expect(200);
    assert_eq!(names(&list), ["in-a"]);
    cluster.delete("/api/v1/namespaces/a/configmaps").await.expect(200);
    let list = cluster.get("/api/v1/namespaces/a-b/configmaps").await.expect(200);
    assert_eq!(names(&list), ["in-a-b"]);
    // Prefixes of types end in a slash: pods are no podtemplates, services no serviceaccounts.
    let template = json!({"metadata": {"name": "t"}, "template": {"spec": {"containers":
        [{"name": "c", "image": "i"}]}}});
    let templates = "/api/v1/namespaces/default/podtemplates";
    cluster.post(templates, &template).await.expect(201);
    assert_eq!(names(&cluster.get("/api/v1/pods").await.expect(200)), [""; 0]);
    assert_eq!(names(&cluster.get(templates).await.expect(200)), ["t"]);
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused() {
    let cluster = Cluster::start().await;
    let unknown = [
        "GET /api/v9/pods",
        "GET /apis/apps/v9/x",
        "GET /api/v1/nope",
        "POST /api/v1/nope",
        "GET /api/v1/namespaces/default/nope/x",
        "GET /api/v1/namespaces/default/configmaps/x/status",
        "GET /api/v1/namespaces/default/configmaps/x/y/z/w",
        "GET /api/v1/nodes//x",
        "GET /api/v1//pods",
        "GET /api/v1/watch",
        "GET /api/v1/proxy",
    ];
    check(&cluster, 404, NOT_FOUND, &unknown).await;
    let methods = [
        "OPTIONS /api/v1/namespaces/default/configmaps",
        "TRACE /api/v1/namespaces/default/configmaps",
        "BREW /api/v1/namespaces/default/configmaps",
        "BREW /api",
        "PUT /api/v1/namespaces/default/configmaps",
        "PATCH /api/v1/namespaces/default/configmaps",
        "POST /api/v1/namespaces/default/configmaps/a",
        "POST /api",
        "DELETE /api/v1",
        "POST /api/v1/watch/pods",
        "DELETE /api/v1/watch/namespaces/default/pods",
    ];
    check(&cluster, 405, NOT_ALLOWED, &methods).await;
    for path in [MAPS, &format!("{MAPS}/kube-root-ca.crt")] {
        let answer = cluster.request("HEAD", path, &[], "").await;
        assert_eq!(answer.code, 405);
    }
    for path in ["/foo", "/apis/nope/v1/x", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"] {
        let answer = cluster.get(path).await;
        assert_eq!((answer.code, answer.text().as_str()), (404, "404 page not found\n"), "{path}");
    }
}

#[tokio::test]
async fn a_broken_escape_is_a_bad_request() {
    let cluster = Cluster::start().await;
    for path in ["/%", "/healthz%f", &format!("{MAPS}%zz"), &format!("{MAPS}/a%g0")] {
        let answer = cluster.get(path).await;
        assert_eq!((answer.code, answer.text().as_str()), (400, "400 Bad Request\n"), "{path}");
    }
}
