//! Reading field sets, from text or from a tree of values.

use super::super::field_path::PathElement;
use super::super::field_set::{Branch, FieldNode, FieldSet};
use super::super::value_order::with_floats;
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

fn error(message: &str) -> FieldsError {
    FieldsError { message: message.to_owned() }
}

/// The step that a key names; none when it is of an unknown kind.
fn element_of_key(key: &str) -> Result<Option<PathElement>, FieldsError> {
    let bytes = key.as_bytes();
    if bytes.len() < 2 {
        return Err(error("parsing key as path element: key must be 2 characters long:"));
    }
    if bytes[1] != b':' {
        return Err(error(&format!("parsing key as path element: missing colon: {key}")));
    }
    let read_json = |text: &str| match json::parse(text.as_bytes()) {
        Ok(value) => Ok(with_floats(value)),
        Err(error) => Err(self::error(&format!("parsing key as path element: {error}"))),
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

    /// The same where steps came in the order of their text, which for fields is theirs.
    fn finish_in_text_order(self) -> Branch {
        let is_field = |node: &FieldNode| matches!(node.element, PathElement::Field(_));
        if !self.nodes.iter().all(is_field) {
            return self.finish();
        }
        let is_member = self.is_member || self.nodes.is_empty();
        Branch { is_member, children: FieldSet::from_sorted(self.nodes) }
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
    Ok(steps.finish_in_text_order())
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
