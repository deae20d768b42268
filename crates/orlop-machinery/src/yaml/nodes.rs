//! YAML text as nodes, before anybody asks what they mean.
//!
//! An alias stands for a node, and complaints name the line of one; so nodes there must be. They
//! lie in one arena and refer to each other by their place in it: a node may contain itself.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, ScalarStyle, Span};

use super::error::YamlError;
use crate::json::DEPTH_MAX;

/// A place in the arena of a document.
pub(super) type NodeId = usize;

pub(super) struct Node<'a> {
    /// Where it starts, its tag and its anchor included. Counted from 1.
    pub(super) line: usize,
    pub(super) content: Content<'a>,
}

pub(super) enum Content<'a> {
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

pub(super) struct Scalar<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) tag: Option<String>,
    /// Whether its form says nothing about its type: it has no quotes and no tag.
    pub(super) is_implicit: bool,
}

/// Makes nodes of events.
#[derive(Default)]
pub(super) struct Builder<'a> {
    text: &'a str,
    pub(super) nodes: Vec<Node<'a>>,
    /// The lists and maps that are not at their end, the innermost last.
    open: Vec<NodeId>,
    anchors: HashMap<usize, NodeId>,
    pub(super) root: Option<NodeId>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: &'a str) -> Builder<'a> {
        Builder { text, ..Builder::default() }
    }

    pub(super) fn add(&mut self, event: Event<'a>, span: &Span) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| tag.to_string()).filter(|tag| !tag.is_empty());
                let is_plain = style == ScalarStyle::Plain;
                let is_implicit = is_plain && tag.is_none();
                // The tag that says nothing says that it is text.
                let tag = tag.filter(|tag| tag != "!");
                let text = self.without_added_break(text, style, span);
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let line = if is_block { self.header_line(span, &text) } else { span.start.line() };
                let node =
                    self.push(Content::Scalar(Scalar { text, tag, is_implicit }), span, anchor);
                self.nodes[node].line = self.nodes[node].line.min(line);
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
            // It comes after its node, and stands before it.
            Event::Anchor(..) => {
                if let Some(node) = self.nodes.last_mut() {
                    node.line = node.line.min(span.start.line());
                }
            }
            Event::UnresolvedAlias(name) => return Err(unknown_anchor(&name)),
            Event::DocumentStart(_, Some(version)) if (version.major, version.minor) != (1, 1) => {
                let message = "found incompatible YAML document".to_owned();
                return Err(YamlError::Syntax { line: None, message });
            }
            _ => {}
        }
        Ok(())
    }

    /// A block that ends with the text instead of a line ends without a line break: the scanner
    /// adds one, Go does not.
    fn without_added_break(
        &self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        span: &Span,
    ) -> Cow<'a, str> {
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        if !is_block || span.end.byte_offset() != Some(self.text.len()) {
            return text;
        }
        let last_line = self.text.rsplit(['\n', '\r']).next().unwrap_or_default();
        if last_line.trim().is_empty() {
            return text;
        }
        match text.strip_suffix('\n') {
            Some(stripped) => Cow::Owned(stripped.to_owned()),
            None => text,
        }
    }

    /// The line of the sign before a block: the last one before it that is not empty.
    fn header_line(&self, span: &Span, text: &str) -> usize {
        let (line, offset) = (span.start.line(), span.start.byte_offset().unwrap_or(0));
        let (before, rest) = self.text.split_at_checked(offset).unwrap_or_default();
        // A block without lines is where its sign is.
        if text.is_empty() && (rest.is_empty() || rest.starts_with(['|', '>'])) {
            return line;
        }
        let before = &before[..before.rfind('\n').map_or(0, |end| end + 1)];
        let empty = before.lines().rev().take_while(|line| line.trim().is_empty()).count();
        line.saturating_sub(empty + 1).max(1)
    }

    fn push(&mut self, content: Content<'a>, span: &Span, anchor: usize) -> NodeId {
        let node = self.nodes.len();
        let start = span.tag_span().map_or(span.start, |tag| tag.start);
        self.nodes.push(Node { line: start.line(), content });
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

pub(super) fn too_deep() -> YamlError {
    YamlError::Meaning(format!("exceeded max depth of {DEPTH_MAX}"))
}
