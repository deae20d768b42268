//! Reading and compiling schemas, and what the cases of upstream do not show.

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
    assert_eq!(properties["schedule"].rules.pattern.as_str(), "^.+$");
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
    let deep = r#"{"type":"array","items":"#.repeat(300) + "{}" + &"}".repeat(300);
    assert!(Structural::read(&json::parse(deep.as_bytes()).unwrap()).is_err());
}

const META: &str = "package meta\nObjectMeta\n name string 1 omit\n labels {string} 2 omit\n";

fn read(text: &str) -> Structural {
    Structural::read(&json::parse(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn a_schema_takes_little_memory() {
    assert!(size_of::<Structural>() <= 168, "{}", size_of::<Structural>());
    assert_eq!(size_of::<Rules>(), 8);
}

#[test]
fn malformed_metadata_goes_when_it_was_stored() {
    let schema = schema::parse(&[META]).unwrap();
    let metadata = Metadata { id: schema.find("meta.ObjectMeta").unwrap(), schema: &schema };
    let structural = read(
        r#"{"type": "object", "properties": {"a": {"type": "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true}}}"#,
    );
    let object = br#"{"metadata": {"name": 1, "labels": {"x": "y"}},
        "a": {"apiVersion": 5, "kind": "A", "metadata": {"name": "a", "labels": 7, "b": 1}}}"#;
    let mut stored = json::parse(object).unwrap();
    coerce_metadata(&mut stored, metadata, Malformed::Dropped).unwrap();
    let unknown = structural.coerce_embedded(&mut stored, metadata, Malformed::Dropped).unwrap();
    assert_eq!(unknown, ["a.metadata.b"]);
    let expect = r#"{"a":{"kind":"A","metadata":{"name":"a"}},"metadata":{"labels":{"x":"y"}}}"#;
    assert_eq!(json::to_string(&stored), expect);
    let mut sent = json::parse(object).unwrap();
    assert!(coerce_metadata(&mut sent, metadata, Malformed::Refused).is_err());
    let error = structural.coerce_embedded(&mut sent, metadata, Malformed::Refused).unwrap_err();
    assert_eq!(error.to_string(), "a.apiVersion: Invalid value: 5: must be a string");
}

#[test]
fn old_values_are_found_by_name_and_key() {
    let structural = read(
        r#"{"type": "object", "properties": {"l": {"type": "array",
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {"type": "string"},
                "v": {"type": "integer"}}}}}}"#,
    );
    let new = json::parse(br#"{"l": [{"k": "b", "v": 1}, {"k": "c"}, {}]}"#).unwrap();
    let old = json::parse(br#"{"l": [{"k": "a"}, {"k": "b", "v": 2}, {"k": "b"}]}"#).unwrap();
    let list = Correlation::new(&structural, &new, &old).key("l").unwrap();
    let items = list.old_items();
    assert_eq!(items.correlate(0).unwrap().old().at("v"), &Value::Int(2));
    assert!(!items.correlate(0).unwrap().is_equal());
    assert!(items.correlate(0).unwrap().key("k").unwrap().is_equal());
    assert!(items.correlate(1).is_none() && items.correlate(2).is_none());
    assert!(items.correlate(3).is_none());
}

#[test]
fn compiled_types_keep_what_schemas_keep() {
    let mut schema = schema::parse(&[META]).unwrap();
    let metadata = schema.find("meta.ObjectMeta").unwrap();
    let structural = read(
        r#"{"type": "object", "properties": {
            "list": {"type": "array", "x-kubernetes-preserve-unknown-fields": true,
                "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "open": {"type": "object", "additionalProperties": true,
                "properties": {"a": {"type": "string"}}},
            "closed": {"type": "object", "properties": {"a": {"type": "string"}}}}}"#,
    );
    let id = structural.compile(&mut schema, "A", metadata);
    let keeps = |ty: &Type| {
        let Type::Struct(id) = ty else { panic!() };
        schema.get(*id).keeps_unknown
    };
    let field = |name: &str| &schema.get(id).field(name).unwrap().ty;
    let Type::List(list) = field("list") else { panic!() };
    assert!(keeps(&list.item) && keeps(field("open")) && !keeps(field("closed")));
}
