//! From a value to YAML text.
//!
//! After go-yaml's `encode.go` and `emitterc.go`, with the settings of `sigs.k8s.io/yaml`: block
//! style, lists as deep as their key, lines that break after 80 columns, keys in the order in which
//! people count (`a2` before `a10`). Text that reads as something else is in quotes.
//!
//! Two texts are quoted that upstream leaves bare, because they would not come back: the key `<<`,
//! and what has one of Unicode's line ends inside.

use std::fmt::Write;

use super::key_order::sort;
use super::resolve::{Resolved, resolve};
use super::style::{Analysis, is_base_60, is_break, is_printable};
use crate::value::Value;

/// Where lines break, if a space is there.
const WIDTH: usize = 80;

/// How far each level is moved to the right.
const INDENT: usize = 2;

/// Keys longer than this need a question mark.
const KEY_MAX: usize = 128;

/// The value as YAML text, with a line end.
#[must_use]
pub fn to_string(value: &Value) -> String {
    let mut printer = Printer {
        out: String::with_capacity(256),
        column: 0,
        indent: None,
        is_after_space: true,
        is_after_indent: true,
    };
    printer.node(value, Context::Root);
    printer.indent = None;
    printer.new_line();
    printer.out
}

/// What a value is part of.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    Root,
    Item,
    /// A key that stands before a colon in the same line.
    SimpleKey,
    /// Any other key, or a value.
    Mapping,
}

struct Printer {
    out: String,
    /// How many characters the line has.
    column: usize,
    /// The column of the collection that is open; none at the root.
    indent: Option<usize>,
    /// Whether nothing has to come between the last character and the next.
    is_after_space: bool,
    /// Whether the line has nothing but indentation so far, dashes included.
    is_after_indent: bool,
}

impl Printer {
    fn node(&mut self, value: &Value, context: Context) {
        match value {
            Value::Null => self.plain("null", context),
            Value::Bool(true) => self.plain("true", context),
            Value::Bool(false) => self.plain("false", context),
            Value::Int(number) => self.plain(&number.to_string(), context),
            Value::Float(number) => self.plain(&float(*number), context),
            Value::String(text) => self.text(text, context),
            Value::List(items) if items.is_empty() => self.indicator("[]", true, false),
            Value::Map(map) if map.is_empty() => self.indicator("{}", true, false),
            Value::List(items) => {
                // A list is no deeper than its key.
                let is_flat = context == Context::Mapping && !self.is_after_indent;
                let before = self.increase_indent(false, is_flat);
                for item in items {
                    self.new_line();
                    self.indicator("-", true, true);
                    self.node(item, Context::Item);
                }
                self.indent = before;
            }
            Value::Map(map) => {
                let before = self.increase_indent(false, false);
                for (key, value) in sort(map.iter().collect()) {
                    self.new_line();
                    self.entry(key, value);
                }
                self.indent = before;
            }
        }
    }

    fn entry(&mut self, key: &str, value: &Value) {
        if key.len() <= KEY_MAX && !key.chars().any(is_break) {
            self.text(key, Context::SimpleKey);
            self.indicator(":", false, false);
        } else {
            self.indicator("?", true, true);
            self.text(key, Context::Mapping);
            self.new_line();
            self.indicator(":", true, true);
        }
        self.node(value, Context::Mapping);
    }

    /// Text in the first style that keeps it what it is.
    fn text(&mut self, text: &str, context: Context) {
        let analysis = Analysis::of(text);
        let is_key = context == Context::SimpleKey;
        let before = self.increase_indent(true, false);
        let is_merge = is_key && text == "<<";
        let is_text = resolve(text) == Resolved::Text && !is_base_60(text) && !is_merge;
        if text.contains('\n') {
            match analysis.allows_block && !is_key {
                true => self.literal(text),
                false => self.double_quoted(text, !is_key),
            }
        } else if !is_text {
            self.double_quoted(text, !is_key);
        } else if analysis.allows_plain {
            self.write_plain(text, !is_key);
        } else if analysis.allows_single_quotes {
            self.single_quoted(text, !is_key);
        } else {
            self.double_quoted(text, !is_key);
        }
        self.indent = before;
    }

    /// A word that needs no thought.
    fn plain(&mut self, text: &str, context: Context) {
        let before = self.increase_indent(true, false);
        self.write_plain(text, context != Context::SimpleKey);
        self.indent = before;
    }

    /// Goes one level deeper; returns the level before.
    fn increase_indent(&mut self, is_scalar: bool, is_flat: bool) -> Option<usize> {
        let before = self.indent;
        self.indent = Some(match before {
            None if is_scalar => INDENT,
            None => 0,
            Some(indent) if is_flat => indent,
            Some(indent) => indent + INDENT,
        });
        before
    }

