//! Text: its characters, parts, case, and values put into it.
//!
//! After `ext/strings.go` of cel-go, version 2, which is what Kubernetes has; `reverse` of version
//! 3 is in [`STRINGS_REVERSE`]. Places in a text are counted in characters.
//!
//! Text is always UTF-8 here; what upstream does with other bytes has no counterpart.

mod format;
mod number;

use std::fmt::Write;

use crate::ast::Literal;
use crate::cost::{
    self, CallEstimate, CallSite, CostEstimate, STRING_TRAVERSAL_FACTOR, SizeEstimate, scale,
};
use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, T};
use crate::ty::Type;
use crate::value::{Text, Value};

use super::argument::{exactly, int, list, text};
use super::price;

/// The library of strings.
pub static STRINGS: Library = Library {
    name: "cel.lib.ext.strings",
    functions: &[
        CHAR_AT,
        INDEX_OF,
        LAST_INDEX_OF,
        LOWER_ASCII,
        UPPER_ASCII,
        REPLACE,
        SPLIT,
        SUBSTRING,
        TRIM,
        FORMAT,
        QUOTE,
        JOIN,
    ],
    constants: &[],
    macros: &[],
};

/// What a later version of the library of strings adds.
pub static STRINGS_REVERSE: Library = Library {
    name: "cel.lib.ext.strings.reverse",
    functions: &[Function {
        name: "reverse",
        overloads: &[Overload::member("string_reverse", &[T::String], T::String, reverse)],
    }],
    constants: &[],
    macros: &[],
};

const CHAR_AT: Function = Function {
    name: "charAt",
    overloads: &[Overload::member("string_char_at_int", &[T::String, T::Int], T::String, char_at)],
};

const INDEX_OF: Function = Function {
    name: "indexOf",
    overloads: &[
        Overload::member("string_index_of_string", &[T::String, T::String], T::Int, index_of)
            .costs(price::deep_traversal, price::deep_traversal_estimate),
        Overload::member(
            "string_index_of_string_int",
            &[T::String, T::String, T::Int],
            T::Int,
            index_of_from,
        )
        .costs(price::deep_traversal, price::deep_traversal_estimate),
    ],
};

const LAST_INDEX_OF: Function = Function {
    name: "lastIndexOf",
    overloads: &[
        Overload::member(
            "string_last_index_of_string",
            &[T::String, T::String],
            T::Int,
            last_index_of,
        )
        .costs(price::deep_traversal, price::deep_traversal_estimate),
        Overload::member(
            "string_last_index_of_string_int",
            &[T::String, T::String, T::Int],
            T::Int,
            last_index_of_from,
        )
        .costs(price::deep_traversal, price::deep_traversal_estimate),
    ],
};

const LOWER_ASCII: Function = Function {
    name: "lowerAscii",
    overloads: &[Overload::member("string_lower_ascii", &[T::String], T::String, lower_ascii)
        .costs(price::traversal, price::copy_estimate)],
};

const UPPER_ASCII: Function = Function {
    name: "upperAscii",
    overloads: &[Overload::member("string_upper_ascii", &[T::String], T::String, upper_ascii)
        .costs(price::traversal, price::copy_estimate)],
};

const REPLACE: Function = Function {
    name: "replace",
    overloads: &[
        Overload::member(
            "string_replace_string_string",
            &[T::String, T::String, T::String],
            T::String,
            replace,
        )
        .costs(price::double_traversal, replace_estimate),
        Overload::member(
            "string_replace_string_string_int",
            &[T::String, T::String, T::String, T::Int],
            T::String,
            replace_some,
        )
        .costs(price::double_traversal, replace_estimate),
    ],
};

const SPLIT: Function = Function {
    name: "split",
    overloads: &[
        Overload::member(
            "string_split_string",
            &[T::String, T::String],
            T::List(&T::String),
            split,
        )
        .costs(price::double_traversal, split_estimate),
        Overload::member(
            "string_split_string_int",
            &[T::String, T::String, T::Int],
            T::List(&T::String),
            split_some,
        )
        .costs(price::double_traversal, split_estimate),
    ],
};

