//! The life of CustomResourceDefinitions: names, conditions, the end. What is expected was seen on
//! kube-apiserver 1.36.

use std::sync::Arc;

use orlop_apiserver::serve::Peer;
use orlop_storage::{Memory, Store};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::cluster::{Cluster, MERGE_PATCH, Watch, admin, names};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A definition in `example.com`.
fn definition(plural: &str, kind: &str) -> Value {
    definition_in("example.com", plural, kind)
}

fn definition_in(group: &str, plural: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [version],
        },
    })
}

fn path(name: &str) -> String {
    format!("{DEFINITIONS}/{name}")
}

async fn watch(cluster: &Cluster, name: &str) -> Watch {
    cluster.watch(&format!("{DEFINITIONS}?watch=1&fieldSelector=metadata.name={name}")).await
}

/// The conditions of a definition, as `type status reason`.
fn conditions(object: &Value) -> Vec<String> {
    let all = object["status"]["conditions"].as_array().into_iter().flatten();
    let text = |it: &Value, field: &str| it[field].as_str().unwrap_or_default().to_owned();
    all.map(|it| format!("{} {} {}", text(it, "type"), text(it, "status"), text(it, "reason")))
        .collect()
}

/// The message of a condition.
fn message(object: &Value, kind: &str) -> String {
    let all = object["status"]["conditions"].as_array().unwrap();
    let found = all.iter().find(|it| it["type"] == kind).unwrap();
    found["message"].as_str().unwrap().to_owned()
}

/// Waits until a definition has conditions.
async fn until(cluster: &Cluster, name: &str, expect: &[&str]) -> Value {
    let mut watch = watch(cluster, name).await;
    let mut seen = Vec::new();
    while seen != expect {
        let event = watch.next().await.unwrap_or_else(|| panic!("{name} has {seen:?}"));
        seen = conditions(&event["object"]);
        if seen == expect {
            return event["object"].clone();
        }
    }
    unreachable!("the loop ends above")
}

const ACCEPTED: &str = "NamesAccepted True NoConflicts";
const ESTABLISHED: &str = "Established True InitialNamesAccepted";
const NOT_ACCEPTED: &str = "Established False NotAccepted";

#[tokio::test]
async fn a_definition_is_accepted_and_established() {
    let cluster = Cluster::start().await;
    let mut new = definition("widgets", "Widget");
    new["spec"]["names"]["shortNames"] = json!(["wd"]);
    new["spec"]["names"]["categories"] = json!(["all"]);
    let created = cluster.post(DEFINITIONS, &new).await.expect(201);
    let expect = json!({
        "conditions": null,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    });
    assert_eq!(created["status"], expect);
    let found = until(&cluster, "widgets.example.com", &[ACCEPTED, ESTABLISHED]).await;
    let expect = json!({
        "plural": "widgets", "singular": "widget", "shortNames": ["wd"], "kind": "Widget",
        "listKind": "WidgetList", "categories": ["all"],
    });
    assert_eq!(found["status"]["acceptedNames"], expect);
    assert_eq!(message(&found, "NamesAccepted"), "no conflicts found");
    assert_eq!(message(&found, "Established"), "the initial names have been accepted");
    assert_eq!(found["metadata"]["generation"], 1);
    let managers = found["metadata"]["managedFields"].as_array().unwrap();
    let own = managers.iter().find(|it| it["manager"] == "kube-apiserver").unwrap();
    assert_eq!((&own["operation"], &own["subresource"]), (&json!("Update"), &json!("status")));
    let fields = own["fieldsV1"]["f:status"].as_object().unwrap();
    let fields: Vec<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(fields, ["f:acceptedNames", "f:conditions"]);
}

