//! From YAML text to a value.
//!
//! The text becomes nodes first, because an alias stands for a node and the number of a line for
//! its place; then the nodes become a value. After go-yaml's `decode.go`, and the conversion to
//! JSON of `sigs.k8s.io/yaml`.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span};

use super::resolve::{self, Resolved};
use crate::base64;
use crate::json::DEPTH_MAX;
use crate::text::quote;
use crate::value::{Map, Str, Value};

/// How the complaint about keys that stand twice begins.
pub(crate) const DUPLICATES_PREFIX: &str = "yaml: unmarshal errors:\n";

/// More nodes, those of aliases counted each time, are refused.
const NODES_MAX: usize = 4_000_000;

/// Why a text is not YAML, or not YAML that JSON can say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// The text is malformed.
    #[error("yaml: {}{message}", place(*line))]
    Syntax {
        /// Where, as Go counts; none when Go does not say.
        line: Option<usize>,
        /// What is wrong.
        message: String,
    },
    /// The text is well-formed, but means nothing.
    #[error("yaml: {0}")]
    Meaning(String),
    /// Keys stand twice in their map.
    #[error("{}", describe_duplicates(.0))]
    Duplicates(Vec<String>),
    /// A key cannot become text.
    #[error("unsupported map key of type: {0}")]
    Key(String),
}

fn place(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!("line {line}: "))
}

/// The complaint about keys that stand twice, of which there is one line each.
pub(crate) fn describe_duplicates(lines: &[String]) -> String {
    format!("{DUPLICATES_PREFIX}  {}", lines.join("\n  "))
}

/// Reads the first document of a text; null when there is none.
///
/// # Errors
///
/// When the text is not YAML, when it says what JSON cannot say, when it is nested too deeply or
/// its aliases make too much of it, and when a key stands twice in its map.
pub fn parse(text: &[u8]) -> Result<Value, YamlError> {
    match parse_with_duplicates(text)? {
        (value, duplicates) if duplicates.is_empty() => Ok(value),
        (_, duplicates) => Err(YamlError::Duplicates(duplicates)),
    }
}

/// The same, but of several entries with one key the last one stays; with a line about each, such
/// as `line 2: key "a" already set in map`.
///
/// # Errors
///
/// As [`parse`], except for keys that stand twice.
pub fn parse_with_duplicates(text: &[u8]) -> Result<(Value, Vec<String>), YamlError> {
    let text = read_text(text)?;
    let mut documents = Documents::new(&text);
    let value = documents.next_value()?.unwrap_or_default();
    Ok((value, documents.duplicates))
}

/// Reads all documents of a text that are not empty.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_all(text: &[u8]) -> Result<Vec<Value>, YamlError> {
    let text = read_text(text)?;
    let mut documents = Documents::new(&text);
    let mut values = Vec::new();
    while let Some(value) = documents.next_value()? {
        if !documents.duplicates.is_empty() {
            return Err(YamlError::Duplicates(documents.duplicates));
        }
        values.extend(Some(value).filter(|value| !value.is_null()));
    }
    Ok(values)
}

/// The text without its byte order mark. YAML allows few control characters.
fn read_text(text: &[u8]) -> Result<Cow<'_, str>, YamlError> {
    let refuse = |message: &str| Err(YamlError::Meaning(message.to_owned()));
    let Ok(text) = std::str::from_utf8(text) else {
        return refuse("invalid leading UTF-8 octet");
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_allowed = |c: char| match c {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control(),
    };
    if text.bytes().any(|byte| byte < b' ' || byte >= 0x7f) && !text.chars().all(is_allowed) {
        return refuse("control characters are not allowed");
    }
    Ok(Cow::Borrowed(text))
}

/// A place in the arena of a document.
type NodeId = usize;

struct Node<'a> {
    /// Counted from 1.
    line: usize,
    content: Content<'a>,
}

enum Content<'a> {
    Scalar(Scalar<'a>),
    List(Vec<NodeId>),
    /// Keys and values in turn.
    Map(Vec<NodeId>),
    Alias {
        name: &'a str,
        target: NodeId,
        /// Whether it is being followed right now.
        is_open: bool,
    },
}

struct Scalar<'a> {
    text: Cow<'a, str>,
    tag: Option<String>,
    /// Whether its form says nothing about its type: it has no quotes and no tag.
    is_implicit: bool,
}

/// The documents of a text, one after the other.
struct Documents<'a> {
    text: &'a str,
    events: Parser<'a, granit_parser::StrInput<'a>>,
    /// The keys that stood twice in the document that was read last.
    duplicates: Vec<String>,
}

