//! What Kubernetes adds to lists: sums, extremes, whether they are sorted, where items are.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/lists.go`.

use std::cmp::Ordering;

use orlop_machinery::duration::Duration;

use crate::error::EvalError;
use crate::function::{CallFn, Context, Function, Library, Overload, T};
use crate::value::{List, Value};

use super::argument::{exactly, list};
use super::{price, sets};

/// The library.
pub static KUBERNETES_LISTS: Library = Library {
    name: "kubernetes.lists",
    functions: &[
        Function { name: "isSorted", overloads: IS_SORTED },
        Function { name: "sum", overloads: SUM },
        Function { name: "max", overloads: MAX },
        Function { name: "min", overloads: MIN },
        Function {
            name: "indexOf",
            overloads: &[over("list_a_index_of_int", ITEM_OF, T::Int, index_of)],
        },
        Function {
            name: "lastIndexOf",
            overloads: &[over("list_a_last_index_of_int", ITEM_OF, T::Int, last_index_of)],
        },
    ],
    constants: &[],
    macros: &[],
};

const ITEM_OF: &[T] = &[T::List(&T::Param("A")), T::Param("A")];
const INTS: &[T] = &[T::List(&T::Int)];
const UINTS: &[T] = &[T::List(&T::Uint)];
const DOUBLES: &[T] = &[T::List(&T::Double)];
const BOOLS: &[T] = &[T::List(&T::Bool)];
const DURATIONS: &[T] = &[T::List(&T::Duration)];
const TIMESTAMPS: &[T] = &[T::List(&T::Timestamp)];
const STRINGS: &[T] = &[T::List(&T::String)];
const BYTES: &[T] = &[T::List(&T::Bytes)];

const IS_SORTED: &[Overload] = &[
    over("list_int_is_sorted_bool", INTS, T::Bool, is_sorted),
    over("list_uint_is_sorted_bool", UINTS, T::Bool, is_sorted),
    over("list_double_is_sorted_bool", DOUBLES, T::Bool, is_sorted),
    over("list_bool_is_sorted_bool", BOOLS, T::Bool, is_sorted),
    over("list_duration_is_sorted_bool", DURATIONS, T::Bool, is_sorted),
    over("list_timestamp_is_sorted_bool", TIMESTAMPS, T::Bool, is_sorted),
    over("list_string_is_sorted_bool", STRINGS, T::Bool, is_sorted),
    over("list_bytes_is_sorted_bool", BYTES, T::Bool, is_sorted),
];

const SUM: &[Overload] = &[
    over("list_int_sum_int", INTS, T::Int, sum_int),
    over("list_uint_sum_uint", UINTS, T::Uint, sum_uint),
    over("list_double_sum_double", DOUBLES, T::Double, sum_double),
    over("list_duration_sum_duration", DURATIONS, T::Duration, sum_duration),
];

const MAX: &[Overload] = &[
    over("list_int_max_int", INTS, T::Int, max),
    over("list_uint_max_uint", UINTS, T::Uint, max),
    over("list_double_max_double", DOUBLES, T::Double, max),
    over("list_bool_max_bool", BOOLS, T::Bool, max),
    over("list_duration_max_duration", DURATIONS, T::Duration, max),
    over("list_timestamp_max_timestamp", TIMESTAMPS, T::Timestamp, max),
    over("list_string_max_string", STRINGS, T::String, max),
    over("list_bytes_max_bytes", BYTES, T::Bytes, max),
];

const MIN: &[Overload] = &[
    over("list_int_min_int", INTS, T::Int, min),
    over("list_uint_min_uint", UINTS, T::Uint, min),
    over("list_double_min_double", DOUBLES, T::Double, min),
    over("list_bool_min_bool", BOOLS, T::Bool, min),
    over("list_duration_min_duration", DURATIONS, T::Duration, min),
    over("list_timestamp_min_timestamp", TIMESTAMPS, T::Timestamp, min),
    over("list_string_min_string", STRINGS, T::String, min),
    over("list_bytes_min_bytes", BYTES, T::Bytes, min),
];

