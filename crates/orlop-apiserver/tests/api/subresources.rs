//! What can be done with a part of an object, or through it.

use serde_json::{Value, json};

use crate::cluster::{APPLY, Cluster, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, version};

const PODS: &str = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const NODES: &str = "/api/v1/nodes";

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": "x"}]}})
}

fn deployment(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"replicas": 3,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "x"}]}}}})
}

/// A pod that runs and is ready.
async fn running_pod(cluster: &Cluster, name: &str) {
    let mut object = pod(name);
    object["spec"]["nodeName"] = json!("n");
    cluster.post(PODS, &object).await.expect(201);
    let status = json!({"status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}]}});
    cluster.patch(&format!("{PODS}/{name}/status"), MERGE_PATCH, &status).await.expect(200);
}

/// A budget for the pods of an app, as its controller would have counted it.
async fn budget(cluster: &Cluster, name: &str, app: &str, allowed: i64) {
    let object = json!({"metadata": {"name": name},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}});
    cluster.post(BUDGETS, &object).await.expect(201);
    let status = json!({"status": {"observedGeneration": 1, "disruptionsAllowed": allowed,
        "currentHealthy": 1 + allowed, "desiredHealthy": 1, "expectedPods": 1}});
    cluster.patch(&format!("{BUDGETS}/{name}/status"), MERGE_PATCH, &status).await.expect(200);
}

async fn evict(cluster: &Cluster, name: &str, options: Value) -> crate::cluster::Answer {
    let eviction = json!({"metadata": {"name": name}, "deleteOptions": options});
    cluster.post(&format!("{PODS}/{name}/eviction"), &eviction).await
}

#[tokio::test]
async fn a_status_is_written_apart_from_the_rest() {
    let cluster = Cluster::start().await;
    let mut made = cluster.post(DEPLOYMENTS, &deployment("d")).await.expect(201);
    made["spec"]["replicas"] = json!(7);
    made["status"]["replicas"] = json!(2);
    let path = format!("{DEPLOYMENTS}/d/status");
    let written = cluster.put(&path, &made).await.expect(200);
    assert_eq!(written["spec"]["replicas"], 3);
    assert_eq!(written["status"]["replicas"], 2);
    assert_eq!(written["metadata"]["generation"], 1);
    assert_eq!(cluster.get(&path).await.expect(200), written);
    let entries = written["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries[1]["subresource"], "status");
    assert_eq!(entries[1]["fieldsV1"], json!({"f:status": {"f:replicas": {}}}));
}

#[tokio::test]
async fn a_status_is_patched_in_four_ways() {
    let cluster = Cluster::start().await;
    cluster.post(DEPLOYMENTS, &deployment("d")).await.expect(201);
    let path = format!("{DEPLOYMENTS}/d/status");
    let operations = json!([{"op": "add", "path": "/status/replicas", "value": 1}]);
    let seen = cluster.patch(&path, JSON_PATCH, &operations).await.expect(200);
    assert_eq!(seen["status"]["replicas"], 1);
    for (patch_type, count) in [(MERGE_PATCH, 2), (STRATEGIC_PATCH, 3)] {
        let patch = json!({"status": {"replicas": count}});
        let seen = cluster.patch(&path, patch_type, &patch).await.expect(200);
        assert_eq!(seen["status"]["replicas"], count);
    }
    let applied = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "status": {"replicas": 4}});
    let apply = format!("{path}?fieldManager=me&force=true");
    let seen = cluster.patch(&apply, APPLY, &applied).await.expect(200);
    assert_eq!(seen["status"]["replicas"], 4);
}

#[tokio::test]
async fn a_part_of_nothing_is_not_made() {
    let cluster = Cluster::start().await;
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "status": {"replicas": 4}});
    let path = format!("{DEPLOYMENTS}/d/status");
    let apply = format!("{path}?fieldManager=me");
    let message = "deployments.apps \"d\" not found".to_owned();
    let expect = ("NotFound".to_owned(), message);
    assert_eq!(cluster.patch(&apply, APPLY, &object).await.failure(404), expect);
    assert_eq!(cluster.put(&path, &object).await.failure(404), expect);
    assert_eq!(cluster.get(&path).await.failure(404), expect);
}

