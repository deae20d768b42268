//! Values as Go's `fmt` prints them, for messages that show a value of the wrong type.
//!
//! What is applied reaches upstream's checks as decoded YAML, where every number is a float: in
//! what is shown of it, numbers print as Go's `float64` does. Message text after
//! `structured-merge-diff/typed` (`validate.go`, `helpers.go`), whose values print as pointers to a
//! struct.

use std::fmt::Write;

use crate::go_text::write_float;
use crate::text::quote;
use crate::value::Value;

/// `%v` of a wrapped value: `&{map[a:1]}`.
pub(super) fn plain(value: &Value) -> String {
    let mut out = String::from("&{");
    write_plain(value, &mut out);
    out.push('}');
    out
}

/// `%#v` of a wrapped value: `&value.valueUnstructured{Value:1}`.
pub(super) fn syntax(value: &Value) -> String {
    let mut out = String::from("&value.valueUnstructured{Value:");
    write_syntax(value, &mut out);
    out.push('}');
    out
}

/// `%T` of a value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::List(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    }
}

/// A value in a path element: text in quotes, everything else plain. Whole numbers stay whole.
pub(super) fn write_in_path(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Int(number) => write!(out, "{number}").expect("a string grows"),
        Value::String(text) => out.push_str(&quote(text)),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_in_path(item, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            for (key, value) in map.iter() {
                out.push_str(key);
                out.push('=');
                write_in_path(value, out);
            }
        }
        scalar => write_plain(scalar, out),
    }
}

fn write_plain(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
        Value::Int(number) => write_float(*number as f64, out),
        Value::Float(number) => write_float(*number, out),
        Value::String(text) => out.push_str(text),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                write_plain(item, out);
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
                write_plain(value, out);
            }
            out.push(']');
        }
    }
}

fn write_syntax(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("interface {}(nil)"),
        Value::String(text) => out.push_str(&quote(text)),
        Value::List(items) => {
            out.push_str("[]interface {}{");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_syntax(item, out);
            }
            out.push('}');
        }
        Value::Map(map) => {
            out.push_str("map[string]interface {}{");
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                out.push_str(&quote(key));
                out.push(':');
                write_syntax(value, out);
            }
            out.push('}');
        }
        scalar => write_plain(scalar, out),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    fn check(text: &str, expect_plain: &str, expect_syntax: &str) {
        let value = json::parse(text.as_bytes()).unwrap();
        assert_eq!(plain(&value), format!("&{{{expect_plain}}}"));
        assert_eq!(syntax(&value), format!("&value.valueUnstructured{{Value:{expect_syntax}}}"));
    }

    #[test]
    fn values_print_as_in_go() {
        check("null", "<nil>", "interface {}(nil)");
        check("true", "true", "true");
        check(r#""a b""#, "a b", r#""a b""#);
        check("80", "80", "80");
        check("999999", "999999", "999999");
        check("1000000", "1e+06", "1e+06");
        check("123456789", "1.23456789e+08", "1.23456789e+08");
        check("0.0001", "0.0001", "0.0001");
        check("0.00001", "1e-05", "1e-05");
        check("1.5", "1.5", "1.5");
        check(r#"[1,"a",null]"#, "[1 a <nil>]", r#"[]interface {}{1, "a", interface {}(nil)}"#);
        check(
            r#"{"b":{"c":[]},"a":1}"#,
            "map[a:1 b:map[c:[]]]",
            r#"map[string]interface {}{"a":1, "b":map[string]interface {}{"c":[]interface {}{}}}"#,
        );
    }
}
