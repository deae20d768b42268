//! Discovery, held against the recorded documents, and the ways to ask for it.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "where the facts lie may be said by the environment")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use http::Response;
use http::request::Parts;
use http_body_util::BodyExt as _;
use orlop_apiserver::discovery::Discovery;
use orlop_apiserver::{Body, Catalog};
use orlop_machinery::status::Status;
use orlop_machinery::{Value, json};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = env::var_os("ORLOP_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("data/kubernetes-1.36/discovery");
    if !folder.is_dir() {
        println!("skipped: there are no recorded facts in {}", folder.display());
        return None;
    }
    Some(folder)
}

fn parts(target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::builder().uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn ask(parts: &Parts) -> Result<Response<Body>, Status> {
    let catalog = Arc::new(Catalog::built_in());
    Discovery::new("127.0.0.1:6443").serve(&catalog, parts).unwrap()
}

async fn bytes(answer: Response<Body>) -> Vec<u8> {
    answer.into_body().collect().await.unwrap().to_bytes().to_vec()
}

async fn document(path: &str, accept: &str) -> Value {
    json::parse(&bytes(ask(&parts(path, &[("accept", accept)])).unwrap()).await).unwrap()
}

/// What is recorded, without versions that are not generally available and without groups that
/// have no others.
fn stable(document: Value) -> Value {
    fn is_stable(version: &str) -> bool {
        !version.contains("alpha") && !version.contains("beta")
    }
    let mut document = document;
    if document.get("versions").is_some() && document.at("kind").str() != "APIVersions" {
        let versions = document.get_mut("versions").unwrap().make_list();
        versions.retain(|version| is_stable(version.at("version").str()));
    }
    for list in ["groups", "items"] {
        let Some(groups) = document.get_mut(list) else { continue };
        let all = groups.make_list();
        *all = all.drain(..).map(stable).collect();
        all.retain(|group| !group.at("versions").list().is_empty());
    }
    document
}

#[tokio::test]
async fn every_document_is_as_recorded() {
    let Some(folder) = folder() else { return };
    let mut compared = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let recorded = stable(json::parse(&fs::read(&file).unwrap()).unwrap());
        let is_other = name.contains("alpha")
            || name.contains("beta")
            || name == "aggregated_v2"
            || recorded.get("versions").is_some_and(|versions| versions.list().is_empty());
        if is_other {
            continue;
        }
        let mut have = document(&format!("/{}", name.replace("__", "/")), "").await;
        let mut expect = recorded;
        // Where the recording server was.
        for document in [&mut have, &mut expect] {
            document.remove("serverAddressByClientCIDRs");
        }
        // The recording tool names the version where the server does not.
        if name == "api" || name == "api__v1" {
            assert!(have.get("apiVersion").is_none(), "{name}");
            expect.remove("apiVersion");
        }
        assert_eq!(json::to_string(&have), json::to_string(&expect), "{name}");
        compared += 1;
    }
    println!("{compared} documents compared");
    assert!(compared > 40, "only {compared} documents were compared");
}

#[tokio::test]
async fn the_aggregated_document_is_as_recorded() {
    let Some(folder) = folder() else { return };
    let file = fs::read(folder.join("aggregated_v2.json")).unwrap();
    let mut expect = stable(json::parse(&file).unwrap());
    let have = document("/apis", AGGREGATED).await;
    expect.set("metadata", have.at("metadata").clone());
    assert_eq!(json::to_string(&have), json::to_string(&expect));
}

#[tokio::test]
async fn documents_are_written_in_the_order_of_go() {
    let parts = parts("/api", &[]);
    let text = String::from_utf8(bytes(ask(&parts).unwrap()).await).unwrap();
    let expect = concat!(
        r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":"#,
        r#"[{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:6443"}]}"#,
        "\n"
    );
    assert_eq!(text, expect);
}

