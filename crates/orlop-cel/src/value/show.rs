//! Values as Go prints them in error texts, and numbers as `string()` does.

use std::fmt;

use super::Value;

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Int(number) => write!(f, "{number}"),
            Value::Uint(number) => write!(f, "{number}"),
            Value::Double(number) => f.write_str(&double_text(*number)),
            Value::String(text) => f.write_str(text),
            Value::Bytes(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            Value::Duration(duration) => write!(f, "{duration}"),
            Value::Timestamp(time) => write!(f, "{time}"),
            Value::Type(ty) => f.write_str(ty.name()),
            other => f.write_str(other.ty().name()),
        }
    }
}

/// A double as Go's `%g` prints it: the shortest text that reads as the same, with an exponent when
/// the number is small or large.
#[must_use]
pub(crate) fn double_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
