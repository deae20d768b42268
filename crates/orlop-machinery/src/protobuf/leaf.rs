//! Values that hold no struct: numbers, text, and the messages of times, quantities and JSON.

use super::reader::{Reader, Tag, i32_of, malformed, read_text};
use super::{ProtobufError, wire};
use crate::bytes;
use crate::duration::Duration;
use crate::json;
use crate::quantity;
use crate::schema::Type;
use crate::time::{MicroTime, Time};
use crate::value::{Str, Value};

/// Seconds since 1970.
const YEAR_0_START: i64 = -62_167_219_200;
const YEAR_10000_START: i64 = 253_402_300_800;

pub(super) fn wire_of(ty: &Type) -> u8 {
    match ty {
        Type::Bool | Type::Int32 | Type::Int64 => wire::VARINT,
        Type::Float64 => wire::FIXED64,
        _ => wire::BYTES,
    }
}

pub(super) fn expect_wire(
    tag: Tag,
    expect: u8,
    name: impl Fn() -> String,
) -> Result<(), ProtobufError> {
    if tag.wire == expect {
        return Ok(());
    }
    let message = format!("proto: wrong wireType = {} for field {}", tag.wire, name());
    Err(malformed(message))
}

/// Whether a type has no message.
pub(super) fn is_scalar(ty: &Type) -> bool {
    matches!(
        ty,
        Type::String | Type::Bool | Type::Int32 | Type::Int64 | Type::Float64 | Type::Bytes
    )
}

/// A value of a type that has no message.
#[inline]
pub(super) fn read_scalar(ty: &Type, reader: &mut Reader<'_>) -> Result<Value, ProtobufError> {
    Ok(match ty {
        Type::String => Value::String(read_text(reader.bytes()?)),
        Type::Bool => Value::Bool(reader.varint()? != 0),
        Type::Int32 => Value::Int(i32_of(reader.varint()?).into()),
        Type::Int64 => Value::Int(reader.varint()?.cast_signed()),
        Type::Float64 => Value::Float(read_float(reader)?),
        Type::Bytes => Value::from(bytes::encode(reader.bytes()?)),
        _ => Value::Null,
    })
}

/// A value of a type that has a message but no struct. `known` is what stood there before, if
/// anything; `levels_left` is how deep JSON may be.
pub(super) fn read_message(
    ty: &Type,
    message: &[u8],
    known: Value,
    levels_left: usize,
) -> Result<Value, ProtobufError> {
    match ty {
        Type::Time => read_time(message),
        Type::MicroTime => read_micro_time(message),
        Type::Duration => read_duration(message),
        Type::Quantity => read_quantity(message, known),
        Type::IntOrString => read_int_or_string(message, known),
        Type::Any | Type::Raw | Type::FieldSet => match read_json(message, known)? {
            value if fits(&value, levels_left) => Ok(value),
            _ => Err(ProtobufError::TooDeep),
        },
        // Scalars and structs are read elsewhere, and protobuf has no map in a list or map.
        _ => Ok(known),
    }
}

/// A number, if JSON has it.
fn read_float(reader: &mut Reader<'_>) -> Result<f64, ProtobufError> {
    let number = f64::from_bits(reader.fixed64()?);
    let name = match number {
        number if number.is_finite() => return Ok(number),
        number if number.is_nan() => "NaN",
        number if number > 0.0 => "+Inf",
        _ => "-Inf",
    };
    Err(malformed(format!("json: unsupported value: {name}")))
}

fn read_time(message: &[u8]) -> Result<Value, ProtobufError> {
    if message.is_empty() {
        return Ok(Value::Null);
    }
    let (seconds, _) = read_timestamp(message)?;
    let time = Time::from_unix(seconds);
    Ok(if time.is_zero() { Value::Null } else { display(time) })
}

fn read_micro_time(message: &[u8]) -> Result<Value, ProtobufError> {
    if message.is_empty() {
        return Ok(Value::Null);
    }
    let (seconds, nanos) = read_timestamp(message)?;
    let time = MicroTime::from_unix(seconds, nanos);
    Ok(if time.is_zero() { Value::Null } else { display(time) })
}

fn read_timestamp(message: &[u8]) -> Result<(i64, i32), ProtobufError> {
    let (mut seconds, mut nanos) = (0, 0);
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "Timestamp".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::VARINT, || "Seconds".into())?;
                seconds = reader.varint()?.cast_signed();
            }
            2 => {
                expect_wire(tag, wire::VARINT, || "Nanos".into())?;
                nanos = i32_of(reader.varint()?);
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    // Text of other years cannot be read back. Upstream only notices when a client tries.
    if !(YEAR_0_START..YEAR_10000_START).contains(&seconds) {
        return Err(malformed("Time.MarshalJSON: year outside of range [0,9999]"));
    }
    Ok((seconds, nanos))
}

fn read_duration(message: &[u8]) -> Result<Value, ProtobufError> {
    let mut nanos = 0;
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "Duration".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::VARINT, || "Duration".into())?;
                nanos = reader.varint()?.cast_signed();
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    Ok(display(Duration::from_nanos(nanos)))
}

fn read_quantity(message: &[u8], known: Value) -> Result<Value, ProtobufError> {
    let mut quantity = known;
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "Quantity".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::BYTES, || "String_".into())?;
                let text = read_text(reader.bytes()?);
                quantity = Value::String(quantity::canonicalize(&text)?);
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    Ok(if quantity.is_null() { Type::Quantity.zero() } else { quantity })
}

fn read_int_or_string(message: &[u8], known: Value) -> Result<Value, ProtobufError> {
    let (mut ty, mut number, mut text) = match known {
        Value::String(text) => (1, 0, text),
        known => (0, known.int(), Str::default()),
    };
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "IntOrString".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::VARINT, || "Type".into())?;
                ty = reader.varint()?;
            }
            2 => {
                expect_wire(tag, wire::VARINT, || "IntVal".into())?;
                number = i32_of(reader.varint()?).into();
            }
            3 => {
                expect_wire(tag, wire::BYTES, || "StrVal".into())?;
                text = read_text(reader.bytes()?);
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    match ty {
        0 => Ok(Value::Int(number)),
        1 => Ok(Value::String(text)),
        _ => Err(malformed("impossible IntOrString.Type")),
    }
}

fn read_json(message: &[u8], known: Value) -> Result<Value, ProtobufError> {
    let mut value = known;
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "RawExtension".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::BYTES, || "Raw".into())?;
                value = match reader.bytes()? {
                    // What was never set.
                    [] => Value::Null,
                    text => json::parse(text)?,
                };
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    Ok(value)
}

/// Whether a value has at most so many levels.
fn fits(value: &Value, levels: usize) -> bool {
    let inner = levels.checked_sub(1);
    match value {
        Value::List(items) => {
            inner.is_some_and(|levels| items.iter().all(|item| fits(item, levels)))
        }
        Value::Map(map) => {
            inner.is_some_and(|levels| map.values().all(|value| fits(value, levels)))
        }
        _ => true,
    }
}

fn display(value: impl std::fmt::Display) -> Value {
    Value::String(compact_str::format_compact!("{value}"))
}
