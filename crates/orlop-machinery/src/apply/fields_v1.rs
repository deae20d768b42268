//! Field sets as the API shows them: `{"f:spec":{"f:replicas":{}}}`.
//!
//! A step is a key: `f:` and a field's name, `k:` and the fields that identify an item as JSON,
//! `v:` and an item as JSON, `i:` and a place. `.` stands for the path itself where something is
//! below it too. Steps that start otherwise are skipped: a later version may know them.
//!
//! Text is written exactly as upstream writes it. Behaviour after `structured-merge-diff/fieldpath`
//! (`serialize.go`, `serialize-pe.go`) and the JSON writer that it uses, which escapes less in
//! keys than Go's own. Nesting is bounded.

use super::field_path::PathElement;
use super::field_set::{Branch, FieldNode, FieldSet};
use crate::json;
use crate::value::{Map, Str, Value};

/// Why a set cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FieldsError {
    message: String,
}

/// Deeper nesting is refused.
const DEPTH_MAX: usize = 512;

/// Reads a set from its JSON text.
///
/// # Errors
///
/// When the text is not JSON, is nested too deeply, or has a step that cannot be read.
pub fn parse(text: &str) -> Result<FieldSet, FieldsError> {
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    let branch = reader.branch(0)?;
    reader.skip_space();
    if reader.at < reader.text.len() {
        return Err(reader.error("unexpected text after the fields"));
    }
    Ok(branch.children)
}

/// Reads a set as it stands in an object: as text or as a tree.
///
/// # Errors
///
/// As [`parse`].
pub fn from_value(value: &Value) -> Result<FieldSet, FieldsError> {
    match value {
        Value::Null => Ok(FieldSet::new()),
        Value::String(text) => parse(text),
        Value::Map(map) => Ok(branch_of_map(map, 0)?.children),
        _ => Err(error("expected an object")),
    }
}

/// The set as an object holds it.
#[must_use]
pub fn to_value(set: &FieldSet) -> Value {
    let mut map = Map::with_capacity(set.nodes().len());
    let mut buffer = String::new();
    for node in set.nodes() {
        buffer.clear();
        write_element(&node.element, &mut buffer);
        let mut below = to_value(&node.branch.children);
        if node.branch.is_member && !node.branch.children.is_empty() {
            below.set(".", Map::new());
        }
        map.insert(buffer.as_str(), below);
    }
    Value::Map(map)
}

/// The set as JSON text.
#[must_use]
pub fn to_text(set: &FieldSet) -> String {
    let mut out = String::with_capacity(256);
    write_set(set, false, &mut out, &mut String::new());
    out
}

fn error(message: &str) -> FieldsError {
    FieldsError { message: message.to_owned() }
}

// Reading.

/// The step that a key names; none when it is of an unknown kind.
fn element_of_key(key: &str) -> Result<Option<PathElement>, FieldsError> {
    let bytes = key.as_bytes();
    if bytes.len() < 2 {
        return Err(error("parsing key as path element: key must be 2 characters long:"));
    }
    if bytes[1] != b':' {
        return Err(error(&format!("parsing key as path element: missing colon: {key}")));
    }
    let read_json = |text: &str| {
        json::parse(text.as_bytes())
            .map_err(|error| self::error(&format!("parsing key as path element: {error}")))
    };
    Ok(Some(match bytes[0] {
        b'f' => PathElement::Field(Str::new(&key[2..])),
        b'v' => PathElement::Value(read_json(&key[2..])?),
        b'k' => match read_json(&key[2..])? {
            Value::Map(map) => PathElement::Key(map),
            Value::Null => PathElement::Key(Map::new()),
            _ => return Err(error("parsing key as path element: expected an object")),
        },
        b'i' => match key[2..].parse() {
            Ok(index) => PathElement::Index(index),
            Err(_) => {
                let message = format!("parsing key as path element: bad index: {key}");
                return Err(error(&message));
            }
        },
        _ => return Ok(None),
    }))
}

/// Collects the steps below a path.
#[derive(Default)]
struct Steps {
    nodes: Vec<FieldNode>,
    /// Whether the path itself is a member although something is below it.
    is_member: bool,
}

impl Steps {
    fn add(&mut self, element: PathElement, branch: Branch) {
        self.nodes.push(FieldNode { element, branch });
    }

