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

use std::collections::BTreeMap;

use crate::schema::{
    Extra, Field, Identity, List, MapOf, Omit, Patch, Schema, Struct, StructId, Type,
};
use crate::value::{Str, Value};

/// Deeper schemas are refused.
const DEPTH_MAX: usize = 64;

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
        read(schema, &mut Vec::new())
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

fn read(schema: &Value, path: &mut Vec<String>) -> Result<Structural, StructuralError> {
    if path.len() > DEPTH_MAX {
        return Err(error(path, "the schema is nested too deeply"));
    }
    let is_true = |name: &str| schema.at(name).bool();
    let is_int_or_string = is_true("x-kubernetes-int-or-string");
    Ok(Structural {
        shape: if is_int_or_string { None } else { read_shape(schema, path)? },
        is_nullable: is_true("nullable"),
        default: schema.get("default").cloned(),
        preserves_unknown_fields: is_true("x-kubernetes-preserve-unknown-fields"),
        is_embedded_resource: is_true("x-kubernetes-embedded-resource"),
        is_int_or_string,
        rules: read_rules(schema),
        validations: schema.at("x-kubernetes-validations").list().to_vec(),
    })
}

fn read_shape(schema: &Value, path: &mut Vec<String>) -> Result<Option<Shape>, StructuralError> {
    Ok(Some(match schema.at("type").str() {
        "" => return Ok(None),
        "boolean" => Shape::Boolean,
        "integer" => Shape::Integer,
        "number" => Shape::Number,
        "string" => Shape::String,
        "object" => read_object(schema, path)?,
        "array" => Shape::Array {
            items: Box::new(read_at(schema.at("items"), "items", path)?),
            identity: read_identity(schema),
        },
        ty => {
            let message = format!(
                "Unsupported value: \"{ty}\": supported values: \"array\", \"boolean\", \
                 \"integer\", \"number\", \"object\", \"string\""
            );
            return Err(error(path, &message));
        }
    }))
}

fn read_object(schema: &Value, path: &mut Vec<String>) -> Result<Shape, StructuralError> {
    let is_atomic = schema.at("x-kubernetes-map-type").str() == "atomic";
    let (properties, additional) = (schema.at("properties"), schema.at("additionalProperties"));
    if !properties.is_empty() && additional.as_map().is_some() {
        return Err(error(path, "additionalProperties and properties are mutual exclusive"));
    }
    match additional {
        Value::Map(_) => {
            let values = Box::new(read_at(additional, "additionalProperties", path)?);
            Ok(Shape::Map { values, is_atomic })
        }
        Value::Bool(true) => {
            let values = Structural { preserves_unknown_fields: true, ..Structural::default() };
            Ok(Shape::Map { values: Box::new(values), is_atomic })
        }
        _ => {
            let mut read = BTreeMap::new();
            for (name, property) in properties.map().iter() {
                let step = format!("properties[{name}]");
                read.insert(Str::new(name), read_at(property, &step, path)?);
            }
            Ok(Shape::Object { properties: read, is_atomic })
        }
    }
}

fn read_at(
    schema: &Value,
    step: &str,
    path: &mut Vec<String>,
) -> Result<Structural, StructuralError> {
    path.push(step.to_owned());
    let result = read(schema, path);
    path.pop();
    result
}

fn read_identity(schema: &Value) -> ListIdentity {
    match schema.at("x-kubernetes-list-type").str() {
        "set" => ListIdentity::Set,
        "map" => {
            let keys = schema.at("x-kubernetes-list-map-keys").list();
            ListIdentity::Map(keys.iter().map(|key| Str::new(key.str())).collect())
        }
        _ => ListIdentity::Atomic,
    }
}

