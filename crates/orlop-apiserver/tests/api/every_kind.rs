//! The life of an object of every kind, through every verb and in every form.
//!
//! Which resources there are, and what can be done with them, is what the server's own discovery
//! says. What each kind needs stands in `minimal_objects.yaml`.

use std::collections::BTreeMap;

use base64::Engine as _;
use orlop_machinery::{json as machinery_json, yaml};
use serde_json::{Value, json};

use crate::cluster::{APPLY, Cluster, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, names, version};

const NAMESPACE: &str = "lives";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const SELECTED: &str = "labelSelector=life%3Dyes";

/// Kinds whose writers must have read what they overwrite.
const CONDITIONAL: [&str; 15] = [
    "APIService",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "CustomResourceDefinition",
    "Lease",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "PodDisruptionBudget",
    "RuntimeClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
];

/// Kinds of which an update makes an object when there is none.
const MADE_BY_UPDATE: [&str; 10] = [
    "ClusterRole",
    "ClusterRoleBinding",
    "Endpoints",
    "Event",
    "Lease",
    "LimitRange",
    "Role",
    "RoleBinding",
    "RuntimeClass",
    "Service",
];

/// A resource, and the least object of it.
struct Life<'a> {
    cluster: &'a Cluster,
    what: String,
    object: Value,
    name: String,
    /// Where its objects are.
    collection: String,
    /// Where those of all namespaces are.
    everywhere: String,
    verbs: Vec<String>,
    subresources: Vec<String>,
}

#[tokio::test]
async fn an_object_of_every_kind_can_be_made() {
    each(Made).await;
}

#[tokio::test]
async fn an_object_of_every_kind_comes_in_every_form() {
    each(Shown).await;
}

#[tokio::test]
async fn an_object_of_every_kind_can_be_patched_in_four_ways() {
    each(Patched).await;
}

#[tokio::test]
async fn an_object_of_every_kind_can_be_updated() {
    each(Updated).await;
}

#[tokio::test]
async fn every_kind_with_a_status_has_an_endpoint_for_it() {
    each(WithStatus).await;
}

#[tokio::test]
async fn an_object_of_every_kind_can_be_deleted_and_watched() {
    each(Deleted).await;
}

#[tokio::test]
async fn objects_of_every_kind_can_be_deleted_together() {
    each(DeletedTogether).await;
}

