//! The OpenAPI documents of the built-in kinds, held against the recorded ones.
//!
//! What is compared is everything but prose: whole schemas, whole operations. The resources come
//! from the recorded discovery documents, so that this is about OpenAPI and not about the catalog.
//! The recording server had every feature on; what only features give (CBOR, versions that are not
//! stable) is left out of the comparison.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

mod recorded;

use std::collections::BTreeMap;
use std::path::Path;

use orlop_kinds::{catalog, schema};
use orlop_machinery::kind::{Resource, Scope, Subresource, Verb};
use orlop_machinery::openapi::Documents;
use orlop_machinery::value::Map;
use orlop_machinery::{Value, json};

const REFERENCE: &str = "#/components/schemas/";

#[test]
fn version_3_documents_are_as_recorded() {
    let Some(folder) = recorded::folder() else { return };
    let resources = recorded_resources(&folder);
    let documents = Documents::new(schema(), &resources);
    let mut differences = Vec::new();
    let mut count = 0;
    for name in documents.names() {
        let expect = normal(recorded_v3(&folder, &name));
        let have = normal(documents.v3(&name).unwrap());
        for part in [["components", "schemas"], ["paths", ""]] {
            let part: Vec<&str> = part.into_iter().filter(|key| !key.is_empty()).collect();
            count += expect.path(&part).map().len();
            compare(&name, have.path(&part), expect.path(&part), &mut differences);
        }
        for part in ["info", "openapi"] {
            assert_eq!(have.at(part), expect.at(part));
        }
    }
    println!("{count} schemas and paths compared");
    assert!(differences.is_empty(), "{}", report(&differences));
    assert!(count > 1500, "only {count} schemas and paths were compared");
}