    /// Where nothing is below, the path itself is meant.
    fn finish(self) -> Branch {
        let is_member = self.is_member || self.nodes.is_empty();
        Branch { is_member, children: FieldSet::from_unsorted(self.nodes) }
    }
}

fn branch_of_map(map: &Map, depth: usize) -> Result<Branch, FieldsError> {
    if depth > DEPTH_MAX {
        return Err(error("exceeded max depth"));
    }
    let mut steps = Steps::default();
    steps.nodes.reserve(map.len());
    for (key, value) in map.iter() {
        if key == "." {
            steps.is_member = true;
            continue;
        }
        let Some(element) = element_of_key(key)? else { continue };
        let branch = match value {
            Value::Map(map) => branch_of_map(map, depth + 1)?,
            Value::Null => Branch::leaf(),
            _ => return Err(error("expected an object")),
        };
        steps.add(element, branch);
    }
    Ok(steps.finish())
}

/// Reads the text directly: a tree of values in between would cost more than the set itself.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn branch(&mut self, depth: usize) -> Result<Branch, FieldsError> {
        if depth > DEPTH_MAX {
            return Err(self.error("exceeded max depth"));
        }
        self.skip_space();
        if self.text[self.at..].starts_with(b"null") {
            self.at += 4;
            return Ok(Branch::leaf());
        }
        self.expect(b'{')?;
        let mut steps = Steps::default();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(steps.finish());
        }
        loop {
            self.step(&mut steps, depth)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.error("expected , or }")),
            }
        }
        self.at += 1;
        Ok(steps.finish())
    }

    /// A key and what is below it.
    fn step(&mut self, steps: &mut Steps, depth: usize) -> Result<(), FieldsError> {
        self.skip_space();
        let raw = self.raw_string()?;
        let has_escapes = raw.contains(&b'\\');
        // Only whole strings need the general reader.
        let unescaped = if has_escapes {
            Some(json_text(&self.text[self.at - raw.len() - 2..self.at])?)
        } else {
            None
        };
        let key = match &unescaped {
            Some(text) => text.as_str(),
            None => std::str::from_utf8(raw).map_err(|_| self.error("a key is not text"))?,
        };
        self.skip_space();
        self.expect(b':')?;
        if key == "." {
            steps.is_member = true;
            return self.skip_value(depth);
        }
        match element_of_key(key)? {
            None => self.skip_value(depth),
            Some(element) => {
                let branch = self.branch(depth + 1)?;
                steps.add(element, branch);
                Ok(())
            }
        }
    }

    /// What is between two quotes, as it is.
    fn raw_string(&mut self) -> Result<&'a [u8], FieldsError> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(self.error("unexpected end of a string")),
            }
        }
        let raw = &self.text[start..self.at];
        self.at += 1;
        Ok(raw)
    }

    /// Any value, without looking at it closely.
    fn skip_value(&mut self, depth: usize) -> Result<(), FieldsError> {
        let mut depth_here = depth;
        loop {
            self.skip_space();
            match self.peek() {
                None => return Err(self.error("unexpected end")),
                Some(b'"') => _ = self.raw_string()?,
                Some(b'{' | b'[') => {
                    depth_here += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth_here > depth => {
                    depth_here -= 1;
                    self.at += 1;
                }
                Some(b',' | b':') if depth_here > depth => self.at += 1,
                Some(b'0'..=b'9' | b'-' | b'a'..=b'z') => self.skip_word(),
                Some(_) => return Err(self.error("expected a value")),
            }
            if depth_here == depth {
                return Ok(());
            }
        }
    }

    fn skip_word(&mut self) {
        while let Some(b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<(), FieldsError> {
        if self.peek() != Some(byte) {
            return Err(self.error(&format!("expected {}", char::from(byte))));
        }
        self.at += 1;
        Ok(())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn error(&self, message: &str) -> FieldsError {
        error(&format!("{message} at byte {}", self.at))
    }
}

/// The text that a JSON string stands for.
fn json_text(quoted: &[u8]) -> Result<Str, FieldsError> {
    match json::parse(quoted) {
        Ok(Value::String(text)) => Ok(text),
        Ok(_) => Err(error("expected a string")),
        Err(error) => Err(self::error(&error.message)),
    }
}

// Writing.

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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads, writes, and reads what was written in both forms.
    fn check(text: &str, expect: &str) {
        let set = parse(text).unwrap();
        assert_eq!(to_text(&set), expect);
        assert_eq!(parse(expect).unwrap(), set);
        assert_eq!(from_value(&to_value(&set)).unwrap(), set);
        assert_eq!(from_value(&json::parse(text.as_bytes()).unwrap()).unwrap(), set);
    }

    #[test]
    fn what_is_in_order_stays_as_it_is() {
        for text in [
            "{}",
            r#"{"f:spec":{"f:replicas":{}}}"#,
            r#"{"f:spec":{".":{},"f:replicas":{}}}"#,
            r#"{"f:a":{},"k:{\"name\":\"a\"}":{},"v:1":{},"i:0":{}}"#,
            r#"{"k:{\"port\":80,\"protocol\":\"TCP\"}":{},"k:{\"port\":443,\"protocol\":\"TCP\"}":{}}"#,
            r#"{"v:5":{},"v:\"b\"":{},"v:true":{},"v:[1]":{},"v:{\"a\":1}":{},"v:null":{}}"#,
            r#"{"i:-5":{},"i:1":{},"i:2":{}}"#,
        ] {
            check(text, text);
        }
    }

    #[test]
    fn what_is_in_disorder_is_put_in_order() {
        check(
            r#" { "v:10":{}, "f:b" : {"f:d":{}} , "f:a":null, "v:2":{"." : {"x":[1,"}"]}} } "#,
            r#"{"f:a":{},"f:b":{"f:d":{}},"v:2":{},"v:10":{}}"#,
        );
        check(r#"{"k:{\"b\":1,\"a\":2}":{}}"#, r#"{"k:{\"a\":2,\"b\":1}":{}}"#);
        check(
            r#"{"v:1.0":{},"v:0.0000001":{},"v:1e21":{}}"#,
            r#"{"v:1e-07":{},"v:1":{},"v:1e+21":{}}"#,
        );
    }

    #[test]
    fn steps_of_unknown_kinds_are_skipped() {
        check(r#"{"z:new":{"f:a":{}},"f:b":{"q:x":[1,{"a":"]"}]},".":{}}"#, r#"{"f:b":{}}"#);
    }

    #[test]
    fn text_is_escaped_as_upstream_does() {
        check(
            r#"{"f:a\"b\\c\n\u0008\u2028<&>\u00e9":{}}"#,
            "{\"f:a\\\"b\\\\c\\n\\u0008\\u2028<&>\u{e9}\":{}}",
        );
        check(r#"{"v:\"<a>\\n\"":{}}"#, r#"{"v:\"\\u003ca\\u003e\\n\"":{}}"#);
        check(r#"{"k:{\"<\":\"&\"}":{}}"#, r#"{"k:{\"<\":\"\\u0026\"}":{}}"#);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for text in [
            "",
            "{",
            "[]",
            "1",
            r#"{"f:a"}"#,
            r#"{"f:a":1}"#,
            r#"{"f:a":{}"#,
            r#"{"f:a":{}}}"#,
            r#"{"f":{}}"#,
            r#"{"fa":{}}"#,
            r#"{"v:":{}}"#,
            r#"{"v:x":{}}"#,
            r#"{"k:1":{}}"#,
            r#"{"k:{":{}}"#,
            r#"{"i:a":{}}"#,
            r#"{"f:a":{}, }"#,
            r#"{"f:a\"#,
            r#"{".":}"#,
            r#"{".":]}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(from_value(&Value::Int(1)).is_err());
        assert!(from_value(&Value::from([("f:a", 1)])).is_err());
        assert_eq!(
            parse(r#"{"fa":{}}"#).unwrap_err().to_string(),
            "parsing key as path element: missing colon: fa"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let deep =
            |depth: usize| format!("{}{{}}{}", r#"{"f:a":"#.repeat(depth), "}".repeat(depth));
        assert!(parse(&deep(500)).is_ok());
        assert!(parse(&deep(600)).is_err());
        assert!(parse(&deep(100_000)).is_err());
        let skipped = format!("{{\".\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(&skipped).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            _ = parse(&text);
        }

        #[test]
        fn text_like_a_set_is_read_or_refused(text in r#"[{}":,.fkvi1a\\\[\] ]{0,40}"#) {
            if let Ok(set) = parse(&text) {
                prop_assert_eq!(parse(&to_text(&set)).unwrap(), set);
            }
        }
    }
}