/// A part of a life.
trait Part {
    async fn live(&self, life: &Life<'_>);
}

/// Lives a part for every resource.
async fn each(part: impl Part) {
    let cluster = Cluster::start().await;
    cluster.namespace(NAMESPACE).await;
    let resources = discover(&cluster).await;
    let mut objects = least_objects();
    for ((api_version, plural), (resource, subresources)) in resources {
        let kind = resource["kind"].as_str().unwrap().to_owned();
        let texts = |value: &Value| -> Vec<String> {
            let all = value.as_array().unwrap().iter();
            all.map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let verbs = texts(&resource["verbs"]);
        if !verbs.contains(&"delete".to_owned()) {
            continue;
        }
        let found = objects.remove(&(api_version.clone(), kind.clone()));
        let object = found.unwrap_or_else(|| panic!("no least object of {api_version} {kind}"));
        let start = if api_version.contains('/') { "apis" } else { "api" };
        let everywhere = format!("/{start}/{api_version}/{plural}");
        let collection = match resource["namespaced"].as_bool().unwrap() {
            true => format!("/{start}/{api_version}/namespaces/{NAMESPACE}/{plural}"),
            false => everywhere.clone(),
        };
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let (what, cluster) = (format!("{api_version} {kind}"), &cluster);
        part.live(&Life {
            cluster,
            what,
            object,
            name,
            collection,
            everywhere,
            verbs,
            subresources,
        })
        .await;
    }
    assert!(objects.is_empty(), "not served: {:?}", objects.keys());
}

/// The resources by version and name, each with its subresources.
async fn discover(cluster: &Cluster) -> BTreeMap<(String, String), (Value, Vec<String>)> {
    let groups = cluster.get("/apis").await.expect(200);
    let versions = groups["groups"].as_array().unwrap().iter();
    let versions = versions.flat_map(|group| group["versions"].as_array().unwrap());
    let mut paths = vec!["/api/v1".to_owned()];
    paths.extend(
        versions.map(|version| format!("/apis/{}", version["groupVersion"].as_str().unwrap())),
    );
    let mut found = BTreeMap::new();
    for path in paths {
        let list = cluster.get(&path).await.expect(200);
        let api_version = list["groupVersion"].as_str().unwrap().to_owned();
        for resource in list["resources"].as_array().unwrap() {
            let name = resource["name"].as_str().unwrap();
            let (plural, subresource) = name.split_once('/').unwrap_or((name, ""));
            let place = (api_version.clone(), plural.to_owned());
            let entry: &mut (Value, Vec<String>) = found.entry(place).or_default();
            if subresource.is_empty() {
                entry.0 = resource.clone();
            } else {
                entry.1.push(subresource.to_owned());
            }
        }
    }
    found
}

fn least_objects() -> BTreeMap<(String, String), Value> {
    let text = include_str!("minimal_objects.yaml").replace("NAMESPACE", NAMESPACE);
    let text = text.replace("SIGNING_REQUEST", &signing_request());
    let documents = yaml::parse_all(text.as_bytes()).unwrap();
    let objects = documents.iter().map(|document| {
        let mut object: Value = serde_json::from_str(&machinery_json::to_string(document)).unwrap();
        object["metadata"]["labels"] = json!({"life": "yes"});
        let text = |field: &str| object[field].as_str().unwrap().to_owned();
        ((text("apiVersion"), text("kind")), object)
    });
    objects.collect()
}

fn signing_request() -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let request = rcgen::CertificateParams::new(Vec::new()).unwrap();
    let request = request.serialize_request(&key).unwrap().pem().unwrap();
    base64::engine::general_purpose::STANDARD.encode(request)
}

impl Life<'_> {
    fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap()
    }

    fn path(&self) -> String {
        format!("{}/{}", self.collection, self.name)
    }

    async fn make(&self) -> Value {
        let path = format!("{}?fieldManager=maker", self.collection);
        let answer = self.cluster.post(&path, &self.object).await;
        assert_eq!(answer.code, 201, "{}: {}", self.what, answer.text());
        let made = answer.json();
        // The server itself goes on with a definition.
        if self.kind() != "CustomResourceDefinition" {
            return made;
        }
        let mut watch =
            self.cluster.watch(&format!("{}?watch=1&{SELECTED}", self.collection)).await;
        loop {
            let object = watch.next().await.expect("it is established")["object"].clone();
            if object["status"].to_string().contains("InitialNamesAccepted") {
                return object;
            }
        }
    }

    async fn read(&self) -> Value {
        let answer = self.cluster.get(&self.path()).await;
        assert_eq!(answer.code, 200, "{}: {}", self.what, answer.text());
        answer.json()
    }

    async fn read_as(&self, path: &str, accept: &str) -> Value {
        let answer = self.cluster.request("GET", path, &[("accept", accept)], "").await;
        assert_eq!(answer.code, 200, "{}: {}", self.what, answer.text());
        answer.json()
    }

    /// Takes the object away, with whatever holds it.
    async fn end(&self) {
        self.cluster.delete(&format!("{}?gracePeriodSeconds=0", self.path())).await;
        self.free().await;
    }

    /// Takes away what holds an object whose end has begun.
    async fn free(&self) {
        let answer = self.cluster.get(&self.path()).await;
        if answer.code == 404 {
            return;
        }
        let mut object = answer.json();
        let metadata = &mut object["metadata"];
        assert!(metadata["deletionTimestamp"].is_string(), "{}: {metadata}", self.what);
        if self.kind() == "Namespace" {
            object["spec"]["finalizers"] = json!([]);
            let path = format!("{}/finalize", self.path());
            self.cluster.put(&path, &object).await.expect(200);
        } else {
            assert!(metadata["finalizers"].is_array(), "{}: {metadata}", self.what);
            let patch = json!({"metadata": {"finalizers": null}});
            self.cluster.patch(&self.path(), MERGE_PATCH, &patch).await.expect(200);
        }
        let answer = self.cluster.get(&self.path()).await;
        assert_eq!(answer.code, 404, "{}: {}", self.what, answer.text());
    }
}