impl<'a> Documents<'a> {
    fn new(text: &'a str) -> Documents<'a> {
        let options = granit_parser::options! {
            emit_comments: false,
            emit_unresolved_aliases: true,
            flow_nesting_limit: DEPTH_MAX,
            block_nesting_limit: DEPTH_MAX,
        };
        let events = Parser::new_from_str_with_options(text, options);
        Documents { text, events, duplicates: Vec::new() }
    }

    /// The value of the next document; none at the end.
    fn next_value(&mut self) -> Result<Option<Value>, YamlError> {
        let mut builder = Builder { text: self.text, ..Builder::default() };
        loop {
            let Some(event) = self.events.next() else { return Ok(None) };
            match event.map_err(|error| syntax_error(&error))? {
                (Event::StreamEnd, _) => return Ok(None),
                (Event::DocumentEnd, _) => break,
                (event, span) => builder.add(event, &span)?,
            }
        }
        let Some(root) = builder.root else { return Ok(Some(Value::Null)) };
        let mut reader = Reader { nodes: builder.nodes, ..Reader::default() };
        let value = reader.value(root, 0)?;
        self.duplicates = reader.duplicates;
        Ok(Some(value))
    }
}

/// Makes nodes of events.
#[derive(Default)]
struct Builder<'a> {
    text: &'a str,
    nodes: Vec<Node<'a>>,
    /// The lists and maps that are not at their end, the innermost last.
    open: Vec<NodeId>,
    anchors: HashMap<usize, NodeId>,
    root: Option<NodeId>,
}

impl<'a> Builder<'a> {
    fn add(&mut self, event: Event<'a>, span: &Span) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| tag.to_string()).filter(|tag| !tag.is_empty());
                let is_plain = style == ScalarStyle::Plain;
                // The tag that says nothing makes even text in quotes say nothing.
                let is_implicit = tag.as_ref().map_or(is_plain, |tag| tag == "!");
                let tag = tag.filter(|tag| tag != "!");
                self.push(Content::Scalar(Scalar { text, tag, is_implicit }), span, anchor);
            }
            Event::SequenceStart(_, anchor, _) => {
                let node = self.push(Content::List(Vec::new()), span, anchor);
                self.open(node)?;
            }
            Event::MappingStart(_, anchor, _) => {
                let node = self.push(Content::Map(Vec::new()), span, anchor);
                self.open(node)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
            }
            Event::Alias(anchor) => {
                let name = span.slice(self.text).unwrap_or_default().trim_start_matches('*');
                let Some(&target) = self.anchors.get(&anchor) else {
                    return Err(unknown_anchor(name));
                };
                self.push(Content::Alias { name, target, is_open: false }, span, 0);
            }
            Event::UnresolvedAlias(name) => return Err(unknown_anchor(&name)),
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, content: Content<'a>, span: &Span, anchor: usize) -> NodeId {
        let node = self.nodes.len();
        self.nodes.push(Node { line: span.start.line(), content });
        if anchor != 0 {
            self.anchors.insert(anchor, node);
        }
        match self.open.last().map(|&open| &mut self.nodes[open].content) {
            Some(Content::List(children) | Content::Map(children)) => children.push(node),
            _ => self.root = self.root.or(Some(node)),
        }
        node
    }

    fn open(&mut self, node: NodeId) -> Result<(), YamlError> {
        if self.open.len() == DEPTH_MAX {
            return Err(too_deep());
        }
        self.open.push(node);
        Ok(())
    }
}

fn unknown_anchor(name: &str) -> YamlError {
    YamlError::Meaning(format!("unknown anchor '{name}' referenced"))
}

fn too_deep() -> YamlError {
    YamlError::Meaning(format!("exceeded max depth of {DEPTH_MAX}"))
}

/// Makes a value of nodes.
#[derive(Default)]
struct Reader<'a> {
    nodes: Vec<Node<'a>>,
    /// How many nodes were read, those of aliases each time.
    count: usize,
    /// How many of them because of an alias.
    alias_count: usize,
    /// How many aliases are being followed.
    alias_depth: usize,
    duplicates: Vec<String>,
}

/// A key before it became text: `1` and `"1"` are two keys.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Text(Str),
    Bool(bool),
    Int(i64),
    /// By its bits.
    Float(u64),
}

/// A map while it is read.
#[derive(Default)]
struct Entries {
    entries: Vec<(Str, Value)>,
    places: HashMap<Key, usize>,
}

