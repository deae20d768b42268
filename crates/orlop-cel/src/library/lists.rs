//! Lists: parts of them, sorted, flattened, without repetition.
//!
//! After `ext/lists.go` of cel-go, version 3, which is what Kubernetes has. What Kubernetes adds
//! itself is in [`kubernetes_lists`](super::kubernetes_lists).

use crate::ast::Literal;
use crate::cost::{
    self, CallEstimate, CallSite, CostEstimate, LIST_CREATE, STRING_TRAVERSAL_FACTOR, SizeEstimate,
};
use crate::error::EvalError;
use crate::function::{Context, CostFn, EstimateFn, Function, Library, Overload, T};
use crate::macros;
use crate::value::{List, Value, Work};

use super::argument::{exactly, int, list};
use super::sets;

/// How deep lists that are flattened can nest.
const DEPTH_MAX: usize = 100;

/// The library of lists.
pub static LISTS: Library = Library {
    name: "cel.lib.ext.lists",
    functions: &[
        Function {
            name: "slice",
            overloads: &[Overload::member("list_slice", &[ITEMS, T::Int, T::Int], ITEMS, slice)
                .costs(result_cost, slice_estimate)],
        },
        Function {
            name: "flatten",
            overloads: &[
                Overload::member("list_flatten", &[T::List(&ITEMS)], ITEMS, flatten)
                    .costs(flatten_cost, flatten_estimate)
                    .unguarded(),
                Overload::member("list_flatten_int", &[ANY_ITEMS, T::Int], ANY_ITEMS, flatten_deep)
                    .costs(flatten_cost, flatten_estimate)
                    .unguarded(),
            ],
        },
        Function { name: "sort", overloads: SORT },
        Function { name: "@sortByAssociatedKeys", overloads: SORT_BY_KEYS },
        Function {
            name: "lists.range",
            overloads: &[Overload::global("lists_range", &[T::Int], T::List(&T::Int), range)
                .costs(result_cost, range_estimate)],
        },
        Function {
            name: "reverse",
            overloads: &[Overload::member("list_reverse", &[ITEMS], ITEMS, reverse)
                .costs(result_cost, reverse_estimate)],
        },
        Function {
            name: "distinct",
            overloads: &[Overload::member("list_distinct", &[ITEMS], ITEMS, distinct)
                .costs(first_compared, distinct_estimate)],
        },
    ],
    constants: &[],
    macros: macros::LISTS,
};

const ITEMS: T = T::List(&T::Param("T"));
const ANY_ITEMS: T = T::List(&T::Dyn);

const SORT: &[Overload] = &[
    sort_of("list_int_sort", &[T::List(&T::Int)]),
    sort_of("list_uint_sort", &[T::List(&T::Uint)]),
    sort_of("list_double_sort", &[T::List(&T::Double)]),
    sort_of("list_bool_sort", &[T::List(&T::Bool)]),
    sort_of("list_google.protobuf.Duration_sort", &[T::List(&T::Duration)]),
    sort_of("list_google.protobuf.Timestamp_sort", &[T::List(&T::Timestamp)]),
    sort_of("list_string_sort", &[T::List(&T::String)]).costs(first_compared, sort_text_estimate),
    sort_of("list_bytes_sort", &[T::List(&T::Bytes)]).costs(first_compared, sort_text_estimate),
];

const SORT_BY_KEYS: &[Overload] = &[
    sort_by("list_int_sortByAssociatedKeys", &[ITEMS, T::List(&T::Int)]),
    sort_by("list_uint_sortByAssociatedKeys", &[ITEMS, T::List(&T::Uint)]),
    sort_by("list_double_sortByAssociatedKeys", &[ITEMS, T::List(&T::Double)]),
    sort_by("list_bool_sortByAssociatedKeys", &[ITEMS, T::List(&T::Bool)]),
    sort_by("list_google.protobuf.Duration_sortByAssociatedKeys", &[ITEMS, T::List(&T::Duration)]),
    sort_by(
        "list_google.protobuf.Timestamp_sortByAssociatedKeys",
        &[ITEMS, T::List(&T::Timestamp)],
    ),
    sort_by("list_string_sortByAssociatedKeys", &[ITEMS, T::List(&T::String)])
        .costs(second_compared, sort_by_text_estimate),
    sort_by("list_bytes_sortByAssociatedKeys", &[ITEMS, T::List(&T::Bytes)])
        .costs(second_compared, sort_by_text_estimate),
];