#[tokio::test]
async fn names_belong_to_who_came_first_until_they_are_let_go() {
    let cluster = Cluster::start().await;
    let mut widgets = definition("widgets", "Widget");
    widgets["spec"]["names"]["shortNames"] = json!(["wd"]);
    cluster.post(DEFINITIONS, &widgets).await.expect(201);
    until(&cluster, "widgets.example.com", &[ACCEPTED, ESTABLISHED]).await;

    let mut gadgets = definition("gadgets", "Widget");
    gadgets["spec"]["names"]["shortNames"] = json!(["wd", "gd"]);
    cluster.post(DEFINITIONS, &gadgets).await.expect(201);
    let refused = ["NamesAccepted False ListKindConflict", NOT_ACCEPTED];
    let found = until(&cluster, "gadgets.example.com", &refused).await;
    assert_eq!(message(&found, "NamesAccepted"), "\"WidgetList\" is already in use");
    assert_eq!(message(&found, "Established"), "not all names are accepted");
    assert_eq!(found["status"]["acceptedNames"], json!({"plural": "gadgets", "kind": ""}));

    let mut gizmos = definition("gizmos", "Gizmo");
    gizmos["spec"]["names"]["shortNames"] = json!(["wd", "widget"]);
    cluster.post(DEFINITIONS, &gizmos).await.expect(201);
    let refused = ["NamesAccepted False ShortNamesConflict", NOT_ACCEPTED];
    let found = until(&cluster, "gizmos.example.com", &refused).await;
    let expect = "[\"wd\" is already in use, \"widget\" is already in use]";
    assert_eq!(message(&found, "NamesAccepted"), expect);

    // Another group has names of its own.
    let other = definition_in("example.org", "widgets", "Widget");
    cluster.post(DEFINITIONS, &other).await.expect(201);
    until(&cluster, "widgets.example.org", &[ACCEPTED, ESTABLISHED]).await;

    cluster.delete(&path("widgets.example.com")).await.expect(200);
    let taken = until(&cluster, "gadgets.example.com", &[ACCEPTED, ESTABLISHED]).await;
    assert_eq!(taken["status"]["acceptedNames"]["shortNames"], json!(["wd", "gd"]));
    // The short name is taken again; the other is not.
    let still = ["NamesAccepted False ShortNamesConflict", NOT_ACCEPTED];
    let found = cluster.get(&path("gizmos.example.com")).await.expect(200);
    assert_eq!(conditions(&found), still);
}

#[tokio::test]
async fn a_renamed_short_name_is_accepted_and_given_back() {
    let cluster = Cluster::start().await;
    let mut widgets = definition("widgets", "Widget");
    widgets["spec"]["names"]["shortNames"] = json!(["wd"]);
    cluster.post(DEFINITIONS, &widgets).await.expect(201);
    let mut gadgets = definition("gadgets", "Gadget");
    gadgets["spec"]["names"]["shortNames"] = json!(["wd"]);
    cluster.post(DEFINITIONS, &gadgets).await.expect(201);
    let refused = ["NamesAccepted False ShortNamesConflict", NOT_ACCEPTED];
    until(&cluster, "gadgets.example.com", &refused).await;

    let renamed = json!({"spec": {"names": {"shortNames": ["wi"]}}});
    let name = path("widgets.example.com");
    cluster.patch(&name, MERGE_PATCH, &renamed).await.expect(200);
    until(&cluster, "gadgets.example.com", &[ACCEPTED, ESTABLISHED]).await;

    // What is established stays so, with the names that it had.
    let back = json!({"spec": {"names": {"shortNames": ["wd"]}}});
    cluster.patch(&name, MERGE_PATCH, &back).await.expect(200);
    let refused = ["NamesAccepted False ShortNamesConflict", ESTABLISHED];
    let found = until(&cluster, "widgets.example.com", &refused).await;
    assert_eq!(found["status"]["acceptedNames"]["shortNames"], json!(["wi"]));
    cluster.patch(&name, MERGE_PATCH, &renamed).await.expect(200);
    until(&cluster, "widgets.example.com", &[ACCEPTED, ESTABLISHED]).await;
}

#[tokio::test]
async fn protected_groups_are_told_apart() {
    let cluster = Cluster::start().await;
    let annotated = |plural: &str, annotation: &str| {
        let mut new = definition_in("x.k8s.io", plural, plural);
        new["spec"]["names"]["kind"] = json!(plural.to_uppercase());
        new["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": annotation});
        new
    };
    let approved = annotated("as", "https://github.com/x/y");
    cluster.post(DEFINITIONS, &approved).await.expect(201);
    let condition = "KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation";
    let found = until(&cluster, "as.x.k8s.io", &[ACCEPTED, ESTABLISHED, condition]).await;
    let kind = "KubernetesAPIApprovalPolicyConformant";
    assert_eq!(message(&found, kind), "approved in https://github.com/x/y");
    let bypassed = annotated("bs", "unapproved, testing");
    cluster.post(DEFINITIONS, &bypassed).await.expect(201);
    let condition = "KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation";
    until(&cluster, "bs.x.k8s.io", &[ACCEPTED, ESTABLISHED, condition]).await;
    // The annotation is no part of the spec.
    let patch = json!({"metadata": {"annotations": {"api-approved.kubernetes.io": "https://a/b"}}});
    cluster.patch(&path("bs.x.k8s.io"), MERGE_PATCH, &patch).await.expect(200);
    let condition = "KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation";
    until(&cluster, "bs.x.k8s.io", &[ACCEPTED, ESTABLISHED, condition]).await;
}