const SUBSTRING: Function = Function {
    name: "substring",
    overloads: &[
        Overload::member("string_substring_int", &[T::String, T::Int], T::String, substring_from)
            .costs(price::traversal, price::copy_estimate),
        Overload::member(
            "string_substring_int_int",
            &[T::String, T::Int, T::Int],
            T::String,
            substring,
        )
        .costs(price::traversal, price::copy_estimate),
    ],
};

const TRIM: Function = Function {
    name: "trim",
    overloads: &[Overload::member("string_trim", &[T::String], T::String, trim)
        .costs(price::traversal, price::copy_estimate)],
};

const FORMAT: Function = Function {
    name: "format",
    overloads: &[Overload::member(
        "string_format",
        &[T::String, T::List(&T::Dyn)],
        T::String,
        format::call,
    )
    .costs(price::traversal, price::traversal_estimate)],
};

const QUOTE: Function = Function {
    name: "strings.quote",
    overloads: &[Overload::global("strings_quote", &[T::String], T::String, quote)
        .costs(price::traversal, quote_estimate)],
};

const JOIN: Function = Function {
    name: "join",
    overloads: &[
        Overload::member("list_join", &[T::List(&T::String)], T::String, join)
            .costs(join_cost, join_estimate),
        Overload::member("list_join_string", &[T::List(&T::String), T::String], T::String, join_by)
            .costs(join_cost, join_estimate),
    ],
};

fn char_at<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, at] = exactly(args)?;
    let (whole, at) = (text(whole)?, int(at)?);
    let start = byte_of(whole, at).ok_or_else(|| out_of_range(at))?;
    let end = whole[start..].chars().next().map_or(start, |c| start + c.len_utf8());
    Ok(part(whole, start, end))
}

fn index_of<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, sub] = exactly(args)?;
    find_from(text(whole)?, text(sub)?, 0)
}

fn index_of_from<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, sub, from] = exactly(args)?;
    find_from(text(whole)?, text(sub)?, int(from)?)
}

fn find_from<'a>(whole: &str, sub: &str, from: i64) -> Result<Value<'a>, EvalError> {
    if sub.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let found = byte_of(whole, from)
        .and_then(|start| Some(start + whole[start..].find(sub)?))
        .map_or(-1, |at| character_of(whole, at));
    Ok(Value::Int(found))
}

fn last_index_of<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, sub] = exactly(args)?;
    let (whole, sub) = (text(whole)?, text(sub)?);
    let found = whole.rfind(&**sub).map_or(-1, |at| character_of(whole, at));
    Ok(Value::Int(found))
}

fn last_index_of_from<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, sub, from] = exactly(args)?;
    let (whole, sub, from) = (text(whole)?, text(sub)?, int(from)?);
    if sub.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    // A place at or behind the end finds nothing.
    let Some(start) = byte_of(whole, from).filter(|start| *start < whole.len()) else {
        return Ok(Value::Int(-1));
    };
    // What starts there at the latest ends so far behind.
    let count = i64::try_from(sub.chars().count()).unwrap_or(i64::MAX);
    let end = byte_of(&whole[start..], count).map_or(whole.len(), |len| start + len);
    let found = whole[..end].rfind(&**sub).map_or(-1, |at| character_of(whole, at));
    Ok(Value::Int(found))
}

fn lower_ascii<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let whole = text(whole)?;
    context.work.make(whole.len())?;
    Ok(Value::string(whole.to_ascii_lowercase()))
}

fn upper_ascii<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let whole = text(whole)?;
    context.work.make(whole.len())?;
    Ok(Value::string(whole.to_ascii_uppercase()))
}

fn replace<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, old, new] = exactly(args)?;
    replace_at_most(context, [text(whole)?, text(old)?, text(new)?], -1)
}

