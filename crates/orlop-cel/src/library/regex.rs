//! Patterns in text: `find` and `findAll`.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/regex.go`. A pattern that stands in the
//! expression is compiled once.

use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, T};
use crate::value::{Value, Work};

use super::argument::{exactly, int, text};
use super::pattern::Pattern;
use super::price;

/// The library of patterns.
pub static REGEX: Library = Library {
    name: "kubernetes.regex",
    functions: &[
        Function {
            name: "find",
            overloads: &[Overload::member(
                "string_find_string",
                &[T::String, T::String],
                T::String,
                find,
            )
            .costs(price::pattern, price::pattern_estimate)
            .prepares(Pattern::prepare)],
        },
        Function {
            name: "findAll",
            overloads: &[
                Overload::member(
                    "string_find_all_string",
                    &[T::String, T::String],
                    FOUND,
                    find_all,
                )
                .costs(price::pattern, price::pattern_estimate)
                .prepares(Pattern::prepare),
                Overload::member(
                    "string_find_all_string_int",
                    &[T::String, T::String, T::Int],
                    FOUND,
                    find_some,
                )
                .costs(price::pattern, price::pattern_estimate)
                .prepares(Pattern::prepare),
            ],
        },
    ],
    constants: &[],
    macros: &[],
};

const FOUND: T = T::List(&T::String);

fn find<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, pattern] = exactly(args)?;
    let whole = text(whole)?;
    with_pattern(context, pattern, |pattern, work| {
        let found = pattern.search(whole, work)?.find(whole).map_or("", |found| found.as_str());
        work.make(found.len())?;
        Ok(Value::string(found))
    })
}

fn find_all<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, pattern] = exactly(args)?;
    find_at_most(context, whole, pattern, -1)
}

fn find_some<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, pattern, most] = exactly(args)?;
    find_at_most(context, whole, pattern, int(most)?)
}

/// A negative number is all of them.
fn find_at_most<'a>(
    context: &mut Context<'_>,
    whole: &Value<'a>,
    pattern: &Value<'a>,
    most: i64,
) -> Result<Value<'a>, EvalError> {
    let whole = text(whole)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    with_pattern(context, pattern, |pattern, work| {
        let mut all = Vec::new();
        for found in pattern.search(whole, work)?.find_iter(whole).take(most) {
            work.make(found.len() + size_of::<Value<'_>>())?;
            all.push(Value::string(found.as_str()));
        }
        Ok(Value::list(all))
    })
}

/// Does something with the pattern of a call: what was prepared, or compiled now.
fn with_pattern<'a>(
    context: &mut Context<'_>,
    pattern: &Value<'a>,
    search: impl FnOnce(&Pattern, &mut Work) -> Result<Value<'a>, EvalError>,
) -> Result<Value<'a>, EvalError> {
    if let Some(prepared) = Pattern::prepared(context) {
        return search(prepared, context.work);
    }
    let pattern = text(pattern)?;
    context.work.compile(pattern)?;
    match Pattern::new(pattern) {
        Ok(pattern) => search(&pattern, context.work),
        Err(wrong) => Err(EvalError::new(format!("Illegal regex: {wrong}"))),
    }
}
