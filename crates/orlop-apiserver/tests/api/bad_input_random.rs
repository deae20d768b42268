//! Random requests to every path there is: each is answered, in a form that can be read, and never
//! with a failure of the server.

use std::collections::VecDeque;

use http::Request;
use http_body_util::BodyExt as _;
use orlop_apiserver::serve::Peer;
use serde_json::{Value, json};

use crate::cluster::{Answer, Cluster, admin, whole};

/// How many requests one run sends.
const REQUESTS: usize = 4000;
/// The most pieces that are read of one answer: a watch may have no end.
const PIECES_MAX: usize = 16;

const METHODS: [&str; 9] =
    ["GET", "GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const NAMES: [&str; 6] = ["a", "b", "kubernetes", "default", "..", "%00"];

const PARAMETERS: [&str; 22] = [
    "watch=1",
    "allowWatchBookmarks=true",
    "sendInitialEvents=true",
    "resourceVersionMatch=NotOlderThan",
    "resourceVersionMatch=Exact",
    "resourceVersion=0",
    "resourceVersion=1",
    "resourceVersion=20",
    "limit=1",
    "limit=-1",
    "labelSelector=a%3Db",
    "fieldSelector=metadata.name%3Da",
    "fieldSelector=metadata.namespace!%3Da",
    "timeoutSeconds=1",
    "dryRun=All",
    "fieldValidation=Strict",
    "fieldManager=m",
    "force=true",
    "pretty=true",
    "history=true",
    "propagationPolicy=Foreground",
    "gracePeriodSeconds=0",
];

const ACCEPTS: [&str; 8] = [
    "application/json",
    "application/json",
    "*/*",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1, application/json",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
     application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
];

const TYPES: [&str; 8] = [
    "application/json",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

const FIELDS: [&str; 24] = [
    "metadata",
    "spec",
    "status",
    "data",
    "name",
    "namespace",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "generateName",
    "resourceVersion",
    "uid",
    "template",
    "containers",
    "replicas",
    "selector",
    "rules",
    "subsets",
    "ports",
    "type",
    "webhooks",
    "scale",
    "$patch",
];

/// What upstream answers with 500 although the client is wrong.
const UPSTREAMS_OWN_FAULTS: [&str; 4] = [
    "strconv.ParseUint: parsing ",
    "target.",
    "no preferred addresses found",
    "failed to allocate a serviceIP",
];

/// Numbers that look random (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.next(all.len())].clone()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.next(if depth > 4 { 6 } else { 10 }) {
            0 => Value::Null,
            1 => json!(self.next(3) == 0),
            2 => json!(self.next(100_000)),
            3 => json!(-1.5),
            4 | 5 => {
                json!(self.pick(&["a", "", "b", "10.0.0.1", "1h", "2026-01-01T00:00:00Z", "5"]))
            }
            6 => (0..self.next(3)).map(|_| self.value(depth + 1)).collect(),
            _ => {
                let count = self.next(4);
                let fields =
                    (0..count).map(|_| (self.pick(&FIELDS).to_owned(), self.value(depth + 1)));
                Value::Object(fields.collect())
            }
        }
    }

    /// Something like an object of a kind.
    fn object(&mut self, kind: &(String, String)) -> Value {
        let mut object = self.value(0);
        if !object.is_object() {
            object = json!({});
        }
        if self.next(4) > 0 {
            object["metadata"] = json!({"name": self.pick(&["a", "b"])});
        }
        if self.next(3) == 0 {
            object["apiVersion"] = json!(kind.0);
            object["kind"] = json!(kind.1);
        }
        object
    }

    fn body(&mut self, kind: &(String, String)) -> Vec<u8> {
        let mut bytes = match self.next(8) {
            0 => Vec::new(),
            1 => {
                let operations = (0..3).map(|_| {
                    let path = format!("/{}/{}", self.pick(&FIELDS), self.pick(&FIELDS));
                    let op = self.pick(&["add", "remove", "replace", "copy", "move", "test"]);
                    json!({"op": op, "path": path, "from": "/metadata", "value": self.value(3)})
                });
                Value::from_iter(operations).to_string().into_bytes()
            }
            _ => self.object(kind).to_string().into_bytes(),
        };
        // Some bytes are others.
        while self.next(8) == 0 && !bytes.is_empty() {
            let at = self.next(bytes.len());
            bytes[at] = u8::try_from(self.next(256)).unwrap();
        }
        bytes
    }
}

