//! Values without fields: whether they are what a type wants, and the form that an object keeps.

use super::DecodeError;
use crate::schema::Type;
use crate::value::Value;
use crate::{bytes, duration, json, quantity, time};

/// Why a value cannot be of a type.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is something else.
    Mismatch(Mismatch),
    /// Go notes it and goes on, to find what is worse.
    Malformed(DecodeError),
    /// Go stops here.
    Fatal(DecodeError),
}

/// What was found where something else belongs.
#[derive(Debug)]
pub(super) struct Mismatch {
    /// What it is: `string`, `number 1.5`.
    pub(super) found: String,
    /// What Go tried to make of it; none for the type of the field itself.
    pub(super) wanted: Option<&'static str>,
    /// Whether a reader of its own found it: Go stops then.
    pub(super) is_fatal: bool,
}

impl Fault {
    /// Whether Go stops at it.
    pub(super) fn is_fatal(&self) -> bool {
        match self {
            Fault::Mismatch(mismatch) => mismatch.is_fatal,
            Fault::Malformed(_) => false,
            Fault::Fatal(_) => true,
        }
    }

    /// Something else than the type of the field was found.
    pub(super) fn of(found: impl Into<String>) -> Fault {
        Fault::Mismatch(Mismatch { found: found.into(), wanted: None, is_fatal: false })
    }
}

/// Brings a value that is not null into the form that an object keeps.
///
/// `number` is the text of a number, where it is known: a value does not tell `1.0` from `1e0`.
pub(super) fn convert(ty: &Type, value: &mut Value, number: Option<&str>) -> Result<(), Fault> {
    match ty {
        Type::Bool => require(matches!(value, Value::Bool(_)), value),
        Type::String => require(matches!(value, Value::String(_)), value),
        Type::Int32 | Type::Int64 => {
            let is_fine = match value {
                Value::Int(_) if *ty == Type::Int64 => true,
                Value::Int(found) => i32::try_from(*found).is_ok(),
                _ => false,
            };
            if is_fine { Ok(()) } else { Err(Fault::of(numbered(value, number))) }
        }
        Type::Float64 => convert_float(value, number),
        Type::Bytes => convert_bytes(value),
        Type::Time => convert_text(value, |text| time::canonicalize(text).map(Value::from)),
        Type::MicroTime => {
            convert_text(value, |text| time::canonicalize_micro(text).map(Value::from))
        }
        Type::Duration => convert_text(value, |text| duration::canonicalize(text).map(Value::from)),
        Type::Quantity => convert_quantity(value, number),
        Type::IntOrString => convert_int_or_string(value, number),
        Type::Any | Type::Raw | Type::FieldSet => Ok(()),
        Type::List(_) | Type::Map(_) | Type::Struct(_) | Type::StructOr(..) => {
            unreachable!("what has parts is no leaf")
        }
    }
}

/// What Go calls a value that it does not want.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
    }
}

fn require(is_fine: bool, value: &Value) -> Result<(), Fault> {
    if is_fine { Ok(()) } else { Err(Fault::of(kind(value))) }
}

/// What Go calls it where a number was wanted: then it shows the number.
fn numbered(value: &Value, number: Option<&str>) -> String {
    match (value, number) {
        (Value::Int(_) | Value::Float(_), Some(text)) => format!("number {text}"),
        (Value::Int(_) | Value::Float(_), None) => format!("number {}", json::to_string(value)),
        _ => kind(value).to_owned(),
    }
}

fn convert_float(value: &mut Value, number: Option<&str>) -> Result<(), Fault> {
    let float = value.as_float().filter(|float| float.is_finite());
    *value = Value::Float(float.ok_or_else(|| Fault::of(numbered(value, number)))?);
    Ok(())
}

/// Text in base64, or a list of numbers of 8 bits.
fn convert_bytes(value: &mut Value) -> Result<(), Fault> {
    match value {
        Value::String(text) => {
            if !bytes::is_canonical(text.as_bytes()) {
                *text = bytes::canonicalize(text)
                    .map_err(|error| Fault::Malformed(DecodeError::Bytes(error)))?;
            }
            Ok(())
        }
        Value::List(items) => {
            let items: Result<Vec<u8>, Fault> = items.iter().map(to_byte).collect();
            *value = Value::from(bytes::encode(&items?));
            Ok(())
        }
        value => Err(Fault::of(kind(value))),
    }
}

fn to_byte(item: &Value) -> Result<u8, Fault> {
    let byte = match item {
        Value::Null => Some(0),
        Value::Int(number) => u8::try_from(*number).ok(),
        _ => None,
    };
    byte.ok_or_else(|| {
        let found = numbered(item, None);
        Fault::Mismatch(Mismatch { found, wanted: Some("uint8"), is_fatal: false })
    })
}

/// What Go reads from text with code of its own.
fn convert_text<E: Into<DecodeError>>(
    value: &mut Value,
    read: impl FnOnce(&str) -> Result<Value, E>,
) -> Result<(), Fault> {
    let Value::String(text) = &*value else {
        let found = kind(value).to_owned();
        return Err(Fault::Mismatch(Mismatch { found, wanted: Some("string"), is_fatal: true }));
    };
    *value = read(text).map_err(|error| Fault::Fatal(error.into()))?;
    Ok(())
}

fn convert_quantity(value: &mut Value, number: Option<&str>) -> Result<(), Fault> {
    let text = match number {
        Some(text) => quantity::canonicalize(text),
        None => quantity::canonicalize_value(value),
    };
    *value = Value::String(text.map_err(|error| Fault::Fatal(error.into()))?);
    Ok(())
}

fn convert_int_or_string(value: &Value, number: Option<&str>) -> Result<(), Fault> {
    match value {
        Value::String(_) => Ok(()),
        Value::Int(number) if i32::try_from(*number).is_ok() => Ok(()),
        value => {
            let found = numbered(value, number);
            Err(Fault::Mismatch(Mismatch { found, wanted: Some("int32"), is_fatal: true }))
        }
    }
}
