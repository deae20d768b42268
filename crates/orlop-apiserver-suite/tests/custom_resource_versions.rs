//! Custom resources in several versions, asked of a whole server: by rules, and by a webhook.
//!
//! The texts are those that a client of kube-apiserver 1.36 reads.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use orlop_apiserver::serve::Peer;
use orlop_apiserver::{Options, RequestBody, Server, User};
use orlop_apiserver_suite::webhook_server::{Protocol, Reply, WebhookServer, convert};
use orlop_storage::Memory;
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const RULES: &str = "conversion.orlop.dev/rules";
/// What is not served by then never will be.
const PATIENCE: Duration = Duration::from_secs(30);

struct Cluster {
    server: Server,
    peer: Peer,
}

impl Cluster {
    async fn start() -> Cluster {
        let options = Options::new(Ipv4Addr::new(192, 0, 2, 1).into(), 6443);
        let server = Server::start(Arc::new(Memory::new()), options).await.unwrap();
        let user = User {
            name: "kubernetes-admin".into(),
            groups: vec!["system:masters".into(), "system:authenticated".into()],
            ..User::default()
        };
        Cluster { server, peer: Peer::acting_for(user) }
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let content_type =
            if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = Request::builder().method(method).uri(path);
        let body: RequestBody =
            Full::new(bytes::Bytes::from(body)).map_err(|never| match never {}).boxed_unsync();
        let request = request.header("content-type", content_type);
        let answer = self.server.answer(request.body(body).unwrap(), &self.peer);
        let (parts, body) = answer.await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts.status.as_u16(), serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn get(&self, path: &str) -> Value {
        let (code, object) = self.ask("GET", path, &Value::Null).await;
        assert_eq!(code, 200, "{object}");
        object
    }

    /// Makes a definition and waits until all its versions are served.
    async fn define(&self, definition: &Value) {
        let (code, made) = self.ask("POST", DEFINITIONS, definition).await;
        assert_eq!(code, 201, "{made}");
        let served = async {
            for version in ["v1", "v2"] {
                let path = format!("/apis/example.com/{version}/foos?limit=1");
                while self.ask("GET", &path, &Value::Null).await.0 == 404 {
                    tokio::task::yield_now().await;
                }
            }
        };
        tokio::time::timeout(PATIENCE, served).await.unwrap();
    }
}

fn path(version: &str, name: &str) -> String {
    let slash = if name.is_empty() { "" } else { "/" };
    format!("/apis/example.com/{version}/namespaces/default/foos{slash}{name}")
}

fn definition(conversion: &Value, rules: Option<&str>) -> Value {
    let version = |name: &str, is_stored: bool, fields: Value| {
        let spec = json!({"type": "object", "properties": fields});
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        json!({"name": name, "served": true, "storage": is_stored,
               "schema": {"openAPIV3Schema": schema}})
    };
    let text = json!({"type": "string"});
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "conversion": conversion,
            "versions": [
                version("v1", true, json!({"host": text, "note": text})),
                version("v2", false, json!({"endpoint": {"type": "object",
                    "properties": {"host": text}}})),
            ],
        },
    });
    if let Some(rules) = rules {
        definition["metadata"]["annotations"] = json!({RULES: rules});
    }
    definition
}

fn foo(version: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Foo",
           "metadata": {"name": name}, "spec": spec})
}

const GOOD: &str = "conversions: [{from: v1, to: v2, rules: [\
     {move: {from: spec.host, to: spec.endpoint.host}}, {remove: {path: spec.note}}]}]";

#[tokio::test]
async fn objects_are_read_and_written_in_any_version_by_rules() {
    let cluster = Cluster::start().await;
    let none = json!({"strategy": "None"});
    let forgetful = "conversions: [{from: v1, to: v2, rules: []}]";
    let (code, status) =
        cluster.ask("POST", DEFINITIONS, &definition(&none, Some(forgetful))).await;
    assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
    let cause = &status["details"]["causes"][0];
    assert_eq!(cause["field"], "metadata.annotations[conversion.orlop.dev/rules]");
    let told = cause["message"].as_str().unwrap();
    assert!(told.contains("spec.host of v1 has no place in v2"), "{told}");

    cluster.define(&definition(&none, Some(GOOD))).await;
    let first = foo("v1", "a", &json!({"host": "h", "note": "n"}));
    assert_eq!(cluster.ask("POST", &path("v1", ""), &first).await.0, 201);
    let read = cluster.get(&path("v2", "a")).await;
    assert_eq!(read["spec"], json!({"endpoint": {"host": "h"}}));
    let list = cluster.get(&path("v2", "")).await;
    assert_eq!(list["items"][0]["spec"], read["spec"]);
    assert_eq!(list["items"][0]["apiVersion"], "example.com/v2");

    let change = json!({"spec": {"endpoint": {"host": "other"}}});
    assert_eq!(cluster.ask("PATCH", &path("v2", "a"), &change).await.0, 200);
    let read = cluster.get(&path("v1", "a")).await;
    assert_eq!(read["spec"], json!({"host": "other", "note": "n"}));
    assert_eq!(read["metadata"].get("annotations"), None);

    let second = foo("v2", "b", &json!({"endpoint": {"host": "x"}}));
    assert_eq!(cluster.ask("POST", &path("v2", ""), &second).await.0, 201);
    assert_eq!(cluster.get(&path("v1", "b")).await["spec"], json!({"host": "x"}));
}

