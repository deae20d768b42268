//! Conversions between the types of the language.
//!
//! After `ConvertToType` in `common/types` of cel-go.

use orlop_machinery::duration::Duration;

use crate::cost;
use crate::error::EvalError;
use crate::function::{CallFn, Context, Function, Overload, T};
use crate::timestamp::{Timestamp, TimestampError};
use crate::value::{Value, double_text};

use super::{Called, identity};

/// The conversions to one type.
macro_rules! conversions {
    ($name:literal, $to:expr, $call:expr, $(($id:literal, $from:expr)),*) => {
        Function {
            name: $name,
            overloads: &[
                same(concat!($name, "_to_", $name), &[$to], $to),
                $(Overload::global($id, &[$from], $to, $call)),*
            ],
        }
    };
}

pub(super) const BOOL: Function =
    conversions!("bool", T::Bool, to_bool, ("string_to_bool", T::String));

pub(super) const BYTES: Function = Function {
    name: "bytes",
    overloads: &[
        same("bytes_to_bytes", &[T::Bytes], T::Bytes),
        Overload::global("string_to_bytes", &[T::String], T::Bytes, to_bytes)
            .costs_by_id(text_cost),
    ],
};

pub(super) const DOUBLE: Function = conversions!(
    "double",
    T::Double,
    to_double,
    ("int64_to_double", T::Int),
    ("string_to_double", T::String),
    ("uint64_to_double", T::Uint)
);

pub(super) const DURATION: Function = conversions!(
    "duration",
    T::Duration,
    to_duration,
    ("int64_to_duration", T::Int),
    ("string_to_duration", T::String)
);

pub(super) const INT: Function = Function {
    name: "int",
    overloads: &[
        same("int64_to_int64", &[T::Int], T::Int),
        int("double_to_int64", &[T::Double]),
        int("duration_to_int64", &[T::Duration]),
        int("string_to_int64", &[T::String]),
        int("timestamp_to_int64", &[T::Timestamp]),
        int("uint64_to_int64", &[T::Uint]),
    ],
};

pub(super) const STRING: Function = Function {
    name: "string",
    overloads: &[
        same("string_to_string", &[T::String], T::String),
        string("bool_to_string", &[T::Bool]),
        string("bytes_to_string", &[T::Bytes]).costs_by_id(text_cost),
        string("double_to_string", &[T::Double]),
        string("duration_to_string", &[T::Duration]),
        string("int64_to_string", &[T::Int]),
        string("timestamp_to_string", &[T::Timestamp]),
        string("uint64_to_string", &[T::Uint]),
    ],
};

pub(super) const TIMESTAMP: Function = conversions!(
    "timestamp",
    T::Timestamp,
    to_timestamp,
    ("int64_to_timestamp", T::Int),
    ("string_to_timestamp", T::String)
);

pub(super) const UINT: Function = Function {
    name: "uint",
    overloads: &[
        same("uint64_to_uint64", &[T::Uint], T::Uint),
        uint("double_to_uint64", &[T::Double]),
        uint("int64_to_uint64", &[T::Int]),
        uint("string_to_uint64", &[T::String]),
    ],
};

const fn same(id: &'static str, params: &'static [T], to: T) -> Overload {
    let call: CallFn = identity;
    Overload::global(id, params, to, call)
}

const fn int(id: &'static str, params: &'static [T]) -> Overload {
    Overload::global(id, params, T::Int, to_int)
}

const fn uint(id: &'static str, params: &'static [T]) -> Overload {
    Overload::global(id, params, T::Uint, to_uint)
}

const fn string(id: &'static str, params: &'static [T]) -> Overload {
    Overload::global(id, params, T::String, to_string)
}

/// One more than the largest signed number, as a double.
const INT_LIMIT: f64 = 9_223_372_036_854_775_808.0;
const INT_OVERFLOW: EvalError = EvalError::fixed("integer overflow");
const UINT_OVERFLOW: EvalError = EvalError::fixed("unsigned integer overflow");
const TIMESTAMP_OVERFLOW: EvalError = EvalError::fixed("timestamp overflow");

