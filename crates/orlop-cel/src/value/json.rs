//! Reading JSON by its declared type.
//!
//! After `UnstructuredToVal` in
//! `staging/src/k8s.io/apiserver/pkg/cel/common/valuesunstructured.go`. Data that is not what the
//! schema declares gives upstream's errors: an object from before a schema change can be such.

use orlop_machinery::Value as Json;

use crate::decl_type::{DeclType, Shape};
use crate::error::EvalError;

use super::{List, Map, Value};

impl<'a> Value<'a> {
    /// Reads JSON by its declared type. Lists, maps and text stay where they are.
    ///
    /// # Errors
    ///
    /// When the data is not what is declared.
    pub fn from_json(json: &'a Json, decl: &'a DeclType) -> Result<Value<'a>, EvalError> {
        match (decl.shape(), json) {
            (Shape::Dyn, _) => Ok(dynamic(json, decl)),
            (_, Json::Null) if decl.is_nullable() => Ok(Value::Null),
            (_, Json::Null) => {
                Err(EvalError::fixed("invalid data, got null for schema with nullable=false"))
            }
            (Shape::Object(_) | Shape::Map { .. }, Json::Map(entries)) => {
                Ok(Value::Map(Map::Json { entries, decl }))
            }
            (Shape::List { .. }, Json::List(items)) => Ok(Value::List(List::Json { items, decl })),
            (Shape::String | Shape::IntOrString, Json::String(text)) => Ok(Value::str(text)),
            (Shape::Int | Shape::IntOrString, Json::Int(number)) => Ok(Value::Int(*number)),
            (Shape::Double, Json::Int(_) | Json::Float(_)) => {
                Ok(Value::Double(json.as_float().unwrap_or_default()))
            }
            (Shape::Bool, Json::Bool(truth)) => Ok(Value::Bool(*truth)),
            (Shape::Preserved, _) => Ok(Value::Preserved(json)),
            (Shape::Bytes, Json::String(_))
            | (Shape::Duration, Json::String(_))
            | (Shape::Date, Json::String(_))
            | (Shape::DateTime, Json::String(_)) => Err(EvalError::fixed("not read yet")),
            _ => Err(mismatch(decl.shape(), json)),
        }
    }
}

fn dynamic<'a>(json: &'a Json, decl: &'a DeclType) -> Value<'a> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Int(number) => Value::Int(*number),
        Json::Float(number) => Value::Double(*number),
        Json::String(text) => Value::str(text),
        Json::List(items) => Value::List(List::Json { items, decl }),
        Json::Map(entries) => Value::Map(Map::Json { entries, decl }),
    }
}

fn mismatch(shape: &Shape, json: &Json) -> EvalError {
    let wanted = match shape {
        Shape::Object(_) | Shape::Map { .. } => {
            return EvalError::fixed(
                "invalid data, expected a map for the provided schema with type=object",
            );
        }
        Shape::List { .. } => {
            return EvalError::fixed(
                "invalid data, expected an array for the provided schema with type=array",
            );
        }
        Shape::IntOrString => {
            return EvalError::fixed(
                "invalid data, expected XIntOrString value to be either a string or integer",
            );
        }
        Shape::Double => "float",
        Shape::Int => "int",
        Shape::Bool => "bool",
        _ => "string",
    };
    EvalError::new(format!("invalid data, expected {wanted}, got {}", go_type(json)))
}

/// What Go calls the type of decoded JSON.
fn go_type(json: &Json) -> &'static str {
    match json {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Int(_) => "int64",
        Json::Float(_) => "float64",
        Json::String(_) => "string",
        Json::List(_) => "[]interface {}",
        Json::Map(_) => "map[string]interface {}",
    }
}
