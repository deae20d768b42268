//! Values that may be missing.
//!
//! After `optionalLib` in `cel/library.go` of cel-go, version 2. Plans have nodes of their own for
//! `or` and `orValue`, which evaluate their argument only when it is needed, and for the operators
//! `a.?b` and `a[?b]`, of which only the types are here.

use std::sync::Arc;

use crate::error::EvalError;
use crate::function::{Constant, Context, Function, Library, Overload, T};
use crate::macros;
use crate::operator;
use crate::timestamp;
use crate::value::{List, Map, Value};

use super::argument::{exactly, list};

/// The library of optional values.
pub static OPTIONAL: Library = Library {
    name: "cel.lib.optional",
    functions: &[
        Function {
            name: "optional.of",
            overloads: &[Overload::global("optional_of", &[VALUE], MAYBE, of)],
        },
        Function {
            name: "optional.ofNonZeroValue",
            overloads: &[Overload::global(
                "optional_ofNonZeroValue",
                &[VALUE],
                MAYBE,
                of_non_zero_value,
            )],
        },
        Function {
            name: "optional.none",
            overloads: &[Overload::global("optional_none", &[], MAYBE, |_, _| Ok(Value::none()))],
        },
        Function {
            name: "value",
            overloads: &[Overload::member("optional_value", &[MAYBE], VALUE, value)],
        },
        Function {
            name: "hasValue",
            overloads: &[Overload::member("optional_hasValue", &[MAYBE], T::Bool, has_value)],
        },
        Function {
            name: "or",
            overloads: &[Overload::member("optional_or_optional", &[MAYBE, MAYBE], MAYBE, or)],
        },
        Function {
            name: "orValue",
            overloads: &[Overload::member(
                "optional_orValue_value",
                &[MAYBE, VALUE],
                VALUE,
                or_value,
            )],
        },
        Function {
            name: operator::OPTIONAL_SELECT,
            overloads: &[Overload::global(
                "select_optional_field",
                &[T::Dyn, T::String],
                MAYBE,
                planned_otherwise,
            )],
        },
        Function { name: operator::OPTIONAL_INDEX, overloads: OPTIONAL_INDEX },
        Function { name: operator::INDEX, overloads: INDEX },
        Function {
            name: "first",
            overloads: &[Overload::member("list_first", &[T::List(&VALUE)], MAYBE, first)],
        },
        Function {
            name: "last",
            overloads: &[Overload::member("list_last", &[T::List(&VALUE)], MAYBE, last)],
        },
        Function {
            name: "optional.unwrap",
            overloads: &[Overload::global(
                "optional_unwrap",
                &[T::List(&MAYBE)],
                T::List(&VALUE),
                unwrap,
            )],
        },
        Function {
            name: "unwrapOpt",
            overloads: &[Overload::member(
                "optional_unwrapOpt",
                &[T::List(&MAYBE)],
                T::List(&VALUE),
                unwrap,
            )],
        },
    ],
    constants: &[Constant {
        name: "optional_type",
        ty: T::Type(&T::Optional(&T::Dyn)),
        value: || Value::Type(Arc::new(T::Optional(&T::Dyn).ty())),
    }],
    macros: macros::OPTIONAL,
};

const VALUE: T = T::Param("V");
const MAYBE: T = T::Optional(&VALUE);

const KEY: T = T::Param("K");
const LIST: T = T::List(&VALUE);
const MAP: T = T::Map(&KEY, &VALUE);

const OPTIONAL_INDEX: &[Overload] = &[
    Overload::global("list_optindex_optional_int", &[LIST, T::Int], MAYBE, planned_otherwise),
    Overload::global(
        "optional_list_optindex_optional_int",
        &[T::Optional(&LIST), T::Int],
        MAYBE,
        planned_otherwise,
    ),
    Overload::global("map_optindex_optional_value", &[MAP, KEY], MAYBE, planned_otherwise),
    Overload::global(
        "optional_map_optindex_optional_value",
        &[T::Optional(&MAP), KEY],
        MAYBE,
        planned_otherwise,
    ),
];

const INDEX: &[Overload] = &[
    Overload::global(
        "optional_list_index_int",
        &[T::Optional(&LIST), T::Int],
        MAYBE,
        planned_otherwise,
    ),
    Overload::global(
        "optional_map_index_value",
        &[T::Optional(&MAP), KEY],
        MAYBE,
        planned_otherwise,
    ),
];

/// Steps to a field or an item are no calls in a plan.
fn planned_otherwise<'a>(_: &mut Context<'_>, _: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Err(EvalError::NoSuchOverload)
}

fn of<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [value] = exactly(args)?;
    Ok(Value::some(value.clone()))
}

fn of_non_zero_value<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [value] = exactly(args)?;
    Ok(if is_zero(value) { Value::none() } else { Value::some(value.clone()) })
}

/// Whether a value is the zero of its type. As upstream, lists and maps of an object never are.
fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(truth) => !truth,
        Value::Int(number) => *number == 0,
        Value::Uint(number) => *number == 0,
        Value::Double(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Duration(duration) => duration.as_nanos() == 0,
        // Go's zero is the first moment of the year 1.
        Value::Timestamp(time) => (time.seconds(), time.nanos()) == (timestamp::SECONDS_MIN, 0),
        Value::List(list @ List::Owned(_)) => list.is_empty(),
        Value::Map(map @ Map::Owned(_)) => map.is_empty(),
        _ => false,
    }
}

fn value<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::Optional(inner)] = exactly(args)? else { return Err(EvalError::NoSuchOverload) };
    let inner = inner.as_deref().cloned();
    inner.ok_or(EvalError::fixed("optional.none() dereference"))
}

fn has_value<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::Optional(inner)] = exactly(args)? else { return Err(EvalError::NoSuchOverload) };
    Ok(Value::Bool(inner.is_some()))
}

fn or<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [optional, other] = exactly(args)?;
    match optional {
        Value::Optional(Some(_)) => Ok(optional.clone()),
        Value::Optional(None) => Ok(other.clone()),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn or_value<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [optional, other] = exactly(args)?;
    match optional {
        Value::Optional(Some(inner)) => Ok((**inner).clone()),
        Value::Optional(None) => Ok(other.clone()),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn first<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [items] = exactly(args)?;
    item_at(list(items)?, Some(0))
}

fn last<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [items] = exactly(args)?;
    let items = list(items)?;
    item_at(items, items.len().checked_sub(1))
}

fn item_at<'a>(items: &List<'a>, at: Option<usize>) -> Result<Value<'a>, EvalError> {
    match at.and_then(|at| items.get(at)) {
        Some(item) => item.map(Value::some),
        None => Ok(Value::none()),
    }
}

fn unwrap<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [items] = exactly(args)?;
    let items = list(items)?;
    context.work.make(items.len().saturating_mul(size_of::<Value<'_>>()))?;
    let mut values = Vec::new();
    for item in items.iter() {
        match item? {
            Value::Optional(Some(inner)) => values.push((*inner).clone()),
            Value::Optional(None) => {}
            other => return Err(EvalError::new(format!("value {other} is not optional"))),
        }
    }
    Ok(Value::list(values))
}
