//! OpenAPI as clients ask for it: the index, hashes, caching, forms.
//!
//! That the documents say what upstream's say is tested where they are made.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

use std::io::Read as _;
use std::sync::Arc;

use http::Response;
use http_body_util::BodyExt as _;
use orlop_apiserver::openapi::OpenApi;
use orlop_apiserver::{Body, Catalog};
use orlop_machinery::openapi::gnostic;
use orlop_machinery::{Value, json};
use orlop_storage::SystemClock;

struct Server {
    open_api: OpenApi,
    catalog: Arc<Catalog>,
}

impl Server {
    fn new() -> Server {
        Server { open_api: OpenApi::default(), catalog: Arc::new(Catalog::built_in()) }
    }

    async fn ask(&self, target: &str, headers: &[(&str, &str)]) -> Option<Response<Body>> {
        let mut request = http::Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        self.open_api.serve(&self.catalog, &SystemClock, &parts).await
    }

    async fn json(&self, target: &str) -> Value {
        let answer = self.ask(target, &[]).await.unwrap();
        assert_eq!(answer.status(), 200, "{target}");
        json::parse(&bytes(answer).await).unwrap()
    }
}

async fn bytes(answer: Response<Body>) -> Vec<u8> {
    answer.into_body().collect().await.unwrap().to_bytes().to_vec()
}

#[tokio::test]
async fn the_index_leads_to_documents_that_may_be_kept_forever() {
    let server = Server::new();
    let index = server.json("/openapi/v3").await;
    let paths = index.at("paths").map();
    assert!(paths.len() > 40, "{}", paths.len());
    for name in ["api", "api/v1", "apis", "apis/apps", "apis/apps/v1", "version"] {
        let url = paths.get(name).unwrap().at("serverRelativeURL").str();
        assert!(url.starts_with(&format!("/openapi/v3/{name}?hash=")), "{url}");
        let answer = server.ask(url, &[]).await.unwrap();
        assert_eq!(answer.headers()["cache-control"], "public, immutable");
        assert!(answer.headers()["expires"].to_str().unwrap().ends_with(" GMT"));
        let hash = url.split_once('=').unwrap().1;
        assert_eq!(answer.headers()["etag"], format!("\"{hash}\""));
        let document = json::parse(&bytes(answer).await).unwrap();
        assert_eq!(document.path(&["info", "version"]).str(), "1.36");
        assert!(!document.at("paths").map().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_wrong_hash_leads_to_the_right_one() {
    let server = Server::new();
    let answer = server.ask("/openapi/v3/apis/apps/v1?hash=x", &[]).await.unwrap();
    assert_eq!(answer.status(), 301);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let answer = server.ask(&location, &[]).await.unwrap();
    assert_eq!(answer.status(), 200);
    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    for known in [tag.as_str(), "*", &format!("\"x\", W/{tag}")] {
        let answer = server.ask(&location, &[("if-none-match", known)]).await.unwrap();
        assert_eq!(answer.status(), 304, "{known}");
        assert!(bytes(answer).await.is_empty());
    }
    let without = server.ask("/openapi/v3/apis/apps/v1", &[]).await.unwrap();
    assert!(without.headers().get("cache-control").is_none());
}

#[tokio::test]
async fn documents_are_compressed_for_those_who_accept_it() {
    let server = Server::new();
    let plain = bytes(server.ask("/openapi/v3/api/v1", &[]).await.unwrap()).await;
    let gzip = &[("accept-encoding", "deflate, gzip;q=0.5")];
    let answer = server.ask("/openapi/v3/api/v1", gzip).await.unwrap();
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    let mut unpacked = Vec::new();
    let packed = bytes(answer).await;
    flate2::read::GzDecoder::new(&*packed).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain);
    let none = &[("accept-encoding", "gzip;q=0")];
    let answer = server.ask("/openapi/v3/api/v1", none).await.unwrap();
    assert!(answer.headers().get("content-encoding").is_none());
}

#[tokio::test]
async fn version_2_comes_in_json_and_in_protobuf() {
    let server = Server::new();
    let answer = server.ask("/openapi/v2", &[]).await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/json");
    let tag = answer.headers()["etag"].clone();
    let document = json::parse(&bytes(answer).await).unwrap();
    assert_eq!(document.at("swagger").str(), "2.0");
    let info = "io.k8s.apimachinery.pkg.version.Info";
    assert!(document.at("definitions").get(info).is_some());
    assert!(document.at("paths").get("/version/").is_some());
    let new = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    let old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    for accept in [new, old] {
        let answer = server.ask("/openapi/v2", &[("accept", accept)]).await.unwrap();
        assert_eq!(answer.headers()["content-type"], new);
        assert_eq!(answer.headers()["etag"], tag);
        assert_eq!(bytes(answer).await, gnostic::encode(&document));
    }
}

#[tokio::test]
async fn what_is_not_there_is_refused_without_a_body() {
    let server = Server::new();
    for (target, accept, code) in [
        ("/openapi/v3/nope", "", 404),
        ("/openapi/v3/", "", 404),
        ("/openapi/v3/api/v1", "text/html", 406),
        ("/openapi/v2", "text/html", 406),
    ] {
        let answer = server.ask(target, &[("accept", accept)]).await.unwrap();
        assert_eq!(answer.status(), code, "{target}");
        assert!(bytes(answer).await.is_empty());
    }
    for target in ["/openapi", "/openapi/v2/", "/openapi/v4"] {
        assert!(server.ask(target, &[]).await.is_none(), "{target}");
    }
}