struct Made;

impl Part for Made {
    async fn live(&self, life: &Life<'_>) {
        let (cluster, what) = (life.cluster, &life.what);
        let dry = cluster.post(&format!("{}?dryRun=All", life.collection), &life.object).await;
        assert_eq!(dry.code, 201, "{what}: {}", dry.text());
        let dry = dry.json();
        assert!(dry["metadata"]["uid"].is_string(), "{what}: {dry}");
        assert!(dry["metadata"]["resourceVersion"].is_null(), "{what}: {dry}");
        cluster.get(&life.path()).await.failure(404);
        let made = life.make().await;
        let metadata = &made["metadata"];
        assert_eq!(made["apiVersion"], life.object["apiVersion"], "{what}");
        assert_eq!(made["kind"], life.object["kind"], "{what}");
        for field in ["uid", "creationTimestamp", "resourceVersion"] {
            assert!(metadata[field].is_string(), "{what}: {metadata}");
        }
        let mut managers = metadata["managedFields"].as_array().unwrap().iter();
        let is_maker =
            |entry: &&Value| entry["manager"] == "maker" && entry["operation"] == "Update";
        assert!(managers.any(|entry| is_maker(&entry)), "{what}: {metadata}");
        assert_eq!(life.read().await, made, "{what}");
        let (reason, message) = cluster.post(&life.collection, &life.object).await.failure(409);
        assert_eq!(reason, "AlreadyExists", "{what}");
        assert!(message.ends_with(&format!("\"{}\" already exists", life.name)), "{message}");
        life.end().await;
    }
}

struct Shown;

impl Part for Shown {
    async fn live(&self, life: &Life<'_>) {
        let (what, path) = (&life.what, life.path());
        let made = life.make().await;
        let by_name = format!("fieldSelector=metadata.name%3D{}", life.name);
        for (collection, query) in [
            (&life.collection, SELECTED),
            (&life.everywhere, SELECTED),
            (&life.collection, &by_name),
        ] {
            let list = life.read_as(&format!("{collection}?{query}"), "application/json").await;
            assert_eq!(list["kind"], format!("{}List", life.kind()), "{what}");
            assert_eq!(names(&list), [life.name.as_str()], "{what}");
            assert!(version(&list) >= version(&made), "{what}");
            let item = &list["items"][0];
            assert_eq!(item["metadata"], made["metadata"], "{what}");
            assert!(item["kind"].is_null(), "{what}");
        }
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        for path in [path.clone(), format!("{}?{SELECTED}", life.collection)] {
            let table = life.read_as(&path, table).await;
            assert_eq!(table["kind"], "Table", "{what}");
            let columns = table["columnDefinitions"].as_array().unwrap();
            let rows = table["rows"].as_array().unwrap();
            assert_eq!(rows.len(), 1, "{what}");
            assert_eq!(rows[0]["cells"].as_array().unwrap().len(), columns.len(), "{what}");
            assert_eq!(rows[0]["object"]["kind"], "PartialObjectMetadata", "{what}");
            assert_eq!(rows[0]["object"]["metadata"], made["metadata"], "{what}");
        }
        let metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
        let one = life.read_as(&path, metadata).await;
        assert_eq!(one["kind"], "PartialObjectMetadata", "{what}");
        assert_eq!(one["metadata"], made["metadata"], "{what}");
        let metadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
        let list = life.read_as(&format!("{}?{SELECTED}", life.collection), metadata).await;
        assert_eq!(list["kind"], "PartialObjectMetadataList", "{what}");
        assert_eq!(list["items"][0]["metadata"], made["metadata"], "{what}");
        protobuf(life, &made).await;
        life.end().await;
    }
}