/// A path of a collection, without its version and kind, and the version and kind.
async fn collections(cluster: &Cluster) -> Vec<(String, (String, String))> {
    let mut versions = VecDeque::from(["/api/v1".to_owned()]);
    let groups = cluster.get("/apis").await.expect(200);
    for group in groups["groups"].as_array().unwrap() {
        for version in group["versions"].as_array().unwrap() {
            versions.push_back(format!("/apis/{}", version["groupVersion"].as_str().unwrap()));
        }
    }
    let mut paths = Vec::new();
    for version in versions {
        let list = cluster.get(&version).await.expect(200);
        for resource in list["resources"].as_array().unwrap() {
            let name = resource["name"].as_str().unwrap();
            let place = if resource["namespaced"] == true { "/namespaces/default" } else { "" };
            let (plural, subresource) = name.split_once('/').unwrap_or((name, ""));
            let path = format!("{version}{place}/{plural}/{subresource}");
            let api_version = list["groupVersion"].as_str().unwrap().to_owned();
            paths.push((path, (api_version, resource["kind"].as_str().unwrap().to_owned())));
        }
    }
    paths
}

fn request(
    random: &mut Random,
    paths: &[(String, (String, String))],
) -> (String, Request<Vec<u8>>) {
    let (path, kind) = random.pick(paths);
    let (collection, subresource) = path.rsplit_once('/').unwrap();
    let mut uri = collection.to_owned();
    if !subresource.is_empty() || random.next(2) == 0 {
        uri = format!("{uri}/{}", random.pick(&NAMES));
    }
    if !subresource.is_empty() && random.next(8) > 0 {
        uri = format!("{uri}/{subresource}");
    }
    if random.next(10) == 0 {
        uri = uri.replace("/namespaces/default", random.pick(&["", "/namespaces/x"]));
    }
    for at in 0..random.next(4) {
        uri = format!("{uri}{}{}", if at == 0 { '?' } else { '&' }, random.pick(&PARAMETERS));
    }
    let method = random.pick(&METHODS);
    let (accept, content_type) = (random.pick(&ACCEPTS), random.pick(&TYPES));
    let body = random.body(&kind);
    let shown = format!(
        "{method} {uri} accept={accept} type={content_type} {}",
        String::from_utf8_lossy(&body)
    );
    let request = Request::builder().method(method).uri(uri).header("accept", accept);
    (shown, request.header("content-type", content_type).body(body).unwrap())
}

/// Sends a request and reads some of the answer.
async fn answer(cluster: &Cluster, request: Request<Vec<u8>>) -> Answer {
    let peer = Peer::acting_for(admin());
    let answer = cluster.server.answer(request.map(whole), &peer).await;
    let (parts, mut body) = answer.into_parts();
    let mut bytes = Vec::new();
    for _ in 0..PIECES_MAX {
        let Some(frame) = body.frame().await else { break };
        bytes.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    Answer { code: parts.status.as_u16(), headers: parts.headers, bytes: bytes.into() }
}

/// What is wrong with an answer, if it is a failure of the server or not what it says it is.
fn judge(answer: &Answer) -> Option<String> {
    let (code, text) = (answer.code, answer.text());
    let is_excused = UPSTREAMS_OWN_FAULTS.iter().any(|fault| text.contains(fault));
    if code >= 500 && !matches!(code, 501 | 503 | 504) && !is_excused {
        return Some(format!("{code} {text}"));
    }
    let content_type = answer.headers.get("content-type").map(|value| value.to_str().unwrap());
    let is_fine = match content_type.unwrap_or_default() {
        "application/json" => {
            let documents = serde_json::Deserializer::from_slice(&answer.bytes);
            documents.into_iter::<Value>().all(|document| {
                document.is_ok_and(|document| {
                    let is_failure =
                        document["kind"] == "Status" && document["status"] == "Failure";
                    !is_failure || document["code"] == code
                })
            })
        }
        "application/vnd.kubernetes.protobuf" => answer.bytes.starts_with(b"k8s\0"),
        _ => true,
    };
    (!is_fine).then(|| format!("{code} is not what it says it is: {text}"))
}

#[tokio::test(start_paused = true)]
async fn whatever_is_asked_is_answered() {
    let cluster = Cluster::start().await;
    let paths = collections(&cluster).await;
    assert!(paths.len() > 100);
    #[expect(clippy::disallowed_methods, reason = "a run is repeated by its seed")]
    let seed = std::env::var("ORLOP_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or(0x5eed_0001);
    println!("ORLOP_TEST_SEED={seed}");
    let mut random = Random(seed.max(1));
    let mut wrong = Vec::new();
    for _ in 0..REQUESTS {
        let (shown, request) = request(&mut random, &paths);
        let found = judge(&answer(&cluster, request).await);
        wrong.extend(found.map(|found| format!("{shown}\n    {found}")));
    }
    assert!(wrong.is_empty(), "{} answers:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(cluster.get("/readyz").await.text(), "ok");
}
