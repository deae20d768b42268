//! The recorded OpenAPI version 2 document as protobuf, read back by a reader that knows nothing of
//! the one that wrote it.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

mod recorded;

use std::collections::BTreeMap;

use orlop_machinery::openapi::gnostic;
use orlop_machinery::{Value, json};

/// How many bytes gnostic itself makes of the recorded document, and their FNV-1a hash.
const GNOSTIC: (usize, u64) = (2_613_538, 0xee28_689c_18d6_760e);

/// The fields of a message by their number: bytes, or a number as eight bytes.
type Fields<'a> = BTreeMap<u64, Vec<&'a [u8]>>;

fn fields(mut message: &[u8]) -> Fields<'_> {
    let mut fields = Fields::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let length = match tag & 7 {
            0 => {
                varint(&mut message);
                0
            }
            1 => 8,
            2 => usize::try_from(varint(&mut message)).unwrap(),
            wire => panic!("wire type {wire}"),
        };
        let (value, rest) = message.split_at(length);
        message = rest;
        fields.entry(tag >> 3).or_default().push(value);
    }
    fields
}

fn varint(message: &mut &[u8]) -> u64 {
    let mut number = 0;
    for at in 0.. {
        let (byte, rest) = message.split_first().unwrap();
        *message = rest;
        number |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            break;
        }
    }
    number
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The entries of a message of named values at `number`.
fn named<'a>(fields: &Fields<'a>, number: u64) -> Vec<(&'a str, &'a [u8])> {
    let entries = fields.get(&number).into_iter().flatten().map(|entry| self::fields(entry));
    entries.map(|entry| (text(entry[&1][0]), entry[&2][0])).collect()
}

/// Vendor extensions: their YAML is JSON again once it is read.
fn extensions(fields: &Fields<'_>, number: u64) -> Vec<String> {
    named(fields, number).into_iter().map(|(name, _)| name.to_owned()).collect()
}

fn keys<'a>(value: &'a Value, starts_with: &str) -> Vec<&'a str> {
    value.map().keys().filter(|key| key.starts_with(starts_with)).collect()
}

fn check_schema(message: &[u8], schema: &Value) {
    let fields = fields(message);
    let string = |number| fields.get(&number).map_or("", |values| text(values[0]));
    assert_eq!(string(1), schema.at("$ref").str());
    assert_eq!(string(2), schema.at("format").str());
    assert_eq!(string(4), schema.at("description").str());
    let required = fields.get(&19).into_iter().flatten();
    let required: Vec<&str> = required.map(|name| text(name)).collect();
    let expect: Vec<&str> = schema.at("required").list().iter().map(Value::str).collect();
    assert_eq!(required, expect);
    assert_eq!(extensions(&fields, 31), keys(schema, "x-"));
    if let Some(ty) = fields.get(&22) {
        assert_eq!(text(self::fields(ty[0])[&1][0]), schema.at("type").str());
    }
    if let Some(items) = fields.get(&23) {
        check_schema(self::fields(items[0])[&1][0], schema.at("items"));
    }
    let properties = fields.get(&25).map(|values| self::fields(values[0])).unwrap_or_default();
    let properties = named(&properties, 1);
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, keys(schema.at("properties"), ""));
    for (name, property) in properties {
        check_schema(property, schema.at("properties").at(name));
    }
}

/// The numbers of the operations of a path.
const METHODS: [(u64, &str); 7] =
    [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (6, "options"), (7, "head"), (8, "patch")];

fn check_path(message: &[u8], path: &Value) {
    let fields = fields(message);
    assert_eq!(fields.get(&9).map_or(0, Vec::len), path.at("parameters").list().len());
    for (number, method) in METHODS {
        let operation = path.at(method);
        let Some(message) = fields.get(&number) else {
            assert!(operation.is_null());
            continue;
        };
        let fields = self::fields(message[0]);
        assert_eq!(text(fields[&5][0]), operation.at("operationId").str());
        let responses = self::fields(fields[&9][0]);
        let codes: Vec<&str> = named(&responses, 1).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, keys(operation.at("responses"), ""));
        let parameters = operation.at("parameters").list();
        assert_eq!(fields.get(&8).map_or(0, Vec::len), parameters.len());
        assert_eq!(extensions(&fields, 13), keys(operation, "x-"));
    }
}

#[test]
fn the_document_has_all_paths_and_definitions() {
    let Some(folder) = recorded::folder() else { return };
    let document = recorded::json(&folder.join("openapi-spec/swagger.json"));
    let message = gnostic::encode(&document);
    let fields = fields(&message);
    assert_eq!(text(fields[&1][0]), "2.0");

    let definitions = named(&self::fields(fields[&9][0]), 1);
    assert_eq!(definitions.len(), document.at("definitions").map().len());
    for (name, schema) in &definitions {
        check_schema(schema, document.at("definitions").at(name));
    }
    let paths = named(&self::fields(fields[&8][0]), 2);
    assert_eq!(paths.len(), document.at("paths").map().len());
    for (name, path) in &paths {
        check_path(path, document.at("paths").at(name));
    }
    println!("{} definitions, {} paths", definitions.len(), paths.len());
}

#[test]
fn the_bytes_are_those_that_gnostic_makes() {
    let Some(folder) = recorded::folder() else { return };
    let document = recorded::json(&folder.join("openapi-spec/swagger.json"));
    let message = gnostic::encode(&document);
    let hash = message.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    assert_eq!((message.len(), hash), GNOSTIC);
}

#[test]
fn extensions_are_yaml() {
    let document = json::parse(
        br#"{"definitions":{"A":{"x-kubernetes-group-version-kind":[{"group":"","kind":"A"}]}}}"#,
    );
    let message = gnostic::encode(&document.unwrap());
    let definitions = fields(&message);
    let schema = named(&fields(definitions[&9][0]), 1)[0].1;
    let (name, any) = named(&fields(schema), 31)[0];
    assert_eq!(name, "x-kubernetes-group-version-kind");
    assert_eq!(text(fields(any)[&2][0]), "- group: \"\"\n  kind: A\n");
}