fn read_rules(schema: &Value) -> ValueRules {
    let int = |name: &str| schema.at(name).as_int();
    let bound = |name: &str, exclusive: &str| {
        schema.at(name).as_float().map(|bound| (bound, schema.at(exclusive).bool()))
    };
    let junctors = ["allOf", "anyOf", "oneOf", "not"];
    ValueRules {
        format: Str::new(schema.at("format").str()),
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: schema.at("multipleOf").as_float(),
        length: (int("minLength"), int("maxLength")),
        pattern: Str::new(schema.at("pattern").str()),
        items: (int("minItems"), int("maxItems")),
        properties: (int("minProperties"), int("maxProperties")),
        choices: schema.at("enum").list().to_vec(),
        required: schema.at("required").list().iter().map(|name| Str::new(name.str())).collect(),
        junctors: junctors
            .iter()
            .filter_map(|name| Some((Str::const_new(name), schema.get(name)?.clone())))
            .collect(),
    }
}

fn error(path: &[String], message: &str) -> StructuralError {
    StructuralError { path: path.join("."), message: message.to_owned() }
}

/// Where a schema stands: objects with metadata have some fields whatever the schema says.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    Root,
    Inside,
}

struct Compiler {
    metadata: StructId,
}

impl Compiler {
    fn ty(&self, schema: &mut Schema, node: &Structural, name: &str) -> Type {
        if node.is_int_or_string {
            return Type::IntOrString;
        }
        match &node.shape {
            None => Type::Any,
            Some(Shape::Boolean) => Type::Bool,
            Some(Shape::Integer) => Type::Int64,
            Some(Shape::Number) => Type::Float64,
            Some(Shape::String) => Type::String,
            Some(Shape::Object { .. }) => self.structure(schema, node, name, Position::Inside),
            Some(Shape::Map { values, is_atomic }) => {
                let value = self.ty(schema, values, &format!("{name}.*"));
                Type::Map(Box::new(MapOf { value, is_atomic: *is_atomic }))
            }
            Some(Shape::Array { items, identity }) => {
                let item = self.ty(schema, items, &format!("{name}[]"));
                let identity = match identity {
                    ListIdentity::Atomic => Identity::Atomic { is_declared: false },
                    ListIdentity::Set => Identity::Set,
                    ListIdentity::Map(keys) => Identity::Keys(keys.clone()),
                };
                let is_item_pointer = items.is_nullable;
                Type::List(Box::new(List { item, is_item_pointer, identity, is_wrapped: false }))
            }
        }
    }

    /// The struct of an object; anything for an object of which nothing is known.
    fn structure(
        &self,
        schema: &mut Schema,
        node: &Structural,
        name: &str,
        position: Position,
    ) -> Type {
        let nothing = BTreeMap::new();
        let (properties, is_atomic) = match &node.shape {
            Some(Shape::Object { properties, is_atomic }) => (properties, *is_atomic),
            _ => (&nothing, false),
        };
        let has_metadata = position == Position::Root || node.is_embedded_resource;
        let mut fields: BTreeMap<Str, Field> = BTreeMap::new();
        for (field, property) in properties {
            let ty = self.ty(schema, property, &format!("{name}.{field}"));
            fields.insert(field.clone(), new_field(field, ty, property));
        }
        if has_metadata {
            for (field, ty) in [
                ("apiVersion", Type::String),
                ("kind", Type::String),
                ("metadata", Type::Struct(self.metadata)),
            ] {
                fields.insert(Str::const_new(field), new_field(field, ty, &Structural::default()));
            }
        }
        let fields = fields.into_values().collect();
        let keeps_unknown = node.preserves_unknown_fields;
        let new = Struct { is_atomic, keeps_unknown, ..new_struct(name, fields) };
        Type::Struct(schema.add(new))
    }
}

/// Fields are written in the order of their names: nothing else is declared.
fn new_struct(name: &str, fields: Vec<Field>) -> Struct {
    let count = u16::try_from(fields.len()).unwrap_or(u16::MAX);
    Struct { name: Str::new(name), fields, order: (0..count).collect(), ..Struct::default() }
}

fn new_field(name: &str, ty: Type, node: &Structural) -> Field {
    let default = node.default.clone();
    let extra =
        default.map(|default| Box::new(Extra { default: Some(default), ..Extra::default() }));
    Field {
        name: Str::new(name),
        ty,
        // What was sent is kept as it was sent.
        is_pointer: true,
        omit: Omit::Empty,
        is_required: false,
        is_atomic: false,
        is_granular: false,
        tag: None,
        patch: Patch::default(),
        merge_key: Str::const_new(""),
        extra,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;
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