#[tokio::test]
async fn a_definition_says_that_it_ends_and_goes() {
    let cluster = Cluster::start().await;
    let mut new = definition("widgets", "Widget");
    new["metadata"]["finalizers"] = json!(["example.com/mine"]);
    cluster.post(DEFINITIONS, &new).await.expect(201);
    let name = "widgets.example.com";
    until(&cluster, name, &[ACCEPTED, ESTABLISHED]).await;

    let dry = cluster.delete(&format!("{}?dryRun=All", path(name))).await.expect(200);
    assert_eq!(conditions(&dry).len(), 3);
    let foreground = json!({"propagationPolicy": "Foreground"});
    let ending = cluster.delete_with(&path(name), &foreground).await.expect(200);
    let pending = "Terminating True InstanceDeletionPending";
    assert_eq!(conditions(&ending), [ACCEPTED, ESTABLISHED, pending]);
    let expect = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin \
                  soon";
    assert_eq!(message(&ending, "Terminating"), expect);
    let metadata = &ending["metadata"];
    let own = "customresourcecleanup.apiextensions.k8s.io";
    assert_eq!(metadata["finalizers"], json!(["example.com/mine", own]));
    assert!(metadata["deletionTimestamp"].is_string());
    assert_eq!(
        (&metadata["deletionGracePeriodSeconds"], &metadata["generation"]),
        (&Value::Null, &json!(1))
    );

    let done = "Terminating False InstanceDeletionCompleted";
    let done = until(&cluster, name, &[ACCEPTED, ESTABLISHED, done]).await;
    assert_eq!(message(&done, "Terminating"), "removed all instances");
    assert_eq!(done["metadata"]["finalizers"], json!(["example.com/mine"]));

    let (reason, message) = cluster.post(DEFINITIONS, &new).await.failure(409);
    assert_eq!(reason, "AlreadyExists");
    let expect = "object is being deleted: customresourcedefinitions.apiextensions.k8s.io \
                  \"widgets.example.com\" already exists";
    assert_eq!(message, expect);

    // What a second deletion says about dependents holds.
    let again = cluster.delete_with(&path(name), &foreground).await.expect(200);
    let expect = json!(["example.com/mine", "foregroundDeletion"]);
    assert_eq!(again["metadata"]["finalizers"], expect);
    assert_eq!(again["metadata"]["deletionGracePeriodSeconds"], 0);
    let patch = json!({"metadata": {"finalizers": null}});
    cluster.patch(&path(name), MERGE_PATCH, &patch).await.expect(200);
    cluster.get(&path(name)).await.failure(404);
    cluster.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    until(&cluster, name, &[ACCEPTED, ESTABLISHED]).await;
}

#[tokio::test]
async fn one_that_was_never_established_goes_too() {
    let cluster = Cluster::start().await;
    cluster.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    let mut new = definition("gadgets", "Widget");
    new["metadata"]["finalizers"] = json!(["example.com/mine"]);
    cluster.post(DEFINITIONS, &new).await.expect(201);
    let refused = "NamesAccepted False ListKindConflict";
    until(&cluster, "gadgets.example.com", &[refused, NOT_ACCEPTED]).await;
    cluster.delete(&path("gadgets.example.com")).await.expect(200);
    let never = "Terminating False NeverEstablished";
    let found = until(&cluster, "gadgets.example.com", &[refused, NOT_ACCEPTED, never]).await;
    assert_eq!(message(&found, "Terminating"), "resource was never established");
}

#[tokio::test]
async fn a_definition_that_overlaps_with_what_is_built_in_takes_nothing_along() {
    let cluster = Cluster::start().await;
    let mut new = definition_in("apiextensions.k8s.io", "customresourcedefinitions", "Overlapping");
    new["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": "unapproved, a test"});
    new["metadata"]["finalizers"] = json!(["example.com/mine"]);
    new["spec"]["versions"][0]["name"] = json!("v9");
    cluster.post(DEFINITIONS, &new).await.expect(201);
    let name = "customresourcedefinitions.apiextensions.k8s.io";
    let approval = "KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation";
    until(&cluster, name, &[ACCEPTED, ESTABLISHED, approval]).await;
    cluster.delete(&path(name)).await.expect(200);
    let overlapping = "Terminating False OverlappingBuiltInResource";
    until(&cluster, name, &[ACCEPTED, ESTABLISHED, approval, overlapping]).await;
}