fn failed(args: &[Value<'_>], to: T) -> EvalError {
    let from = args.first().map(Value::ty).unwrap_or(T::Dyn.ty());
    let to = to.ty();
    EvalError::new(format!("type conversion error from '{}' to '{}'", from.name(), to.name()))
}

fn to_bool<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args.first().and_then(Value::as_str) {
        Some("1" | "t" | "T" | "TRUE" | "true" | "True") => Ok(Value::Bool(true)),
        Some("0" | "f" | "F" | "FALSE" | "false" | "False") => Ok(Value::Bool(false)),
        _ => Err(failed(args, T::Bool)),
    }
}

fn to_bytes<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::String(text)] => {
            context.work.make(text.len())?;
            Ok(Value::bytes(text.as_bytes()))
        }
        _ => Err(failed(args, T::Bytes)),
    }
}

fn to_double<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
    match args {
        [Value::Int(number)] => Ok(Value::Double(*number as f64)),
        [Value::Uint(number)] => Ok(Value::Double(*number as f64)),
        [Value::String(text)] => {
            parse_double(text).map(Value::Double).ok_or_else(|| failed(args, T::Double))
        }
        _ => Err(failed(args, T::Double)),
    }
}

/// A number that is too large is none; infinity has to be written.
fn parse_double(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    let is_word = text.trim_start_matches(['+', '-']).starts_with(['i', 'I', 'n', 'N']);
    (is_word || number.is_finite()).then_some(number)
}

fn to_duration<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let duration = args.first().and_then(Value::as_str).and_then(|text| text.parse().ok());
    duration.map(Value::Duration).ok_or_else(|| failed(args, T::Duration))
}

fn to_int<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Double(number)] => {
            if !(-INT_LIMIT < *number && *number < INT_LIMIT) {
                return Err(INT_OVERFLOW);
            }
            #[allow(clippy::cast_possible_truncation, reason = "bounded above; cuts as Go does")]
            Ok(Value::Int(*number as i64))
        }
        [Value::Duration(duration)] => Ok(Value::Int(duration.as_nanos())),
        [Value::Timestamp(time)] => Ok(Value::Int(time.seconds())),
        [Value::Uint(number)] => i64::try_from(*number).map(Value::Int).map_err(|_| INT_OVERFLOW),
        [Value::String(text)] => text.parse().map(Value::Int).map_err(|_| failed(args, T::Int)),
        _ => Err(failed(args, T::Int)),
    }
}

fn to_uint<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Double(number)] => {
            if !(0.0 <= *number && *number < 2.0 * INT_LIMIT) {
                return Err(UINT_OVERFLOW);
            }
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "bounded above; cuts as Go does"
            )]
            Ok(Value::Uint(*number as u64))
        }
        [Value::Int(number)] => u64::try_from(*number).map(Value::Uint).map_err(|_| UINT_OVERFLOW),
        [Value::String(text)] if !text.starts_with('+') => {
            text.parse().map(Value::Uint).map_err(|_| failed(args, T::Uint))
        }
        _ => Err(failed(args, T::Uint)),
    }
}

fn to_string<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    Ok(Value::string(match args {
        [Value::Bool(truth)] => truth.to_string(),
        [Value::Int(number)] => number.to_string(),
        [Value::Uint(number)] => number.to_string(),
        [Value::Double(number)] => double_text(*number),
        [Value::Duration(duration)] => duration_text(*duration),
        [Value::Timestamp(time)] => time.to_string(),
        [Value::Bytes(bytes)] => {
            context.work.make(bytes.len())?;
            let text = std::str::from_utf8(bytes).map_err(|_| {
                EvalError::fixed("invalid UTF-8 in bytes, cannot convert to string")
            })?;
            text.to_owned()
        }
        _ => return Err(failed(args, T::String)),
    }))
}

/// Seconds with what is after the point, as far as a double can tell.
fn duration_text(duration: Duration) -> String {
    format!("{}s", duration.as_seconds_f64())
}

fn to_timestamp<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Int(seconds)] => {
            Timestamp::new(*seconds, 0).map(Value::Timestamp).ok_or(TIMESTAMP_OVERFLOW)
        }
        [Value::String(text)] => match Timestamp::parse(text) {
            Ok(time) => Ok(Value::Timestamp(time)),
            Err(TimestampError::OutOfRange) => Err(TIMESTAMP_OVERFLOW),
            Err(TimestampError::Invalid) => Err(failed(args, T::Timestamp)),
        },
        _ => Err(failed(args, T::Timestamp)),
    }
}

fn text_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    args.first().map_or(1, |text| cost::scale(cost::size_of(text), cost::STRING_TRAVERSAL_FACTOR))
}