#[tokio::test]
async fn paths_and_methods_that_are_not_there_are_refused() {
    let cluster = Cluster::start().await;
    for path in ["pods/a/foo", "pods/a/status/x", "serviceaccounts/default/token"] {
        let path = format!("/api/v1/namespaces/default/{path}");
        let status = cluster.post(&path, &json!({})).await.expect(404);
        assert_eq!(status["message"], "the server could not find the requested resource");
        assert_eq!(status["details"], json!({}));
    }
    for (method, path) in [
        ("DELETE", "/api/v1/namespaces/default/pods/a/status"),
        ("HEAD", "/api/v1/namespaces/default/pods/a/status"),
        ("OPTIONS", "/api/v1/namespaces/default/pods/a/status"),
        ("POST", "/api/v1/namespaces/default/pods/a/log"),
        ("PUT", "/api/v1/namespaces/default/pods/a/exec"),
        ("GET", "/api/v1/namespaces/default/pods/a/binding"),
        ("GET", "/api/v1/namespaces/default/bindings"),
        ("POST", "/apis/apps/v1/namespaces/default/deployments/a/scale"),
        ("PATCH", "/api/v1/namespaces/default/finalize"),
    ] {
        let status = cluster.request(method, path, &[], "").await.expect(405);
        assert_eq!(status["reason"], "MethodNotAllowed");
        let message = "the server does not allow this method on the requested resource";
        assert_eq!(status["message"], message);
        assert_eq!(status["details"], json!({}));
    }
}

#[tokio::test]
async fn a_namespace_goes_with_its_last_finalizer() {
    let cluster = Cluster::start().await;
    cluster.namespace("fin").await;
    let (path, finalize) = ("/api/v1/namespaces/fin", "/api/v1/namespaces/fin/finalize");
    let with = |finalizers: Value| {
        let spec = json!({"finalizers": finalizers});
        json!({"metadata": {"name": "fin"}, "spec": spec})
    };
    let both = cluster.put(finalize, &with(json!(["kubernetes", "a/b"]))).await.expect(200);
    assert_eq!(both["spec"]["finalizers"], json!(["kubernetes", "a/b"]));
    let ending = cluster.delete(path).await.expect(200);
    assert_eq!(ending["status"]["phase"], "Terminating");
    cluster.put(finalize, &with(json!(["a/b"]))).await.expect(200);
    cluster.get(path).await.expect(200);
    let last = cluster.put(finalize, &with(json!([]))).await.expect(200);
    assert_eq!(last["spec"], json!({}));
    cluster.get(path).await.failure(404);
}

#[tokio::test]
async fn a_scale_shows_how_many_replicas_there_are() {
    let cluster = Cluster::start().await;
    let made = cluster.post(DEPLOYMENTS, &deployment("d")).await.expect(201);
    let scale = cluster.get(&format!("{DEPLOYMENTS}/d/scale")).await.expect(200);
    let expect = json!({"kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {"name": "d", "namespace": "default", "uid": made["metadata"]["uid"],
            "resourceVersion": made["metadata"]["resourceVersion"],
            "creationTimestamp": made["metadata"]["creationTimestamp"]},
        "spec": {"replicas": 3}, "status": {"replicas": 0, "selector": "a=b"}});
    assert_eq!(scale, expect);
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let path = format!("{DEPLOYMENTS}/d/scale");
    let table = cluster.request("GET", &path, &table, "").await.expect(200);
    let columns = table["columnDefinitions"].as_array().unwrap();
    let columns: Vec<&Value> = columns.iter().map(|column| &column["name"]).collect();
    assert_eq!(columns, ["Name", "Desired", "Available", "Age"]);
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[..3], [json!("d"), json!(3), json!(0)]);
    let missing = cluster.get(&format!("{DEPLOYMENTS}/e/scale")).await.failure(404);
    assert_eq!(missing.1, "deployments.apps \"e\" not found");
}