#[tokio::test]
async fn a_deletion_may_mean_one_version() {
    let cluster = Cluster::start().await;
    cluster.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    let name = "widgets.example.com";
    let found = until(&cluster, name, &[ACCEPTED, ESTABLISHED]).await;
    let start = "Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io \
                 \"widgets.example.com\": Precondition failed: ";
    let (uid, version) = (&found["metadata"]["uid"], &found["metadata"]["resourceVersion"]);
    for (field, noun, current) in
        [("uid", "UID", uid), ("resourceVersion", "ResourceVersion", version)]
    {
        let options = json!({"preconditions": {field: "7"}});
        let (reason, message) = cluster.delete_with(&path(name), &options).await.failure(409);
        let current = current.as_str().unwrap();
        assert_eq!(reason, "Conflict");
        let expect = format!("{start}{noun} in precondition: 7, {noun} in object meta: {current}");
        assert_eq!(message, expect);
    }
    let options = json!({"preconditions": {"uid": uid, "resourceVersion": version}});
    cluster.delete_with(&path(name), &options).await.expect(200);
}

#[tokio::test]
async fn deleting_all_definitions_ends_each() {
    let cluster = Cluster::start().await;
    for (plural, kind) in [("as", "A"), ("bs", "B"), ("cs", "C")] {
        cluster.post(DEFINITIONS, &definition(plural, kind)).await.expect(201);
        until(&cluster, &format!("{plural}.example.com"), &[ACCEPTED, ESTABLISHED]).await;
    }
    let mut watch = cluster.watch(&format!("{DEFINITIONS}?watch=1")).await;
    cluster.delete(DEFINITIONS).await.expect(200);
    let mut gone = 0;
    while gone < 3 {
        let event = watch.next().await.unwrap();
        if event["type"] == "DELETED" {
            assert_eq!(conditions(&event["object"]).len(), 3);
            gone += 1;
        }
    }
    assert_eq!(names(&cluster.get(DEFINITIONS).await.expect(200)), [""; 0]);
}

#[tokio::test]
async fn a_server_finishes_what_was_begun_before_it_started() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let first = Cluster::on(store.clone()).await;
    first.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    until(&first, "widgets.example.com", &[ACCEPTED, ESTABLISHED]).await;
    first.server.stop().await;
    // It still answers, but nothing else goes on.
    first.delete(&path("widgets.example.com")).await.expect(200);
    first.post(DEFINITIONS, &definition("bs", "Same")).await.expect(201);
    first.post(DEFINITIONS, &definition("as", "Same")).await.expect(201);
    drop(first);
    let second = Cluster::on(store).await;
    until(&second, "bs.example.com", &[ACCEPTED, ESTABLISHED]).await;
    until(&second, "as.example.com", &["NamesAccepted False ListKindConflict", NOT_ACCEPTED]).await;
    let mut watch = watch(&second, "widgets.example.com").await;
    second.post(DEFINITIONS, &definition("marks", "Mark")).await.expect(201);
    until(&second, "marks.example.com", &[ACCEPTED, ESTABLISHED]).await;
    while second.get(&path("widgets.example.com")).await.code != 404 {
        watch.next().await.unwrap();
    }
}

/// Makes definitions side by side and waits until all are established. Returns how often each was
/// written.
async fn make_many(clusters: &[&Cluster], count: usize) -> Vec<usize> {
    let mut watch = clusters[0].watch(&format!("{DEFINITIONS}?watch=1")).await;
    let mut tasks = JoinSet::new();
    for number in 0..count {
        let cluster = clusters[number % clusters.len()].acting_for(Peer::acting_for(admin()));
        tasks.spawn(async move {
            let new = definition(&format!("kinds{number}"), &format!("Kind{number}"));
            cluster.post(DEFINITIONS, &new).await.expect(201);
        });
    }
    let mut writes = vec![0; count];
    let mut established = 0;
    while established < count {
        let event = watch.next().await.unwrap();
        let object = &event["object"];
        let name = object["metadata"]["name"].as_str().unwrap();
        let number = name.strip_prefix("kinds").unwrap().strip_suffix(".example.com").unwrap();
        writes[number.parse::<usize>().unwrap()] += 1;
        let found = conditions(object);
        if !found.is_empty() {
            assert_eq!(found, [ACCEPTED, ESTABLISHED], "{name}");
            established += 1;
        }
    }
    tasks.join_all().await;
    writes
}

