//! Makes the documents, and packs them.
//!
//! What is not of a resource but served all the same, `/version`, is added here.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use orlop_machinery::openapi::{Documents, gnostic};
use orlop_machinery::{Value, json};

use super::{Document, Version2, Version3};
use crate::catalog::Catalog;
use crate::discovery::hash;
use crate::version::{MAJOR, MINOR};

/// The struct of what `/version` tells.
const INFO: &str = "io.k8s.apimachinery.pkg.version.Info";

/// The fields that are always told, and those that may be missing.
const REQUIRED: [&str; 9] = [
    "major",
    "minor",
    "gitVersion",
    "gitCommit",
    "gitTreeState",
    "buildDate",
    "goVersion",
    "compiler",
    "platform",
];
const OPTIONAL: [&str; 4] =
    ["emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"];

/// All documents of version 3.
pub(super) fn version_3(catalog: &Catalog) -> Version3 {
    let all = documents(catalog);
    let mut packed = BTreeMap::new();
    for name in all.names() {
        if let Some(document) = all.v3(&name) {
            packed.insert(name, pack(with_version(document)));
        }
    }
    if let Some(any) = all.v3("api") {
        packed.insert("version".to_owned(), pack(with_version(of_version(any))));
    }
    let mut paths = Value::Map(orlop_machinery::Map::new());
    for (name, document) in &packed {
        let location = location(name, &document.hash);
        paths.set(name, Value::from([("serverRelativeURL", location)]));
    }
    let index = pack(Value::from([("paths", paths)]));
    Version3 { index, documents: packed }
}

/// The document of version 2.
pub(super) fn version_2(catalog: &Catalog) -> Version2 {
    let mut document = with_version(documents(catalog).v2());
    if let Some(paths) = document.get_mut("paths") {
        paths.set("/version/", Value::from([("get", operation(Dialect::V2))]));
    }
    if let Some(definitions) = document.get_mut("definitions") {
        definitions.set(INFO, info(Dialect::V2));
    }
    let text = json::to_vec(&document);
    let hash = hash(&text);
    let protobuf = compress(&gnostic::encode(&document), hash.clone());
    Version2 { json: compress(&text, hash), protobuf }
}

/// Where a version 3 document stands under its hash.
pub(super) fn location(name: &str, hash: &str) -> String {
    format!("/openapi/v3/{name}?hash={hash}")
}

/// The documents of the resources whose schema is the built-in one. Others bring their own.
fn documents(catalog: &Catalog) -> Documents<'_> {
    let schema = orlop_kinds::schema();
    let built_in = catalog.iter().filter(|found| std::ptr::eq(&*found.schema, schema));
    Documents::new(schema, built_in.map(|definition| &definition.resource))
}

fn with_version(mut document: Value) -> Value {
    if let Some(info) = document.get_mut("info") {
        info.set("version", format!("{MAJOR}.{MINOR}"));
    }
    document
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    V2,
    V3,
}

/// The version 3 document of `/version`, made of another one.
fn of_version(mut document: Value) -> Value {
    document
        .set("paths", Value::from([("/version/", Value::from([("get", operation(Dialect::V3))]))]));
    document.entry("components").set("schemas", Value::from([(INFO, info(Dialect::V3))]));
    document
}

fn operation(dialect: Dialect) -> Value {
    let json = "application/json";
    let mut ok = Value::from([("description", "OK")]);
    let mut operation = Value::from([
        ("description", Value::from("get the version information for this server")),
        ("operationId", "getCodeVersion".into()),
        ("tags", vec!["version"].into()),
    ]);
    match dialect {
        Dialect::V2 => {
            ok.set("schema", Value::from([("$ref", format!("#/definitions/{INFO}"))]));
            operation.set("consumes", vec![json]);
            operation.set("produces", vec![json]);
            operation.set("schemes", vec!["https"]);
        }
        Dialect::V3 => {
            let schema = Value::from([("$ref", format!("#/components/schemas/{INFO}"))]);
            ok.set("content", Value::from([(json, Value::from([("schema", schema)]))]));
        }
    }
    let unauthorized = Value::from([("description", "Unauthorized")]);
    operation.set("responses", Value::from([("200", ok), ("401", unauthorized)]));
    operation
}

fn info(dialect: Dialect) -> Value {
    let mut properties = Value::Map(orlop_machinery::Map::new());
    for name in REQUIRED.into_iter().chain(OPTIONAL) {
        let mut property = Value::from([("type", "string")]);
        if dialect == Dialect::V3 && REQUIRED.contains(&name) {
            property.set("default", "");
        }
        properties.set(name, property);
    }
    Value::from([
        ("type", "object".into()),
        ("properties", properties),
        ("required", REQUIRED.to_vec().into()),
    ])
}

fn pack(document: Value) -> Document {
    let text = json::to_vec(&document);
    let hash = hash(&text);
    drop(document);
    compress(&text, hash)
}

fn compress(bytes: &[u8], hash: String) -> Document {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("a vector takes all bytes");
    let mut compressed = encoder.finish().expect("a vector takes all bytes");
    compressed.shrink_to_fit();
    Document { compressed: compressed.into(), len: bytes.len(), hash: hash.into() }
}
