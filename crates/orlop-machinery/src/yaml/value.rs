//! What nodes mean: the value that they stand for.
//!
//! After go-yaml's `decode.go`, and the conversion to JSON of `sigs.k8s.io/yaml`. Aliases are
//! followed each time that they are met; how much they may make of a document has a bound.

use std::collections::HashMap;

use super::error::YamlError;
use super::nodes::{Content, Node, NodeId, Scalar, too_deep};
use super::print::general;
use super::resolve::{self, Resolved};
use crate::bytes;
use crate::json::{self, DEPTH_MAX};
use crate::text::quote;
use crate::value::{Map, Str, Value};

/// More nodes, those of aliases counted each time, are refused.
const NODES_MAX: usize = 4_000_000;

/// More text because of aliases is refused. Go shares it, but JSON cannot.
const ALIAS_BYTES_MAX: usize = 16 << 20;

/// Makes a value of nodes.
#[derive(Default)]
pub(super) struct Reader<'a> {
    nodes: Vec<Node<'a>>,
    /// How many nodes were read, those of aliases each time.
    count: usize,
    /// How many of them because of an alias.
    alias_count: usize,
    /// How many aliases are being followed.
    alias_depth: usize,
    /// How long the texts were that were read because of an alias.
    alias_bytes: usize,
    /// A line about each key that stood twice.
    pub(super) duplicates: Vec<String>,
}

/// A key before it became text: `1` and `"1"` are two keys.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Text(Str),
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// By its bits.
    Float(u64),
    Null,
}

