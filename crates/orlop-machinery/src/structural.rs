//! Structural schemas: how a custom resource says what its objects are made of.
//!
//! A [`Structural`] is an OpenAPI v3 schema in which every value has one known shape: the shape is
//! in the nodes, and what values may be is in [`ValueRules`]. After
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema`. [`Structural::compile`] makes
//! the struct of a [`Schema`] of it, so that decoding, patches, apply and OpenAPI treat objects of
//! custom resources as those of built-in kinds.
//!
//! Not here yet: pruning, defaulting and validation of values, which walk the same nodes. The rules
//! that a schema itself must keep stand with the kind that carries schemas.

mod compile;
mod read;

use std::collections::BTreeMap;

use crate::schema::{Schema, Struct, StructId, Type};
use crate::value::{Str, Value};
use compile::{Compiler, Position, new_struct};

/// A schema of one value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structural {
    /// What the value is; none where only an extension tells.
    pub shape: Option<Shape>,
    /// Whether null is a value.
    pub is_nullable: bool,
    /// What a missing value is.
    pub default: Option<Value>,
    /// Whether fields that are not listed stay.
    pub preserves_unknown_fields: bool,
    /// Whether the value is an object with kind and metadata of its own.
    pub is_embedded_resource: bool,
    /// Whether the value is a whole number or text.
    pub is_int_or_string: bool,
    /// What the value may be, beside its shape.
    pub rules: ValueRules,
    /// `x-kubernetes-validations`, as they were written.
    pub validations: Vec<Value>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// true or false
    Boolean,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Text.
    String,
    /// Fields by name.
    Object {
        /// Those that are listed.
        properties: BTreeMap<Str, Structural>,
        /// Whether the object changes as a whole.
        is_atomic: bool,
    },
    /// Values by key.
    Map {
        /// What a value is.
        values: Box<Structural>,
        /// Whether the map changes as a whole.
        is_atomic: bool,
    },
    /// Items in order.
    Array {
        /// What an item is.
        items: Box<Structural>,
        /// How items are told apart.
        identity: ListIdentity,
    },
}

/// How the items of a list are told apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ListIdentity {
    /// Not at all.
    #[default]
    Atomic,
    /// By value.
    Set,
    /// By these fields.
    Map(Vec<Str>),
}

/// What a value may be. Everything is optional.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueRules {
    /// What kind of text or number it is, such as `date-time`.
    pub format: Str,
    /// Bounds of a number, and whether the bounds themselves are out.
    pub minimum: Option<(f64, bool)>,
    /// The same upwards.
    pub maximum: Option<(f64, bool)>,
    /// A number divides by it.
    pub multiple_of: Option<f64>,
    /// Bounds of the length of a text.
    pub length: (Option<i64>, Option<i64>),
    /// A regular expression that a text matches.
    pub pattern: Str,
    /// Bounds of the number of items.
    pub items: (Option<i64>, Option<i64>),
    /// Bounds of the number of fields.
    pub properties: (Option<i64>, Option<i64>),
    /// The only values.
    pub choices: Vec<Value>,
    /// Fields that must be there.
    pub required: Vec<Str>,
    /// `allOf`, `anyOf`, `oneOf` and `not`, as they were written.
    pub junctors: Vec<(Str, Value)>,
}

/// Why a schema cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct StructuralError {
    /// The path of the schema.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl Structural {
    /// Reads an OpenAPI v3 schema (`JSONSchemaProps`).
    ///
    /// # Errors
    ///
    /// When a type is unknown, when an object has both properties and additional ones, or when the
    /// schema is nested too deeply.
    pub fn read(schema: &Value) -> Result<Structural, StructuralError> {
        read::read(schema, &mut Vec::new())
    }

    /// Adds the struct of a custom resource to a schema that has the struct of metadata.
    #[must_use]
    pub fn compile(&self, schema: &mut Schema, name: &str, metadata: StructId) -> StructId {
        let root = Compiler { metadata }.structure(schema, self, name, Position::Root);
        match root {
            Type::Struct(id) => id,
            _ => schema.add(Struct { keeps_unknown: true, ..new_struct(name, Vec::new()) }),
        }
    }
}

#[cfg(test)]
mod tests {
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
        let mut schema =
            schema::parse(&["package meta\nObjectMeta\n name string 1 omit\n"]).unwrap();
        let metadata = schema.find("meta.ObjectMeta").unwrap();
        let read = Structural::read(&json::parse(CRON_TAB.as_bytes()).unwrap()).unwrap();
        let id = read.compile(&mut schema, "CronTab", metadata);
        (schema, id)
    }

    #[test]
    fn a_custom_resource_is_a_struct_with_metadata() {
        let (schema, id) = compiled();
        let names: Vec<&str> =
            schema.get(id).fields.iter().map(|field| field.name.as_str()).collect();
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
}
