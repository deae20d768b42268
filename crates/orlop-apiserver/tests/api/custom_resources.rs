//! Custom resources as clients use them: objects of kinds that were defined a moment ago.

use serde_json::{Value, json};

use super::cluster::{APPLY, Cluster, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, names, version};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const WIDGETS_V2: &str = "/apis/example.com/v2/namespaces/default/widgets";

/// Widgets in two versions of one shape; v1 is stored.
fn definition() -> Value {
    let spec = json!({
        "type": "object",
        "required": ["color"],
        "x-kubernetes-validations": [
            {"rule": "self.replicas <= self.limit", "message": "too many"},
            {"rule": "self.limit >= oldSelf.limit", "reason": "FieldValueForbidden",
             "fieldPath": ".limit", "message": "the limit only grows"},
        ],
        "properties": {
            "color": {"type": "string", "enum": ["red", "green", "blue"]},
            "replicas": {"type": "integer", "minimum": 0, "default": 1},
            "limit": {"type": "integer", "default": 10},
            "ports": {
                "type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"},
                    "port": {"x-kubernetes-int-or-string": true},
                    "protocol": {"type": "string", "default": "TCP"},
                }},
            },
        },
    });
    let status = json!({"type": "object", "properties": {
        "replicas": {"type": "integer"}, "selector": {"type": "string"},
    }});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    let version = |name: &str, is_stored: bool| {
        json!({
            "name": name, "served": true, "storage": is_stored,
            "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}, "scale": {
                "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            }},
            "selectableFields": [{"jsonPath": ".spec.color"}],
            "additionalPrinterColumns": [
                {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
                {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
            ],
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [version("v1", true), version("v2", false)],
        },
    })
}

/// Changes the definition and waits until that is what is served.
async fn redefine(cluster: &Cluster, patch: &Value) {
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let before = cluster.get(WIDGETS).await.json();
    let mut watch = cluster
        .watch(&format!(
            "{WIDGETS}?watch=1&resourceVersion={}",
            before["metadata"]["resourceVersion"].as_str().unwrap()
        ))
        .await;
    cluster.patch(&path, JSON_PATCH, patch).await.expect(200);
    // The watches of what was served before end.
    assert_eq!(watch.next().await, None);
}

async fn start() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.post(DEFINITIONS, &definition()).await.expect(201);
    let path = format!("{DEFINITIONS}?watch=1&fieldSelector=metadata.name=widgets.example.com");
    let mut watch = cluster.watch(&path).await;
    loop {
        let event = watch.next().await.expect("it is established");
        let conditions = event["object"]["status"]["conditions"].as_array().cloned();
        let is_established = |it: &Value| it["type"] == "Established" && it["status"] == "True";
        if conditions.unwrap_or_default().iter().any(is_established) {
            return cluster;
        }
    }
}

fn widget(name: &str, color: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name},
        "spec": {"color": color},
    })
}