#[tokio::test]
async fn changed_rules_take_effect() {
    let cluster = Cluster::start().await;
    let none = json!({"strategy": "None"});
    cluster.define(&definition(&none, None)).await;
    let first = foo("v1", "a", &json!({"host": "h"}));
    assert_eq!(cluster.ask("POST", &path("v1", ""), &first).await.0, 201);
    assert_eq!(cluster.get(&path("v2", "a")).await["spec"], json!({}));
    let change = json!({"metadata": {"annotations": {RULES: GOOD}}});
    let place = format!("{DEFINITIONS}/foos.example.com");
    assert_eq!(cluster.ask("PATCH", &place, &change).await.0, 200);
    let converted = async {
        let wanted = json!({"endpoint": {"host": "h"}});
        while cluster.get(&path("v2", "a")).await["spec"] != wanted {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, converted).await.unwrap();
}

#[tokio::test]
async fn a_webhook_converts_and_its_failures_are_told() {
    let server = WebhookServer::start(Protocol::Both, |_, asked| {
        let objects = asked.body["request"]["objects"].as_array().unwrap();
        if objects.iter().any(|object| object["metadata"]["name"] == "bad") {
            let text: &[(&str, &str)] = &[("content-type", "text/plain")];
            return Reply::Text(500, text, "boom".into());
        }
        Reply::Json(convert(&asked.body, &|object| {
            let host = object["spec"]["host"].take();
            let inner = object["spec"]["endpoint"]["host"].take();
            object["spec"] = match object["apiVersion"].as_str() {
                Some("example.com/v2") => json!({"endpoint": {"host": host}}),
                _ => json!({"host": inner}),
            };
        }))
    });
    let server = server.await.unwrap();
    let config = server.client_config("/convert", &STANDARD.encode(server.authority()));
    let webhook = json!({"clientConfig": config, "conversionReviewVersions": ["v1"]});
    let cluster = Cluster::start().await;
    cluster.define(&definition(&json!({"strategy": "Webhook", "webhook": webhook}), None)).await;

    let second = foo("v2", "good", &json!({"endpoint": {"host": "x"}}));
    let (code, made) = cluster.ask("POST", &path("v2", ""), &second).await;
    assert_eq!((code, &made["spec"]), (201, &second["spec"]));
    assert_eq!(cluster.get(&path("v1", "good")).await["spec"], json!({"host": "x"}));
    assert_eq!(cluster.get(&path("v2", "good")).await["spec"], second["spec"]);

    let message = |version: &str| {
        format!(
            "conversion webhook for example.com/{version}, Kind=Foo failed: an error on the server \
             (\"boom\") has prevented the request from succeeding"
        )
    };
    let bad = foo("v1", "bad", &json!({"host": "x"}));
    assert_eq!(cluster.ask("POST", &path("v1", ""), &bad).await.0, 201);
    for place in [path("v2", "bad"), path("v2", "")] {
        let (code, status) = cluster.ask("GET", &place, &Value::Null).await;
        assert_eq!((code, &status["message"]), (500, &json!(message("v1"))), "{place}");
        assert_eq!((status.get("reason"), status.get("details")), (None, None), "{place}");
    }
    // What needs no conversion is not touched by it.
    assert_eq!(cluster.get(&path("v1", "")).await["items"].as_array().unwrap().len(), 2);
    assert_eq!(cluster.ask("DELETE", &path("v1", "bad"), &Value::Null).await.0, 200);
    let bad = foo("v2", "bad", &json!({"endpoint": {"host": "x"}}));
    let (code, status) = cluster.ask("POST", &path("v2", ""), &bad).await;
    assert_eq!((code, &status["message"]), (500, &json!(message("v2"))));
    let text = cluster.ask("GET", "/metrics", &Value::Null).await;
    assert_eq!(text.0, 200);
}
