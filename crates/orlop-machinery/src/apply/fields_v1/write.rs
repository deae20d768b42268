//! Writing field sets, as text or as a tree of values.

use super::super::field_path::PathElement;
use super::super::field_set::FieldSet;
use crate::json;
use crate::value::{Map, Str, Value};

/// The set as an object holds it.
#[must_use]
pub fn to_value(set: &FieldSet) -> Value {
    tree(set, false, &mut String::with_capacity(64))
}

/// The set as JSON text.
#[must_use]
pub fn to_text(set: &FieldSet) -> String {
    let mut out = String::with_capacity(256);
    write_set(set, false, &mut out, &mut String::new());
    out
}

fn tree(set: &FieldSet, is_member: bool, buffer: &mut String) -> Value {
    if set.is_empty() {
        return Value::Map(Map::new());
    }
    let mut entries = Vec::with_capacity(set.nodes().len() + usize::from(is_member));
    if is_member {
        entries.push((Str::const_new("."), Value::Map(Map::new())));
    }
    // The text of fields has their order; that of keys and values has not.
    let mut is_sorted = true;
    for node in set.nodes() {
        is_sorted &= matches!(node.element, PathElement::Field(_));
        buffer.clear();
        write_element(&node.element, buffer);
        let key = Str::new(&buffer);
        entries.push((key, tree(&node.branch.children, node.branch.is_member, buffer)));
    }
    Value::Map(match is_sorted {
        true => Map::from_sorted(entries),
        false => Map::from_unsorted(entries),
    })
}

fn write_set(set: &FieldSet, is_member: bool, out: &mut String, buffer: &mut String) {
    out.push('{');
    if is_member && !set.is_empty() {
        out.push_str(r#"".":{},"#);
    }
    for (at, node) in set.nodes().iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_key(&node.element, out, buffer);
        out.push(':');
        write_set(&node.branch.children, node.branch.is_member, out, buffer);
    }
    out.push('}');
}

fn write_key(element: &PathElement, out: &mut String, buffer: &mut String) {
    out.push('"');
    match element {
        PathElement::Field(name) => {
            out.push_str("f:");
            write_escaped(name, Escape::Quotes, out);
        }
        element => {
            buffer.clear();
            write_element(element, buffer);
            write_escaped(buffer, Escape::Quotes, out);
        }
    }
    out.push('"');
}

/// A step before it is put in quotes.
fn write_element(element: &PathElement, out: &mut String) {
    match element {
        PathElement::Field(name) => {
            out.push_str("f:");
            out.push_str(name);
        }
        PathElement::Key(key) => {
            out.push_str("k:{");
            for (at, (name, value)) in key.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(name, Escape::Quotes, out);
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
        PathElement::Value(value) => {
            out.push_str("v:");
            write_value(value, out);
        }
        PathElement::Index(index) => {
            out.push_str("i:");
            out.push_str(&index.to_string());
        }
    }
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => write_string(text, Escape::Html, out),
        Value::Float(number) => write_float(*number, out),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(key, Escape::Html, out);
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&json::to_string(scalar)),
    }
}

/// Plain between 1e-6 and 1e21, else with an exponent of at least two digits.
fn write_float(number: f64, out: &mut String) {
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        out.push_str(&number.to_string());
        return;
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    out.push_str(&format!("{digits}e{sign}{exponent:0>2}"));
}

/// What is escaped beside control characters.
#[derive(Clone, Copy, PartialEq)]
enum Escape {
    /// Quotes and backslashes.
    Quotes,
    /// Those, and what HTML gives a meaning.
    Html,
}

fn write_string(text: &str, escape: Escape, out: &mut String) {
    out.push('"');
    write_escaped(text, escape, out);
    out.push('"');
}

fn write_escaped(text: &str, escape: Escape, out: &mut String) {
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let is_special = match c {
            '"' | '\\' | '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => true,
            '<' | '>' | '&' => escape == Escape::Html,
            _ => false,
        };
        if !is_special {
            continue;
        }
        out.push_str(&text[start..at]);
        start = at + c.len_utf8();
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out.push_str(&text[start..]);
}