/// All of them look at every item once.
const fn over(id: &'static str, params: &'static [T], result: T, call: CallFn) -> Overload {
    Overload::member(id, params, result, call)
        .costs(price::deep_traversal, price::deep_traversal_estimate)
}

fn is_sorted<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [items] = exactly(args)?;
    let mut before: Option<Value<'_>> = None;
    for item in list(items)?.iter() {
        let item = item?;
        context.work.look(1)?;
        check_comparable(&item)?;
        if before.is_some_and(|before| is(&before, Ordering::Greater, &item)) {
            return Ok(Value::Bool(false));
        }
        before = Some(item);
    }
    Ok(Value::Bool(true))
}

fn max<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    extreme(context, args, Ordering::Less)?.ok_or(EvalError::fixed("max called on empty list"))
}

fn min<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    extreme(context, args, Ordering::Greater)?.ok_or(EvalError::fixed("min called on empty list"))
}

/// The first item that no other is better than: one is replaced when it compares so with the next.
fn extreme<'a>(
    context: &mut Context<'_>,
    args: &[Value<'a>],
    worse: Ordering,
) -> Result<Option<Value<'a>>, EvalError> {
    let [items] = exactly(args)?;
    let mut best: Option<Value<'a>> = None;
    for item in list(items)?.iter() {
        let item = item?;
        context.work.look(1)?;
        check_comparable(&item)?;
        if best.as_ref().is_none_or(|best| is(best, worse, &item)) {
            best = Some(item);
        }
    }
    Ok(best)
}

/// Whether two values are in this order. Those that have none are in no order.
fn is(a: &Value<'_>, order: Ordering, b: &Value<'_>) -> bool {
    a.compare(b) == Ok(order)
}

fn check_comparable(value: &Value<'_>) -> Result<(), EvalError> {
    match value.compare(value) {
        Err(EvalError::NoSuchOverload) => Err(EvalError::NoSuchOverload),
        _ => Ok(()),
    }
}

fn sum_int<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let mut sum: i64 = 0;
    for item in items(args)?.iter() {
        let Value::Int(number) = item? else { return Err(EvalError::NoSuchOverload) };
        sum = sum.checked_add(number).ok_or(EvalError::fixed("integer overflow"))?;
    }
    Ok(Value::Int(sum))
}

fn sum_uint<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let mut sum: u64 = 0;
    for item in items(args)?.iter() {
        let Value::Uint(number) = item? else { return Err(EvalError::NoSuchOverload) };
        sum = sum.checked_add(number).ok_or(EvalError::fixed("unsigned integer overflow"))?;
    }
    Ok(Value::Uint(sum))
}

fn sum_double<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let mut sum = 0.0;
    for item in items(args)?.iter() {
        let Value::Double(number) = item? else { return Err(EvalError::NoSuchOverload) };
        sum += number;
    }
    Ok(Value::Double(sum))
}

fn sum_duration<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let mut sum: i64 = 0;
    for item in items(args)?.iter() {
        let Value::Duration(duration) = item? else { return Err(EvalError::NoSuchOverload) };
        let larger = sum.checked_add(duration.as_nanos());
        sum = larger.ok_or(EvalError::fixed("integer overflow"))?;
    }
    Ok(Value::Duration(Duration::from_nanos(sum)))
}

fn items<'v, 'a>(args: &'v [Value<'a>]) -> Result<&'v List<'a>, EvalError> {
    let [items] = exactly(args)?;
    list(items)
}

fn index_of<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [items, wanted] = exactly(args)?;
    let items = list(items)?;
    position(context, items, 0..items.len(), wanted)
}

fn last_index_of<'a>(
    context: &mut Context<'_>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let [items, wanted] = exactly(args)?;
    let items = list(items)?;
    position(context, items, (0..items.len()).rev(), wanted)
}

fn position<'a>(
    context: &mut Context<'_>,
    items: &List<'a>,
    places: impl Iterator<Item = usize>,
    wanted: &Value<'a>,
) -> Result<Value<'a>, EvalError> {
    for at in places {
        if let Some(item) = items.get(at)
            && sets::is_equal(context, &item?, wanted)?
        {
            return Ok(Value::Int(i64::try_from(at).unwrap_or(i64::MAX)));
        }
    }
    Ok(Value::Int(-1))
}
