//! Equality, order, and what is in what.

use std::cmp::Ordering;

use crate::cost;
use crate::error::EvalError;
use crate::function::{Context, Function, Overload, T};
use crate::operator;
use crate::value::Value;

use super::{A, Called, LIST_OF_A, MAP_OF_A_B};

pub(super) const EQUALS: Function = Function {
    name: operator::EQUALS,
    overloads: &[Overload::global("equals", &[A, A], T::Bool, equals)],
};

pub(super) const NOT_EQUALS: Function = Function {
    name: operator::NOT_EQUALS,
    overloads: &[Overload::global("not_equals", &[A, A], T::Bool, not_equals)],
};

pub(super) const IN: Function = Function {
    name: operator::IN,
    overloads: &[
        Overload::global("in_list", &[A, LIST_OF_A], T::Bool, contains).costs_by_id(list_cost),
        Overload::global("in_map", &[A, MAP_OF_A_B], T::Bool, contains),
    ],
};

/// The overloads of an order: of every two types that have one among each other.
macro_rules! order {
    ($name:expr, $prefix:literal, $call:expr) => {
        Function {
            name: $name,
            overloads: &[
                order!($prefix, "_bool", $call, T::Bool, T::Bool),
                order!($prefix, "_int64", $call, T::Int, T::Int),
                order!($prefix, "_int64_double", $call, T::Int, T::Double),
                order!($prefix, "_int64_uint64", $call, T::Int, T::Uint),
                order!($prefix, "_uint64", $call, T::Uint, T::Uint),
                order!($prefix, "_uint64_double", $call, T::Uint, T::Double),
                order!($prefix, "_uint64_int64", $call, T::Uint, T::Int),
                order!($prefix, "_double", $call, T::Double, T::Double),
                order!($prefix, "_double_int64", $call, T::Double, T::Int),
                order!($prefix, "_double_uint64", $call, T::Double, T::Uint),
                order!($prefix, "_string", $call, T::String, T::String),
                order!($prefix, "_bytes", $call, T::Bytes, T::Bytes),
                order!($prefix, "_timestamp", $call, T::Timestamp, T::Timestamp),
                order!($prefix, "_duration", $call, T::Duration, T::Duration),
            ],
        }
    };
    ($prefix:literal, $suffix:literal, $call:expr, $a:expr, $b:expr) => {
        Overload::global(concat!($prefix, $suffix), &[$a, $b], T::Bool, $call)
    };
}

pub(super) const LESS: Function = order!(operator::LESS, "less", less);
pub(super) const LESS_EQUALS: Function = order!(operator::LESS_EQUALS, "less_equals", less_equals);
pub(super) const GREATER: Function = order!(operator::GREATER, "greater", greater);
pub(super) const GREATER_EQUALS: Function =
    order!(operator::GREATER_EQUALS, "greater_equals", greater_equals);

fn equals<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let [a, b] = args else { return Err(EvalError::NoSuchOverload) };
    Ok(Value::Bool(a.equals(b, context.work)?))
}

fn not_equals<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let [a, b] = args else { return Err(EvalError::NoSuchOverload) };
    Ok(Value::Bool(!a.equals(b, context.work)?))
}

fn less<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    order(args, Ordering::is_lt)
}

fn less_equals<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    order(args, Ordering::is_le)
}

fn greater<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    order(args, Ordering::is_gt)
}

fn greater_equals<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    order(args, Ordering::is_ge)
}

fn order<'a>(args: &[Value<'a>], holds: fn(Ordering) -> bool) -> Called<'a> {
    let [a, b] = args else { return Err(EvalError::NoSuchOverload) };
    Ok(Value::Bool(holds(a.compare(b)?)))
}

/// An item that is found counts more than one that cannot be compared.
fn contains<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [value, Value::List(list)] => {
            let mut failed = None;
            for item in list.iter() {
                match item.and_then(|item| item.equals(value, context.work)) {
                    Ok(true) => return Ok(Value::Bool(true)),
                    Ok(false) => {}
                    Err(error) if error.is_absorbable() => failed = failed.or(Some(error)),
                    Err(error) => return Err(error),
                }
            }
            failed.map_or(Ok(Value::Bool(false)), Err)
        }
        [key, Value::Map(map)] => Ok(Value::Bool(map.get(key)?.is_some())),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn list_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    args.get(1).map_or(1, cost::size_of)
}