    /// Goes to the column of the collection that is open, in a new line unless this one is fine.
    fn new_line(&mut self) {
        let indent = self.indent.unwrap_or(0);
        let is_past = self.column > indent || self.column == indent && !self.is_after_space;
        if !self.is_after_indent || is_past {
            self.line_end();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.is_after_space = true;
        self.is_after_indent = true;
    }

    fn line_end(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_all(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    /// A sign with a meaning. A dash leaves the line one that has nothing but indentation.
    fn indicator(&mut self, text: &str, needs_space: bool, is_indent: bool) {
        if needs_space && !self.is_after_space {
            self.put(' ');
        }
        self.put_all(text);
        self.is_after_space = false;
        self.is_after_indent &= is_indent;
    }

    fn write_plain(&mut self, text: &str, may_break: bool) {
        if !self.is_after_space {
            self.put(' ');
        }
        let mut was_space = false;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let is_last_space = !rest.as_str().starts_with(' ');
            if c == ' ' && may_break && !was_space && self.column > WIDTH && is_last_space {
                self.new_line();
            } else {
                self.put(c);
            }
            was_space = c == ' ';
            self.is_after_indent &= was_space;
        }
        self.is_after_space = false;
        self.is_after_indent = false;
    }

    fn single_quoted(&mut self, text: &str, may_break: bool) {
        self.indicator("'", true, false);
        let mut was_space = false;
        let mut rest = text.chars();
        let mut is_first = true;
        while let Some(c) = rest.next() {
            let after = rest.as_str();
            let is_inside = !is_first && !after.is_empty() && !after.starts_with(' ');
            if c == ' ' && may_break && !was_space && self.column > WIDTH && is_inside {
                self.new_line();
            } else {
                if c == '\'' {
                    self.put('\'');
                }
                self.put(c);
            }
            was_space = c == ' ';
            is_first = false;
            self.is_after_indent &= was_space;
        }
        self.indicator("'", false, false);
        self.is_after_indent = false;
    }

    fn double_quoted(&mut self, text: &str, may_break: bool) {
        self.indicator("\"", true, false);
        // As upstream: after a byte order mark at the start nothing is printable any more.
        let escapes_all = text.starts_with('\u{feff}');
        let mut was_space = false;
        let mut is_first = true;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let after = rest.as_str();
            if escapes_all || !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.put_escaped(c);
                was_space = false;
            } else if c == ' ' {
                let is_inside = !is_first && !after.is_empty();
                if may_break && !was_space && self.column > WIDTH && is_inside {
                    self.new_line();
                    if after.starts_with(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                was_space = true;
            } else {
                self.put(c);
                was_space = false;
            }
            is_first = false;
        }
        self.indicator("\"", false, false);
        self.is_after_indent = false;
    }

    fn put_escaped(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            c => {
                let text = match u32::from(c) {
                    code @ ..=0xff => format!("\\x{code:02X}"),
                    code @ ..=0xffff => format!("\\u{code:04X}"),
                    code => format!("\\U{code:08X}"),
                };
                return self.put_all(&text);
            }
        };
        self.put('\\');
        self.put(short);
    }

    /// Lines as they are, below a bar that says how the text starts and ends.
    fn literal(&mut self, text: &str) {
        self.indicator("|", true, false);
        if text.starts_with([' ', '\n']) {
            self.indicator(&INDENT.to_string(), false, false);
        }
        if !text.ends_with('\n') {
            self.indicator("-", false, false);
        } else if text == "\n" || text.ends_with("\n\n") {
            self.indicator("+", false, false);
        }
        self.line_end();
        self.is_after_indent = true;
        self.is_after_space = true;
        for line in text.split_inclusive('\n') {
            let content = line.strip_suffix('\n').unwrap_or(line);
            if !content.is_empty() {
                self.new_line();
                self.put_all(content);
                self.is_after_indent = false;
            }
            if content.len() < line.len() {
                self.line_end();
                self.is_after_indent = true;
            }
        }
    }
}

/// A float as Go's `%g` writes it with the digits that it needs.
fn float(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e21 {
        // JSON has no point in it, so Go reads it as a whole number where it fits.
        let text = format!("{number}");
        let is_whole = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
        if is_whole {
            return if number == 0.0 { "0".to_owned() } else { text };
        }
    }
    general(&format!("{number:e}"))
}

/// From Rust's form with an exponent to Go's `%g`: plain with an exponent from -4 to 5.
pub(super) fn general(text: &str) -> String {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let number: f64 = text.parse().unwrap_or(0.0);
        return format!("{number}");
    }
    let mut out = String::from(digits);
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "e{sign}{:02}", exponent.unsigned_abs()).expect("a string grows");
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json;
    use crate::value::sample::any_value;
    use crate::value::{Map, Str};
    use crate::yaml::parse;

    /// The value is printed so, and reads as itself.
    #[track_caller]
    fn check(value: &str, expect: &str) {
        let value = json::parse(value.as_bytes()).unwrap();
        let printed = to_string(&value);
        assert_eq!(printed, expect);
        assert_eq!(parse(printed.as_bytes()).unwrap(), value, "{printed}");
    }

    #[test]
    fn collections_are_printed_as_blocks() {
        check("{}", "{}\n");
        check(r#"{"a":[],"b":{},"c":null}"#, "a: []\nb: {}\nc: null\n");
        check(
            r#"{"a":[1,{"b":2,"c":[3]},[4,[5]]]}"#,
            "a:\n- 1\n- b: 2\n  c:\n  - 3\n- - 4\n  - - 5\n",
        );
        check(r#"[{"a":{"b":{"c":1}}}]"#, "- a:\n    b:\n      c: 1\n");
    }

    #[test]
    fn keys_stand_in_the_order_in_which_people_count() {
        let keys = ["a10", "a2", "b", "B", "a-1", "a", "1", "01", "_"];
        let object: Map = keys.iter().map(|key| (Str::new(key), Value::Int(5))).collect();
        let text = to_string(&Value::Map(object));
        let keys: Vec<&str> = text.lines().map(|line| &line[..line.len() - 3]).collect();
        assert_eq!(keys, ["_", "\"1\"", "\"01\"", "B", "a", "a-1", "a2", "a10", "b"]);
    }

    #[test]
    fn text_that_reads_as_something_else_is_in_quotes() {
        let in_quotes = [
            "yes",
            "N",
            "null",
            "~",
            "",
            "0755",
            "1e3",
            "0x1f",
            "1_000",
            ".inf",
            "2001-01-01",
            "12:30:45",
            "-5",
            "+.5",
        ];
        for text in in_quotes {
            check(&format!("\"{text}\""), &format!("\"{text}\"\n"));
        }
        let in_single_quotes = [
            "a: b", "a #b", "- a", "? a", ": a", "#a", "&a", "*a", "!a", "|", "%a", "@a", "`a",
            "[a", "{a", " a", "a ", "---", ",a", "a:",
        ];
        for text in in_single_quotes {
            check(&format!("\"{text}\""), &format!("'{text}'\n"));
        }
        let bare =
            ["a:b", "a#b", "-a", "a, b", "a]", "it's", "=", "<<", "\u{e9}", "1.2.3", "x-1", "a/b"];
        for text in bare {
            check(&format!("\"{text}\""), &format!("{text}\n"));
        }
        check(
            r#"{"yes":1,"<<":2,"":3,"a b":4,"'":5}"#,
            "\"\": 3\n'''': 5\n\"<<\": 2\na b: 4\n\"yes\": 1\n",
        );
    }

    #[test]
    fn text_of_many_lines_is_a_block_or_escaped() {
        check(r#"{"a":"x\ny\n"}"#, "a: |\n  x\n  y\n");
        check(
            r#"["x\ny","x\n\n","\nx","  x\n","\n"]"#,
            "- |-\n  x\n  y\n- |+\n  x\n\n- |2-\n\n  x\n- |2\n    x\n- |2+\n\n",
        );
        check(
            r#"["a\tb","x \ny","x\n ","\u0007","\u2028"]"#,
            "- \"a\\tb\"\n- \"x \\ny\"\n- \"x\\n \"\n- \"\\a\"\n- \"\\L\"\n",
        );
        check("[\"\u{1f600}\"]", "- \"\\U0001F600\"\n");
        check(r#"{"a\nb":1}"#, "? |-\n  a\n  b\n: 1\n");
    }

    #[test]
    fn long_lines_break_at_spaces() {
        let words = |count: usize| vec!["word"; count].join(" ");
        let long = words(20);
        check(&format!(r#"{{"a":"{long}"}}"#), &format!("a: {}\n  {}\n", words(16), words(4)));
        check(&format!(r##"["#{long}"]"##), &format!("- '#{}\n  {}'\n", words(16), words(4)));
        check(&format!(r#"["\t{long}"]"#), &format!("- \"\\t{}\n  {}\"\n", words(16), words(4)));
        let key = "k".repeat(129);
        check(&format!(r#"{{"{key}":[1]}}"#), &format!("? {key}\n: - 1\n"));
        check(&format!(r#"{{"{long}":1}}"#), &format!("{long}: 1\n"));
    }

    #[test]
    fn floats_are_printed_as_go_prints_them() {
        check(
            "[0.5,1e21,1e-7,123456.75,1234567.5,0.0001,0.00001,100000000000000000000]",
            "- 0.5\n- 1e+21\n- 1e-07\n- 123456.75\n- 1.2345675e+06\n- 0.0001\n- 1e-05\n- 1e+20\n",
        );
    }

    #[test]
    fn an_order_with_circles_can_be_sorted() {
        let keys = ["1a", "12", "2", "1b", "13", "3", "0x", "00", "0"].iter().cycle();
        let keys = keys.zip(0..200).map(|(key, at)| Str::from(format!("{key}{at}")));
        let object: Map = keys.map(|key| (key, Value::Null)).collect();
        assert_eq!(to_string(&Value::Map(object)).lines().count(), 200);
    }

    proptest! {
        #[test]
        fn what_was_printed_reads_as_the_same(value in any_value()) {
            let text = to_string(&value);
            prop_assert_eq!(parse(text.as_bytes()).unwrap(), value, "{}", text);
        }
    }
}