/// What a server says in protobuf it understands, and it means the same.
async fn protobuf(life: &Life<'_>, made: &Value) {
    let (cluster, what, path) = (life.cluster, &life.what, life.path());
    let accept = [("accept", PROTOBUF)];
    let answer = cluster.request("GET", &path, &accept, "").await;
    assert_eq!(answer.headers["content-type"], PROTOBUF, "{what}");
    assert!(answer.bytes.starts_with(b"k8s\0"), "{what}");
    let content = [("content-type", PROTOBUF)];
    let put = cluster.request("PUT", &path, &content, answer.bytes).await;
    assert_eq!(put.code, 200, "{what}: {}", put.text());
    assert_eq!(put.json(), *made, "{what}");
    let list = cluster.request("GET", &life.collection, &accept, "").await;
    assert!(list.bytes.starts_with(b"k8s\0"), "{what}");
    let yaml = cluster.request("GET", &path, &[("accept", "application/yaml")], "").await;
    let read = yaml::parse(&yaml.bytes).unwrap();
    let read: Value = serde_json::from_str(&machinery_json::to_string(&read)).unwrap();
    assert_eq!(read, *made, "{what}");
}

struct Patched;

impl Part for Patched {
    async fn live(&self, life: &Life<'_>) {
        let (cluster, what, path) = (life.cluster, &life.what, life.path());
        let mut last = version(&life.make().await);
        let annotate = |key: &str| json!({"metadata": {"annotations": {key: "1"}}});
        let mut applied = annotate("d");
        for field in ["apiVersion", "kind"] {
            applied[field] = life.object[field].clone();
        }
        applied["metadata"]["name"] = json!(life.name);
        let patches = [
            (MERGE_PATCH, annotate("a")),
            (STRATEGIC_PATCH, annotate("b")),
            (JSON_PATCH, json!([{"op": "add", "path": "/metadata/annotations/c", "value": "1"}])),
            (APPLY, applied),
        ];
        for (patch_type, patch) in &patches {
            let path = format!("{path}?fieldManager=patcher");
            let answer = cluster.patch(&path, patch_type, patch).await;
            assert_eq!(answer.code, 200, "{what} {patch_type}: {}", answer.text());
            let patched = version(&answer.json());
            assert!(patched > last, "{what} {patch_type}");
            let again = cluster.patch(&path, patch_type, patch).await.expect(200);
            assert_eq!(version(&again), patched, "{what} {patch_type}");
            last = patched;
        }
        let read = life.read().await;
        let annotations = read["metadata"]["annotations"].as_object().unwrap();
        for key in ["a", "b", "c", "d"] {
            assert_eq!(annotations[key], "1", "{what}");
        }
        life.end().await;
    }
}

struct Updated;