#[tokio::test]
async fn a_scale_is_written_in_five_ways() {
    let cluster = Cluster::start().await;
    cluster.post(DEPLOYMENTS, &deployment("d")).await.expect(201);
    let path = format!("{DEPLOYMENTS}/d/scale");
    let scale = json!({"metadata": {"name": "d"}, "spec": {"replicas": 1}});
    let seen = cluster.put(&path, &scale).await.expect(200);
    assert_eq!((&seen["kind"], &seen["spec"]["replicas"]), (&json!("Scale"), &json!(1)));
    for (patch_type, count) in [(MERGE_PATCH, 2), (STRATEGIC_PATCH, 3)] {
        let patch = json!({"spec": {"replicas": count}});
        let seen = cluster.patch(&path, patch_type, &patch).await.expect(200);
        assert_eq!(seen["spec"]["replicas"], count);
    }
    let operations = json!([{"op": "replace", "path": "/spec/replicas", "value": 4}]);
    let seen = cluster.patch(&path, JSON_PATCH, &operations).await.expect(200);
    assert_eq!(seen["spec"]["replicas"], 4);
    let applied = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "d"}, "spec": {"replicas": 5}});
    let apply = format!("{path}?fieldManager=me&force=true");
    let seen = cluster.patch(&apply, APPLY, &applied).await.expect(200);
    assert_eq!(seen["spec"]["replicas"], 5);
    let object = cluster.get(&format!("{DEPLOYMENTS}/d")).await.expect(200);
    assert_eq!(object["spec"]["replicas"], 5);
    assert_eq!(object["metadata"]["generation"], 6);
    let again = cluster.put(&format!("{path}?dryRun=All"), &scale).await.expect(200);
    assert_eq!(again["spec"]["replicas"], 1);
    let object = cluster.get(&format!("{DEPLOYMENTS}/d")).await.expect(200);
    assert_eq!(object["spec"]["replicas"], 5);
}

#[tokio::test]
async fn a_scaler_comes_to_manage_the_number_of_replicas() {
    let cluster = Cluster::start().await;
    cluster.post(&format!("{DEPLOYMENTS}?fieldManager=maker"), &deployment("d")).await.expect(201);
    let path = format!("{DEPLOYMENTS}/d/scale");
    let patch = json!({"spec": {"replicas": 6}});
    let scaler = format!("{path}?fieldManager=scaler");
    cluster.patch(&scaler, MERGE_PATCH, &patch).await.expect(200);
    let applied = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "d"}, "spec": {"replicas": 7}});
    let apply = format!("{path}?fieldManager=applier");
    let (_, message) = cluster.patch(&apply, APPLY, &applied).await.failure(409);
    assert_eq!(
        message,
        "Apply failed with 1 conflict: conflict with \"scaler\" with subresource \"scale\" using \
         autoscaling/v1: .spec.replicas"
    );
    let force = format!("{apply}&force=true");
    cluster.patch(&force, APPLY, &applied).await.expect(200);
    let object = cluster.get(&format!("{DEPLOYMENTS}/d")).await.expect(200);
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let replicas = json!({"f:spec": {"f:replicas": {}}});
    assert_eq!(
        entries[0],
        json!({"manager": "applier", "operation": "Apply", "apiVersion": "apps/v1",
            "fieldsType": "FieldsV1", "fieldsV1": replicas, "subresource": "scale"})
    );
    assert_eq!(entries[1]["manager"], "maker");
    assert!(entries[1]["fieldsV1"]["f:spec"].get("f:replicas").is_none());
    assert_eq!(entries.len(), 2);
}

#[tokio::test]
async fn a_bad_scale_is_refused() {
    let cluster = Cluster::start().await;
    let made = cluster.post(DEPLOYMENTS, &deployment("d")).await.expect(201);
    let uid = made["metadata"]["uid"].as_str().unwrap();
    let path = format!("{DEPLOYMENTS}/d/scale");
    let check = async |metadata: Value, replicas: i64, code: u16, expect: &str| {
        let scale = json!({"metadata": metadata, "spec": {"replicas": replicas}});
        let (_, message) = cluster.put(&path, &scale).await.failure(code);
        assert_eq!(message, expect);
    };
    check(
        json!({"name": "d"}),
        -2,
        422,
        "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -2: must be greater \
         than or equal to 0",
    )
    .await;
    check(
        json!({}),
        2,
        400,
        "the name of the object (d based on URL) was undeterminable: name must be provided",
    )
    .await;
    check(
        json!({"name": "e"}),
        2,
        400,
        "the name of the object (e) does not match the name on the URL (d)",
    )
    .await;
    check(
        json!({"name": "d", "uid": "x"}),
        2,
        409,
        &format!(
            "Operation cannot be fulfilled on deployments.apps \"d\": StorageError: invalid \
             object, Code: 4, Key: /registry/deployments/default/d, ResourceVersion: 0, \
             AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: \
             {uid}"
        ),
    )
    .await;
    check(
        json!({"name": "d", "resourceVersion": "1"}),
        2,
        409,
        "Operation cannot be fulfilled on deployments.apps \"d\": the object has been modified; \
         please apply your changes to the latest version and try again",
    )
    .await;
}

