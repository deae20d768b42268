//! Why a map is no struct, in the words of those who convert instead of decode.
//!
//! Upstream makes the object of a strategic merge patch without JSON in between, and its converter
//! has words of its own. Follows `apimachinery/pkg/runtime/converter.go`. Values with readers of
//! their own (times, quantities) are not here: what their readers say is all there is.

use crate::schema::{Field, Schema, StructId, Type};
use crate::value::Value;

/// The first thing that the converter finds wrong with the value, if anything.
#[must_use]
pub fn conversion_error(schema: &Schema, id: StructId, value: &Value) -> Option<String> {
    let Value::Map(map) = value else {
        return Some(format!("cannot restore struct from: {}", kind(value)));
    };
    let info = schema.get(id);
    let fields = info.order.iter().map(|&at| &info.fields[usize::from(at)]);
    fields
        .filter_map(|field| Some((field, map.get(&field.name)?)))
        .find_map(|(field, value)| convert(schema, &field.ty, type_name(field), value))
}

fn convert(schema: &Schema, ty: &Type, name: &str, value: &Value) -> Option<String> {
    match (ty, value) {
        (_, Value::Null) => None,
        (Type::Struct(id), _) => conversion_error(schema, *id, value),
        (Type::List(list), Value::List(items)) => {
            items.iter().find_map(|item| convert(schema, &list.item, "", item))
        }
        (Type::Map(map), Value::Map(entries)) => {
            entries.iter().find_map(|(_, value)| convert(schema, &map.value, "", value))
        }
        (Type::Bytes, Value::String(_)) => None,
        (Type::List(_) | Type::Bytes, _) => {
            Some(format!("cannot restore slice from {}", kind(value)))
        }
        (Type::Map(_), _) => Some(format!("cannot restore map from {}", kind(value))),
        _ => convert_scalar(ty, name, value),
    }
}

fn convert_scalar(ty: &Type, name: &str, value: &Value) -> Option<String> {
    let wanted = match ty {
        Type::Bool => "bool",
        Type::Int32 => "int32",
        Type::Int64 => "int64",
        Type::Float64 => "float64",
        Type::String => "string",
        _ => return None,
    };
    let name = if name.is_empty() { wanted } else { name };
    match (ty, value) {
        (Type::Bool, Value::Bool(_))
        | (Type::Int32 | Type::Int64 | Type::Float64, Value::Int(_))
        | (Type::Float64, Value::Float(_))
        | (Type::String, Value::String(_)) => None,
        (Type::Int32 | Type::Int64, Value::Float(number)) if number.trunc() == *number => None,
        // Go could convert these, but JSON cannot.
        (Type::Int32 | Type::Int64, Value::Float(_)) | (Type::String, Value::Int(_)) => {
            Some(format!("cannot convert {} to {name}", kind(value)))
        }
        _ => Some(format!("unrecognized type: {wanted}")),
    }
}

fn type_name(field: &Field) -> &str {
    field.extra.as_ref().map_or("", |extra| &extra.type_name)
}

/// What Go's `reflect` calls the kind of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::List(_) => "slice",
        Value::Map(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{json, schema};

    const SCHEMA: &str = "package test\nPod\n name string 1\n count int32 2\n on bool 3\n \
                          labels {string} 4\n items [Item] 5\nItem\n share float64 1\n";

    fn check(text: &str, expect: Option<&str>) {
        let schema = schema::parse(&[SCHEMA]).expect("a schema");
        let id = schema.find("test.Pod").expect("a struct");
        let value = json::parse(text.as_bytes()).expect("JSON");
        assert_eq!(conversion_error(&schema, id, &value).as_deref(), expect, "{text}");
    }

    #[test]
    fn the_first_misfit_is_named_by_kind() {
        check(r#"{"name":"a","count":2.0,"on":null,"items":[{"share":1}],"other":1}"#, None);
        check(r#"{"count":"many"}"#, Some("unrecognized type: int32"));
        check(r#"{"count":1.5,"on":1}"#, Some("cannot convert float64 to int32"));
        check(r#"{"name":1}"#, Some("cannot convert int64 to string"));
        check(r#"{"on":1}"#, Some("unrecognized type: bool"));
        check(r#"{"labels":[]}"#, Some("cannot restore map from slice"));
        check(r#"{"labels":{"a":true}}"#, Some("unrecognized type: string"));
        check(r#"{"items":{}}"#, Some("cannot restore slice from map"));
        check(r#"{"items":["a"]}"#, Some("cannot restore struct from: string"));
        check(r#"{"items":[{"share":"half"}]}"#, Some("unrecognized type: float64"));
    }
}
