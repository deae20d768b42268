//! Makes the documents, and packs them.
//!
//! What is not of a resource but served all the same, `/version`, is added here.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use orlop_machinery::kind::Resource;
use orlop_machinery::openapi::{CustomSchema, Documents, gnostic};
use orlop_machinery::{Map, Value, json};

use super::{Document, Version2, Version3};
use crate::catalog::Catalog;
use crate::definition::Definition;
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

/// The documents of version 3 of built-in kinds.
pub(super) fn version_3(catalog: &Catalog) -> Version3 {
    let all = built_in(catalog);
    let mut packed = BTreeMap::new();
    for name in all.names() {
        if let Some(document) = all.v3(&name) {
            packed.insert(name, pack(with_version(document)));
        }
    }
    if let Some(any) = all.v3("api") {
        packed.insert("version".to_owned(), pack(with_version(of_version(any))));
    }
    Version3 { documents: packed }
}

/// What tells of the documents of built-in kinds and of those of custom resources.
pub(super) fn index(built_in: Option<&BTreeMap<String, Document>>, catalog: &Catalog) -> Document {
    let mut paths = Value::Map(Map::new());
    let mut add = |name: &str, hash: &str| {
        paths.set(name, Value::from([("serverRelativeURL", location(name, hash))]));
    };
    for (name, document) in built_in.into_iter().flatten() {
        add(name, &document.hash);
    }
    let mut custom: BTreeMap<String, Vec<&Definition>> = BTreeMap::new();
    for definition in announced_custom(catalog) {
        custom.entry(format!("apis/{}", definition.api_version)).or_default().push(definition);
    }
    for (name, definitions) in custom {
        if !built_in.is_some_and(|all| all.contains_key(&name)) {
            add(&name, &hash_of(&definitions));
        }
    }
    pack(Value::from([("paths", paths)]))
}

/// The document of a version of custom resources; none if there are none in it.
pub(super) fn custom(catalog: &Catalog, name: &str) -> Option<Document> {
    let api_version = name.strip_prefix("apis/")?;
    let definitions: Vec<&Definition> =
        announced_custom(catalog).filter(|known| known.api_version == api_version).collect();
    if definitions.is_empty() {
        return None;
    }
    let documents = Documents::new(orlop_kinds::schema(), []);
    let documents = documents.with_custom(with_schemas(&definitions));
    let document = with_version(documents.v3(name)?);
    Some(compress(&json::to_vec(&document), hash_of(&definitions)))
}

/// The custom resources that clients are told of.
fn announced_custom(catalog: &Catalog) -> impl Iterator<Item = &Definition> {
    let all = catalog.iter().map(|definition| &**definition);
    all.filter(|known| {
        known.kind.custom_schema().is_some() && !known.resource.announced_verbs.is_empty()
    })
}

fn with_schemas<'a>(
    definitions: &[&'a Definition],
) -> impl Iterator<Item = (&'a Resource, CustomSchema<'a>)> {
    let both = |known: &&'a Definition| Some((&known.resource, known.kind.custom_schema()?));
    definitions.iter().filter_map(both)
}

/// Changes whenever the document of these would: it is known without making the document.
fn hash_of(definitions: &[&Definition]) -> String {
    let mut definitions = definitions.to_vec();
    definitions.sort_by(|a, b| a.resource.plural.cmp(&b.resource.plural));
    let mut text = Vec::new();
    for (resource, custom) in with_schemas(&definitions) {
        let names = [&resource.plural, &resource.kind, &resource.list_kind];
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let subresources = resource.subresources.iter().map(|known| known.name);
        let told = (names, subresources.collect::<Vec<_>>(), resource.scope, custom.keeps_unknown);
        text.extend_from_slice(format!("{told:?}").as_bytes());
        text.extend_from_slice(&json::to_vec(custom.schema));
        text.extend_from_slice(&json::to_vec(custom.selectable));
    }
    hash(&text)
}

/// The document of version 2.
pub(super) fn version_2(catalog: &Catalog) -> Version2 {
    let custom: Vec<&Definition> = announced_custom(catalog).collect();
    let documents = built_in(catalog).with_custom(with_schemas(&custom));
    let mut document = with_version(documents.v2());
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
fn built_in(catalog: &Catalog) -> Documents<'_> {
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