const fn sort_of(id: &'static str, params: &'static [T]) -> Overload {
    let (cost, estimate): (CostFn, EstimateFn) = (first_compared, sort_estimate);
    Overload::member(id, params, params[0], sort)
        .costs(cost, estimate)
        .costs_by_id(cost)
        .unguarded()
}

const fn sort_by(id: &'static str, params: &'static [T]) -> Overload {
    let (cost, estimate): (CostFn, EstimateFn) = (second_compared, sort_by_estimate);
    let overload = Overload::member(id, params, ITEMS, sort_by_keys);
    overload.costs(cost, estimate).costs_by_id(cost).unguarded()
}

fn slice<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, start, end] = exactly(args)?;
    let (whole, start, end) = (list(whole)?, int(start)?, int(end)?);
    let refused = |why: &str| Err(EvalError::new(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return refused("negative indexes not supported");
    };
    if from > to {
        return refused("start index must be less than or equal to end index");
    }
    if to > whole.len() {
        return refused(&format!("list is length {}", whole.len()));
    }
    make_room(context.work, to - from)?;
    collect((from..to).filter_map(|at| whole.get(at)))
}

fn flatten<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    flatten_to(context, list(whole)?, 1)
}

fn flatten_deep<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, depth] = exactly(args)?;
    let depth = int(depth)?;
    if depth < 0 {
        return Err(EvalError::fixed("level must be non-negative"));
    }
    flatten_to(context, list(whole)?, depth)
}

fn flatten_to<'a>(
    context: &mut Context<'_>,
    whole: &List<'a>,
    depth: i64,
) -> Result<Value<'a>, EvalError> {
    let mut items = Vec::new();
    push_flat(&mut items, whole, Levels { asked: depth, left: DEPTH_MAX }, context.work)?;
    Ok(Value::list(items))
}

/// How many levels of lists go away, and how many more there may be.
#[derive(Clone, Copy)]
struct Levels {
    asked: i64,
    left: usize,
}

fn push_flat<'a>(
    items: &mut Vec<Value<'a>>,
    whole: &List<'a>,
    levels: Levels,
    work: &mut Work,
) -> Result<(), EvalError> {
    for item in whole.iter() {
        match item? {
            Value::List(inner) if levels.asked > 0 => {
                work.look(1)?;
                let left = levels.left.checked_sub(1).ok_or(EvalError::ValueTooLarge)?;
                push_flat(items, &inner, Levels { asked: levels.asked - 1, left }, work)?;
            }
            item => {
                make_room(work, 1)?;
                items.push(item);
            }
        }
    }
    Ok(())
}

fn sort<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    sort_by_order_of(context, whole, whole)
}

fn sort_by_keys<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, keys] = exactly(args)?;
    sort_by_order_of(context, whole, keys)
}

/// The items in the order of their keys.
fn sort_by_order_of<'a>(
    context: &mut Context<'_>,
    whole: &Value<'a>,
    keys: &Value<'a>,
) -> Result<Value<'a>, EvalError> {
    let (items, keys) = (list(whole)?, list(keys)?);
    if items.len() != keys.len() {
        return Err(EvalError::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, \
             but got {} and {} elements respectively",
            items.len(),
            keys.len()
        )));
    }
    if items.is_empty() {
        return Ok(whole.clone());
    }
    make_room(context.work, 2 * items.len())?;
    let mut keyed = Vec::with_capacity(items.len());
    for (item, key) in items.iter().zip(keys.iter()) {
        keyed.push((key?, item?));
    }
    let first = &keyed[0].0;
    if first.compare(first) == Err(EvalError::NoSuchOverload) {
        return Err(EvalError::fixed("list elements must be comparable"));
    }
    let kind = std::mem::discriminant(first);
    // One key is compared with none.
    if keyed.len() > 1 && keyed.iter().any(|(key, _)| std::mem::discriminant(key) != kind) {
        return Err(EvalError::fixed("list elements must have the same type"));
    }
    let steps =
        keyed.len().saturating_mul(usize::BITS as usize - keyed.len().leading_zeros() as usize);
    context.work.look(steps)?;
    // What is not a number is before nothing and after nothing, as upstream has it.
    keyed.sort_by(|a, b| a.0.compare(&b.0).unwrap_or(std::cmp::Ordering::Equal));
    Ok(Value::list(keyed.into_iter().map(|(_, item)| item).collect()))
}

fn range<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [count] = exactly(args)?;
    let count = int(count)?;
    make_room(context.work, usize::try_from(count).unwrap_or(0))?;
    Ok(Value::list((0..count).map(Value::Int).collect()))
}