#[tokio::test]
async fn a_pod_is_bound_to_a_node_once() {
    let cluster = Cluster::start().await;
    cluster.post(PODS, &pod("one")).await.expect(201);
    let path = format!("{PODS}/one/binding");
    let binding = json!({"metadata": {"name": "one", "annotations": {"x": "y"}},
        "target": {"name": "n"}});
    let trial = cluster.post(&format!("{path}?dryRun=All"), &binding).await.expect(201);
    assert_eq!(
        trial,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "code": 201})
    );
    cluster.post(&path, &binding).await.expect(201);
    let bound = cluster.get(&format!("{PODS}/one")).await.expect(200);
    assert_eq!(bound["spec"]["nodeName"], "n");
    assert_eq!(bound["metadata"]["annotations"]["x"], "y");
    assert_eq!(bound["metadata"]["managedFields"].as_array().unwrap().len(), 1);
    let condition = &bound["status"]["conditions"][0];
    assert_eq!(
        (&condition["type"], &condition["status"]),
        (&json!("PodScheduled"), &json!("True"))
    );
    let (reason, message) = cluster.post(&path, &binding).await.failure(409);
    assert_eq!(reason, "Conflict");
    assert_eq!(
        message,
        "Operation cannot be fulfilled on pods/binding \"one\": pod one is already assigned to \
         node \"n\""
    );
}

#[tokio::test]
async fn a_binding_may_name_its_pod_itself() {
    let cluster = Cluster::start().await;
    cluster.post(PODS, &pod("two")).await.expect(201);
    let path = "/api/v1/namespaces/default/bindings";
    let binding = json!({"metadata": {"name": "two"}, "target": {"name": "n"}});
    cluster.post(path, &binding).await.expect(201);
    let nameless = json!({"target": {"name": "n"}});
    let (_, message) = cluster.post(path, &nameless).await.failure(400);
    assert_eq!(message, "Name parameter required.");
}

#[tokio::test]
async fn a_bad_binding_is_refused() {
    let cluster = Cluster::start().await;
    let made = cluster.post(PODS, &pod("two")).await.expect(201);
    let uid = made["metadata"]["uid"].as_str().unwrap();
    let check = async |binding: Value, code: u16, expect: &str| {
        let answer = cluster.post(&format!("{PODS}/two/binding"), &binding).await;
        assert_eq!(answer.failure(code).1, expect);
    };
    let message = "name in URL does not match name in Binding object";
    check(json!({}), 400, message).await;
    check(
        json!({"metadata": {"name": "two"}, "target": {"kind": "Pod"}}),
        500,
        "[target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\", \
         target.name: Required value]",
    )
    .await;
    let failed = "Operation cannot be fulfilled on pods \"two\": StorageError: invalid object, \
                  Code: 4, Key: /registry/pods/default/two, ResourceVersion: 0, \
                  AdditionalErrorMsg: Precondition failed:";
    check(
        json!({"metadata": {"name": "two", "uid": "abc"}, "target": {"name": "n"}}),
        409,
        &format!("{failed} UID in precondition: abc, UID in object meta: {uid}"),
    )
    .await;
    let version = version(&made);
    check(
        json!({"metadata": {"name": "two", "resourceVersion": "3"}, "target": {"name": "n"}}),
        409,
        &format!(
            "{failed} ResourceVersion in precondition: 3, ResourceVersion in object meta: {version}"
        ),
    )
    .await;
    let missing = json!({"metadata": {"name": "none"}, "target": {"name": "n"}});
    let answer = cluster.post(&format!("{PODS}/none/binding"), &missing).await;
    assert_eq!(answer.failure(404).1, "pods \"none\" not found");
}

