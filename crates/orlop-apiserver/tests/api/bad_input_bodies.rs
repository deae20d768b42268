//! Bodies that nobody should send: too long, too deep, too many, no text, nothing at all. Codes and
//! messages are those of kube-apiserver 1.36, except where a test says otherwise.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt as _;
use orlop_apiserver::RequestBody;
use serde_json::json;

use crate::cluster::{APPLY, Answer, Cluster, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const BODY_MAX: usize = 3 * 1024 * 1024;

/// A cluster with one object.
async fn cluster() -> Cluster {
    let cluster = Cluster::start().await;
    let map = json!({"metadata": {"name": "t"}, "data": {"a": "b"}});
    cluster.post(MAPS, &map).await.expect(201);
    cluster
}

async fn send(cluster: &Cluster, request: &str, ty: &str, body: impl Into<Bytes>) -> Answer {
    let (method, path) = request.split_once(' ').unwrap();
    cluster.request(method, &format!("{MAPS}{path}"), &[("content-type", ty)], body).await
}

/// A body is refused with a status of this code and message.
async fn check(
    cluster: &Cluster,
    (request, ty): (&str, &str),
    body: impl Into<Bytes>,
    (code, message): (u16, &str),
) {
    let answer = send(cluster, request, ty, body).await;
    assert_eq!(answer.code, code, "{request} {ty}: {}", answer.text());
    assert_eq!(answer.failure(code).1, message, "{request} {ty}");
}

/// A body of as many bytes as are asked for, which counts them.
struct Endless {
    sent: Arc<AtomicUsize>,
    declared: Option<u64>,
}

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = Bytes::from_static(&[b' '; 16 * 1024]);
        self.sent.fetch_add(piece.len(), Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        self.declared.map(SizeHint::with_exact).unwrap_or_default()
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_not_read_to_its_end() {
    let cluster = cluster().await;
    let requests = [
        ("POST ", JSON),
        ("POST ", YAML),
        ("POST ", PROTOBUF),
        ("PUT /t", JSON),
        ("PATCH /t", JSON_PATCH),
        ("PATCH /t", MERGE_PATCH),
        ("PATCH /t", STRATEGIC_PATCH),
        ("PATCH /t?fieldManager=m", APPLY),
        ("DELETE /t", JSON),
        ("DELETE ", JSON),
    ];
    for (request, ty) in requests {
        for declared in [None, Some(BODY_MAX as u64 + 1), Some(u64::MAX)] {
            let sent = Arc::new(AtomicUsize::new(0));
            let body: RequestBody = Endless { sent: sent.clone(), declared }.boxed_unsync();
            assert_eq!(body.size_hint().exact(), declared);
            let (method, path) = request.split_once(' ').unwrap();
            let request = Request::builder().method(method).uri(format!("{MAPS}{path}"));
            let answer = cluster.send(request.header("content-type", ty).body(body).unwrap()).await;
            let (reason, message) = answer.failure(413);
            assert_eq!(reason, "RequestEntityTooLarge");
            assert_eq!(message, "Request entity too large: limit is 3145728");
            // Who says how much it is need not send it; who does not is cut off.
            let most = if declared.is_some() { 0 } else { BODY_MAX + 16 * 1024 };
            assert!(sent.load(Ordering::Relaxed) <= most);
        }
    }
    cluster.get(&format!("{MAPS}/t")).await.expect(200);
}

#[tokio::test]
async fn an_object_that_is_too_large_is_not_kept() {
    let cluster = cluster().await;
    let long = |length: usize| "x".repeat(length);
    let map = |length| json!({"metadata": {"name": "big"}, "data": {"a": long(length)}});
    let too_long = "ConfigMap \"big\" is invalid: []: Too long: may not be more than 1048576 bytes";
    let (_, message) = cluster.post(MAPS, &map(1024 * 1024 + 1)).await.failure(422);
    assert_eq!(message, too_long);
    cluster.post(MAPS, &map(1024 * 1024)).await.expect(201);
    // Upstream's etcd refuses what is longer than a transaction may be, with a 500 of its own.
    let template = json!({"metadata": {"name": "t"}, "template": {"spec": {"containers":
        [{"name": "c", "image": long(2 * 1024 * 1024)}]}}});
    let templates = "/api/v1/namespaces/default/podtemplates";
    let (reason, message) = cluster.post(templates, &template).await.failure(413);
    assert_eq!(reason, "RequestEntityTooLarge", "{message}");
    cluster.get(&format!("{templates}/t")).await.failure(404);
}

#[tokio::test]
async fn what_is_nested_too_deeply_is_refused() {
    let cluster = cluster().await;
    const DEEP: usize = 100_000;
    let lists = || format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP));
    let maps = || format!("{}1{}", r#"{"a":"#.repeat(DEEP), "}".repeat(DEEP));
    let create = ("POST ", JSON);
    let head = "the object provided is unrecognized (must be of type ConfigMap): couldn't get \
                version/kind; json parse error: ";
    let start = "{\"metadata\":{\"name\":\"deep\"},\"d ...";
    for (value, found) in [(lists(), '['), (maps(), '{')] {
        let body = format!(r#"{{"metadata":{{"name":"deep"}},"data":{value}}}"#);
        let message = format!("{head}invalid character '{found}' exceeded max depth ({start})");
        check(&cluster, create, body, (400, &message)).await;
    }
    let hex = format!("{} ...", "5b".repeat(30));
    let message = format!("{head}invalid character '[' exceeded max depth ({hex})");
    check(&cluster, create, "[".repeat(DEEP), (400, &message)).await;
    // Upstream's bound for YAML is 10000.
    for (request, ty) in [("POST ", YAML), ("PATCH /d?fieldManager=m", APPLY)] {
        for value in [format!("a: {}", lists()), "- ".repeat(DEEP), "? ".repeat(DEEP)] {
            let (_, message) = send(&cluster, request, ty, value).await.failure(400);
            assert!(message.contains("exceeded max depth"), "{message}");
        }
    }
    let patch = || format!(r#"{{"data":{}}}"#, maps());
    let message = "error decoding patch: invalid character '{' exceeded max depth";
    check(&cluster, ("PATCH /t", MERGE_PATCH), patch(), (400, message)).await;
    let message = "invalid character '{' exceeded max depth";
    check(&cluster, ("PATCH /t", STRATEGIC_PATCH), patch(), (400, message)).await;
    let patch = format!(r#"[{{"op":"add","path":"/data/x","value":{}}}]"#, lists());
    let message = "error decoding patch: invalid character '[' exceeded max depth";
    check(&cluster, ("PATCH /t", JSON_PATCH), patch, (400, message)).await;
    let options = format!(r#"{{"preconditions":{}}}"#, maps());
    send(&cluster, "DELETE /t", JSON, options).await.failure(400);
}

#[tokio::test]
async fn aliases_do_not_multiply() {
    let cluster = cluster().await;
    let mut bomb = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata:\n".to_owned();
    bomb.push_str("  a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for level in 1..9 {
        let one = format!("*a{}", level - 1);
        let row = vec![one; 9].join(",");
        bomb.push_str(&format!("  a{level}: &a{level} [{row}]\n"));
    }
    let (_, message) = send(&cluster, "POST ", YAML, bomb.clone()).await.failure(400);
    let expect = "the object provided is unrecognized (must be of type ConfigMap): yaml: document \
                  contains excessive aliasing (61706956657273696f6e3a2076310a6b696e643a20436f6e6669\
                  674d6170 ...)";
    assert_eq!(message, expect);
    let request = "PATCH /bomb?fieldManager=m";
    let (_, message) = send(&cluster, request, APPLY, bomb).await.failure(400);
    let expect = "error decoding YAML: error converting YAML to JSON: yaml: document contains \
                  excessive aliasing";
    assert_eq!(message, expect);
    let message = "the object provided is unrecognized (must be of type ConfigMap): yaml: anchor \
                   'a' value contains itself (613a202661205b2a615d0a)";
    check(&cluster, ("POST ", YAML), "a: &a [*a]\n", (400, message)).await;
    // One long text, many times.
    let text = "x".repeat(100_000);
    let aliases = "  - *a\n".repeat(100_000);
    let bomb = format!("data:\n  a: &a {text}\n  b:\n{aliases}");
    send(&cluster, "POST ", YAML, bomb).await.failure(400);
}

#[tokio::test]
async fn a_patch_has_a_bounded_number_of_operations() {
    let cluster = cluster().await;
    let operation = r#"{"op":"add","path":"/data/a","value":"1"}"#;
    let patch = |count: usize| format!("[{}]", vec![operation; count].join(","));
    let request = ("PATCH /t", JSON_PATCH);
    let patched = send(&cluster, request.0, request.1, patch(10_000)).await.expect(200);
    assert_eq!(patched["data"]["a"], "1");
    let message = "Request entity too large: The allowed maximum operations in a JSON patch is \
                   10000, got 10001";
    check(&cluster, request, patch(10_001), (413, message)).await;
}

#[tokio::test]
async fn copies_of_a_patch_do_not_multiply() {
    let cluster = cluster().await;
    let message = "the server rejected our request due to an error in our request";
    let long = "x".repeat(1_000_000);
    let mut patch = vec![json!({"op": "add", "path": "/data/a", "value": long})];
    patch.extend(
        (0..5).map(|at| json!({"op": "copy", "from": "/data/a", "path": format!("/data/b{at}")})),
    );
    let request = ("PATCH /t", JSON_PATCH);
    check(&cluster, request, json!(patch).to_string(), (422, message)).await;
    let doubled: Vec<_> = (0..40)
        .map(|at| json!({"op": "copy", "from": "/data", "path": format!("/data/b{at}")}))
        .collect();
    check(&cluster, request, json!(doubled).to_string(), (422, message)).await;
    let map = cluster.get(&format!("{MAPS}/t")).await.expect(200);
    assert_eq!(map["data"], json!({"a": "b"}));
}

#[tokio::test]
async fn a_patch_that_is_none_is_refused() {
    let cluster = cluster().await;
    let rejected = "the server rejected our request due to an error in our request";
    let operations = "error decoding patch: json: cannot unmarshal object into Go value of type \
                      []handlers.jsonPatchOp";
    check(&cluster, ("PATCH /t", JSON_PATCH), "{}", (400, operations)).await;
    let unknown = r#"[{"op":"frobnicate","path":"/a"}]"#;
    check(&cluster, ("PATCH /t", JSON_PATCH), unknown, (422, rejected)).await;
    let nothing = "error decoding patch: unexpected end of JSON input";
    check(&cluster, ("PATCH /t", JSON_PATCH), "", (400, nothing)).await;
    check(&cluster, ("PATCH /t", MERGE_PATCH), "", (400, nothing)).await;
    let nothing = "unexpected end of JSON input";
    check(&cluster, ("PATCH /t", STRATEGIC_PATCH), "", (400, nothing)).await;
    let list = "error decoding patch: json: cannot unmarshal array into Go value of type \
                map[string]interface {}";
    check(&cluster, ("PATCH /t", MERGE_PATCH), "[]", (400, list)).await;
    check(&cluster, ("PATCH /t", MERGE_PATCH), "null", (400, "Invalid JSON Patch")).await;
    let list = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    check(&cluster, ("PATCH /t", STRATEGIC_PATCH), "[1]", (400, list)).await;
    let nameless = r#"[{"op":"remove","path":"/metadata/name"}]"#;
    let message =
        "the name of the object (t based on URL) was undeterminable: name must be provided";
    check(&cluster, ("PATCH /t", JSON_PATCH), nameless, (400, message)).await;
}

#[tokio::test]
async fn an_empty_body_is_refused_or_is_nothing() {
    let cluster = cluster().await;
    let head = "the object provided is unrecognized (must be of type ConfigMap): ";
    let message = format!(
        "{head}couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"
    );
    check(&cluster, ("POST ", JSON), "", (400, &message)).await;
    check(&cluster, ("PUT /t", JSON), "", (400, &message)).await;
    let message = format!("{head}empty data (<empty>)");
    check(&cluster, ("POST ", PROTOBUF), "", (400, &message)).await;
    let missing = "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName \
                   is required";
    check(&cluster, ("POST ", YAML), "", (422, missing)).await;
    let untyped = "invalid object type: /, Kind=";
    check(&cluster, ("PATCH /x?fieldManager=m", APPLY), "", (400, untyped)).await;
    let list = "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot \
                unmarshal array into Go value of type map[string]interface {}";
    check(&cluster, ("PATCH /x?fieldManager=m", APPLY), "[]", (400, list)).await;
    for ty in [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH] {
        check(&cluster, ("PATCH /x", ty), "", (404, "configmaps \"x\" not found")).await;
    }
    send(&cluster, "DELETE /t", JSON, "").await.expect(200);
}

#[tokio::test]
async fn the_type_of_a_body_is_one_that_is_known() {
    let cluster = cluster().await;
    let unknown = "the body of the request was in an unknown format - accepted media types \
                   include: application/json, application/yaml, \
                   application/vnd.kubernetes.protobuf";
    for ty in ["text/plain", ";;;", "application/xml", "\t", "application/json-patch+json"] {
        check(&cluster, ("POST ", ty), "{}", (415, unknown)).await;
        check(&cluster, ("PUT /t", ty), "{}", (415, unknown)).await;
        check(&cluster, ("DELETE /x", ty), "{}", (415, unknown)).await;
    }
    for ty in [JSON, YAML, PROTOBUF, "application/xml", ""] {
        let (reason, _) = send(&cluster, "PATCH /t", ty, "{}").await.failure(415);
        assert_eq!(reason, "UnsupportedMediaType");
    }
    let map = r#"{"metadata":{"name":"c"}}"#;
    send(&cluster, "POST ?dryRun=All", "application/json; charset=utf-16", map).await.expect(201);
    cluster.request("POST", &format!("{MAPS}?dryRun=All"), &[], map).await.expect(201);
    let message = "the object provided is unrecognized (must be of type ConfigMap): provided data \
                   does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})";
    check(&cluster, ("POST ", PROTOBUF), "{}", (400, message)).await;
    let message = "the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: \
                   did not find expected ',' or ']' (613a205b31)";
    check(&cluster, ("POST ", YAML), "a: [1", (400, message)).await;
    for accept in ["text/html", "garbage;;;"] {
        let answer = cluster.request("GET", MAPS, &[("accept", accept)], "").await;
        assert_eq!(answer.failure(406).0, "NotAcceptable");
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_do_no_harm() {
    let cluster = cluster().await;
    // As Go does, what is no text in a text is replaced.
    let odd = b"{\"metadata\":{\"name\":\"u\"},\"data\":{\"a\":\"\xff\xfe\"}}".to_vec();
    let made = send(&cluster, "POST ", JSON, odd).await.expect(201);
    assert_eq!(made["data"]["a"], "\u{fffd}\u{fffd}");
    let odd = b"{\"data\":{\"a\":\"\xff\"}}".to_vec();
    for ty in [MERGE_PATCH, STRATEGIC_PATCH] {
        let patched = send(&cluster, "PATCH /t", ty, odd.clone()).await.expect(200);
        assert_eq!(patched["data"]["a"], "\u{fffd}");
    }
    let none = vec![0xff, 0xfe, 0x00];
    let message = "the object provided is unrecognized (must be of type ConfigMap): couldn't get \
                   version/kind; json parse error: invalid character '\u{ff}' looking for \
                   beginning of value (fffe00)";
    check(&cluster, ("POST ", JSON), none.clone(), (400, message)).await;
    for (request, ty) in [
        ("POST ", YAML),
        ("POST ", PROTOBUF),
        ("PATCH /t", JSON_PATCH),
        ("PATCH /t", MERGE_PATCH),
        ("PATCH /t", STRATEGIC_PATCH),
        ("PATCH /t?fieldManager=m", APPLY),
        ("DELETE /t", JSON),
        ("DELETE /t", YAML),
        ("DELETE /t", PROTOBUF),
    ] {
        let (reason, _) = send(&cluster, request, ty, none.clone()).await.failure(400);
        assert_eq!(reason, "BadRequest", "{request} {ty}");
    }
}

#[tokio::test]
async fn protobuf_that_lies_about_lengths_is_refused() {
    let cluster = cluster().await;
    let envelope = |rest: &[u8]| [b"k8s\0".as_slice(), rest].concat();
    for rest in [
        b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f".as_slice(),
        b"\x12\xff\xff\xff\xff\x0f".as_slice(),
        b"\x0a\x05\x0a\xff\xff\xff\x7f".as_slice(),
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff".as_slice(),
        &[0x0b; 50_000],
        &[0x12, 0x03, 0x0a, 0x7f, 0x0a],
    ] {
        let (reason, _) = send(&cluster, "POST ", PROTOBUF, envelope(rest)).await.failure(400);
        assert_eq!(reason, "BadRequest");
    }
}

#[tokio::test]
async fn a_flood_of_warnings_is_cut() {
    let cluster = cluster().await;
    let unknown: serde_json::Map<_, _> =
        (0..5000).map(|at| (format!("unknown-{at:0100}"), json!(1))).collect();
    let mut map = json!({"metadata": {"name": "w"}});
    map.as_object_mut().unwrap().extend(unknown);
    let path = format!("{MAPS}?fieldValidation=Warn");
    let answer = cluster.post(&path, &map).await;
    let warnings = answer.warnings();
    let bytes: usize = warnings.iter().map(String::len).sum();
    assert!(!warnings.is_empty() && warnings.len() <= 128 && bytes < 8 * 1024, "{bytes}");
    answer.expect(201);
    let path = format!("{MAPS}?fieldValidation=Strict");
    let answer = cluster.post(&path, &map).await;
    assert!(answer.bytes.len() < 64 * 1024, "{}", answer.bytes.len());
    answer.failure(400);
}