#[tokio::test]
async fn an_object_gets_defaults_and_loses_what_is_unknown() {
    let cluster = start().await;
    let mut object = widget("a", "red");
    object["spec"]["ports"] = json!([{"name": "http", "port": 80}]);
    object["spec"]["extra"] = json!({"deep": [1]});
    object["status"] = json!({"replicas": 7});
    let answer = cluster.post(WIDGETS, &object).await;
    assert_eq!(answer.warnings(), [r#"299 - "unknown field \"spec.extra\"""#]);
    let made = answer.expect(201);
    assert_eq!(
        made["spec"],
        json!({"color": "red", "replicas": 1, "limit": 10,
            "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]})
    );
    assert_eq!(made.get("status"), None);
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(cluster.get(&format!("{WIDGETS}/a")).await.expect(200), made);

    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    object["metadata"] = json!({"name": "b", "foo": 1});
    let (reason, message) = cluster.post(&strict, &object).await.failure(400);
    assert_eq!(reason, "BadRequest");
    assert_eq!(
        message,
        "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown \
         field \"metadata.foo\", unknown field \"spec.extra\""
    );
}

#[tokio::test]
async fn an_invalid_object_is_refused_with_every_cause() {
    let cluster = start().await;
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"color": "pink", "replicas": -1, "ports": [{"name": "a"}, {"name": "a"}, {}]},
    });
    let status = cluster.post(WIDGETS, &object).await.expect(422);
    let causes = status["details"]["causes"].as_array().unwrap().iter();
    let fields: Vec<&str> = causes.map(|cause| cause["field"].as_str().unwrap()).collect();
    for field in ["spec.color", "spec.replicas", "spec.ports[2].name", "spec.ports[1]"] {
        assert!(fields.contains(&field), "{field} is missing in {fields:?}");
    }
    assert_eq!(status["details"]["kind"], "Widget");

    let rules = json!({"spec": {"color": "red", "replicas": 11}});
    let mut object = widget("a", "red");
    object["spec"] = rules["spec"].clone();
    let (reason, message) = cluster.post(WIDGETS, &object).await.failure(422);
    assert_eq!(reason, "Invalid");
    assert!(message.contains("spec: Invalid value: too many"), "{message}");
}

#[tokio::test]
async fn transition_rules_see_what_was_before() {
    let cluster = start().await;
    cluster.post(WIDGETS, &widget("a", "red")).await.expect(201);
    let path = format!("{WIDGETS}/a");
    let smaller = json!({"spec": {"limit": 5}});
    let (_, message) = cluster.patch(&path, MERGE_PATCH, &smaller).await.failure(422);
    assert!(message.contains("spec.limit: Forbidden: the limit only grows"), "{message}");
    let larger = json!({"spec": {"limit": 20}});
    cluster.patch(&path, MERGE_PATCH, &larger).await.expect(200);
}

#[tokio::test]
async fn what_was_wrong_before_may_stay_while_it_does_not_change() {
    let cluster = start().await;
    cluster.post(WIDGETS, &widget("a", "green")).await.expect(201);
    let at = |version: u8| {
        format!(
            "/spec/versions/{version}/schema/openAPIV3Schema/properties/spec/properties/color/enum"
        )
    };
    let steps = json!([
        {"op": "replace", "path": at(0), "value": ["red", "blue"]},
        {"op": "replace", "path": at(1), "value": ["red", "blue"]},
    ]);
    redefine(&cluster, &steps).await;
    let path = format!("{WIDGETS}/a");
    let other = json!({"spec": {"replicas": 2}});
    cluster.patch(&path, MERGE_PATCH, &other).await.expect(200);
    let wrong = json!({"spec": {"color": "pink"}});
    cluster.patch(&path, MERGE_PATCH, &wrong).await.failure(422);
}

#[tokio::test]
async fn patches_come_in_three_ways_and_updates_need_a_version() {
    let cluster = start().await;
    let made = cluster.post(WIDGETS, &widget("a", "red")).await.expect(201);
    let path = format!("{WIDGETS}/a");
    let patch = json!({"spec": {"color": "blue"}});
    let (reason, message) = cluster.patch(&path, STRATEGIC_PATCH, &patch).await.failure(415);
    assert_eq!(reason, "UnsupportedMediaType");
    assert_eq!(
        message,
        "the body of the request was in an unknown format - accepted media types include: \
         application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    );
    let merged = cluster.patch(&path, MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(merged["metadata"]["generation"], 2);
    let steps = json!([{"op": "replace", "path": "/spec/color", "value": "green"}]);
    let patched = cluster.patch(&path, JSON_PATCH, &steps).await.expect(200);
    assert_eq!(patched["spec"]["color"], "green");

    let (_, message) = cluster.put(&path, &widget("a", "red")).await.failure(422);
    assert_eq!(
        message,
        "widgets.example.com \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be \
         specified for an update"
    );
    let mut stale = made.clone();
    stale["spec"]["color"] = json!("blue");
    let (reason, _) = cluster.put(&path, &stale).await.failure(409);
    assert_eq!(reason, "Conflict");
    stale["metadata"]["resourceVersion"] = patched["metadata"]["resourceVersion"].clone();
    cluster.put(&path, &stale).await.expect(200);
}

#[tokio::test]
async fn appliers_own_fields_by_the_schema() {
    let cluster = start().await;
    let apply = |port: &str| {
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
            "spec": {"color": "red", "ports": [{"name": port, "port": 1}]}})
    };
    let path = |manager: &str| format!("{WIDGETS}/a?fieldManager={manager}");
    cluster.patch(&path("one"), APPLY, &apply("x")).await.expect(201);
    let both = cluster.patch(&path("two"), APPLY, &apply("y")).await.expect(200);
    let ports = both["spec"]["ports"].as_array().unwrap().iter();
    let ports: Vec<&str> = ports.map(|port| port["name"].as_str().unwrap()).collect();
    assert_eq!(ports, ["x", "y"]);
    let mut other = apply("y");
    other["spec"]["color"] = json!("blue");
    let (reason, message) = cluster.patch(&path("two"), APPLY, &other).await.failure(409);
    assert_eq!(reason, "Conflict");
    assert!(message.contains("conflict with \"one\": .spec.color"), "{message}");
    let less = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"color": "red"}});
    let left = cluster.patch(&path("one"), APPLY, &less).await.expect(200);
    assert_eq!(left["spec"]["ports"].as_array().unwrap().len(), 1);
    let unknown = json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "a"}, "spec": {"color": "red", "extra": 1}});
    let (_, message) = cluster.patch(&path("one"), APPLY, &unknown).await.failure(500);
    assert!(message.contains(".spec.extra: field not declared in schema"), "{message}");
}