#[tokio::test]
async fn an_evicted_pod_says_why_it_ends() {
    let cluster = Cluster::start().await;
    running_pod(&cluster, "ev").await;
    let trial = json!({"dryRun": ["All"]});
    evict(&cluster, "ev", trial).await.expect(201);
    let path = format!("{PODS}/ev");
    let pod = cluster.get(&path).await.expect(200);
    assert!(pod["metadata"].get("deletionTimestamp").is_none());
    let status = evict(&cluster, "ev", json!({"gracePeriodSeconds": 7})).await.expect(201);
    assert_eq!((&status["status"], &status["code"]), (&json!("Success"), &json!(201)));
    let pod = cluster.get(&path).await.expect(200);
    assert_eq!(pod["metadata"]["deletionGracePeriodSeconds"], 7);
    let condition = &pod["status"]["conditions"][1];
    assert_eq!(condition["type"], "DisruptionTarget");
    assert_eq!(condition["reason"], "EvictionByEvictionAPI");
    assert_eq!(condition["message"], "Eviction API: evicting");
    assert_eq!(evict(&cluster, "none", json!({})).await.failure(404).1, "pods \"none\" not found");
}

#[tokio::test]
async fn an_eviction_may_be_of_the_version_that_is_not_served() {
    let cluster = Cluster::start().await;
    running_pod(&cluster, "ev").await;
    let path = format!("{PODS}/ev/eviction");
    let eviction = |version: &str| {
        let metadata = json!({"name": "ev"});
        json!({"apiVersion": version, "kind": "Eviction", "metadata": metadata})
    };
    let refused = cluster.post(&path, &eviction("policy/v1alpha1")).await;
    assert_eq!(refused.failure(400).0, "BadRequest");
    cluster.post(&path, &eviction("policy/v1beta1")).await.expect(201);
}

#[tokio::test]
async fn an_eviction_is_taken_from_the_budget() {
    let cluster = Cluster::start().await;
    running_pod(&cluster, "ev").await;
    budget(&cluster, "b", "ev", 1).await;
    evict(&cluster, "ev", json!({"dryRun": ["All"]})).await.expect(201);
    let path = format!("{BUDGETS}/b");
    assert_eq!(cluster.get(&path).await.expect(200)["status"]["disruptionsAllowed"], 1);
    evict(&cluster, "ev", json!({})).await.expect(201);
    let budget = cluster.get(&path).await.expect(200);
    assert_eq!(budget["status"]["disruptionsAllowed"], 0);
    assert!(budget["status"]["disruptedPods"].get("ev").is_some());
    assert_eq!(budget["status"]["conditions"][0]["reason"], "InsufficientPods");
    let entries = budget["metadata"]["managedFields"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["manager"] == "kube-apiserver").unwrap();
    assert_eq!(entry["subresource"], "status");
}

#[tokio::test]
async fn a_budget_refuses_an_eviction() {
    let cluster = Cluster::start().await;
    running_pod(&cluster, "ev").await;
    budget(&cluster, "b", "ev", 0).await;
    let violates = "Cannot evict pod as it would violate the pod's disruption budget.";
    let answer = evict(&cluster, "ev", json!({})).await;
    assert!(!answer.headers.contains_key("retry-after"));
    let status = answer.expect(429);
    assert_eq!(status["message"], violates);
    let cause = json!({"reason": "DisruptionBudget",
        "message": "The disruption budget b needs 1 healthy pods and has 1 currently"});
    assert_eq!(status["details"], json!({"causes": [cause]}));
    let patch = json!({"spec": {"minAvailable": 2}});
    cluster.patch(&format!("{BUDGETS}/b"), MERGE_PATCH, &patch).await.expect(200);
    let answer = evict(&cluster, "ev", json!({})).await;
    assert_eq!(answer.headers["retry-after"], "10");
    let status = answer.expect(429);
    assert_eq!(
        status["details"]["causes"][0]["message"],
        "The disruption budget b is still being processed by the server."
    );
    budget(&cluster, "c", "ev", 5).await;
    let (reason, message) = evict(&cluster, "ev", json!({})).await.failure(500);
    assert_eq!(reason, "");
    assert_eq!(
        message,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not \
         support."
    );
}