impl Reader<'_> {
    /// Every node passes here once per time that it is read.
    fn count(&mut self) -> Result<(), YamlError> {
        self.count += 1;
        if self.alias_depth > 0 {
            self.alias_count += 1;
        }
        if self.alias_count > 100
            && self.count > 1000
            && is_mostly_aliases(self.alias_count, self.count)
        {
            return Err(YamlError::Meaning("document contains excessive aliasing".to_owned()));
        }
        if self.count > NODES_MAX {
            return Err(YamlError::Meaning("document contains too many nodes".to_owned()));
        }
        Ok(())
    }

    fn value(&mut self, node: NodeId, depth: usize) -> Result<Value, YamlError> {
        self.count()?;
        if depth > DEPTH_MAX {
            return Err(too_deep());
        }
        match &mut self.nodes[node].content {
            Content::Scalar(scalar) => scalar_value(scalar),
            Content::List(children) => {
                let children = std::mem::take(children);
                let items = children.iter().map(|&child| self.value(child, depth + 1));
                let items: Result<Vec<Value>, YamlError> = items.collect();
                self.nodes[node].content = Content::List(children);
                items.map(Value::List)
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
        let Content::Map(children) = &mut self.nodes[node].content else { return Ok(()) };
        let children = std::mem::take(children);
        let result = children.chunks_exact(2).try_for_each(|pair| {
            if self.is_merge(pair[0]) {
                self.merge(pair[1], into, depth + 1)
            } else {
                self.entry(pair[0], pair[1], into, depth + 1)
            }
        });
        self.nodes[node].content = Content::Map(children);
        result
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
        self.count()?;
        if depth > DEPTH_MAX {
            return Err(too_deep());
        }
        let is_map = |content: &Content<'_>| matches!(content, Content::Map(_));
        match &self.nodes[node].content {
            Content::Map(_) => self.map(node, into, depth),
            Content::Alias { target, .. } if is_map(&self.nodes[*target].content) => {
                self.follow(node, |reader, target| {
                    reader.count()?;
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
                self.count()?;
                self.follow(node, |reader, target| reader.key(target, depth + 1))
            }
            Content::Scalar(_) => {
                self.count()?;
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
        let text = if number.is_nan() { "NaN" } else { "Inf" };
        let sign = if number.is_nan() || number < 0.0 { "" } else { "+" };
        let sign = if number == f64::NEG_INFINITY { "-" } else { sign };
        return Err(YamlError::Key(format!("json: unsupported value: {sign}{text}")));
    }
    let is_whole = number.fract() == 0.0 && (-9.3e18..9.3e18).contains(&number);
    let whole = is_whole.then(|| format!("{number}").parse().ok()).flatten();
    Ok(whole.map_or(Value::Float(number), Value::Int))
}

fn scalar_text(scalar: &Scalar<'_>) -> Result<Str, YamlError> {
    if !scalar.tag.as_ref().is_some_and(|tag| resolve::is_binary(tag)) {
        return Ok(Str::new(&scalar.text));
    }
    let bytes = base64::decode(&scalar.text).map_err(|_| {
        YamlError::Meaning("!!binary value contains invalid base64 data".to_owned())
    })?;
    Ok(Str::from(crate::text::from_utf8_as_go(&bytes)))
}

fn scalar_key(scalar: &Scalar<'_>) -> Result<Key, YamlError> {
    Ok(match resolved(scalar)? {
        Resolved::Null => return Err(YamlError::Key("%!s(<nil>), key: <nil>".to_owned())),
        Resolved::Bool(truth) => Key::Bool(truth),
        Resolved::Int(number) => Key::Int(number),
        Resolved::Uint(number) => {
            return Err(YamlError::Key(format!("uint64, key: {number:#x}")));
        }
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
            Key::Float(bits) => Str::from(float_key(f64::from_bits(*bits))),
        }
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
        super::print::general(&format!("{short:e}"))
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
        other => crate::json::to_string(other),
    }
}

/// An error of the scanner in the words of go-yaml, where both have the same idea of it.
fn syntax_error(error: &ScanError) -> YamlError {
    let kind = error.kind();
    let (message, is_scanner) = match kind {
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            ("mapping values are not allowed in this context", true)
        }
        ErrorKind::MappingKeyNotAllowed => ("mapping keys are not allowed in this context", true),
        ErrorKind::BlockSequenceEntryNotAllowed => {
            ("block sequence entries are not allowed in this context", true)
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            ("could not find expected ':'", true)
        }
        ErrorKind::UnexpectedCharacter { .. }
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation => ("found character that cannot start any token", true),
        ErrorKind::UnclosedQuotedScalar => ("found unexpected end of stream", true),
        ErrorKind::DocumentIndicatorInQuotedScalar => ("found unexpected document indicator", true),
        ErrorKind::UnknownQuotedScalarEscape => ("found unknown escape character", true),
        ErrorKind::InvalidQuotedScalarHexEscape => {
            ("did not find expected hexdecimal number", true)
        }
        ErrorKind::MissingAnchorOrAliasName => {
            ("did not find expected alphabetic or numeric character", true)
        }
        ErrorKind::ExpectedBlockMappingKey => ("did not find expected key", false),
        ErrorKind::ExpectedBlockSequenceEntry => ("did not find expected '-' indicator", false),
        ErrorKind::ExpectedNodeContent => ("did not find expected node content", false),
        ErrorKind::ExpectedDocumentStart => ("did not find expected <document start>", false),
        ErrorKind::UndeclaredTagHandle => ("found undefined tag handle", false),
        ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnclosedFlowCollection { open: '{' } => {
            ("did not find expected ',' or '}'", false)
        }
        ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnclosedFlowCollection { .. } => ("did not find expected ',' or ']'", false),
        ErrorKind::RecursionLimitExceeded => return too_deep(),
        _ => ("", true),
    };
    let message = if message.is_empty() { kind.to_string() } else { message.to_owned() };
    // Go counts lines from 0, and corrects that for errors of its scanner.
    let line = error.marker().line().saturating_sub(1);
    let line = (line > 0).then_some(if is_scanner { line + 1 } else { line });
    YamlError::Syntax { line, message }
}