fn replace_some<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, old, new, most] = exactly(args)?;
    replace_at_most(context, [text(whole)?, text(old)?, text(new)?], int(most)?)
}

/// A negative number is all of them.
fn replace_at_most<'a>(
    context: &mut Context<'_>,
    [whole, old, new]: [&Text<'a>; 3],
    most: i64,
) -> Result<Value<'a>, EvalError> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    context.work.look(whole.len())?;
    let count = whole.matches(&**old).take(most).count();
    if count == 0 {
        return Ok(Value::String(whole.clone()));
    }
    context.work.make(whole.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(Value::string(whole.replacen(&**old, new, most)))
}

fn split<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, separator] = exactly(args)?;
    split_at_most(context, text(whole)?, text(separator)?, -1)
}

fn split_some<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, separator, most] = exactly(args)?;
    split_at_most(context, text(whole)?, text(separator)?, int(most)?)
}

/// A negative number is all parts, 0 none. Without a separator every character is a part.
fn split_at_most<'a>(
    context: &mut Context<'_>,
    whole: &Text<'a>,
    separator: &str,
    most: i64,
) -> Result<Value<'a>, EvalError> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    context.work.look(whole.len())?;
    let mut parts = Vec::new();
    let mut start = 0;
    // Empty text has no characters, but one part.
    while most > 0 && (!separator.is_empty() || start < whole.len()) {
        let rest = &whole[start..];
        let end = match separator {
            _ if parts.len() + 1 == most => None,
            "" => rest.chars().next().map(char::len_utf8).filter(|len| *len < rest.len()),
            separator => rest.find(separator),
        };
        context.work.make(end.unwrap_or(rest.len()) + size_of::<Value<'_>>())?;
        let Some(len) = end else {
            parts.push(part(whole, start, whole.len()));
            break;
        };
        parts.push(part(whole, start, start + len));
        start += len + separator.len();
    }
    Ok(Value::list(parts))
}

fn substring_from<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, start] = exactly(args)?;
    let (whole, start) = (text(whole)?, int(start)?);
    let from = byte_of(whole, start).ok_or_else(|| out_of_range(start))?;
    Ok(part(whole, from, whole.len()))
}

fn substring<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole, start, end] = exactly(args)?;
    let (whole, start, end) = (text(whole)?, int(start)?, int(end)?);
    if start > end {
        let message = format!("invalid substring range. start: {start}, end: {end}");
        return Err(EvalError::new(message));
    }
    let from = byte_of(whole, start).ok_or_else(|| out_of_range(start))?;
    let to = byte_of(whole, end).ok_or_else(|| out_of_range(end))?;
    Ok(part(whole, from, to))
}

fn trim<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let whole = text(whole)?;
    let start = whole.len() - whole.trim_start().len();
    Ok(part(whole, start, start.max(whole.trim_end().len())))
}

fn quote<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let whole = text(whole)?;
    context.work.make(whole.len().saturating_mul(2))?;
    let mut out = String::with_capacity(whole.len() + 2);
    out.push('"');
    for c in whole.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' | '"' => write!(out, "\\{c}").expect("a string grows"),
            c => out.push(c),
        }
    }
    out.push('"');
    Ok(Value::string(out))
}

fn join<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [parts] = exactly(args)?;
    join_all(context, parts, "")
}

fn join_by<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [parts, separator] = exactly(args)?;
    join_all(context, parts, text(separator)?)
}

fn join_all<'a>(
    context: &mut Context<'_>,
    parts: &Value<'a>,
    separator: &str,
) -> Result<Value<'a>, EvalError> {
    let mut out = String::new();
    for (at, item) in list(parts)?.iter().enumerate() {
        let item = item?;
        let Some(item) = item.as_str() else {
            return Err(EvalError::new(format!("join: invalid input: {item}")));
        };
        context.work.make(item.len().saturating_add(separator.len()))?;
        if at > 0 {
            out.push_str(separator);
        }
        out.push_str(item);
    }
    Ok(Value::string(out))
}