#[tokio::test]
async fn a_bad_eviction_is_refused() {
    let cluster = Cluster::start().await;
    let made = cluster.post(PODS, &pod("two")).await.expect(201);
    let (uid, version) = (made["metadata"]["uid"].as_str().unwrap(), version(&made));
    let path = format!("{PODS}/two/eviction");
    let check = async |options: Value, code: u16, expect: &str| {
        assert_eq!(evict(&cluster, "two", options).await.failure(code).1, expect);
    };
    let other = cluster.post(&path, &json!({"metadata": {"name": "one"}})).await;
    assert_eq!(other.failure(400).1, "name in URL does not match name in Eviction object");
    check(
        json!({"ignoreStoreReadErrorWithClusterBreakingPotential": true}),
        422,
        "Eviction.policy \"two\" is invalid: \
         deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: can \
         not be set for pod eviction, try after removing the option",
    )
    .await;
    check(
        json!({"dryRun": ["x"]}),
        422,
        "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: supported \
         values: \"All\"",
    )
    .await;
    check(
        json!({"preconditions": {"uid": "x"}}),
        409,
        &format!(
            "Operation cannot be fulfilled on Pod \"two\": the UID in the precondition (x) does \
             not match the UID in record ({uid}). The object might have been deleted and then \
             recreated"
        ),
    )
    .await;
    check(
        json!({"preconditions": {"resourceVersion": "1"}}),
        409,
        &format!(
            "Operation cannot be fulfilled on Pod \"two\": the ResourceVersion in the precondition \
             (1) does not match the ResourceVersion in record ({version}). The object might have \
             been modified"
        ),
    )
    .await;
    let eviction = json!({"metadata": {"name": "two"}, "deleteOptions": {"dryRun": ["x"]}});
    let disagree = cluster.post(&format!("{path}?dryRun=All"), &eviction).await;
    assert_eq!(
        disagree.failure(500).1,
        "Non-matching dry-run options in request and content: [All] and [x]"
    );
}

#[tokio::test]
async fn budgets_hold_when_many_evict_at_once() {
    let cluster = Cluster::start().await;
    for name in ["p0", "p1", "p2", "p3", "p4", "p5"] {
        running_pod(&cluster, name).await;
        let label = json!({"metadata": {"labels": {"app": "many"}}});
        cluster.patch(&format!("{PODS}/{name}"), MERGE_PATCH, &label).await.expect(200);
    }
    budget(&cluster, "b", "many", 3).await;
    let evictions =
        ["p0", "p1", "p2", "p3", "p4", "p5"].map(|name| evict(&cluster, name, json!({})));
    let [a, b, c, d, e, f] = evictions;
    let (a, b, c, d, e, f) = tokio::join!(a, b, c, d, e, f);
    let codes = [a, b, c, d, e, f].map(|answer| answer.code);
    assert_eq!(codes.iter().filter(|code| **code == 201).count(), 3, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == 429).count(), 3, "{codes:?}");
}

#[tokio::test]
async fn a_pod_without_a_node_has_no_log_and_no_shell() {
    let cluster = Cluster::start().await;
    cluster.post(PODS, &pod("one")).await.expect(201);
    let answer = cluster.get(&format!("{PODS}/one/log")).await;
    assert_eq!((answer.code, answer.text().as_str()), (204, ""));
    for subresource in ["exec", "attach", "portforward"] {
        let path = format!("{PODS}/one/{subresource}");
        let (reason, message) = cluster.post(&path, &json!({})).await.failure(400);
        assert_eq!(reason, "BadRequest");
        assert_eq!(message, "pod one does not have a host assigned");
        let dry = cluster.post(&format!("{path}?dryRun=All"), &json!({})).await;
        assert_eq!(dry.failure(400).1, "dryRun is not supported");
        let missing = cluster.get(&format!("{PODS}/none/{subresource}")).await;
        assert_eq!(missing.failure(404).1, "pods \"none\" not found");
    }
}

