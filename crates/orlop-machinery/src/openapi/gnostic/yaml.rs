//! A value as YAML, in the form that gnostic has it.
//!
//! Blocks, indented as `go.yaml.in/yaml/v3` does. Text that could be taken for something else is in
//! double quotes, and so is text of several lines, where gnostic has another form of the same.

use crate::json;
use crate::value::Value;

/// A value as a document of its own.
pub(super) fn print(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

/// Appends a value and the end of its line. The cursor is at the column `indent`.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Map(map) if !map.is_empty() => {
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    push_spaces(indent, out);
                }
                push_text(key, out);
                out.push(':');
                if value.is_empty() || !matches!(value, Value::Map(_) | Value::List(_)) {
                    out.push(' ');
                    block(value, indent, out);
                    continue;
                }
                out.push('\n');
                // Down to the next multiple of four.
                let inner = (indent + 4) / 4 * 4;
                push_spaces(inner, out);
                block(value, inner, out);
            }
        }
        Value::List(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    push_spaces(indent, out);
                }
                out.push_str("- ");
                block(item, indent + 2, out);
            }
        }
        Value::String(text) => {
            push_text(text, out);
            out.push('\n');
        }
        value => {
            out.push_str(&json::to_string(value));
            out.push('\n');
        }
    }
}

fn push_spaces(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', count));
}

fn push_text(text: &str, out: &mut String) {
    if is_other(text) || text.chars().any(|c| !crate::text::is_printable(c)) {
        push_quoted(text, out);
    } else if is_plain(text) {
        out.push_str(text);
    } else {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    }
}

/// Whether text without quotes would be a number, a time, a truth or nothing.
fn is_other(text: &str) -> bool {
    let is_word = matches!(
        text,
        "" | "~"
            | "null"
            | "Null"
            | "NULL"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
    );
    // More than those, but what is in quotes needlessly is still the same text.
    let is_like_number = |c: char| c.is_ascii_alphanumeric() || "+-._:".contains(c);
    is_word
        || (text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            && text.contains(|c: char| c.is_ascii_digit() || c == '.')
            && text.chars().all(is_like_number))
}

/// Whether text means itself without quotes.
fn is_plain(text: &str) -> bool {
    let starts_badly = text.starts_with(|c| "#,[]{}&*!|>'\"%@`".contains(c))
        || text.starts_with("---")
        || text.starts_with("...")
        || matches!(text.as_bytes(), [b'?' | b':' | b'-'] | [b'?' | b':' | b'-', b' ', ..]);
    let has_space_outside = text.starts_with(' ') || text.ends_with(' ');
    let has_sign_inside = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    !(starts_badly || has_space_outside || has_sign_inside)
}

/// In double quotes, with what cannot be seen escaped.
fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if crate::text::is_printable(c) => out.push(c),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn check(json: &str, expect: &str) {
        assert_eq!(print(&json::parse(json.as_bytes()).unwrap()), expect, "{json}");
    }

    #[test]
    fn blocks_are_indented_as_gnostic_does() {
        check(r#"[{"group":"","kind":"Pod"}]"#, "- group: \"\"\n  kind: Pod\n");
        check(
            r#"{"a":["x"],"b":{"c":[{"d":1,"e":[1,2]}]},"f":[],"g":{}}"#,
            concat!(
                "a:\n    - x\n",
                "b:\n    c:\n        - d: 1\n          e:\n            - 1\n            - 2\n",
                "f: []\ng: {}\n"
            ),
        );
        check(
            r#"{"h":[["a","b"],[],[{"x":{"y":1}}]]}"#,
            "h:\n    - - a\n      - b\n    - []\n    - - x:\n            y: 1\n",
        );
        check(
            r#"{"multi word":1,"a:b":2,"1":3,"":4}"#,
            "\"\": 4\n\"1\": 3\na:b: 2\nmulti word: 1\n",
        );
    }

    #[test]
    fn text_has_quotes_when_it_needs_them() {
        for (json, expect) in [
            (r#""plain text""#, "plain text\n"),
            (r#""it's""#, "it's\n"),
            (r#""say \"hi\"""#, "say \"hi\"\n"),
            (r#""back\\slash""#, "back\\slash\n"),
            (r#""a, b""#, "a, b\n"),
            (r#""-a""#, "-a\n"),
            (r#""yes""#, "yes\n"),
            (r#""null""#, "\"null\"\n"),
            (r#""true""#, "\"true\"\n"),
            (r#""123""#, "\"123\"\n"),
            (r#""1.5""#, "\"1.5\"\n"),
            (r#""0x1F""#, "\"0x1F\"\n"),
            (r#""2001-01-01""#, "\"2001-01-01\"\n"),
            (r#""""#, "\"\"\n"),
            (r#""a: b""#, "'a: b'\n"),
            (r#""a #b""#, "'a #b'\n"),
            (r#""it's: x""#, "'it''s: x'\n"),
            (r#"" lead""#, "' lead'\n"),
            (r#""- x""#, "'- x'\n"),
            (r#""@at""#, "'@at'\n"),
            (r#""{x}""#, "'{x}'\n"),
            (r#""tab\there""#, "\"tab\\there\"\n"),
            ("1", "1\n"),
            ("true", "true\n"),
            ("null", "null\n"),
            // Gnostic has another form of these, which means the same.
            (r#""a\nb""#, "\"a\\nb\"\n"),
            (r#""\u0007""#, "\"\\U00000007\"\n"),
        ] {
            check(json, expect);
        }
    }
}