#[tokio::test]
async fn status_and_scale_are_written_on_their_own() {
    let cluster = start().await;
    let made = cluster.post(WIDGETS, &widget("a", "red")).await.expect(201);
    let path = format!("{WIDGETS}/a");
    let mut status = made.clone();
    status["spec"]["color"] = json!("blue");
    status["status"] = json!({"replicas": 1, "selector": "app=a"});
    let written = cluster.put(&format!("{path}/status"), &status).await.expect(200);
    assert_eq!(written["spec"]["color"], "red");
    assert_eq!(written["metadata"]["generation"], 1);
    assert_eq!(written["status"]["replicas"], 1);
    let ignored = json!({"status": {"replicas": 9}});
    let kept = cluster.patch(&path, MERGE_PATCH, &ignored).await.expect(200);
    assert_eq!(kept["status"]["replicas"], 1);

    let scale = cluster.get(&format!("{path}/scale")).await.expect(200);
    assert_eq!((&scale["kind"], &scale["spec"]["replicas"]), (&json!("Scale"), &json!(1)));
    assert_eq!(scale["status"], json!({"replicas": 1, "selector": "app=a"}));
    let more = json!({"spec": {"replicas": 4}});
    let scaled = cluster.patch(&format!("{path}/scale"), MERGE_PATCH, &more).await.expect(200);
    assert_eq!(scaled["spec"]["replicas"], 4);
    let too_many = json!({"spec": {"replicas": 11}});
    cluster.patch(&format!("{path}/scale"), MERGE_PATCH, &too_many).await.failure(422);
    let object = cluster.get(&path).await.expect(200);
    assert_eq!(
        (&object["spec"]["replicas"], &object["metadata"]["generation"]),
        (&json!(4), &json!(2))
    );
}

