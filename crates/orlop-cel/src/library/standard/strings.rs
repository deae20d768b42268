//! What texts contain, start and end with, and match.

use crate::cost;
use crate::error::EvalError;
use crate::function::{Context, Function, Overload, T};
use crate::value::Value;

use super::super::pattern::Pattern;
use super::Called;

const TWO_STRINGS: &[T] = &[T::String, T::String];

pub(super) const CONTAINS: Function = Function {
    name: "contains",
    overloads: &[Overload::member("contains_string", TWO_STRINGS, T::Bool, contains)
        .costs_by_id(product_cost)],
};

pub(super) const STARTS_WITH: Function = Function {
    name: "startsWith",
    overloads: &[Overload::member("starts_with_string", TWO_STRINGS, T::Bool, starts_with)
        .costs_by_id(traversal_cost)],
};

pub(super) const ENDS_WITH: Function = Function {
    name: "endsWith",
    overloads: &[Overload::member("ends_with_string", TWO_STRINGS, T::Bool, ends_with)
        .costs_by_id(traversal_cost)],
};

pub(super) const MATCHES: Function = Function {
    name: "matches",
    overloads: &[
        Overload::global("matches", TWO_STRINGS, T::Bool, matches).prepares(Pattern::prepare),
        Overload::member("matches_string", TWO_STRINGS, T::Bool, matches)
            .costs_by_id(regex_cost)
            .prepares(Pattern::prepare),
    ],
};

fn texts<'t>(args: &'t [Value<'_>]) -> Result<(&'t str, &'t str), EvalError> {
    match args {
        [Value::String(a), Value::String(b)] => Ok((a, b)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn contains<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let (text, part) = texts(args)?;
    context.work.look(text.len() / 64)?;
    Ok(Value::Bool(text.contains(part)))
}

fn starts_with<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let (text, part) = texts(args)?;
    Ok(Value::Bool(text.starts_with(part)))
}

fn ends_with<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let (text, part) = texts(args)?;
    Ok(Value::Bool(text.ends_with(part)))
}

fn matches<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let (text, pattern) = texts(args)?;
    if let Some(prepared) = Pattern::prepared(context) {
        return Ok(Value::Bool(prepared.search(text, context.work)?.is_match(text)));
    }
    context.work.compile(pattern)?;
    let pattern = Pattern::new(pattern).map_err(|wrong| EvalError::new(wrong.to_string()))?;
    Ok(Value::Bool(pattern.search(text, context.work)?.is_match(text)))
}

fn sizes(args: &[Value<'_>]) -> [u64; 2] {
    [0, 1].map(|at| args.get(at).map_or(1, cost::size_of))
}

fn traversal_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    cost::scale(sizes(args)[0], cost::STRING_TRAVERSAL_FACTOR)
}

fn product_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    let [text, part] = sizes(args).map(|size| cost::scale(size, cost::STRING_TRAVERSAL_FACTOR));
    text.saturating_mul(part)
}

/// One more than the length, because an expression can be expensive on an empty text too.
fn regex_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    let [text, pattern] = sizes(args);
    let text = cost::scale(text.saturating_add(1), cost::STRING_TRAVERSAL_FACTOR);
    text.saturating_mul(cost::scale(pattern, cost::REGEX_LENGTH_FACTOR))
}