#[test]
fn the_version_2_document_is_as_recorded() {
    let Some(folder) = recorded::folder() else { return };
    let resources = recorded_resources(&folder);
    let recorded = recorded::json(&folder.join("openapi-spec/swagger.json"));
    let mut expect = normal_v2(recorded);
    let have = normal_v2(Documents::new(schema(), &resources).v2());
    let is_ours = |name: &str| {
        let is_unstable = name.contains("alpha") || name.contains("beta");
        // Not of the API groups: who answers there says what it answers.
        let is_other = ["/logs", "/openid", "/.well-known", "/version"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        let group = name.strip_prefix("/apis/").and_then(|path| path.split('/').next());
        let is_unserved = ["internal.apiserver.k8s.io", "storagemigration.k8s.io"];
        !is_unstable
            && !is_other
            && !["version.Info", "meta.v1.GroupResource"].iter().any(|end| name.ends_with(end))
            && !group.is_some_and(|group| is_unserved.contains(&group))
    };
    let mut differences = Vec::new();
    let mut count = 0;
    for part in ["definitions", "paths"] {
        let part_of = expect.get_mut(part).unwrap().make_map();
        part_of.retain(|name, _| is_ours(name));
        count += part_of.len();
        compare(part, have.at(part), expect.at(part), &mut differences);
    }
    println!("{count} definitions and paths compared");
    assert!(differences.is_empty(), "{}", report(&differences));
    assert!(count > 900, "only {count} definitions and paths were compared");
}

#[test]
fn deletions_answer_as_recorded() {
    let Some(folder) = recorded::folder() else { return };
    let recorded = recorded_resources(&folder);
    let mut wrong = Vec::new();
    for entry in catalog().iter() {
        let same = |found: &&Resource| {
            found.plural == entry.resource.plural
                && found.api_version() == entry.resource.api_version()
        };
        let Some(found) = recorded.iter().find(same) else { continue };
        if found.returns_deleted != entry.resource.returns_deleted {
            wrong.push(format!("{} should be {}", found.kind, found.returns_deleted));
        }
    }
    assert!(wrong.is_empty(), "returns_deleted: {wrong:#?}");
}

/// What has another value here than there, with both.
fn compare(place: &str, have: &Value, expect: &Value, differences: &mut Vec<String>) {
    for (name, expected) in expect.map().iter() {
        match have.get(name) {
            None => differences.push(format!("{place}: {name} is missing")),
            Some(found) if found != expected => {
                let (found, expected) = (json::to_string(found), json::to_string(expected));
                differences.push(format!("{place}: {name}\n  have   {found}\n  expect {expected}"));
            }
            Some(_) => {}
        }
    }
    let excess = have.map().keys().filter(|name| expect.get(name).is_none());
    differences.extend(excess.map(|name| format!("{place}: {name} is too much")));
}

fn report(differences: &[String]) -> String {
    let shown = differences.iter().take(20).cloned().collect::<Vec<_>>();
    format!("{} differences\n{}", differences.len(), shown.join("\n"))
}

fn recorded_v3(folder: &Path, name: &str) -> Value {
    let file = format!("openapi-spec/v3/{}_openapi.json", name.replace('/', "__"));
    recorded::json(&folder.join(file))
}

/// Without prose, without CBOR, and with references written in one way.
fn normal(value: Value) -> Value {
    match value {
        Value::Map(map) => {
            let is_kept = |key: &str, value: &Value| {
                let is_prose = key == "description" && value.as_str().is_some();
                !is_prose && !key.contains("cbor")
            };
            let entries = map.into_iter().filter(|(key, value)| is_kept(key, value));
            let map: Map = entries.map(|(key, value)| (key, normal(value))).collect();
            match map.get("allOf").and_then(Value::as_list) {
                Some([reference]) if map.len() == 1 => reference.clone(),
                _ => Value::Map(map),
            }
        }
        Value::List(items) => {
            let is_kept = |item: &Value| !item.as_str().is_some_and(|text| text.contains("cbor"));
            Value::List(items.into_iter().filter(is_kept).map(normal).collect())
        }
        other => other,
    }
}

/// The same, with every parameter in its place, in the order of their names, and without versions
/// that are not stable among the kinds of a struct.
fn normal_v2(document: Value) -> Value {
    let mut document = normal(document);
    let shared = document.at("parameters").clone();
    let paths = document.get_mut("paths").unwrap().make_map();
    for (_, item) in paths.iter_mut() {
        for (_, operation) in item.make_map().iter_mut() {
            let parameters = match operation {
                Value::List(_) => operation,
                operation => match operation.get_mut("parameters") {
                    Some(parameters) => parameters,
                    None => continue,
                },
            };
            let sort_key = |found: &Value| {
                (found.at("name").str().to_owned(), found.at("in").str().to_owned())
            };
            let mut sorted = BTreeMap::new();
            for found in parameters.list() {
                let found = match found.at("$ref").str().strip_prefix("#/parameters/") {
                    Some(name) => shared.at(name),
                    None => found,
                };
                sorted.insert(sort_key(found), found.clone());
            }
            *parameters = Value::List(sorted.into_values().collect());
        }
    }
    let everywhere = document.get_mut("definitions").unwrap().make_map();
    for (_, definition) in everywhere.iter_mut() {
        let Some(kinds) = definition.get_mut("x-kubernetes-group-version-kind") else { continue };
        let unserved = ["admission.k8s.io", "extensions", "imagepolicy.k8s.io"];
        kinds.make_list().retain(|kind| {
            let version = kind.at("version").str();
            let is_stable = !version.contains("alpha") && !version.contains("beta");
            is_stable && !unserved.contains(&kind.at("group").str())
        });
    }
    document
}

/// What the recorded discovery documents tell of stable versions.
fn recorded_resources(folder: &Path) -> Vec<Resource> {
    let mut resources = Vec::new();
    for file in recorded::files(&folder.join("discovery"), "json") {
        let list = recorded::json(&file);
        let api_version = list.at("groupVersion").str();
        let is_list = list.at("kind").str() == "APIResourceList";
        if !is_list || api_version.contains("alpha") || api_version.contains("beta") {
            continue;
        }
        let name = file.file_stem().unwrap().to_str().unwrap().replace("__", "/");
        let document = recorded_v3(folder, &name);
        for found in list.at("resources").list() {
            match found.at("name").str().split_once('/') {
                None => resources.push(resource(api_version, found, &document)),
                Some((_, name)) => {
                    let last: &mut Resource = resources.last_mut().unwrap();
                    last.subresources.push(subresource(name, found, last));
                }
            }
        }
    }
    resources
}

fn resource(api_version: &str, found: &Value, document: &Value) -> Resource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let package = match group.split('.').next().unwrap() {
        "" => format!("io.k8s.api.core.{version}"),
        "apiextensions" => {
            format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.{version}")
        }
        "apiregistration" => format!("io.k8s.kube-aggregator.pkg.apis.apiregistration.{version}"),
        name => format!("io.k8s.api.{name}.{version}"),
    };
    let group_version = (leak(group), leak(version));
    let text = |field: &str| leak(found.at(field).str());
    let resource = Resource::namespaced(group_version, text("kind"), text("name"), &package);
    let scope = match found.at("namespaced").bool() {
        true => Scope::Namespaced,
        false => Scope::Cluster,
    };
    let returns_deleted = document.at("paths").map().values().any(|path| {
        let delete = path.at("delete");
        let answer = ["responses", "200", "content", "application/json", "schema", "$ref"];
        delete.at("x-kubernetes-action").str() == "delete"
            && delete.path(&answer).str().strip_prefix(REFERENCE)
                == Some(resource.schema_name.as_str())
    });
    Resource { scope, verbs: verbs(found), returns_deleted, ..resource }
}

fn subresource(name: &str, found: &Value, of: &Resource) -> Subresource {
    let (group, version) = match found.at("version").str() {
        "" => (of.group.as_str(), of.version.as_str()),
        version => (found.at("group").str(), version),
    };
    let kind = found.at("kind").str();
    let is_object = kind == of.kind && group == of.group;
    Subresource {
        name: leak(name),
        kind: (!is_object).then(|| (leak(group), leak(version), leak(kind))),
        verbs: verbs(found).leak(),
        rules: None,
    }
}

fn verbs(found: &Value) -> Vec<Verb> {
    let names: Vec<&str> = found.at("verbs").list().iter().map(Value::str).collect();
    Verb::ALL.into_iter().filter(|verb| names.contains(&verb.name())).collect()
}

fn leak(text: &str) -> &'static str {
    text.to_owned().leak()
}