/// A map while it is read.
#[derive(Default)]
struct Entries {
    entries: Vec<(Str, Value)>,
    places: HashMap<Key, usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(nodes: Vec<Node<'a>>) -> Reader<'a> {
        Reader { nodes, ..Reader::default() }
    }

    /// Every node passes here once per time that it is read.
    fn count(&mut self, node: NodeId) -> Result<(), YamlError> {
        self.count += 1;
        if self.count > NODES_MAX {
            return Err(YamlError::Meaning("document contains too many nodes".to_owned()));
        }
        if self.alias_depth == 0 {
            return Ok(());
        }
        self.alias_count += 1;
        if let Content::Scalar(scalar) = &self.nodes[node].content {
            self.alias_bytes += scalar.text.len();
        }
        let is_count = self.alias_count > 100 && self.count > 1000;
        let is_excessive = is_count && is_mostly_aliases(self.alias_count, self.count);
        if is_excessive || self.alias_bytes > ALIAS_BYTES_MAX {
            return Err(YamlError::Meaning("document contains excessive aliasing".to_owned()));
        }
        Ok(())
    }

    pub(super) fn value(&mut self, node: NodeId, depth: usize) -> Result<Value, YamlError> {
        self.count(node)?;
        if depth > DEPTH_MAX {
            return Err(too_deep());
        }
        match &self.nodes[node].content {
            Content::Scalar(scalar) => scalar_value(scalar),
            Content::List(children) => {
                let children = 0..children.len();
                let items = children.map(|at| self.value(self.child(node, at), depth + 1));
                items.collect::<Result<_, _>>().map(Value::List)
            }
            Content::Map(_) => {
                let mut entries = Entries::default();
                self.map(node, &mut entries, depth)?;
                Ok(Value::Map(Map::from_unsorted(entries.entries)))
            }
            Content::Alias { .. } => {
                self.follow(node, |reader, target| reader.value(target, depth + 1))
            }
        }
    }

    fn follow<T>(
        &mut self,
        alias: NodeId,
        read: impl FnOnce(&mut Self, NodeId) -> Result<T, YamlError>,
    ) -> Result<T, YamlError> {
        let Content::Alias { name, target, is_open } = &mut self.nodes[alias].content else {
            unreachable!("the caller looked")
        };
        if std::mem::replace(is_open, true) {
            let message = format!("anchor '{name}' value contains itself");
            return Err(YamlError::Meaning(message));
        }
        let target = *target;
        self.alias_depth += 1;
        let result = read(self, target);
        self.alias_depth -= 1;
        if let Content::Alias { is_open, .. } = &mut self.nodes[alias].content {
            *is_open = false;
        }
        result
    }

    /// Reads the entries of a map, perhaps into those of another one that merges it.
    fn map(&mut self, node: NodeId, into: &mut Entries, depth: usize) -> Result<(), YamlError> {
        let Content::Map(children) = &self.nodes[node].content else { return Ok(()) };
        for at in (0..children.len()).step_by(2) {
            let (key, value) = (self.child(node, at), self.child(node, at + 1));
            if self.is_merge(key) {
                self.merge(value, into, depth + 1)?;
            } else {
                self.entry(key, value, into, depth + 1)?;
            }
        }
        Ok(())
    }

    /// A part of a list or map. They stay in the arena while they are read: an alias among their
    /// parts may lead back to them.
    fn child(&self, node: NodeId, at: usize) -> NodeId {
        match &self.nodes[node].content {
            Content::List(children) | Content::Map(children) => children[at],
            Content::Scalar(_) | Content::Alias { .. } => unreachable!("the caller looked"),
        }
    }

    fn entry(
        &mut self,
        key: NodeId,
        value: NodeId,
        into: &mut Entries,
        depth: usize,
    ) -> Result<(), YamlError> {
        let key = self.key(key, depth)?;
        let line = self.nodes[value].line;
        let value = self.value(value, depth)?;
        if let Some(message) = key.refusal(&value) {
            return Err(YamlError::Json(message));
        }
        match into.places.get(&key) {
            Some(&place) => {
                self.duplicates
                    .push(format!("line {line}: key {} already set in map", key.shown()));
                into.entries[place].1 = value;
            }
            None => {
                let text = key.text();
                into.places.insert(key, into.entries.len());
                into.entries.push((text, value));
            }
        }
        Ok(())
    }

    fn is_merge(&self, key: NodeId) -> bool {
        let Content::Scalar(scalar) = &self.nodes[key].content else { return false };
        let is_merge_tag = || scalar.tag.as_ref().is_some_and(|tag| resolve::is_merge(tag));
        scalar.text == "<<" && (scalar.is_implicit || is_merge_tag())
    }

    /// The entries of another map, or of several: of those the earlier ones count more.
    fn merge(&mut self, node: NodeId, into: &mut Entries, depth: usize) -> Result<(), YamlError> {
        match &self.nodes[node].content {
            Content::List(children) => {
                let children = children.clone();
                children.iter().rev().try_for_each(|&child| self.merge_one(child, into, depth))
            }
            _ => self.merge_one(node, into, depth),
        }
    }

    fn merge_one(
        &mut self,
        node: NodeId,
        into: &mut Entries,
        depth: usize,
    ) -> Result<(), YamlError> {
        self.count(node)?;
        if depth > DEPTH_MAX {
            return Err(too_deep());
        }
        let is_map = |content: &Content<'_>| matches!(content, Content::Map(_));
        match &self.nodes[node].content {
            Content::Map(_) => self.map(node, into, depth),
            Content::Alias { target, .. } if is_map(&self.nodes[*target].content) => {
                self.follow(node, |reader, target| {
                    reader.count(target)?;
                    reader.map(target, into, depth + 1)
                })
            }
            _ => Err(YamlError::Meaning(
                "map merge requires map or sequence of maps as the value".to_owned(),
            )),
        }
    }

    fn key(&mut self, node: NodeId, depth: usize) -> Result<Key, YamlError> {
        match &self.nodes[node].content {
            Content::Alias { .. } => {
                self.count(node)?;
                self.follow(node, |reader, target| reader.key(target, depth + 1))
            }
            Content::Scalar(_) => {
                self.count(node)?;
                let Content::Scalar(scalar) = &self.nodes[node].content else {
                    unreachable!("it is a scalar")
                };
                scalar_key(scalar)
            }
            Content::List(_) | Content::Map(_) => {
                let value = self.value(node, depth)?;
                Err(YamlError::Meaning(format!("invalid map key: {}", go_syntax(&value))))
            }
        }
    }
}

/// Whether so many nodes came from aliases that somebody means harm. The bounds are go-yaml's: the
/// larger the document, the smaller the share.
fn is_mostly_aliases(aliases: usize, all: usize) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    #[allow(clippy::cast_precision_loss, reason = "both are small")]
    let (aliases, all) = (aliases as f64, all as f64);
    let allowed = 0.99 - 0.89 * ((all - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
    aliases / all > allowed
}

fn resolved(scalar: &Scalar<'_>) -> Result<Resolved, YamlError> {
    match &scalar.tag {
        Some(tag) => resolve::resolve_tagged(tag, &scalar.text).map_err(YamlError::Meaning),
        None if scalar.is_implicit => Ok(resolve::resolve(&scalar.text)),
        None => Ok(Resolved::Text),
    }
}

fn scalar_value(scalar: &Scalar<'_>) -> Result<Value, YamlError> {
    Ok(match resolved(scalar)? {
        Resolved::Null => Value::Null,
        Resolved::Bool(truth) => Value::Bool(truth),
        Resolved::Int(number) => Value::Int(number),
        #[allow(clippy::cast_precision_loss, reason = "as Go reads it from JSON again")]
        Resolved::Uint(number) => Value::Float(number as f64),
        Resolved::Float(number) => float_value(number)?,
        Resolved::Timestamp | Resolved::Text => Value::String(scalar_text(scalar)?),
    })
}

/// A float on its way through JSON: a whole number has no point there.
fn float_value(number: f64) -> Result<Value, YamlError> {
    if !number.is_finite() {
        let text = match number {
            f64::INFINITY => "+Inf",
            f64::NEG_INFINITY => "-Inf",
            _ => "NaN",
        };
        return Err(YamlError::Json(format!("json: unsupported value: {text}")));
    }
    let is_whole = number.fract() == 0.0 && (-9.3e18..9.3e18).contains(&number);
    let whole = is_whole.then(|| format!("{number}").parse().ok()).flatten();
    Ok(whole.map_or(Value::Float(number), Value::Int))
}

fn scalar_text(scalar: &Scalar<'_>) -> Result<Str, YamlError> {
    if !scalar.tag.as_ref().is_some_and(|tag| resolve::is_binary(tag)) {
        return Ok(Str::new(&scalar.text));
    }
    let bytes = bytes::decode(&scalar.text).map_err(|_| {
        YamlError::Meaning("!!binary value contains invalid base64 data".to_owned())
    })?;
    Ok(Str::from(crate::text::from_utf8_as_go(&bytes)))
}

fn scalar_key(scalar: &Scalar<'_>) -> Result<Key, YamlError> {
    Ok(match resolved(scalar)? {
        Resolved::Null => Key::Null,
        Resolved::Bool(truth) => Key::Bool(truth),
        Resolved::Int(number) => Key::Int(number),
        Resolved::Uint(number) => Key::Uint(number),
        Resolved::Float(number) => Key::Float(number.to_bits()),
        Resolved::Timestamp | Resolved::Text => Key::Text(scalar_text(scalar)?),
    })
}

impl Key {
    /// The key in JSON.
    fn text(&self) -> Str {
        match self {
            Key::Text(text) => text.clone(),
            Key::Bool(truth) => Str::new(if *truth { "true" } else { "false" }),
            Key::Int(number) => compact_str::format_compact!("{number}"),
            Key::Uint(number) => compact_str::format_compact!("{number}"),
            Key::Null => Str::const_new("null"),
            Key::Float(bits) => Str::from(float_key(f64::from_bits(*bits))),
        }
    }

    /// Why it cannot be a key in JSON, if it cannot.
    fn refusal(&self, value: &Value) -> Option<String> {
        let key = match self {
            Key::Null => "%!s(<nil>), key: <nil>".to_owned(),
            Key::Uint(number) => format!("uint64, key: {number:#x}"),
            _ => return None,
        };
        Some(format!("unsupported map key of type: {key}, value: {}", go_syntax(value)))
    }

    /// The key as Go shows it.
    fn shown(&self) -> String {
        match self {
            Key::Text(text) => quote(text),
            other => other.text().into(),
        }
    }
}

/// A float as a key: with the digits that 32 bits need.
fn float_key(number: f64) -> String {
    #[allow(clippy::cast_possible_truncation, reason = "as sigs.k8s.io/yaml prints it")]
    let short = number as f32;
    if short.is_nan() {
        ".nan".to_owned()
    } else if short.is_infinite() {
        if short > 0.0 { ".inf".to_owned() } else { "-.inf".to_owned() }
    } else {
        general(&format!("{short:e}"))
    }
}

/// A value as Go's `%#v` shows it.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => quote(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Map(map) => {
            let entry =
                |(key, value): (&str, &Value)| format!("{}:{}", quote(key), go_syntax(value));
            let entries: Vec<String> = map.iter().map(entry).collect();
            format!("map[interface {{}}]interface {{}}{{{}}}", entries.join(", "))
        }
        other => json::to_string(other),
    }
}
