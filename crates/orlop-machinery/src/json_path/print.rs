//! Values as text.

use crate::json;
use crate::value::Value;

/// A found value as a column of text shows it: maps and lists as JSON, all else as Go prints it.
#[must_use]
pub fn print(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".into(),
        Value::List(_) | Value::Map(_) => json::to_string(value),
        value => print_go(value),
    }
}

/// A value as Go's `%v` prints it.
pub(super) fn print_go(value: &Value) -> String {
    let mut out = String::new();
    append(value, &mut out);
    out
}

fn append(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::Float(number) => out.push_str(&print_float(*number)),
        Value::String(text) => out.push_str(text),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                append(item, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push_str("map[");
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                append(value, out);
            }
            out.push(']');
        }
    }
}

/// The shortest digits, with an exponent below 1e-4 and from 1e6 on: Go's `%v`.
fn print_float(number: f64) -> String {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => number.to_string(),
    }
}