impl Part for Updated {
    async fn live(&self, life: &Life<'_>) {
        let (cluster, what, path) = (life.cluster, &life.what, life.path());
        let made = life.make().await;
        let mut changed = made.clone();
        changed["metadata"]["annotations"]["a"] = json!("1");
        let updated = cluster.put(&path, &changed).await.expect(200);
        assert!(version(&updated) > version(&made), "{what}");
        assert_eq!(updated["metadata"]["annotations"]["a"], "1", "{what}");
        assert_eq!(updated["metadata"]["uid"], made["metadata"]["uid"], "{what}");
        let (reason, _) = cluster.put(&path, &changed).await.failure(409);
        assert_eq!(reason, "Conflict", "{what}");
        let mut blind = updated.clone();
        blind["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        blind["metadata"]["annotations"]["a"] = json!("2");
        let answer = cluster.put(&path, &blind).await;
        if CONDITIONAL.contains(&life.kind()) {
            let (reason, message) = answer.failure(422);
            assert_eq!(reason, "Invalid", "{what}");
            let why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
            assert!(message.ends_with(why), "{what}: {message}");
        } else {
            let updated = answer.expect(200);
            assert_eq!(updated["metadata"]["annotations"]["a"], "2", "{what}");
        }
        life.end().await;
        let answer = cluster.put(&path, &life.object).await;
        if MADE_BY_UPDATE.contains(&life.kind()) {
            answer.expect(201);
            life.end().await;
        } else {
            answer.failure(404);
        }
    }
}

struct WithStatus;

impl Part for WithStatus {
    async fn live(&self, life: &Life<'_>) {
        if !life.subresources.contains(&"status".to_owned()) {
            return;
        }
        let (cluster, what) = (life.cluster, &life.what);
        let made = life.make().await;
        let path = format!("{}/status", life.path());
        let status = cluster.get(&path).await.expect(200);
        assert_eq!(status, life.read().await, "{what}");
        let mut changed = status.clone();
        changed["metadata"]["annotations"]["status"] = json!("1");
        let answer = cluster.put(&format!("{path}?fieldManager=reporter"), &changed).await;
        assert_eq!(answer.code, 200, "{what}: {}", answer.text());
        let updated = answer.json();
        assert_eq!(updated["kind"], made["kind"], "{what}");
        let patch = json!({"status": {}, "metadata": {"annotations": {"status": "2"}}});
        let answer = cluster.patch(&path, MERGE_PATCH, &patch).await;
        assert_eq!(answer.code, 200, "{what}: {}", answer.text());
        // Some kinds take nothing but the status there.
        let stale = cluster.put(&path, &made).await;
        if version(&life.read().await) > version(&made) {
            let (reason, _) = stale.failure(409);
            assert_eq!(reason, "Conflict", "{what}");
        }
        life.end().await;
        cluster.get(&path).await.failure(404);
    }
}

struct Deleted;

impl Part for Deleted {
    async fn live(&self, life: &Life<'_>) {
        // Definitions end in their own way, which has tests of its own.
        if life.kind() == "CustomResourceDefinition" {
            return;
        }
        let (cluster, what, path) = (life.cluster, &life.what, life.path());
        let list = cluster.get(&life.collection).await.expect(200);
        let since = version(&list);
        let watch = format!("{}?watch=1&{SELECTED}&resourceVersion={since}", life.collection);
        let mut watch = cluster.watch(&watch).await;
        let made = life.make().await;
        assert_eq!(watch.next().await.unwrap(), json!({"type": "ADDED", "object": made}), "{what}");
        let other = json!({"preconditions": {"uid": "other"}});
        let (reason, message) = cluster.delete_with(&path, &other).await.failure(409);
        assert_eq!(reason, "Conflict", "{what}");
        // Most are named by their kind, namespaces by their resource.
        let start = format!("operation cannot be fulfilled on {}", life.kind().to_lowercase());
        assert!(message.to_lowercase().starts_with(&start), "{what}: {message}");
        cluster.delete(&format!("{path}?dryRun=All")).await.expect(200);
        assert_eq!(life.read().await, made, "{what}");
        let deleted = cluster.delete(&path).await.expect(200);
        if deleted["kind"] == "Status" && deleted["status"] == "Success" {
            assert_eq!(deleted["details"]["uid"], made["metadata"]["uid"], "{what}");
        } else {
            assert_eq!(deleted["metadata"]["uid"], made["metadata"]["uid"], "{what}");
        }
        life.free().await;
        loop {
            let event = watch.next().await.unwrap();
            assert_eq!(event["object"]["metadata"]["uid"], made["metadata"]["uid"], "{what}");
            assert!(version(&event["object"]) > version(&made), "{what}");
            if event["type"] == "DELETED" {
                break;
            }
            assert_eq!(event["type"], "MODIFIED", "{what}");
        }
        let (reason, _) = cluster.delete(&path).await.failure(404);
        assert_eq!(reason, "NotFound", "{what}");
    }
}

struct DeletedTogether;

impl Part for DeletedTogether {
    async fn live(&self, life: &Life<'_>) {
        let (cluster, what) = (life.cluster, &life.what);
        let chosen = format!("{}?{SELECTED}", life.collection);
        if !life.verbs.contains(&"deletecollection".to_owned()) {
            let (reason, _) = cluster.delete(&chosen).await.failure(405);
            assert_eq!(reason, "MethodNotAllowed", "{what}");
            return;
        }
        life.make().await;
        let others = format!("{}?labelSelector=life%3Dno", life.collection);
        let none = cluster.delete(&others).await.expect(200);
        assert_eq!(names(&none), [""; 0], "{what}");
        let answer = cluster.delete(&chosen).await;
        assert_eq!(answer.code, 200, "{what}: {}", answer.text());
        let deleted = answer.json();
        assert_eq!(deleted["kind"], format!("{}List", life.kind()), "{what}");
        assert_eq!(names(&deleted), [life.name.as_str()], "{what}");
        life.free().await;
        let list = cluster.get(&chosen).await.expect(200);
        assert_eq!(names(&list), [""; 0], "{what}");
    }
}
