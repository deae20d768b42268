//! Writing JSON text.
//!
//! As Go's encoder: compact, with `<`, `>` and `&` escaped, floats in Go's form. Maps are written in
//! the order of their keys; the order of a struct's fields is the business of its schema.

use std::io::Write;

use crate::value::Value;

/// The value as JSON text.
#[must_use]
pub fn to_string(value: &Value) -> String {
    String::from_utf8(to_vec(value)).expect("JSON is text")
}

/// The value as JSON text.
#[must_use]
pub fn to_vec(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write(value, &mut out);
    out
}

/// Appends the value as JSON text.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(number) => write_int(*number, out),
        Value::Float(number) => write_float(*number, out),
        Value::String(text) => write_string(text, out),
        Value::List(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Map(map) => {
            out.push(b'{');
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
    }
}

/// Appends a whole number.
pub(crate) fn write_int(number: i64, out: &mut Vec<u8>) {
    write!(out, "{number}").expect("a vector grows");
}

/// Appends a float as Go writes it: plain between 1e-6 and 1e21, else with an exponent.
pub(crate) fn write_float(number: f64, out: &mut Vec<u8>) {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        // Rust writes 1e-7 and 1e21, Go 1e-07 and 1e+21.
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        // Go's encoder takes the zero of a small negative exponent away again.
        write!(out, "{digits}e{sign}{exponent}").expect("a vector grows");
    } else {
        write!(out, "{number}").expect("a vector grows");
    }
}

/// Appends text in quotes.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            8 => b"\\b",
            12 => b"\\f",
            0..=0x1f | b'<' | b'>' | b'&' => b"",
            // U+2028 and U+2029, which break JavaScript.
            0xe2 if matches!(bytes.get(at + 1..at + 3), Some([0x80, 0xa8 | 0xa9])) => b"",
            _ => continue,
        };
        out.extend_from_slice(&bytes[start..at]);
        start = at + 1;
        if !escape.is_empty() {
            out.extend_from_slice(escape);
        } else if byte == 0xe2 {
            let last = bytes[at + 2] & 0xf;
            write!(out, "\\u202{last:x}").expect("a vector grows");
            start = at + 3;
        } else {
            write!(out, "\\u{byte:04x}").expect("a vector grows");
        }
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}
