//! Reading JSON by its declared type.
//!
//! After `UnstructuredToVal` in
//! `staging/src/k8s.io/apiserver/pkg/cel/common/valuesunstructured.go`. Data that is not what the
//! schema declares gives upstream's errors: an object from before a schema change can be such.

use orlop_machinery::duration::Duration;
use orlop_machinery::{Value as Json, bytes};

use crate::decl_type::{DeclType, Shape};
use crate::error::EvalError;
use crate::timestamp::Timestamp;

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
            (
                Shape::Bytes | Shape::Duration | Shape::Date | Shape::DateTime,
                Json::String(text),
            ) => formatted(decl.shape(), text),
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

/// Text whose format says that it is something else.
fn formatted<'a>(shape: &Shape, text: &str) -> Result<Value<'a>, EvalError> {
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        EvalError::new(format!("Invalid {what} {text}: {why}"))
    };
    match shape {
        Shape::Bytes => bytes::decode(text)
            .map(Value::bytes)
            .map_err(|error| failed("byte formatted string", &error)),
        Shape::Duration => parse_duration(text)
            .map(Value::Duration)
            .ok_or_else(|| failed("duration", &format!("unable to parse {text} as duration"))),
        Shape::Date => Timestamp::parse_date(text)
            .map(Value::Timestamp)
            .map_err(|error| failed("date formatted string", &error)),
        _ => Timestamp::parse_date_time(text)
            .map(Value::Timestamp)
            .map_err(|error| failed("date-time formatted string", &error)),
    }
}

/// Units that the format `duration` takes beside Go's, and how many billionths of a second each is.
/// The last name of a line also stands for every longer word that starts with it.
const UNITS: &[(&[&str], i64)] = &[
    (&["ns", "nano"], 1),
    (&["us", "\u{b5}s", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], 1_000_000_000),
    (&["m", "min"], 60_000_000_000),
    (&["h", "hr", "hour"], 3_600_000_000_000),
    (&["d", "day"], 86_400_000_000_000),
    (&["w", "wk", "week"], 604_800_000_000_000),
];

/// A span of time as the format `duration` reads it: Go's way, or numbers with words.
fn parse_duration(text: &str) -> Option<Duration> {
    if let Ok(duration) = text.parse() {
        return Some(duration);
    }
    let mut rest = text;
    let mut total: Option<i64> = None;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '\u{b5}';
        let length = after.find(|c: char| !is_letter(c)).unwrap_or(after.len());
        let (unit, after) = after.split_at(length);
        rest = after;
        if unit.is_empty() {
            continue;
        }
        let number: i64 = number.parse().ok()?;
        if let Some(nanos) = unit_nanos(&unit.to_lowercase()) {
            total = Some(total.unwrap_or_default().wrapping_add(number.wrapping_mul(nanos)));
        }
    }
    total.map(Duration::from_nanos)
}

fn unit_nanos(unit: &str) -> Option<i64> {
    let names = |names: &[&str]| {
        names.contains(&unit) || names.last().is_some_and(|last| unit.starts_with(last))
    };
    UNITS.iter().find(|(line, _)| names(line)).map(|(_, nanos)| *nanos)
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
