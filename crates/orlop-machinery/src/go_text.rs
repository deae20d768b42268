//! Values as Go prints them: what upstream's messages show of a document.
//!
//! Follows the verbs `%v` and `%s` of Go's package `fmt`, for what its JSON decoder makes.

use std::fmt::Write;

use crate::value::Value;

/// As `%v`: `map[a:1 b:[x <nil>]]`.
#[must_use]
pub fn show(value: &Value) -> String {
    let mut out = String::new();
    write_plain(value, &mut out);
    out
}

/// Lists as `%v` prints them: `[[1 2] [3]]`.
pub(crate) fn show_lists(lists: &[&[Value]]) -> String {
    let mut out = String::from("[");
    for (at, list) in lists.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        write_list(list, &mut out, write_plain);
    }
    out.push(']');
    out
}

/// A list as `%v` prints it.
pub(crate) fn show_list(list: &[Value]) -> String {
    let mut out = String::new();
    write_list(list, &mut out, write_plain);
    out
}

/// As `%s`, which complains about all that is not text: `%!s(int64=1)`.
pub(crate) fn show_as_text(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Null => out.push_str("%!s(<nil>)"),
        value => write_as_text(value, &mut out),
    }
    out
}

/// The type as `%s` prints what `reflect.TypeOf` returns.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::List(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    }
}

fn write_plain(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(truth) => write!(out, "{truth}").expect("a string grows"),
        Value::Int(number) => write!(out, "{number}").expect("a string grows"),
        Value::Float(number) => write_float(*number, out),
        Value::String(text) => out.push_str(text),
        Value::List(list) => write_list(list, out, write_plain),
        Value::Map(_) => write_map(value, out, write_plain),
    }
}

fn write_as_text(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::String(text) => out.push_str(text),
        Value::List(list) => write_list(list, out, write_as_text),
        Value::Map(_) => write_map(value, out, write_as_text),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            write!(out, "%!s({}=", type_name(value)).expect("a string grows");
            write_plain(value, out);
            out.push(')');
        }
    }
}

fn write_list(list: &[Value], out: &mut String, write: fn(&Value, &mut String)) {
    out.push('[');
    for (at, item) in list.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        write(item, out);
    }
    out.push(']');
}

fn write_map(map: &Value, out: &mut String, write: fn(&Value, &mut String)) {
    out.push_str("map[");
    for (at, (key, value)) in map.map().iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(key);
        out.push(':');
        write(value, out);
    }
    out.push(']');
}

/// As `%g` with as few digits as tell the number from all others.
pub(crate) fn write_float(number: f64, out: &mut String) {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        write!(out, "{number}").expect("a string grows");
        return;
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "{digits}e{sign}{:02}", exponent.abs()).expect("a string grows");
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn values_look_as_go_prints_them() {
        let value = json::parse(
            br#"{"a":1,"b":1.5,"c":1000000.0,"d":1e21,"e":null,"f":[true,"x",{}],"g":0.00001,
                "h":123456789.0,"i":-0.0,"j":100000.5,"k":1e-4,"l":[]}"#,
        )
        .unwrap();
        let plain = "map[a:1 b:1.5 c:1e+06 d:1e+21 e:<nil> f:[true x map[]] g:1e-05 \
            h:1.23456789e+08 i:-0 j:100000.5 k:0.0001 l:[]]";
        assert_eq!(show(&value), plain);
        let text = "map[a:%!s(int64=1) b:%!s(float64=1.5) c:%!s(float64=1e+06) \
            d:%!s(float64=1e+21) e:<nil> f:[%!s(bool=true) x map[]] g:%!s(float64=1e-05) \
            h:%!s(float64=1.23456789e+08) i:%!s(float64=-0) j:%!s(float64=100000.5) \
            k:%!s(float64=0.0001) l:[]]";
        assert_eq!(show_as_text(&value), text);
        assert_eq!(show_as_text(&Value::Null), "%!s(<nil>)");
        assert_eq!(show_lists(&[value.at("f").list(), &[]]), "[[true x map[]] []]");
    }
}
