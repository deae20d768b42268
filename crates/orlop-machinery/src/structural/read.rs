//! From an OpenAPI v3 schema to a [`Structural`] one.
//!
//! After `NewStructural` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/convert.go`, and the formats
//! that `pkg/apiserver/validation/formats.go` there keeps for a type. Schemas inside of `allOf` and
//! the like are read in the same way: they have no shape, but say what loose ones look like.

use super::format::Format;
use super::{
    Additional, ListIdentity, Pattern, Properties, Rules, Shape, Structural, StructuralError,
    ValueRules,
};
use crate::value::{Str, Value};

/// Deeper schemas are refused. JSON allows about this much for an object of schemas in schemas.
const DEPTH_MAX: usize = 256;

type Read<T> = Result<T, StructuralError>;

/// Reads a schema at a path.
pub(super) fn read(schema: &Value, path: &mut Vec<String>) -> Read<Structural> {
    if path.len() > DEPTH_MAX {
        return Err(error(path, "the schema is nested too deeply"));
    }
    let is_true = |name: &str| schema.at(name).bool();
    let is_int_or_string = is_true("x-kubernetes-int-or-string");
    let shape = if is_int_or_string { None } else { read_shape(schema, path)? };
    let loose_shapes = match shape {
        None if !is_int_or_string => read_loose_shapes(schema, path)?,
        _ => Vec::new(),
    };
    Ok(Structural {
        rules: read_rules(schema, shape.as_ref(), path)?,
        shape,
        loose_shapes,
        is_nullable: is_true("nullable"),
        default: schema.get("default").filter(|default| !default.is_null()).cloned(),
        preserves_unknown_fields: is_true("x-kubernetes-preserve-unknown-fields"),
        is_embedded_resource: is_true("x-kubernetes-embedded-resource"),
        is_int_or_string,
        validations: schema.at("x-kubernetes-validations").list().to_vec(),
    })
}

fn read_shape(schema: &Value, path: &mut Vec<String>) -> Read<Option<Shape>> {
    Ok(Some(match schema.at("type").str() {
        "" => return Ok(None),
        "boolean" => Shape::Boolean,
        "integer" => Shape::Integer,
        "number" => Shape::Number,
        "string" => Shape::String,
        "object" => read_object(schema, path)?,
        "array" => read_array(schema, path)?,
        ty => {
            let message = format!(
                "Unsupported value: \"{ty}\": supported values: \"array\", \"boolean\", \
                 \"integer\", \"number\", \"object\", \"string\""
            );
            return Err(error(path, &message));
        }
    }))
}

fn read_loose_shapes(schema: &Value, path: &mut Vec<String>) -> Read<Vec<Shape>> {
    let mut shapes = Vec::new();
    let is_object = !schema.at("properties").is_empty()
        || schema.get("additionalProperties").is_some_and(|value| !value.is_null());
    if is_object {
        shapes.push(read_object(schema, path)?);
    }
    if schema.at("items").as_map().is_some() {
        shapes.push(read_array(schema, path)?);
    }
    Ok(shapes)
}

fn read_object(schema: &Value, path: &mut Vec<String>) -> Read<Shape> {
    let is_atomic = schema.at("x-kubernetes-map-type").str() == "atomic";
    let (properties, additional) = (schema.at("properties"), schema.at("additionalProperties"));
    if !properties.is_empty() && additional.as_map().is_some() {
        return Err(error(path, "additionalProperties and properties are mutual exclusive"));
    }
    if additional.as_map().is_some() {
        let values = Box::new(read_at(additional, "additionalProperties", path)?);
        return Ok(Shape::Map { values, is_atomic });
    }
    let additional = match additional {
        Value::Bool(true) => Additional::Allowed,
        Value::Bool(false) => Additional::Refused,
        _ => Additional::Undeclared,
    };
    let mut read = Vec::with_capacity(properties.map().len());
    for (name, property) in properties.map().iter() {
        read.push((Str::new(name), read_at(property, &format!("properties[{name}]"), path)?));
    }
    let properties: Properties = read.into_iter().collect();
    Ok(Shape::Object { properties, additional, is_atomic })
}

fn read_array(schema: &Value, path: &mut Vec<String>) -> Read<Shape> {
    let items = Box::new(read_at(schema.at("items"), "items", path)?);
    Ok(Shape::Array { items, identity: read_identity(schema) })
}

fn read_at(schema: &Value, step: &str, path: &mut Vec<String>) -> Read<Structural> {
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

fn read_rules(schema: &Value, shape: Option<&Shape>, path: &mut Vec<String>) -> Read<Rules> {
    let int = |name: &str| schema.at(name).as_int();
    let bound = |name: &str, exclusive: &str| {
        schema.at(name).as_float().map(|bound| (bound, schema.at(exclusive).bool()))
    };
    let format = schema.at("format").str();
    let not = match schema.at("not") {
        Value::Map(_) => Some(Box::new(read_at(schema.at("not"), "not", path)?)),
        _ => None,
    };
    Ok(Rules::from(ValueRules {
        format: Str::new(format),
        known_format: known_format(format, shape),
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: schema.at("multipleOf").as_float(),
        length: (int("minLength"), int("maxLength")),
        pattern: Pattern::new(schema.at("pattern").str()),
        items: (int("minItems"), int("maxItems")),
        properties: (int("minProperties"), int("maxProperties")),
        choices: schema.at("enum").list().to_vec(),
        required: schema.at("required").list().iter().map(|name| Str::new(name.str())).collect(),
        all_of: read_list(schema, "allOf", path)?,
        any_of: read_list(schema, "anyOf", path)?,
        one_of: read_list(schema, "oneOf", path)?,
        not,
    }))
}

/// Formats of other types than that of the value count as none.
fn known_format(name: &str, shape: Option<&Shape>) -> Option<Format> {
    match shape {
        _ if name.is_empty() => None,
        None | Some(Shape::String) => Format::of_text(name),
        Some(Shape::Integer) => Format::of_integer(name),
        Some(Shape::Number) => Format::of_number(name),
        Some(_) => None,
    }
}

fn read_list(schema: &Value, name: &str, path: &mut Vec<String>) -> Read<Vec<Structural>> {
    let schemas = schema.at(name).list().iter().enumerate();
    schemas.map(|(at, schema)| read_at(schema, &format!("{name}[{at}]"), path)).collect()
}

fn error(path: &[String], message: &str) -> StructuralError {
    StructuralError { path: path.join("."), message: message.to_owned() }
}
