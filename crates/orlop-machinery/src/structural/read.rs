//! From an OpenAPI v3 schema to a [`Structural`] one.
//!
//! After `newStructural` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/convert.go`.

use std::collections::BTreeMap;

use super::{ListIdentity, Shape, Structural, StructuralError, ValueRules};
use crate::value::{Str, Value};

/// Deeper schemas are refused.
const DEPTH_MAX: usize = 64;

pub(super) fn read(schema: &Value, path: &mut Vec<String>) -> Result<Structural, StructuralError> {
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