fn reverse<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let whole = list(whole)?;
    make_room(context.work, whole.len())?;
    collect((0..whole.len()).rev().filter_map(|at| whole.get(at)))
}

fn distinct<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    make_room(context.work, list(whole)?.len())?;
    let mut seen: Vec<Value<'a>> = Vec::new();
    for item in list(whole)?.iter() {
        let item = item?;
        let mut is_new = true;
        for other in &seen {
            if sets::is_equal(context, &item, other)? {
                is_new = false;
                break;
            }
        }
        if is_new {
            seen.push(item);
        }
    }
    Ok(Value::list(seen))
}

fn collect<'a>(
    items: impl Iterator<Item = Result<Value<'a>, EvalError>>,
) -> Result<Value<'a>, EvalError> {
    items.collect::<Result<Vec<_>, _>>().map(Value::list)
}

fn make_room(work: &mut Work, items: usize) -> Result<(), EvalError> {
    work.make(items.saturating_mul(size_of::<Value<'_>>()))
}

/// One for each item that comes out.
fn result_cost(_: &[Value<'_>], result: &Value<'_>) -> u64 {
    allocating(cost::size_of(result))
}

/// One for each item and level. A level below zero is an error, and goes round as upstream.
fn flatten_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    let size = args.first().map_or(0, cost::size_of);
    match args.get(1) {
        Some(Value::Int(depth)) if *depth < 0 => {
            size.wrapping_mul(depth.cast_unsigned()).wrapping_add(allocating(0))
        }
        Some(Value::Int(depth)) => allocating(size.saturating_mul(depth.unsigned_abs())),
        _ => allocating(size),
    }
}

fn first_compared(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    args.first().map_or(0, self_comparison)
}

fn second_compared(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    args.get(1).map_or(0, self_comparison)
}

/// Every item with every other.
fn self_comparison(value: &Value<'_>) -> u64 {
    let first = match value {
        Value::List(list) => list.get(0).and_then(Result::ok),
        _ => None,
    };
    let is_text = matches!(first, Some(Value::String(_) | Value::Bytes(_)));
    let size = cost::size_of(value);
    #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
    let pairs = size.saturating_mul(size) as f64 * comparison_factor(is_text);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let pairs = pairs as u64;
    allocating(pairs)
}

fn comparison_factor(is_text: bool) -> f64 {
    if is_text { 2.0 + STRING_TRAVERSAL_FACTOR } else { 2.0 }
}

/// With the call and the list that is made.
fn allocating(cost: u64) -> u64 {
    cost.saturating_add(1 + LIST_CREATE)
}

fn allocating_estimate(size: SizeEstimate, factor: f64) -> Option<CallEstimate> {
    let cost = size.traversal(factor).plus(CostEstimate::fixed(1 + LIST_CREATE));
    Some(CallEstimate { cost, result_size: Some(size) })
}

fn slice_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let start = literal_int(site, 1).unwrap_or(0);
    let end = literal_int(site, 2).unwrap_or(site.size(0).max);
    // Upstream goes round below zero.
    allocating_estimate(SizeEstimate::fixed(end.wrapping_sub(start)), 1.0)
}

fn range_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    allocating_estimate(SizeEstimate::fixed(literal_int(site, 0).unwrap_or(u64::MAX)), 1.0)
}

fn reverse_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    allocating_estimate(site.size(0), 1.0)
}

fn flatten_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let depth = match site.len() {
        1 => 1,
        _ => literal_int(site, 1).unwrap_or(u64::MAX),
    };
    #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
    let factor = depth as f64;
    allocating_estimate(site.size(0), factor)
}

fn distinct_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    compared_estimate(site.size(0), 2.0)
}

fn sort_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    compared_estimate(site.size(0), comparison_factor(false))
}

fn sort_text_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    compared_estimate(site.size(0), comparison_factor(true))
}

fn sort_by_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    compared_estimate(site.size(1), comparison_factor(false))
}

fn sort_by_text_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    compared_estimate(site.size(1), comparison_factor(true))
}

/// As upstream, the result is taken to be as large as the number of comparisons.
fn compared_estimate(size: SizeEstimate, factor: f64) -> Option<CallEstimate> {
    allocating_estimate(size.times(size), factor)
}

/// An argument that is a whole number in the source; what is less than 0 counts as 0.
fn literal_int(site: &dyn CallSite, argument: usize) -> Option<u64> {
    match site.literal(argument) {
        Some(Literal::Int(number)) => Some(u64::try_from(*number).unwrap_or(0)),
        _ => None,
    }
}
