//! Reading and compiling schemas.

#![allow(clippy::unwrap_used, reason = "a test")]

use super::*;
use crate::schema::Identity;
use crate::{json, schema};

const CRON_TAB: &str = r#"{"type": "object", "properties": {"spec": {"type": "object",
    "properties": {
        "schedule": {"type": "string", "pattern": "^.+$"},
        "replicas": {"type": "integer", "minimum": 1, "default": 1},
        "port": {"x-kubernetes-int-or-string": true},
        "env": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"x-kubernetes-preserve-unknown-fields": true}}}}}"#;

fn compiled() -> (Schema, StructId) {
    let mut schema = schema::parse(&["package meta\nObjectMeta\n name string 1 omit\n"]).unwrap();
    let metadata = schema.find("meta.ObjectMeta").unwrap();
    let read = Structural::read(&json::parse(CRON_TAB.as_bytes()).unwrap()).unwrap();
    let id = read.compile(&mut schema, "CronTab", metadata);
    (schema, id)
}

#[test]
fn a_custom_resource_is_a_struct_with_metadata() {
    let (schema, id) = compiled();
    let names: Vec<&str> = schema.get(id).fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["apiVersion", "kind", "metadata", "spec"]);
    let Type::Struct(spec) = schema.get(id).field("spec").unwrap().ty else { panic!() };
    let spec = schema.get(spec);
    assert_eq!(spec.field("port").unwrap().ty, Type::IntOrString);
    assert_eq!(spec.field("free").unwrap().ty, Type::Any);
    assert_eq!(spec.field("replicas").unwrap().default(), Some(&Value::Int(1)));
    let Type::List(env) = &spec.field("env").unwrap().ty else { panic!() };
    assert_eq!(env.identity, Identity::Keys(vec!["name".into()]));
}

#[test]
fn what_values_may_be_is_kept() {
    let read = Structural::read(&json::parse(CRON_TAB.as_bytes()).unwrap()).unwrap();
    let Some(Shape::Object { properties, .. }) = read.shape else { panic!() };
    let Some(Shape::Object { properties, .. }) = &properties["spec"].shape else { panic!() };
    assert_eq!(properties["replicas"].rules.minimum, Some((1.0, false)));
    assert_eq!(properties["schedule"].rules.pattern, "^.+$");
}

#[test]
fn bad_schemas_are_refused() {
    let check = |text: &str, expect: &str| {
        let read = Structural::read(&json::parse(text.as_bytes()).unwrap());
        assert_eq!(read.unwrap_err().to_string(), expect);
    };
    check(
        r#"{"type": "object", "properties": {"a": {"type": "text"}}}"#,
        "properties[a]: Unsupported value: \"text\": supported values: \"array\", \"boolean\", \
         \"integer\", \"number\", \"object\", \"string\"",
    );
    check(
        r#"{"type": "object", "properties": {"a": {}}, "additionalProperties": {}}"#,
        ": additionalProperties and properties are mutual exclusive",
    );
    let deep = r#"{"type":"array","items":"#.repeat(80) + "{}" + &"}".repeat(80);
    assert!(Structural::read(&json::parse(deep.as_bytes()).unwrap()).is_err());
}
