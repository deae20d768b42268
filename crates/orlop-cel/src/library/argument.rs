//! Arguments of calls, as what they are.
//!
//! A call is made only with what its overload takes. That one of these fails is a call with values
//! that were `dyn` until then.

use crate::error::EvalError;
use crate::value::{List, Opaque, Text, Value};

/// The arguments of a call, when there are so many.
pub(super) fn exactly<'v, 'a, const N: usize>(
    args: &'v [Value<'a>],
) -> Result<&'v [Value<'a>; N], EvalError> {
    args.try_into().map_err(|_| EvalError::NoSuchOverload)
}

/// Text.
pub(super) fn text<'v, 'a>(value: &'v Value<'a>) -> Result<&'v Text<'a>, EvalError> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(EvalError::NoSuchOverload),
    }
}

/// A whole number.
pub(super) fn int(value: &Value<'_>) -> Result<i64, EvalError> {
    match value {
        Value::Int(number) => Ok(*number),
        _ => Err(EvalError::NoSuchOverload),
    }
}

/// A floating-point number.
pub(super) fn double(value: &Value<'_>) -> Result<f64, EvalError> {
    match value {
        Value::Double(number) => Ok(*number),
        _ => Err(EvalError::NoSuchOverload),
    }
}

/// A list.
pub(super) fn list<'v, 'a>(value: &'v Value<'a>) -> Result<&'v List<'a>, EvalError> {
    match value {
        Value::List(list) => Ok(list),
        _ => Err(EvalError::NoSuchOverload),
    }
}

/// A value of a library's own type.
pub(super) fn opaque<'v, O: Opaque>(value: &'v Value<'_>) -> Result<&'v O, EvalError> {
    value.as_opaque().ok_or(EvalError::NoSuchOverload)
}
