//! `string.format`: values put into a text.
//!
//! After `ext/formatting.go` of cel-go, which is what version 2 of the library has, in the locale
//! `en_US`. Lists and maps are written as expressions would have them; entries of maps are sorted.

use std::fmt::Write;

use orlop_machinery::text::quote;

use crate::error::EvalError;
use crate::function::Context;
use crate::value::{List, Map, Value, Work};

use super::super::argument::{exactly, list, text};
use super::number;

/// How deep lists and maps that are written can nest.
const DEPTH_MAX: usize = 100;
/// Digits behind the point when a clause does not say.
const PRECISION: usize = 6;

/// The part of a format that stands for a value: `%s`, `%.3f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clause {
    verb: u8,
    precision: usize,
}

/// `"%s".format([value])`
pub(super) fn call<'a>(
    context: &mut Context<'_>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let [format, values] = exactly(args)?;
    let (format, values) = (text(format)?, list(values)?);
    let mut out = String::with_capacity(format.len());
    let mut used = 0;
    let mut rest: &str = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let Some(value) = values.get(used) else {
            return Err(EvalError::new(format!("index {used} out of range")));
        };
        if after.is_empty() {
            return Err(EvalError::fixed("unexpected end of string"));
        }
        let (clause, after) = read_clause(after).map_err(|wrong| {
            EvalError::new(format!("could not parse formatting clause: {wrong}"))
        })?;
        let written = write_clause(clause, &value?, context.work).map_err(during)?;
        context.work.make(written.len())?;
        out.push_str(&written);
        used += 1;
        rest = after;
    }
    context.work.make(format.len())?;
    out.push_str(rest);
    Ok(Value::string(out))
}

/// Says of an error that a clause made it.
fn during(error: EvalError) -> EvalError {
    match error {
        EvalError::Failed(wrong) => EvalError::new(format!("error during formatting: {wrong}")),
        error => error,
    }
}

/// A clause without its percent sign, and what follows it.
fn read_clause(text: &str) -> Result<(Clause, &str), String> {
    let mut precision = PRECISION;
    let mut rest = text;
    if let Some(after) = text.strip_prefix('.') {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = after.split_at(digits);
        let wrong = |why: &str| format!("error while parsing precision: {why}");
        if after.is_empty() {
            return Err(wrong("could not find end of precision specifier"));
        }
        precision =
            number.parse::<i64>().ok().and_then(|it| it.try_into().ok()).ok_or_else(|| {
                let why = if number.is_empty() { "invalid syntax" } else { "value out of range" };
                wrong(&format!(
                    "error while converting precision to integer: strconv.Atoi: parsing {}: {why}",
                    quote(number)
                ))
            })?;
        rest = after;
    }
    // As upstream, a byte is taken for a character.
    let verb = rest.as_bytes().first().copied().unwrap_or_default();
    match verb {
        b's' | b'd' | b'f' | b'e' | b'b' | b'x' | b'X' | b'o' => {
            Ok((Clause { verb, precision }, &rest[1..]))
        }
        other => Err(format!("unrecognized formatting clause \"{}\"", char::from(other))),
    }
}

fn write_clause(clause: Clause, value: &Value<'_>, work: &mut Work) -> Result<String, EvalError> {
    let wrong =
        |what: &str| Err(EvalError::new(format!("{what}, was given {}", value.ty().name())));
    match (clause.verb, value) {
        (b's', value) => {
            let mut out = String::new();
            write_plain(&mut out, value, work)?;
            Ok(out)
        }
        (b'd', Value::Int(number)) => Ok(number.to_string()),
        (b'd', Value::Uint(number)) => Ok(number.to_string()),
        (b'd', _) => wrong("decimal clause can only be used on integers"),
        (b'f', value) => match double_of(value) {
            Some(number) => Ok(number::fixed(number, clause.precision)),
            None => wrong("fixed-point clause can only be used on doubles"),
        },
        (b'e', value) => match double_of(value) {
            Some(number) => Ok(number::scientific(number, clause.precision)),
            None => wrong("scientific clause can only be used on doubles"),
        },
        (b'b', Value::Int(number)) => Ok(signed(*number, |n| format!("{n:b}"))),
        (b'b', Value::Uint(number)) => Ok(format!("{number:b}")),
        (b'b', Value::Bool(truth)) => Ok(u8::from(*truth).to_string()),
        (b'b', _) => wrong("only integers and bools can be formatted as binary"),
        (b'o', Value::Int(number)) => Ok(signed(*number, |n| format!("{n:o}"))),
        (b'o', Value::Uint(number)) => Ok(format!("{number:o}")),
        (b'o', _) => wrong("octal clause can only be used on integers"),
        (verb, value) => match hexadecimal(value) {
            Some(digits) if verb == b'X' => Ok(digits.to_ascii_uppercase()),
            Some(digits) => Ok(digits),
            None => wrong("only integers, byte buffers, and strings can be formatted as hex"),
        },
    }
}