#[tokio::test]
async fn hundreds_of_definitions_at_once_are_each_written_once() {
    let cluster = Cluster::start().await;
    let writes = make_many(&[&cluster], 500).await;
    assert!(writes.iter().all(|count| *count == 2), "{writes:?}");
}

#[tokio::test]
async fn two_servers_on_one_store_do_not_fight() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let (first, second) = (Cluster::on(store.clone()).await, Cluster::on(store).await);
    let writes = make_many(&[&first, &second], 100).await;
    assert!(writes.iter().all(|count| *count == 2), "{writes:?}");
    // Both end them: each goes once, and names are given on.
    let mut same = definition("others", "Kind7");
    same["spec"]["names"]["listKind"] = json!("Others");
    first.post(DEFINITIONS, &same).await.expect(201);
    let refused = "NamesAccepted False KindConflict";
    until(&second, "others.example.com", &[refused, NOT_ACCEPTED]).await;
    second.delete(&path("kinds7.example.com")).await.expect(200);
    until(&first, "others.example.com", &[ACCEPTED, ESTABLISHED]).await;
}

#[tokio::test]
async fn stored_versions_are_for_clients_to_take_away() {
    let cluster = Cluster::start().await;
    let mut new = definition("widgets", "Widget");
    let mut second = new["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    second["storage"] = json!(false);
    new["spec"]["versions"].as_array_mut().unwrap().push(second);
    cluster.post(DEFINITIONS, &new).await.expect(201);
    let name = path("widgets.example.com");
    until(&cluster, "widgets.example.com", &[ACCEPTED, ESTABLISHED]).await;
    let mut versions = new["spec"]["versions"].clone();
    versions[0]["storage"] = json!(false);
    versions[1]["storage"] = json!(true);
    let patch = json!({"spec": {"versions": versions}});
    let moved = cluster.patch(&name, MERGE_PATCH, &patch).await.expect(200);
    assert_eq!(moved["status"]["storedVersions"], json!(["v1", "v2"]));
    let without = json!({"spec": {"versions": [versions[1]]}});
    let (_, message) = cluster.patch(&name, MERGE_PATCH, &without).await.failure(422);
    let expect = "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is \
                  invalid: status.storedVersions[0]: Invalid value: \"v1\": missing from \
                  spec.versions; v1 was previously a storage version, and must remain in \
                  spec.versions until a storage migration ensures no data remains persisted in v1 \
                  and removes v1 from status.storedVersions";
    assert_eq!(message, expect);
    // A PUT of the status takes it away; the spec of that PUT is not looked at.
    let mut status = cluster.get(&name).await.expect(200);
    status["status"]["storedVersions"] = json!(["v2"]);
    status["spec"]["scope"] = json!("Cluster");
    let put = cluster.put(&format!("{name}/status"), &status).await.expect(200);
    assert_eq!(put["status"]["storedVersions"], json!(["v2"]));
    assert_eq!(put["spec"]["scope"], "Namespaced");
    let left = cluster.patch(&name, MERGE_PATCH, &without).await.expect(200);
    assert_eq!(left["spec"]["versions"].as_array().unwrap().len(), 1);
    until(&cluster, "widgets.example.com", &[ACCEPTED, ESTABLISHED]).await;
}

#[tokio::test]
async fn definitions_are_listed_with_when_they_were_made() {
    let cluster = Cluster::start().await;
    cluster.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let table = cluster.request("GET", DEFINITIONS, &[("accept", accept)], "").await.expect(200);
    let columns = table["columnDefinitions"].as_array().unwrap().iter();
    let columns: Vec<&Value> = columns.map(|column| &column["name"]).collect();
    assert_eq!(columns, ["Name", "Created At"]);
    let created = &table["rows"][0]["object"]["metadata"]["creationTimestamp"];
    assert_eq!(table["rows"][0]["cells"], json!(["widgets.example.com", created]));
}

const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn widget(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}})
}

/// Waits until a definition is gone. The watch began before it was deleted.
async fn until_gone(watch: &mut Watch) -> Value {
    loop {
        let event = watch.next().await.expect("an event");
        if event["type"] == "DELETED" {
            return event["object"].clone();
        }
    }
}

#[tokio::test]
async fn who_asks_at_once_is_served() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let (first, second) = (Cluster::on(store.clone()).await, Cluster::on(store).await);
    first.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    // On a server that heard of it, and on one that did not yet.
    second.post(WIDGETS, &widget("a")).await.expect(201);
    assert_eq!(names(&first.get(WIDGETS).await.expect(200)), ["a"]);
}

