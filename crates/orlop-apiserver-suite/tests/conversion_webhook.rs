//! Conversion by webhooks that are right, slow, broken, lying, or send callers elsewhere.
//!
//! The texts are those that a client of kube-apiserver 1.36 reads when it asks for an object whose
//! webhook behaves in this way.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orlop_apiserver::conversion::{ConversionOptions, Converter};
use orlop_apiserver::webhook_client::{ServiceResolver, SystemRoots, WebhookOptions};
use orlop_apiserver_suite::webhook_server::{Asked, Protocol, Reply, WebhookServer, convert};
use orlop_machinery::{Value, json};
use serde_json::json;

const V1: &str = "example.com/v1";
const V2: &str = "example.com/v2";

fn value(json: &serde_json::Value) -> Value {
    json::parse(json.to_string().as_bytes()).unwrap()
}

fn object(name: &str, version: &str) -> serde_json::Value {
    json!({"apiVersion": version, "kind": "Foo", "x": 1,
           "metadata": {"name": name, "namespace": "default", "uid": "u", "labels": {"l": "1"}}})
}

/// Short waits, so that no test takes long.
fn options() -> ConversionOptions {
    let webhook = WebhookOptions {
        lost_delay: Duration::from_millis(1),
        response_bytes_max: 100_000,
        ..WebhookOptions::default()
    };
    ConversionOptions { webhook, ..ConversionOptions::default() }
}

fn converter_of(
    client_config: &serde_json::Value,
    versions: &[&str],
    options: &ConversionOptions,
) -> Converter {
    let definition = json!({
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "versions": [{"name": "v1"}, {"name": "v2"}],
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": client_config, "conversionReviewVersions": versions}},
        },
    });
    Converter::new(&value(&definition), options).unwrap()
}

fn converter(server: &WebhookServer, options: &ConversionOptions) -> Converter {
    let bundle = STANDARD.encode(server.authority());
    converter_of(&server.client_config("/convert", &bundle), &["v1"], options)
}

async fn start(
    behaviour: impl Fn(usize, &Asked) -> Reply + Send + Sync + 'static,
) -> WebhookServer {
    WebhookServer::start(Protocol::Both, behaviour).await.unwrap()
}

/// The message of a conversion that fails, of one object or of two.
async fn failure(converter: &Converter, names: &[&str]) -> String {
    let objects = names.iter().map(|name| value(&object(name, V1))).collect();
    let status = converter.convert(objects, V2).await.unwrap_err();
    assert_eq!((status.code(), status.reason.as_str()), (500, ""));
    status.message
}

/// What a client reads when the webhook replies in some way, after the name of the kind.
async fn check(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static, expect: &str) {
    let server = start(move |_, asked| reply(asked)).await;
    let message = failure(&converter(&server, &options()), &["a"]).await;
    let url = format!("https://{}/convert?timeout=30s", server.address());
    let expect = expect.replace("URL", &url);
    assert_eq!(message, format!("conversion webhook for example.com/v1, Kind=Foo {expect}"));
}

/// The same for a webhook that changes the objects in some way.
async fn check_change(change: fn(&mut serde_json::Value), expect: &str) {
    check(move |asked| Reply::Json(convert(&asked.body, &change)), expect).await;
}

/// The same for a webhook that changes the whole answer in some way.
async fn check_answer(change: fn(&mut serde_json::Value), expect: &str) {
    let reply = move |asked: &Asked| {
        let mut answer = convert(&asked.body, &|_| {});
        change(&mut answer);
        Reply::Json(answer)
    };
    check(reply, expect).await;
}

#[tokio::test]
async fn a_list_is_one_call_for_those_that_need_it() {
    let server = WebhookServer::converting(|object| object["x"] = json!(2)).await.unwrap();
    let converter = converter(&server, &options());
    let objects = [object("a", V1), object("b", V2), object("c", V1)];
    let converted = converter.convert(objects.iter().map(value).collect(), V2).await.unwrap();
    let mut expect = [object("a", V2), object("b", V2), object("c", V2)];
    expect[0]["x"] = json!(2);
    expect[2]["x"] = json!(2);
    assert_eq!(converted, expect.iter().map(value).collect::<Vec<_>>());
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].target, "/convert?timeout=30s");
    assert_eq!(asked[0].headers["content-type"], "application/json");
    assert_eq!(asked[0].body["kind"], "ConversionReview");
    assert_eq!(asked[0].body["apiVersion"], "apiextensions.k8s.io/v1");
    let request = &asked[0].body["request"];
    assert_eq!(request["desiredAPIVersion"], V2);
    assert_eq!(request["objects"], json!([object("a", V1), object("c", V1)]));
    assert_eq!(request["uid"].as_str().unwrap().len(), 36);
}