/// A double, or text that names one that expressions cannot write.
fn double_of(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// A number by its digits, with its sign in front.
fn signed(number: i64, digits: fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", digits(number.unsigned_abs()))
}

fn hexadecimal(value: &Value<'_>) -> Option<String> {
    let of_bytes = |bytes: &[u8]| {
        let mut out = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            write!(out, "{byte:02x}").expect("a string grows");
        }
        out
    };
    match value {
        Value::Int(number) => Some(signed(*number, |n| format!("{n:x}"))),
        Value::Uint(number) => Some(format!("{number:x}")),
        Value::String(text) => Some(of_bytes(text.as_bytes())),
        Value::Bytes(bytes) => Some(of_bytes(bytes)),
        _ => None,
    }
}

/// A value by itself: text without quotes.
fn write_plain(out: &mut String, value: &Value<'_>, work: &mut Work) -> Result<(), EvalError> {
    match value {
        Value::List(list) => write_list(out, list, work, 0),
        Value::Map(map) => write_map(out, map, work, 0),
        value => {
            let Some(text) = plain_text(value)? else {
                return Err(EvalError::new(format!(
                    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, \
                     lists, types, durations, and timestamps, was given {}",
                    value.ty().name()
                )));
            };
            out.push_str(&text);
            Ok(())
        }
    }
}

/// A value that has no parts, as `string()` has it.
fn plain_text(value: &Value<'_>) -> Result<Option<String>, EvalError> {
    Ok(match value {
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::String(_)
        | Value::Timestamp(_)
        | Value::Type(_) => Some(value.to_string()),
        Value::Duration(duration) => Some(number::seconds(duration.as_nanos())),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Some(text.to_owned()),
            Err(_) => {
                return Err(EvalError::fixed(
                    "could not convert argument \"invalid UTF-8 in bytes, cannot convert to \
                     string\" to string",
                ));
            }
        },
        _ => None,
    })
}

fn write_list(
    out: &mut String,
    list: &List<'_>,
    work: &mut Work,
    depth: usize,
) -> Result<(), EvalError> {
    out.push('[');
    for (at, item) in list.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write_part(out, &item?, work, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

fn write_map(
    out: &mut String,
    map: &Map<'_>,
    work: &mut Work,
    depth: usize,
) -> Result<(), EvalError> {
    let mut entries = Vec::with_capacity(map.len());
    for (key, value) in map.iter() {
        let key = match &key {
            Value::String(text) => quote(text),
            Value::Bool(_) | Value::Int(_) | Value::Uint(_) => key.to_string(),
            key => {
                let name = key.ty().name().to_owned();
                let message = format!("no formatting function for map key of type {name}");
                return Err(EvalError::new(message));
            }
        };
        let mut written = String::new();
        write_part(&mut written, &value?, work, depth + 1)?;
        entries.push((key, written));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    out.push('{');
    for (at, (key, value)) in entries.iter().enumerate() {
        let gap = if at > 0 { ", " } else { "" };
        write!(out, "{gap}{key}:{value}").expect("a string grows");
    }
    out.push('}');
    Ok(())
}

/// A value inside of another: as an expression would have it.
fn write_part(
    out: &mut String,
    value: &Value<'_>,
    work: &mut Work,
    depth: usize,
) -> Result<(), EvalError> {
    if depth > DEPTH_MAX {
        return Err(EvalError::ValueTooLarge);
    }
    let start = out.len();
    match value {
        Value::List(list) => write_list(out, list, work, depth)?,
        Value::Map(map) => write_map(out, map, work, depth)?,
        Value::String(text) => out.push_str(&quote(text)),
        Value::Double(number) => out.push_str(&number::part(*number)),
        value => {
            let Some(text) = plain_text(value)? else {
                let name = value.ty().name().to_owned();
                return Err(EvalError::new(format!("no formatting function for {name}")));
            };
            match value {
                Value::Bytes(_) => write!(out, "b{}", quote(&text)),
                Value::Timestamp(_) => write!(out, "timestamp({})", quote(&text)),
                Value::Duration(_) => write!(out, "duration({})", quote(&text)),
                _ => write!(out, "{text}"),
            }
            .expect("a string grows");
        }
    }
    work.make(out.len() - start)
}
