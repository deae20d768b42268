//! Lists as sets: whether one has all or any items of another.
//!
//! After `ext/sets.go` of cel-go.

use crate::cost::{self, CallEstimate, CallSite, CostEstimate};
use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, T};
use crate::value::{List, Value};

use super::argument::{exactly, list};
use super::price;

/// The library of sets.
pub static SETS: Library = Library {
    name: "cel.lib.ext.sets",
    functions: &[
        Function {
            name: "sets.contains",
            overloads: &[Overload::global("list_sets_contains_list", LISTS, T::Bool, contains)
                .costs(cost, estimate)],
        },
        Function {
            name: "sets.equivalent",
            overloads: &[Overload::global("list_sets_equivalent_list", LISTS, T::Bool, equivalent)
                .costs(double_cost, double_estimate)],
        },
        Function {
            name: "sets.intersects",
            overloads: &[Overload::global("list_sets_intersects_list", LISTS, T::Bool, intersects)
                .costs(cost, estimate)],
        },
    ],
    constants: &[],
    macros: &[],
};

const LISTS: &[T] = &[T::List(&T::Param("T")), T::List(&T::Param("T"))];

fn contains<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, part] = exactly(args)?;
    has_all(context, list(whole)?, list(part)?).map(Value::Bool)
}

fn equivalent<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [a, b] = exactly(args)?;
    let (a, b) = (list(a)?, list(b)?);
    Ok(Value::Bool(has_all(context, a, b)? && has_all(context, b, a)?))
}

fn intersects<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [a, b] = exactly(args)?;
    for item in list(a)?.iter() {
        if has(context, list(b)?, &item?)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn has_all(
    context: &mut Context<'_>,
    whole: &List<'_>,
    part: &List<'_>,
) -> Result<bool, EvalError> {
    for item in part.iter() {
        if !has(context, whole, &item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a list has an item. What cannot be compared is not equal.
pub(super) fn has(
    context: &mut Context<'_>,
    list: &List<'_>,
    wanted: &Value<'_>,
) -> Result<bool, EvalError> {
    for item in list.iter() {
        if is_equal(context, &item?, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether two values are equal. What cannot be compared is not.
pub(super) fn is_equal(
    context: &mut Context<'_>,
    a: &Value<'_>,
    b: &Value<'_>,
) -> Result<bool, EvalError> {
    match a.equals(b, context.work) {
        Err(error) if error.is_absorbable() => Ok(false),
        result => result,
    }
}

/// Every item with every other.
fn cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    pairs(args).saturating_add(1)
}

fn double_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    pairs(args).saturating_mul(2).saturating_add(1)
}

fn pairs(args: &[Value<'_>]) -> u64 {
    args.iter().map(cost::size_of).fold(1, u64::saturating_mul)
}

fn estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    estimate_times(site, 1.0)
}

fn double_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    estimate_times(site, 2.0)
}

fn estimate_times(site: &dyn CallSite, factor: f64) -> Option<CallEstimate> {
    let pairs = site.size(0).times(site.size(1));
    Some(price::costing(pairs.traversal(factor).plus(CostEstimate::fixed(1))))
}