#[tokio::test]
async fn a_node_that_cannot_be_reached_is_told() {
    let cluster = Cluster::start().await;
    for name in ["missing", "bare", "closed"] {
        let mut object = pod(name);
        object["spec"]["nodeName"] = json!(name);
        cluster.post(PODS, &object).await.expect(201);
    }
    for name in ["bare", "closed"] {
        cluster.post(NODES, &json!({"metadata": {"name": name}})).await.expect(201);
    }
    let port = closed_port().await;
    let status = json!({"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}});
    cluster.patch(&format!("{NODES}/closed/status"), MERGE_PATCH, &status).await.expect(200);
    let failure = async |path: &str, headers: &[(&str, &str)], code: u16| {
        cluster.request("GET", &format!("{PODS}/{path}"), headers, "").await.failure(code).1
    };
    assert_eq!(failure("missing/log", &[], 404).await, "pods \"missing\" not found");
    assert_eq!(failure("missing/exec", &[], 404).await, "pods \"missing\" not found");
    let none = "no preferred addresses found; known addresses: []";
    assert_eq!(failure("bare/log", &[], 500).await, none);
    assert_eq!(failure("bare/exec", &[], 500).await, none);
    let refused = format!("dial tcp 127.0.0.1:{port}: connect: connection refused");
    let url = format!("https://127.0.0.1:{port}/containerLogs/default/closed/c?tailLines=3");
    let expect = format!("Get \"{url}\": {refused}");
    assert_eq!(failure("closed/log?tailLines=3", &[], 500).await, expect);
    assert_eq!(failure("closed/exec", &[], 400).await, "Upgrade request required");
    let upgrade = [("connection", "Upgrade"), ("upgrade", "SPDY/3.1")];
    let expect = format!("error dialing backend: {refused}");
    assert_eq!(failure("closed/exec?command=ls", &upgrade, 500).await, expect);
    assert_eq!(failure("closed/portforward", &upgrade, 500).await, expect);
}

/// A port on which nobody listens.
async fn closed_port() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn proxies_say_whom_they_cannot_reach() {
    let cluster = Cluster::start().await;
    cluster.post(PODS, &pod("one")).await.expect(201);
    let check = async |path: &str, code: u16, expect: &str| {
        let path = format!("/api/v1/{path}");
        assert_eq!(cluster.get(&path).await.failure(code).1, expect, "{path}");
    };
    let namespace = "namespaces/default";
    check(&format!("{namespace}/pods/one/proxy"), 400, "address not allowed").await;
    check(&format!("{namespace}/pods/none/proxy/x"), 404, "pods \"none\" not found").await;
    let invalid = "invalid pod request \"ftp:one:80\"";
    check(&format!("{namespace}/pods/ftp:one:80/proxy/x"), 400, invalid).await;
    check("nodes/none/proxy/x", 404, "nodes \"none\" not found").await;
    let missing = "services \"none\" not found";
    check(&format!("{namespace}/services/none/proxy/"), 404, missing).await;
    check(&format!("{namespace}/services/none:80/proxy/"), 404, missing).await;
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 443}]}});
    let namespaced = format!("/api/v1/{namespace}");
    cluster.post(&format!("{namespaced}/services"), &service).await.expect(201);
    let port = "no service port 81 found for service \"s\"";
    check(&format!("{namespace}/services/s:81/proxy/"), 503, port).await;
    check(&format!("{namespace}/services/s/proxy/"), 404, "services \"s\" not found").await;
    let endpoints = json!({"metadata": {"name": "s"}});
    cluster.post(&format!("{namespaced}/endpoints"), &endpoints).await.expect(201);
    let none = "no endpoints available for service \"s\"";
    check(&format!("{namespace}/services/https:s:443/proxy/"), 503, none).await;
    let subsets = json!({"subsets": [{"addresses": [{"ip": "192.0.2.9"}],
        "ports": [{"port": 443}]}]});
    let path = format!("{namespaced}/endpoints/s");
    cluster.patch(&path, MERGE_PATCH, &subsets).await.expect(200);
    let none = "no endpoints available for service \"https:s:443\"";
    check(&format!("{namespace}/services/https:s:443/proxy/"), 503, none).await;
}

#[tokio::test]
async fn a_proxy_leads_to_a_path_below_a_slash() {
    let cluster = Cluster::start().await;
    cluster.post(PODS, &pod("one")).await.expect(201);
    let status = json!({"status": {"podIPs": [{"ip": "192.0.2.7"}], "podIP": "192.0.2.7"}});
    cluster.patch(&format!("{PODS}/one/status"), MERGE_PATCH, &status).await.expect(200);
    let answer = cluster.get(&format!("{PODS}/one:80/proxy?x=y")).await;
    assert_eq!(answer.code, 301);
    assert_eq!(answer.headers["location"], format!("{PODS}/one:80/proxy/?x=y"));
}
