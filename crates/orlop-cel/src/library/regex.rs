//! Patterns in text: `find` and `findAll`.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/regex.go`. A pattern that stands in the
//! expression is compiled once.

use orlop_machinery::regular_expression::{self, SyntaxError};
use regex::Regex;

use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, Prepared, T};
use crate::value::Value;

use super::argument::{exactly, int, text};
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
            .prepares(prepare)],
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
                .prepares(prepare),
                Overload::member(
                    "string_find_all_string_int",
                    &[T::String, T::String, T::Int],
                    FOUND,
                    find_some,
                )
                .costs(price::pattern, price::pattern_estimate)
                .prepares(prepare),
            ],
        },
    ],
    constants: &[],
    macros: &[],
};

const FOUND: T = T::List(&T::String);

/// Compiles a pattern that is constant.
fn prepare(args: &[Option<&Value<'_>>]) -> Option<Result<Prepared, EvalError>> {
    let pattern = (*args.get(1)?)?.as_str()?;
    Some(match regular_expression::compile(pattern) {
        Ok(compiled) => Ok(std::sync::Arc::new(compiled)),
        Err(wrong) => Err(EvalError::new(wrong.to_string())),
    })
}

fn find<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, pattern] = exactly(args)?;
    let whole = text(whole)?;
    let pattern = compiled(context, pattern)?;
    context.work.look(whole.len())?;
    let found = pattern.find(whole).map_or("", |found| found.as_str());
    context.work.make(found.len())?;
    Ok(Value::string(found))
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
    let pattern = compiled(context, pattern)?;
    context.work.look(whole.len())?;
    let mut all = Vec::new();
    for found in pattern.find_iter(whole).take(usize::try_from(most).unwrap_or(usize::MAX)) {
        context.work.make(found.len() + size_of::<Value<'_>>())?;
        all.push(Value::string(found.as_str()));
    }
    Ok(Value::list(all))
}

/// The pattern of a call: what was prepared, or compiled now.
fn compiled(context: &mut Context<'_>, pattern: &Value<'_>) -> Result<Regex, EvalError> {
    if let Some(prepared) = context.prepared.and_then(|any| any.downcast_ref::<Regex>()) {
        return Ok(prepared.clone());
    }
    let pattern = text(pattern)?;
    context.work.compile(pattern)?;
    regular_expression::compile(pattern).map_err(|wrong| illegal(&wrong))
}

fn illegal(wrong: &SyntaxError) -> EvalError {
    EvalError::new(format!("Illegal regex: {wrong}"))
}