#[tokio::test]
async fn objects_go_before_their_definition() {
    let cluster = Cluster::start().await;
    let name = "widgets.example.com";
    cluster.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    cluster.namespace("other").await;
    let mut kept = widget("kept");
    kept["metadata"]["finalizers"] = json!(["example.com/mine"]);
    cluster.post(WIDGETS, &kept).await.expect(201);
    cluster.post(WIDGETS, &widget("free")).await.expect(201);
    let other = WIDGETS.replace("default", "other");
    cluster.post(&other, &widget("far")).await.expect(201);
    until(&cluster, name, &[ACCEPTED, ESTABLISHED]).await;
    let mut watch = watch(&cluster, name).await;
    cluster.delete(&path(name)).await.expect(200);
    let progress = "Terminating True InstanceDeletionInProgress";
    let found = until(&cluster, name, &[ACCEPTED, ESTABLISHED, progress]).await;
    assert_eq!(message(&found, "Terminating"), "CustomResource deletion is in progress");

    // What nothing keeps is gone, the rest is told.
    let mut objects = cluster.watch("/apis/example.com/v1/widgets?watch=1").await;
    loop {
        let left = cluster.get("/apis/example.com/v1/widgets").await.expect(200);
        if names(&left) == ["kept"] && left["items"][0]["metadata"]["deletionTimestamp"].is_string()
        {
            break;
        }
        objects.next().await.unwrap();
    }
    let (reason, told) = cluster.post(WIDGETS, &widget("new")).await.failure(403);
    assert_eq!(reason, "Forbidden");
    let expect = "widgets.example.com \"new\" is forbidden: create not allowed while custom \
                  resource definition is terminating";
    assert_eq!(told, expect);
    let discovered = cluster.get("/apis/example.com/v1").await.expect(200);
    let verbs = json!(["delete", "deletecollection", "get", "list", "watch"]);
    assert_eq!(discovered["resources"][0]["verbs"], verbs);

    let patch = json!({"metadata": {"finalizers": null}});
    cluster.patch(&format!("{WIDGETS}/kept"), MERGE_PATCH, &patch).await.expect(200);
    let last = until_gone(&mut watch).await;
    assert_eq!(conditions(&last), [ACCEPTED, ESTABLISHED, progress]);
    // Nothing is known by that name: the answer is that of any path.
    assert_eq!(cluster.get(WIDGETS).await.text(), "404 page not found\n");

    cluster.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    assert_eq!(names(&cluster.get(WIDGETS).await.expect(200)), [""; 0]);
}

#[tokio::test]
async fn objects_of_a_version_that_is_not_served_go_too() {
    let cluster = Cluster::start().await;
    let name = "widgets.example.com";
    let mut new = definition("widgets", "Widget");
    let mut second = new["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    second["storage"] = json!(false);
    new["spec"]["versions"].as_array_mut().unwrap().push(second);
    cluster.post(DEFINITIONS, &new).await.expect(201);
    cluster.post(WIDGETS, &widget("a")).await.expect(201);
    until(&cluster, name, &[ACCEPTED, ESTABLISHED]).await;
    let mut versions = new["spec"]["versions"].clone();
    versions[0]["served"] = json!(false);
    versions[1]["served"] = json!(false);
    let patch = json!({"spec": {"versions": versions}});
    cluster.patch(&path(name), MERGE_PATCH, &patch).await.expect(200);
    let mut watch = watch(&cluster, name).await;
    cluster.delete(&path(name)).await.expect(200);
    until_gone(&mut watch).await;
    cluster.post(DEFINITIONS, &new).await.expect(201);
    assert_eq!(names(&cluster.get(WIDGETS).await.expect(200)), [""; 0]);
}

#[tokio::test]
async fn many_objects_go_on_two_servers() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let (first, second) = (Cluster::on(store.clone()).await, Cluster::on(store).await);
    first.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    for number in 0..600 {
        first.post(WIDGETS, &widget(&format!("w{number}"))).await.expect(201);
    }
    let name = "widgets.example.com";
    until(&second, name, &[ACCEPTED, ESTABLISHED]).await;
    let mut watch = watch(&second, name).await;
    second.delete(&path(name)).await.expect(200);
    until_gone(&mut watch).await;
    first.post(DEFINITIONS, &definition("widgets", "Widget")).await.expect(201);
    assert_eq!(names(&second.get(WIDGETS).await.expect(200)), [""; 0]);
}