fn reverse<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let whole = text(whole)?;
    context.work.make(whole.len())?;
    Ok(Value::string(whole.chars().rev().collect::<String>()))
}

/// Where a character starts, or where the text ends.
fn byte_of(whole: &str, character: i64) -> Option<usize> {
    let at = usize::try_from(character).ok()?;
    // Without other characters, places are bytes.
    if at <= whole.len() && whole.is_ascii() {
        return Some(at);
    }
    let mut starts = whole.char_indices().map(|(start, _)| start).chain([whole.len()]);
    starts.nth(at)
}

fn character_of(whole: &str, byte: usize) -> i64 {
    i64::try_from(whole[..byte].chars().count()).unwrap_or(i64::MAX)
}

/// A part of a text, which is not copied if it is borrowed.
fn part<'a>(whole: &Text<'a>, start: usize, end: usize) -> Value<'a> {
    match whole {
        Text::Borrowed(text) => Value::str(&text[start..end]),
        Text::Counted(text) if (start, end) == (0, text.len()) => Value::String(whole.clone()),
        Text::Counted(text) => Value::string(&text[start..end]),
    }
}

fn out_of_range(at: i64) -> EvalError {
    EvalError::new(format!("index out of range: {at}"))
}

/// Two looks at what comes out.
fn join_cost(_: &[Value<'_>], result: &Value<'_>) -> u64 {
    scale(cost::size_of(result).saturating_mul(2), STRING_TRAVERSAL_FACTOR)
}

fn join_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let items = site.size(0);
    let mut size = SizeEstimate::default();
    if matches!(site.ty(0), Type::List(_)) {
        size = items.times(site.element_size(0));
    }
    if site.len() > 1 {
        let gaps =
            SizeEstimate { min: items.min.saturating_sub(1), max: items.max.saturating_sub(1) };
        size = size.plus(site.size(1).times(gaps));
    }
    Some(CallEstimate { cost: size.traversal(STRING_TRAVERSAL_FACTOR), result_size: Some(size) })
}

fn quote_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let size = site.size(0);
    // Upstream's sums go round at the end of the range.
    let result = SizeEstimate {
        min: size.min.wrapping_add(2),
        max: size.max.wrapping_mul(2).wrapping_add(2),
    };
    let cost = size.traversal(STRING_TRAVERSAL_FACTOR);
    Some(CallEstimate { cost, result_size: Some(result) })
}

fn split_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let size = site.size(0);
    let most = match (site.len() > 2).then(|| site.literal(2)).flatten() {
        #[allow(clippy::cast_sign_loss, reason = "as Go converts")]
        Some(Literal::Int(most)) => *most as u64,
        _ => size.max,
    };
    let cost = price::double_traversal_cost(size);
    Some(CallEstimate { cost, result_size: Some(SizeEstimate { min: 0, max: most }) })
}

fn replace_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let (whole, old, new) = (site.size(0), site.size(1), site.size(2));
    let (mut count, mut kept) = (SizeEstimate::default(), SizeEstimate::default());
    if old.min == 0 {
        // Nothing is found around every character.
        (count.max, kept.max) = (whole.max.saturating_add(1), whole.max);
    } else if new.max <= old.min {
        (count.max, kept.max) = (0, whole.max);
    } else {
        count.max = divide(whole.max, old.min);
    }
    if old.max == 0 {
        (count.min, kept.min) = (whole.min.saturating_add(1), whole.min);
    } else if old.max <= new.min {
        (count.min, kept.min) = (0, whole.min);
    } else {
        count.min = divide(whole.min, old.max);
    }
    let result = count.times(new).plus(kept);
    let cost: CostEstimate = price::double_traversal_cost(whole);
    Some(CallEstimate { cost, result_size: Some(result) })
}

/// Divides as upstream does, in floating point, and rounds up.
fn divide(number: u64, by: u64) -> u64 {
    #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
    let quotient = (number as f64 / by as f64).ceil();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let rounded = quotient as u64;
    rounded
}