#[tokio::test]
async fn nobody_is_asked_about_what_needs_no_conversion() {
    let server = start(|_, _| Reply::HangUp).await;
    let converter = converter(&server, &options());
    let same = vec![value(&object("a", V2))];
    assert_eq!(converter.convert(same.clone(), V2).await.unwrap(), same);
    let empty = value(&json!({"apiVersion": V1, "kind": "Foo"}));
    let converted = converter.convert(vec![empty], V2).await.unwrap();
    assert_eq!(converted, [value(&json!({"apiVersion": V2, "kind": "Foo"}))]);
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn metadata_comes_back_as_it_was_but_for_labels_and_annotations() {
    let server = WebhookServer::converting(|object| {
        object["metadata"]["generation"] = json!(7);
        object["metadata"]["labels"] = json!({"new": "2"});
    });
    let server = server.await.unwrap();
    let objects = vec![value(&object("a", V1))];
    let converted = converter(&server, &options()).convert(objects, V2).await.unwrap();
    let mut expect = object("a", V2);
    expect["metadata"]["labels"] = json!({"new": "2"});
    assert_eq!(converted, [value(&expect)]);
}

#[tokio::test]
async fn the_older_review_is_spoken_to_who_wants_it_first() {
    let server = start(|_, asked| {
        let mut answer = convert(&asked.body, &|_| {});
        answer["response"]["uid"] = json!("any");
        Reply::Json(answer)
    });
    let server = server.await;
    let config = server.client_config("", &STANDARD.encode(server.authority()));
    let old = converter_of(&config, &["v7", "v1beta1", "v1"], &options());
    assert!(old.convert(vec![value(&object("a", V1))], V2).await.is_ok());
    assert_eq!(server.asked()[0].body["apiVersion"], "apiextensions.k8s.io/v1beta1");
    assert_eq!(server.asked()[0].target, "/?timeout=30s");
    let none = converter_of(&config, &["v7"], &options());
    assert_eq!(failure(&none, &["a"]).await, "no supported conversion review versions");
}

#[tokio::test]
async fn broken_answers_are_told() {
    let garbage = "failed: couldn't get version/kind; json parse error: json: cannot unmarshal \
                   string into Go value of type struct { APIVersion string \
                   \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                   \"json:\\\"kind,omitempty\\\"\" }";
    check(|_| Reply::Text(200, &[], "garbage".into()), garbage).await;
    let text: &[(&str, &str)] = &[("content-type", "text/plain")];
    check(
        move |_| Reply::Text(500, text, "boom".into()),
        "failed: an error on the server (\"boom\") has prevented the request from succeeding",
    )
    .await;
    check(
        move |_| Reply::Text(404, text, "no".into()),
        "failed: the server could not find the requested resource",
    )
    .await;
    check(
        |_| Reply::Text(200, &[("content-type", "application/json")], String::new()),
        "failed: 0-length response with status code: 200 and content type: application/json",
    )
    .await;
    check_answer(|answer| answer["response"] = json!(null), "failed: no response provided").await;
}

#[tokio::test]
async fn an_answer_to_another_question_is_refused() {
    let server = start(|_, asked| {
        let mut answer = convert(&asked.body, &|_| {});
        answer["response"]["uid"] = json!("other");
        Reply::Json(answer)
    });
    let server = server.await;
    let message = failure(&converter(&server, &options()), &["a"]).await;
    let asked = server.asked();
    let uid = asked[0].body["request"]["uid"].as_str().unwrap();
    let expect = format!(
        "conversion webhook for example.com/v1, Kind=Foo failed: expected response.uid=\"{uid}\", \
         got \"other\""
    );
    assert_eq!(message, expect);
}

#[tokio::test]
async fn wrong_numbers_of_objects_are_refused() {
    let none = "returned 0 objects, expected 1";
    check_answer(|answer| answer["response"]["convertedObjects"] = json!([]), none).await;
    let more = "returned 2 objects, expected 1";
    check_answer(|answer| answer["response"]["convertedObjects"] = json!([1, 2]), more).await;
}

#[tokio::test]
async fn objects_that_are_not_what_was_asked_for_are_refused() {
    check_change(
        |object| object["apiVersion"] = json!("example.com/v9"),
        "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, \
         received example.com/v9)",
    )
    .await;
    check_change(
        |object| object["kind"] = json!("Bar"),
        "returned invalid object at index 0: invalid kind (expected Foo, received Bar)",
    )
    .await;
    check_change(
        |object| object["metadata"]["name"] = json!("b"),
        "returned invalid object: must have the same name: a != b",
    )
    .await;
    check_change(
        |object| object["metadata"]["uid"] = json!("v"),
        "returned invalid object: must have the same UID: u != v",
    )
    .await;
    check_change(
        |object| object["metadata"]["labels"] = json!({"a": 1}),
        "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in \
         converted object",
    )
    .await;
}

#[tokio::test]
async fn a_fault_in_a_list_is_told_with_its_index() {
    let server = WebhookServer::converting(|object| {
        if object["metadata"]["name"] == "b" {
            object["metadata"]["name"] = json!("c");
        }
    });
    let server = server.await.unwrap();
    let message = failure(&converter(&server, &options()), &["a", "b"]).await;
    let expect = "conversion webhook for example.com/v1, Kind=Foo returned invalid converted \
                  object at index 1: must have the same name: b != c";
    assert_eq!(message, expect);
}

#[tokio::test]
async fn a_webhook_that_says_no_is_believed() {
    check_answer(
        |answer| answer["response"]["result"] = json!({"status": "Failure", "message": "no!"}),
        "failed: no!",
    )
    .await;
    check_answer(
        |answer| answer["response"]["result"] = json!({"status": "Failure"}),
        "failed: response.result.status was 'Failure', not 'Success'",
    )
    .await;
}

#[tokio::test]
async fn a_slow_webhook_is_left_behind() {
    let server = start(|_, _| Reply::Silence).await;
    let options = ConversionOptions { timeout: Duration::from_millis(20), ..options() };
    let message = failure(&converter(&server, &options), &["a"]).await;
    let expect = format!(
        "conversion webhook for example.com/v1, Kind=Foo failed: Post \
         \"https://{}/convert?timeout=20ms\": context deadline exceeded",
        server.address()
    );
    assert_eq!(message, expect);
}

#[tokio::test]
async fn nobody_is_sent_elsewhere() {
    let other = WebhookServer::converting(|_| {}).await.unwrap();
    let location = format!("https://{}/convert", other.address());
    let location: &'static str = location.leak();
    let headers: &'static [(&str, &str)] = vec![("location", location)].leak();
    for code in [301, 302, 303, 307, 308] {
        let expect = format!(
            "failed: the server responded with the status code {code} but did not return more \
             information"
        );
        check(move |_| Reply::Text(code, headers, String::new()), &expect).await;
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn a_huge_answer_is_not_read() {
    let too_large = "failed: the response body is larger than 100000 bytes";
    check(|_| Reply::Endless(usize::MAX), too_large).await;
    check(|_| Reply::Text(200, &[], " ".repeat(100_001)), too_large).await;
}

#[tokio::test]
async fn a_webhook_that_hangs_up_is_called_again() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        for fault in [Reply::HangUp, Reply::HangUpHalfway] {
            let server = WebhookServer::start(protocol, move |before, asked| match before {
                0 | 1 => fault.clone(),
                _ => Reply::Json(convert(&asked.body, &|_| {})),
            });
            let server = server.await.unwrap();
            let objects = vec![value(&object("a", V1))];
            let converted = converter(&server, &options()).convert(objects, V2).await;
            assert_eq!(converted.unwrap(), [value(&object("a", V2))]);
            assert_eq!(server.asked().len(), 3);
        }
    }
}

#[tokio::test]
async fn a_webhook_that_always_hangs_up_is_given_up() {
    let server = WebhookServer::start(Protocol::Http1, |_, _| Reply::HangUp).await.unwrap();
    let message = failure(&converter(&server, &options()), &["a"]).await;
    let expect = format!(
        "conversion webhook for example.com/v1, Kind=Foo failed: Post \
         \"https://{}/convert?timeout=30s\": EOF",
        server.address()
    );
    assert_eq!(message, expect);
    assert_eq!(server.asked().len(), 5);
}

#[tokio::test]
async fn a_webhook_that_asks_for_it_is_called_again() {
    let server = start(|before, asked| match before {
        0 => Reply::Text(503, &[("retry-after", "0")], "later".into()),
        _ => Reply::Json(convert(&asked.body, &|_| {})),
    });
    let server = server.await;
    let objects = vec![value(&object("a", V1))];
    assert!(converter(&server, &options()).convert(objects, V2).await.is_ok());
    assert_eq!(server.asked().len(), 2);
    let server = start(|_, _| Reply::Text(429, &[("retry-after", "0")], String::new())).await;
    let message = failure(&converter(&server, &options()), &["a"]).await;
    assert!(message.ends_with("too many requests and has asked us to try again later"));
    assert_eq!(server.asked().len(), 11);
}

#[tokio::test]
async fn both_versions_of_http_are_spoken_and_connections_kept() {
    for (protocol, version) in [
        (Protocol::Http1, http::Version::HTTP_11),
        (Protocol::Http2, http::Version::HTTP_2),
        (Protocol::Both, http::Version::HTTP_2),
    ] {
        let server =
            WebhookServer::start(protocol, |_, asked| Reply::Json(convert(&asked.body, &|_| {})));
        let server = server.await.unwrap();
        let converter = converter(&server, &options());
        for _ in 0..3 {
            let objects = vec![value(&object("a", V1))];
            assert!(converter.convert(objects, V2).await.is_ok());
        }
        assert_eq!(server.connections(), 1, "{protocol:?}");
        assert!(server.asked().iter().all(|asked| asked.version == version));
        server.cut_connections();
        let objects = vec![value(&object("a", V1))];
        assert!(converter.convert(objects, V2).await.is_ok());
    }
}

#[tokio::test]
async fn only_so_many_calls_are_under_way() {
    let server = WebhookServer::start(Protocol::Http1, |_, asked| {
        Reply::Json(convert(&asked.body, &|_| {}))
    });
    let server = server.await.unwrap();
    let mut options = options();
    options.webhook.calls_max = 2;
    let converter = Arc::new(converter(&server, &options));
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let converter = converter.clone();
            tokio::spawn(async move { converter.convert(vec![value(&object("a", V1))], V2).await })
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
    assert_eq!(server.asked().len(), 20);
    assert!(server.connections() <= 2, "{}", server.connections());
}

struct OneService(SocketAddr);

#[async_trait::async_trait]
impl ServiceResolver for OneService {
    async fn resolve(
        &self,
        namespace: &str,
        name: &str,
        port: u16,
    ) -> Result<(String, u16), String> {
        match (namespace, name, port) {
            ("default", "hook" | "alias", 8443) => Ok((self.0.ip().to_string(), self.0.port())),
            _ => Err(format!("service \"{name}\" not found")),
        }
    }
}

#[tokio::test]
async fn a_service_is_found_by_its_address_and_known_by_its_name() {
    let server = WebhookServer::converting(|_| {}).await.unwrap();
    let services = Arc::new(OneService(server.address()));
    let options = ConversionOptions { services, ..options() };
    let bundle = STANDARD.encode(server.authority());
    let config = |name: &str| {
        let service = json!({"namespace": "default", "name": name, "port": 8443, "path": "/c"});
        json!({"service": service, "caBundle": bundle})
    };
    let good = converter_of(&config("hook"), &["v1"], &options);
    assert!(good.convert(vec![value(&object("a", V1))], V2).await.is_ok());
    assert_eq!(server.asked()[0].version, http::Version::HTTP_11);
    assert_eq!(server.asked()[0].headers["host"], "hook.default.svc:8443");
    let missing = converter_of(&config("nobody"), &["v1"], &options);
    let expect = "conversion webhook for example.com/v1, Kind=Foo failed: Post \
                  \"https://nobody.default.svc:8443/c?timeout=30s\": service \"nobody\" not found";
    assert_eq!(failure(&missing, &["a"]).await, expect);
    let alias = converter_of(&config("alias"), &["v1"], &options);
    let expect = "conversion webhook for example.com/v1, Kind=Foo failed: Post \
                  \"https://alias.default.svc:8443/c?timeout=30s\": tls: failed to verify \
                  certificate: x509: certificate is valid for localhost, hook.default.svc, not \
                  alias.default.svc";
    assert_eq!(failure(&alias, &["a"]).await, expect);
}

#[tokio::test]
async fn who_is_not_trusted_is_not_asked() {
    let server = WebhookServer::converting(|_| {}).await.unwrap();
    let other = WebhookServer::converting(|_| {}).await.unwrap();
    let unknown = format!(
        "conversion webhook for example.com/v1, Kind=Foo failed: Post \
         \"https://{}/convert?timeout=30s\": tls: failed to verify certificate: x509: certificate \
         signed by unknown authority",
        server.address()
    );
    for bundle in [STANDARD.encode(other.authority()), String::new()] {
        let config = server.client_config("/convert", &bundle);
        let message = failure(&converter_of(&config, &["v1"], &options()), &["a"]).await;
        assert_eq!(message, unknown);
    }
    let mut options = options();
    options.webhook.system_roots = Arc::new(SystemRoots::new(server.authority().to_owned()));
    let config = server.client_config("/convert", "");
    let objects = vec![value(&object("a", V1))];
    assert!(converter_of(&config, &["v1"], &options).convert(objects, V2).await.is_ok());
}

#[tokio::test]
async fn nobody_at_home_is_told() {
    let address = {
        let server = WebhookServer::converting(|_| {}).await.unwrap();
        server.address()
    };
    let config = json!({"url": format!("https://{address}/x")});
    // The port is free again once the listener is gone, which takes a turn of the runtime.
    let converter = converter_of(&config, &["v1"], &options());
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let expect = format!(
        "conversion webhook for example.com/v1, Kind=Foo failed: Post \
         \"https://{address}/x?timeout=30s\": dial tcp {address}: connect: connection refused"
    );
    assert_eq!(failure(&converter, &["a"]).await, expect);
}
