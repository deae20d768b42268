//! Values as text.

use crate::value::Value;
use crate::{go_text, json};

/// A found value as a column of text shows it: maps and lists as JSON, all else as Go prints it.
#[must_use]
pub fn print(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".into(),
        Value::List(_) | Value::Map(_) => json::to_string(value),
        value => go_text::show(value),
    }
}
