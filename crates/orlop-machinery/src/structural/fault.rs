//! Checks of single values that need no words yet.
//!
//! After `type.go`, `validator.go` and `values.go` of `kube-openapi/pkg/validation/validate`.

use super::accept::Dialect;
use super::format::Format;
use super::number::{is_json_integer, to_int};
use super::{Shape, Structural, ValueRules};
use crate::regular_expression::SyntaxError;
use crate::value::Value;

/// A value of another type than wanted.
#[derive(Debug)]
pub(super) struct TypeFault {
    /// Whether the format is what was wanted; else the type.
    pub(super) is_format: bool,
    /// The type, or the format of numbers, that was found.
    pub(super) found: &'static str,
}

/// Why a text is not what was wanted.
#[derive(Debug)]
pub(super) enum TextFault<'r> {
    TooLong(i64),
    TooShort(i64),
    NoMatch,
    /// The pattern itself is wrong.
    BadPattern(&'r SyntaxError),
    /// It has not the format.
    Format,
}

/// The types that a schema wants; none when any will do.
pub(super) fn type_names(schema: &Structural, dialect: Dialect) -> &'static [&'static str] {
    match &schema.shape {
        None if schema.is_int_or_string && dialect == Dialect::Object => &["integer", "string"],
        None => &[],
        Some(Shape::Boolean) => &["boolean"],
        Some(Shape::Integer) => &["integer"],
        Some(Shape::Number) => &["number"],
        Some(Shape::String) => &["string"],
        Some(Shape::Object { .. } | Shape::Map { .. }) => &["object"],
        Some(Shape::Array { .. }) => &["array"],
    }
}

/// The name of a value's type, and its format where it is a number.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Int(_) => ("integer", "int64"),
        Value::Float(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::List(_) => ("array", ""),
        Value::Map(_) => ("object", ""),
    }
}

/// Whether a schema has a format, as far as this dialect knows.
fn has_format(schema: &Structural, dialect: Dialect) -> bool {
    schema.rules.get().is_some_and(|rules| match dialect {
        Dialect::Object => rules.known_format.is_some(),
        Dialect::Default => !rules.format.is_empty(),
    })
}

/// Whether a value has the type that its schema wants.
pub(super) fn check_type(
    schema: &Structural,
    value: &Value,
    dialect: Dialect,
) -> Result<(), TypeFault> {
    let types = type_names(schema, dialect);
    let (found, found_format) = type_of(value);
    if value.is_null() {
        let is_fine = types.is_empty() || schema.is_nullable;
        return if is_fine { Ok(()) } else { Err(TypeFault { is_format: false, found }) };
    }
    if types.contains(&found) {
        return Ok(());
    }
    let has_format = has_format(schema, dialect);
    if types.is_empty() && !has_format {
        return Ok(());
    }
    let is_number = match value {
        Value::Float(number) => types.contains(&"integer") && is_json_integer(*number),
        Value::Int(_) => types.contains(&"number"),
        _ => false,
    };
    if is_number {
        return Ok(());
    }
    let is_text_or_list = matches!(value, Value::String(_) | Value::List(_));
    if has_format && !is_text_or_list && schema.rules.format != found_format {
        return Err(TypeFault { is_format: true, found: found_format });
    }
    let wants_number = types.iter().any(|ty| matches!(*ty, "number" | "integer"));
    if has_format && is_text_or_list && !wants_number {
        // Upstream leaves these to the format, which looks at text only.
        return Ok(());
    }
    Err(TypeFault { is_format: false, found })
}

/// The first thing that is wrong with a text.
pub(super) fn text_fault<'r>(
    rules: &'r ValueRules,
    text: &str,
    dialect: Dialect,
) -> Option<TextFault<'r>> {
    length_or_pattern_fault(rules, text)
        .or_else(|| is_wrong_format(rules, text, dialect).then_some(TextFault::Format))
}

/// The first thing that is wrong with the length of a text or its pattern.
pub(super) fn length_or_pattern_fault<'r>(
    rules: &'r ValueRules,
    text: &str,
) -> Option<TextFault<'r>> {
    let (min, max) = rules.length;
    if min.is_some() || max.is_some() {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = max.filter(|max| length > *max) {
            return Some(TextFault::TooLong(max));
        }
        if let Some(min) = min.filter(|min| length < *min) {
            return Some(TextFault::TooShort(min));
        }
    }
    if rules.pattern.is_empty() {
        return None;
    }
    match rules.pattern.is_match(text) {
        Ok(true) => None,
        Ok(false) => Some(TextFault::NoMatch),
        Err(error) => Some(TextFault::BadPattern(error)),
    }
}

/// Whether there is a format of text, and a text has not that format.
pub(super) fn is_wrong_format(rules: &ValueRules, text: &str, dialect: Dialect) -> bool {
    let format = match dialect {
        Dialect::Object => rules.known_format,
        Dialect::Default => Format::of_text(&rules.format),
    };
    format.is_some_and(|format| !format.is_valid(text))
}

/// The format of text that is checked.
pub(super) fn has_text_format(rules: &ValueRules, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Object => rules.known_format.is_some_and(Format::is_of_text),
        Dialect::Default => Format::of_text(&rules.format).is_some(),
    }
}

/// Whether a value is among the allowed ones, after the conversion that Go's reflection makes:
/// numbers become numbers of the other type, and whole numbers the character of that number. Null
/// never is.
pub(super) fn has_choice(choices: &[Value], value: &Value) -> bool {
    choices.iter().any(|choice| match (value, choice) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Float(number), Value::Int(choice)) => to_int(*number) == *choice,
        (Value::Int(_), Value::Float(choice)) => value.as_float() == Some(*choice),
        (Value::Int(number), Value::String(choice)) => {
            let c = u32::try_from(*number).ok().and_then(char::from_u32);
            let mut buffer = [0; 4];
            c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut buffer) == choice.as_str()
        }
        (value, choice) => value == choice,
    })
}