#[tokio::test]
async fn lists_and_watches_select_by_the_fields_of_the_definition() {
    let cluster = start().await;
    cluster.post(WIDGETS, &widget("a", "red")).await.expect(201);
    cluster.post(WIDGETS, &widget("b", "blue")).await.expect(201);
    let blue = cluster.get(&format!("{WIDGETS}?fieldSelector=spec.color=blue")).await.expect(200);
    assert_eq!((names(&blue), &blue["kind"]), (vec!["b".to_owned()], &json!("WidgetList")));
    assert_eq!(blue["items"][0]["kind"], "Widget");
    let path = format!("{WIDGETS}?fieldSelector=spec.size=1");
    let (_, message) = cluster.get(&path).await.failure(400);
    assert!(message.contains("field label not supported: spec.size"), "{message}");

    let from = blue["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!("{WIDGETS}?watch=1&resourceVersion={from}&fieldSelector=spec.color=blue");
    let mut watch = cluster.watch(&path).await;
    let red = json!({"spec": {"color": "red"}});
    let blue = json!({"spec": {"color": "blue"}});
    cluster.patch(&format!("{WIDGETS}/a"), MERGE_PATCH, &blue).await.expect(200);
    cluster.patch(&format!("{WIDGETS}/b"), MERGE_PATCH, &red).await.expect(200);
    assert_eq!(watch.events(2).await, ["ADDED a", "DELETED b"]);
}

#[tokio::test]
async fn a_table_has_the_columns_of_the_definition() {
    let cluster = start().await;
    cluster.post(WIDGETS, &widget("a", "red")).await.expect(201);
    let accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let table = cluster.request("GET", WIDGETS, &[("accept", accept)], "").await.expect(200);
    let columns = table["columnDefinitions"].as_array().unwrap().iter();
    let columns: Vec<&str> = columns.map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(columns, ["Name", "Color", "Replicas"]);
    assert_eq!(table["rows"][0]["cells"], json!(["a", "red", 1]));
    let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let metas = cluster.request("GET", WIDGETS, &[("accept", accept)], "").await.expect(200);
    assert_eq!(metas["items"][0].get("spec"), None);
    let accept = "application/vnd.kubernetes.protobuf,application/json";
    let list = cluster.request("GET", WIDGETS, &[("accept", accept)], "").await.expect(200);
    assert_eq!(names(&list), ["a"]);
}

#[tokio::test]
async fn every_served_version_shows_every_object() {
    let cluster = start().await;
    cluster.post(WIDGETS, &widget("a", "red")).await.expect(201);
    let mut watch = cluster.watch(&format!("{WIDGETS_V2}?watch=1")).await;
    assert_eq!(watch.next().await.unwrap()["object"]["apiVersion"], "example.com/v2");
    let mut other = widget("b", "blue");
    other["apiVersion"] = json!("example.com/v2");
    let made = cluster.post(WIDGETS_V2, &other).await.expect(201);
    assert_eq!(made["apiVersion"], "example.com/v2");
    assert_eq!(watch.next().await.unwrap()["object"]["apiVersion"], "example.com/v2");
    let list = cluster.get(WIDGETS).await.expect(200);
    let items = list["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["apiVersion"] == "example.com/v1"));
    let one = cluster.get(&format!("{WIDGETS_V2}/a")).await.expect(200);
    assert_eq!((&one["apiVersion"], version(&one)), (&json!("example.com/v2"), version(&items[0])));

    // What is stored in the old version is read after the other one is stored.
    let steps = json!([
        {"op": "replace", "path": "/spec/versions/0/storage", "value": false},
        {"op": "replace", "path": "/spec/versions/1/storage", "value": true},
    ]);
    redefine(&cluster, &steps).await;
    assert_eq!(names(&cluster.get(WIDGETS_V2).await.expect(200)), ["a", "b"]);
    let changed = json!({"spec": {"replicas": 3}});
    cluster.patch(&format!("{WIDGETS}/a"), MERGE_PATCH, &changed).await.expect(200);
    let one = cluster.get(&format!("{WIDGETS_V2}/a")).await.expect(200);
    assert_eq!(one["spec"]["replicas"], 3);
    // A version that is not served any more is not there.
    let steps = json!([{"op": "replace", "path": "/spec/versions/0/served", "value": false}]);
    redefine(&cluster, &steps).await;
    assert_eq!(cluster.get(WIDGETS).await.code, 404);
    assert_eq!(names(&cluster.get(WIDGETS_V2).await.expect(200)), ["a", "b"]);
}

#[tokio::test]
async fn a_new_default_shows_in_objects_that_were_stored_before() {
    let cluster = start().await;
    let made = cluster.post(WIDGETS, &widget("a", "red")).await.expect(201);
    let size = |version: u8| {
        format!("/spec/versions/{version}/schema/openAPIV3Schema/properties/spec/properties/size")
    };
    let steps = json!([
        {"op": "add", "path": size(0), "value": {"type": "string", "default": "large"}},
        {"op": "add", "path": size(1), "value": {"type": "string", "default": "large"}},
    ]);
    redefine(&cluster, &steps).await;
    let now = cluster.get(&format!("{WIDGETS}/a")).await.expect(200);
    assert_eq!(now["spec"]["size"], "large");
    assert_eq!(version(&now), version(&made));
    let list = cluster.get(WIDGETS).await.expect(200);
    assert_eq!(list["items"][0]["spec"]["size"], "large");
}

#[tokio::test]
async fn finalizers_hold_an_object_and_collections_go_at_once() {
    let cluster = start().await;
    let mut held = widget("a", "red");
    held["metadata"]["finalizers"] = json!(["example.com/hold", "bad"]);
    let answer = cluster.post(WIDGETS, &held).await;
    let warning = concat!(
        r#"299 - "metadata.finalizers: \"bad\": prefer a domain-qualified finalizer name to "#,
        r#"avoid accidental conflicts with other finalizer writers""#
    );
    assert_eq!(answer.warnings(), [warning]);
    answer.expect(201);
    cluster.post(WIDGETS, &widget("b", "red")).await.expect(201);
    cluster.delete(WIDGETS).await.expect(200);
    let left = cluster.get(WIDGETS).await.expect(200);
    assert_eq!(names(&left), ["a"]);
    assert!(left["items"][0]["metadata"]["deletionTimestamp"].is_string());
    let free = json!({"metadata": {"finalizers": null}});
    cluster.patch(&format!("{WIDGETS}/a"), MERGE_PATCH, &free).await.expect(200);
    cluster.get(&format!("{WIDGETS}/a")).await.failure(404);
}

#[tokio::test]
async fn documents_follow_the_definition() {
    let cluster = start().await;
    let resources = cluster.get("/apis/example.com/v1").await.expect(200);
    let resources = resources["resources"].as_array().unwrap().iter();
    let resources: Vec<&str> = resources.map(|known| known["name"].as_str().unwrap()).collect();
    assert_eq!(resources, ["widgets", "widgets/status", "widgets/scale"]);
    let index = cluster.get("/openapi/v3").await.expect(200);
    let location = index["paths"]["apis/example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    let document = cluster.get(location).await.expect(200);
    let schema = &document["components"]["schemas"]["com.example.v1.Widget"];
    assert_eq!(schema["properties"]["spec"]["properties"]["color"]["type"], "string");
    assert_eq!(schema["x-kubernetes-group-version-kind"][0]["kind"], "Widget");
    let old = cluster.get("/openapi/v2").await.expect(200);
    assert!(old["definitions"]["com.example.v1.Widget"].is_object());
    assert!(old["paths"]["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"].is_object());

    cluster.delete(&format!("{DEFINITIONS}/widgets.example.com")).await.expect(200);
    let mut watch = cluster.watch(&format!("{DEFINITIONS}?watch=1&resourceVersion=1")).await;
    while watch.next().await.expect("its end")["type"] != "DELETED" {}
    assert_eq!(cluster.get(WIDGETS).await.code, 404);
    let index = cluster.get("/openapi/v3").await.expect(200);
    assert_eq!(index["paths"].get("apis/example.com/v1"), None);
}