fn check_form(path: &str, headers: &[(&str, &str)], content_type: &str) {
    let answer = ask(&parts(path, headers)).unwrap();
    assert_eq!(answer.headers()["content-type"], content_type, "{path} {headers:?}");
}

#[test]
fn clients_get_the_form_they_want_most() {
    let json = "application/json";
    let protobuf = "application/vnd.kubernetes.protobuf";
    check_form("/apis", &[], json);
    check_form("/apis", &[("accept", "*/*")], json);
    check_form("/apis", &[("accept", "application/yaml")], "application/yaml");
    let both = format!("{protobuf},{json}");
    check_form("/apis/apps/v1", &[("accept", &both)], protobuf);
    check_form("/apis/", &[("accept", &both)], protobuf);
    let wanted = format!("{AGGREGATED};profile=nopeer,{AGGREGATED},{json}");
    check_form("/apis", &[("accept", &wanted)], AGGREGATED);
    check_form("/api", &[("accept", &wanted)], AGGREGATED);
    let beta = AGGREGATED.replace("v=v2", "v=v2beta1");
    check_form("/apis", &[("accept", &format!("{beta},{json}"))], json);
    let of_protobuf = AGGREGATED.replace(json, protobuf);
    check_form("/apis", &[("accept", &of_protobuf)], &of_protobuf);
    let of_yaml = AGGREGATED.replace("json", "yaml");
    check_form("/apis", &[("accept", &of_yaml)], &of_yaml);
}

#[tokio::test]
async fn aggregated_documents_have_entity_tags() {
    let accept = ("accept", AGGREGATED);
    let answer = ask(&parts("/apis", &[accept])).unwrap();
    assert_eq!(answer.headers()["vary"], "Accept");
    assert_eq!(answer.headers()["cache-control"], "public");
    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(tag.len(), 128 + 2, "{tag}");
    let known = ask(&parts("/apis", &[accept, ("if-none-match", &tag)])).unwrap();
    assert_eq!(known.status(), 304);
    assert_eq!(known.headers()["etag"], *tag);
    assert!(bytes(known).await.is_empty());
    let other = ask(&parts("/apis", &[accept, ("if-none-match", "\"x\"")])).unwrap();
    assert_eq!(other.status(), 200);
    let core = ask(&parts("/api", &[accept])).unwrap();
    assert_ne!(core.headers()["etag"], *tag);
}

fn check_refused(parts: &Parts, code: u16, message: &str) {
    let status = ask(parts).unwrap_err();
    assert_eq!((status.code(), &*status.message), (code, message));
}

#[test]
fn what_cannot_be_had_is_refused_as_upstream_does() {
    let html = &[("accept", "text/html")];
    let types = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    let negotiated = format!("only the following media types are accepted: {types}");
    check_refused(&parts("/apis", html), 406, &negotiated);
    check_refused(&parts("/apis/apps", html), 406, &negotiated);
    check_refused(&parts("/apis/apps", &[("accept", AGGREGATED)]), 406, &negotiated);
    let routed = format!("406: Not Acceptable\n\nAvailable representations: {types}");
    check_refused(&parts("/api", html), 406, &routed);
    check_refused(&parts("/apis/apps/v1", html), 406, &routed);
    let missing = "the server could not find the requested resource";
    for path in ["/apis/apps/v9", "/api/v2", "/apis/apps//v1", "/api//v1", "/apis/apps/v1/a/b"] {
        check_refused(&parts(path, &[]), 404, missing);
    }
    let mut post = parts("/api/v1", &[]);
    post.method = http::Method::POST;
    let message = "the server does not allow this method on the requested resource";
    check_refused(&post, 405, message);
}

#[tokio::test]
async fn a_group_that_nobody_knows_is_no_page() {
    for path in ["/apis/nope", "/apis/nope/v1", "/apis//"] {
        let answer = ask(&parts(path, &[])).unwrap();
        assert_eq!(answer.status(), 404);
        assert_eq!(bytes(answer).await, b"404 page not found\n", "{path}");
    }
}
