//! Every path that is about no resource, through the one entry that knows them all.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::sync::Arc;

use http_body_util::BodyExt as _;
use orlop_apiserver::discovery::Discovery;
use orlop_apiserver::health::{Check, Health};
use orlop_apiserver::metrics::{Metrics, Snapshot};
use orlop_apiserver::non_resource::{NonResource, Sources};
use orlop_apiserver::openapi::OpenApi;
use orlop_apiserver::{Catalog, Version};
use orlop_machinery::json;
use orlop_storage::SystemClock;

/// The code, the media type and the text of an answer.
async fn ask(target: &str) -> (u16, String, String) {
    let all = NonResource {
        discovery: Discovery::new("127.0.0.1:6443"),
        open_api: OpenApi::default(),
        health: Health::new(vec![Check::ping()]),
        version: Version::of_build(),
    };
    let catalog = Arc::new(Catalog::built_in());
    let metrics = Metrics::new(Version::of_build());
    let sources = Sources {
        catalog: &catalog,
        clock: &SystemClock,
        metrics: &metrics,
        snapshot: &|| Box::pin(async { Snapshot::default() }),
    };
    let (parts, ()) = http::Request::builder().uri(target).body(()).unwrap().into_parts();
    match all.serve(&sources, &parts).await {
        Ok(answer) => {
            let content_type = answer.headers()["content-type"].to_str().unwrap().to_owned();
            let code = answer.status().as_u16();
            let bytes = answer.into_body().collect().await.unwrap().to_bytes();
            (code, content_type, String::from_utf8(bytes.to_vec()).unwrap())
        }
        Err(status) => (status.code(), "status".to_owned(), status.message),
    }
}

#[tokio::test]
async fn the_index_lists_paths_that_are_served() {
    let (code, content_type, text) = ask("/").await;
    assert_eq!((code, content_type.as_str()), (200, "application/json"));
    assert!(text.starts_with("{\n  \"paths\": [\n    \"/api\",\n    \"/api/v1\",\n"), "{text}");
    let index = json::parse(text.as_bytes()).unwrap();
    let paths: Vec<&str> = index.at("paths").list().iter().map(|path| path.str()).collect();
    assert!(paths.is_sorted());
    for path in &paths {
        // Only the folder of a kind of document is not itself one.
        let expect = if *path == "/openapi/v3/" { continue } else { 200 };
        assert_eq!(ask(path).await.0, expect, "{path}");
    }
    assert_eq!(ask("/index.html").await.2, text);
}

#[tokio::test]
async fn each_kind_of_path_has_its_kind_of_answer() {
    for (target, code, content_type) in [
        ("/version", 200, "application/json"),
        ("/version/", 200, "application/json"),
        ("/metrics", 200, "text/plain; version=0.0.4; charset=utf-8"),
        ("/healthz", 200, "text/plain; charset=utf-8"),
        ("/readyz/ping", 200, "text/plain; charset=utf-8"),
        ("/api", 200, "application/json"),
        ("/apis/apps/v1", 200, "application/json"),
        ("/apis/apps/v9", 404, "status"),
        ("/apis/nope/v1", 404, "text/plain; charset=utf-8"),
        ("/metrics/x", 404, "text/plain; charset=utf-8"),
        ("/nope", 404, "text/plain; charset=utf-8"),
        ("/openapi/v2/", 404, "text/plain; charset=utf-8"),
    ] {
        let answer = ask(target).await;
        assert_eq!((answer.0, answer.1.as_str()), (code, content_type), "{target}");
    }
}
