//! Writing JSON text.
//!
//! As Go's encoder (`encode.go` of `encoding/json`): compact, with `<`, `>` and `&` escaped, floats
//! in Go's form. Maps are written in the order of their keys; the order of a struct's fields is
//! the business of its schema.

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

/// Appends a whole number: its digits come last to first.
fn write_int(number: i64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        start -= 1;
        digits[start] = b"0123456789"[usize::try_from(rest % 10).expect("a digit is small")];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[start..]);
}

/// Appends a float as Go writes it: plain between 1e-6 and 1e21, else with an exponent, whose sign
/// is always there.
fn write_float(number: f64, out: &mut Vec<u8>) {
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        write!(out, "{number}").expect("a vector grows");
        return;
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    write!(out, "{digits}e{sign}{exponent}").expect("a vector grows");
}

/// Appends text in quotes.
#[inline]
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let plain = plain_length(bytes);
    out.extend_from_slice(&bytes[..plain]);
    if plain < bytes.len() {
        write_escaped(&bytes[plain..], out);
    }
    out.push(b'"');
}

/// How many bytes at least can be written as they are: up to the first word of eight bytes that may
/// have one that cannot.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(word) = bytes[length..].first_chunk() {
        if has_special(*word) {
            return length;
        }
        length += 8;
    }
    // The last word overlaps the one before; texts shorter than a word are filled up.
    let last = bytes.last_chunk().copied().unwrap_or_else(|| {
        let mut word = [b' '; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        word
    });
    if has_special(last) { length } else { bytes.len() }
}

/// Whether one of eight bytes may have to be written in another way. A byte is equal to a sign if
/// the difference is zero; one is below a bound if subtracting the bound borrows. Signs that differ
/// in one bit are looked for together.
#[inline]
fn has_special(word: [u8; 8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_ne_bytes(word);
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word;
    let equal = |word: u64, sign: u8| below(word ^ (ONES * u64::from(sign)), 1);
    let found = below(word, 0x20)
        | equal(word | (ONES * 4), b'"' | b'&')
        | equal(word | (ONES * 2), b'<' | b'>')
        | equal(word, b'\\')
        | equal(word, 0xe2);
    found & HIGHEST != 0
}

#[cold]
fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
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
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::parse;
    use crate::value::sample::any_value;

    #[track_caller]
    fn check(value: impl Into<Value>, expect: &str) {
        assert_eq!(to_string(&value.into()), expect);
    }

    #[test]
    fn whole_numbers_have_all_their_digits() {
        for number in [0, 1, -1, 9, 10, -10, 1_234_567_890, i64::MAX, i64::MIN] {
            check(number, &number.to_string());
        }
    }

    #[test]
    fn floats_are_written_as_go_writes_them() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (0.000_001, "0.000001"),
            (0.000_000_1, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (1e-10, "1e-10"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.25e22, "-1.25e+22"),
            (1e100, "1e+100"),
            (123_456_789.125, "123456789.125"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
        ];
        for (number, expect) in cases {
            check(Value::Float(number), expect);
        }
    }

    #[test]
    fn characters_that_mean_something_elsewhere_are_escaped() {
        check("a\"\\/\u{8}\u{c}\n\r\t", r#""a\"\\/\b\f\n\r\t""#);
        check("\u{0}\u{1f}<a>&", r#""\u0000\u001f\u003ca\u003e\u0026""#);
        check("\u{2027}\u{2028}\u{2029}\u{202a}", "\"\u{2027}\\u2028\\u2029\u{202a}\"");
        check("\u{7f}\u{e9}\u{1f600}'", "\"\u{7f}\u{e9}\u{1f600}'\"");
        for length in 0..40 {
            let plain = "x".repeat(length);
            check(plain.as_str(), &format!("\"{plain}\""));
            check(format!("{plain}<{plain}"), &format!("\"{plain}\\u003c{plain}\""));
        }
    }

    proptest! {
        #[test]
        fn what_was_written_reads_as_the_same(value in any_value()) {
            let text = to_vec(&value);
            prop_assert_eq!(parse(&text).unwrap(), value);
        }

        #[test]
        fn what_is_nearly_json_makes_no_panic(text in r#"[\[\]{}:,"\\0-9eE+. truefalsn-]{0,40}"#) {
            let _ = parse(text.as_bytes());
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = parse(&bytes);
        }
    }
}
