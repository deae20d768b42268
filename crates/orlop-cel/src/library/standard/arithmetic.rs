//! `+`, `-`, `*`, `/`, `%`. Numbers that do not fit are errors, never something else.
//!
//! After `common/types/{int,uint,double,duration,timestamp,overflow}.go` of cel-go.

use std::sync::Arc;

use orlop_machinery::duration::Duration;

use crate::cost;
use crate::error::EvalError;
use crate::function::{Context, Function, Overload, T};
use crate::operator;
use crate::value::Value;

use super::{Called, LIST_OF_A};

const INTS: &[T] = &[T::Int, T::Int];
const UINTS: &[T] = &[T::Uint, T::Uint];
const DOUBLES: &[T] = &[T::Double, T::Double];
const DURATIONS: &[T] = &[T::Duration, T::Duration];

pub(super) const ADD: Function = Function {
    name: operator::ADD,
    overloads: &[
        Overload::global("add_bytes", &[T::Bytes, T::Bytes], T::Bytes, add).costs_by_id(text_cost),
        Overload::global("add_double", DOUBLES, T::Double, add),
        Overload::global("add_duration_duration", DURATIONS, T::Duration, add),
        Overload::global("add_duration_timestamp", &[T::Duration, T::Timestamp], T::Timestamp, add),
        Overload::global("add_timestamp_duration", &[T::Timestamp, T::Duration], T::Timestamp, add),
        Overload::global("add_int64", INTS, T::Int, add),
        Overload::global("add_list", &[LIST_OF_A, LIST_OF_A], LIST_OF_A, add),
        Overload::global("add_string", &[T::String, T::String], T::String, add)
            .costs_by_id(text_cost),
        Overload::global("add_uint64", UINTS, T::Uint, add),
    ],
};

pub(super) const SUBTRACT: Function = Function {
    name: operator::SUBTRACT,
    overloads: &[
        Overload::global("subtract_double", DOUBLES, T::Double, subtract),
        Overload::global("subtract_duration_duration", DURATIONS, T::Duration, subtract),
        Overload::global("subtract_int64", INTS, T::Int, subtract),
        Overload::global(
            "subtract_timestamp_duration",
            &[T::Timestamp, T::Duration],
            T::Timestamp,
            subtract,
        ),
        Overload::global(
            "subtract_timestamp_timestamp",
            &[T::Timestamp, T::Timestamp],
            T::Duration,
            subtract,
        ),
        Overload::global("subtract_uint64", UINTS, T::Uint, subtract),
    ],
};

pub(super) const MULTIPLY: Function = Function {
    name: operator::MULTIPLY,
    overloads: &[
        Overload::global("multiply_double", DOUBLES, T::Double, multiply),
        Overload::global("multiply_int64", INTS, T::Int, multiply),
        Overload::global("multiply_uint64", UINTS, T::Uint, multiply),
    ],
};

pub(super) const DIVIDE: Function = Function {
    name: operator::DIVIDE,
    overloads: &[
        Overload::global("divide_double", DOUBLES, T::Double, divide),
        Overload::global("divide_int64", INTS, T::Int, divide),
        Overload::global("divide_uint64", UINTS, T::Uint, divide),
    ],
};

pub(super) const MODULO: Function = Function {
    name: operator::MODULO,
    overloads: &[
        Overload::global("modulo_int64", INTS, T::Int, modulo),
        Overload::global("modulo_uint64", UINTS, T::Uint, modulo),
    ],
};

pub(super) const NEGATE: Function = Function {
    name: operator::NEGATE,
    overloads: &[
        Overload::global("negate_double", &[T::Double], T::Double, negate),
        Overload::global("negate_int64", &[T::Int], T::Int, negate),
    ],
};

const INT_OVERFLOW: EvalError = EvalError::fixed("integer overflow");
const UINT_OVERFLOW: EvalError = EvalError::fixed("unsigned integer overflow");
const TIMESTAMP_OVERFLOW: EvalError = EvalError::fixed("timestamp overflow");
const DIVISION_BY_ZERO: EvalError = EvalError::fixed("division by zero");
const MODULUS_BY_ZERO: EvalError = EvalError::fixed("modulus by zero");

fn add<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Int(a), Value::Int(b)] => a.checked_add(*b).map(Value::Int).ok_or(INT_OVERFLOW),
        [Value::Uint(a), Value::Uint(b)] => a.checked_add(*b).map(Value::Uint).ok_or(UINT_OVERFLOW),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a + b)),
        [Value::String(a), Value::String(b)] => {
            context.work.make(a.len() + b.len())?;
            Ok(Value::string(Arc::<str>::from([&**a, &**b].concat())))
        }
        [Value::Bytes(a), Value::Bytes(b)] => {
            context.work.make(a.len() + b.len())?;
            Ok(Value::bytes([&**a, &**b].concat()))
        }
        [Value::List(a), Value::List(b)] => Ok(Value::List(a.clone().concat(b, context.work)?)),
        [Value::Duration(a), Value::Duration(b)] => {
            duration(a.as_nanos().checked_add(b.as_nanos()))
        }
        [Value::Timestamp(time), Value::Duration(duration)]
        | [Value::Duration(duration), Value::Timestamp(time)] => {
            time.plus(*duration).map(Value::Timestamp).ok_or(TIMESTAMP_OVERFLOW)
        }
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn subtract<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Int(a), Value::Int(b)] => a.checked_sub(*b).map(Value::Int).ok_or(INT_OVERFLOW),
        [Value::Uint(a), Value::Uint(b)] => a.checked_sub(*b).map(Value::Uint).ok_or(UINT_OVERFLOW),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a - b)),
        [Value::Duration(a), Value::Duration(b)] => {
            duration(a.as_nanos().checked_sub(b.as_nanos()))
        }
        [Value::Timestamp(time), Value::Duration(duration)] => {
            time.minus(*duration).map(Value::Timestamp).ok_or(TIMESTAMP_OVERFLOW)
        }
        [Value::Timestamp(a), Value::Timestamp(b)] => {
            a.since(*b).map(Value::Duration).ok_or(INT_OVERFLOW)
        }
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn duration<'a>(nanos: Option<i64>) -> Called<'a> {
    nanos.map(|nanos| Value::Duration(Duration::from_nanos(nanos))).ok_or(INT_OVERFLOW)
}

fn multiply<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Int(a), Value::Int(b)] => a.checked_mul(*b).map(Value::Int).ok_or(INT_OVERFLOW),
        [Value::Uint(a), Value::Uint(b)] => a.checked_mul(*b).map(Value::Uint).ok_or(UINT_OVERFLOW),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a * b)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn divide<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(DIVISION_BY_ZERO),
        [Value::Int(a), Value::Int(b)] => a.checked_div(*b).map(Value::Int).ok_or(INT_OVERFLOW),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a / b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a / b)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn modulo<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(MODULUS_BY_ZERO),
        [Value::Int(a), Value::Int(b)] => a.checked_rem(*b).map(Value::Int).ok_or(INT_OVERFLOW),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a % b)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn negate<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Int(number)] => number.checked_neg().map(Value::Int).ok_or(INT_OVERFLOW),
        [Value::Double(number)] => Ok(Value::Double(-number)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

/// Both are copied.
fn text_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    let size = args.iter().map(cost::size_of).fold(0, u64::saturating_add);
    cost::scale(size, cost::STRING_TRAVERSAL_FACTOR)
}
