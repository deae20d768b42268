//! Go's syntax of regular expressions, as a tree.
//!
//! After `regexp/syntax/parse.go` with the flags that `regexp.Compile` sets. What is open is kept
//! on a stack of our own; the height of the tree is bounded.

mod class;
mod escape;

use super::SyntaxError;
use class::parse_class;
use escape::parse_escape;

/// The tree is at most so high. Go allows ten times as much; here, what compiles the expression
/// needs stack for every level.
const HEIGHT_MAX: usize = 100;
/// A part is repeated at most so often.
const REPEAT_MAX: i32 = 1000;
/// So many instructions, at most, would Go make of an expression.
const INSTRUCTIONS_MAX: u64 = (128 << 20) / 40;

/// The code of the error about size.
pub(super) const TOO_LARGE: &str = "expression too large";

/// An expression.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) node: Node,
    height: usize,
    /// How many instructions it would be in Go, about.
    pub(super) size: u64,
    /// How often its innermost part is repeated.
    repeats: i32,
}

#[derive(Debug)]
pub(super) enum Node {
    Empty,
    /// A character; whether its case counts not.
    Literal(char, bool),
    /// What no text has.
    Nothing,
    Class(Class),
    Any,
    AnyButNewline,
    BeginText,
    EndText,
    BeginLine,
    EndLine,
    WordBoundary,
    NoWordBoundary,
    Concat(Vec<Tree>),
    Alternate(Vec<Tree>),
    /// `max` is negative when there is none.
    Repeat {
        of: Box<Tree>,
        min: i32,
        max: i32,
        is_greedy: bool,
    },
}

/// Characters.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) is_negated: bool,
    /// Whether case counts not.
    pub(super) folds: bool,
    pub(super) items: Vec<Item>,
}

#[derive(Debug)]
pub(super) enum Item {
    /// Code points from one to another; surrogates among them stand for nothing.
    Range(u32, u32),
    /// The characters that are not in these ranges.
    Not(&'static [(u8, u8)]),
    /// A category or script of Unicode, and whether it is all others.
    Unicode(String, bool),
}

#[derive(Clone, Copy)]
struct Flags {
    folds: bool,
    is_multi_line: bool,
    dot_is_all: bool,
    is_lazy: bool,
}

/// What stands before the place that is read, in the group that is open there.
struct Group {
    /// The alternatives before this one.
    alternatives: Vec<Tree>,
    /// The parts of this one.
    parts: Vec<Tree>,
    /// The flags to go back to.
    flags: Flags,
}

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Tree, SyntaxError> {
    let flags = Flags { folds: false, is_multi_line: false, dot_is_all: false, is_lazy: false };
    let mut parser = Parser { text, rest: text, flags, open: vec![Group::new(flags)] };
    let mut last_repeat = None;
    while !parser.rest.is_empty() {
        last_repeat = parser.step(last_repeat)?;
    }
    match (parser.open.pop(), parser.open.is_empty()) {
        (Some(group), true) => parser.checked(group.end()),
        _ => Err(error("missing closing )", text)),
    }
}

/// An error about a part of an expression.
fn error(code: &'static str, expression: &str) -> SyntaxError {
    SyntaxError { code, expression: expression.to_owned() }
}

/// What of `before` was read when `after` is left.
fn read_of<'t>(before: &'t str, after: &str) -> &'t str {
    &before[..before.len() - after.len()]
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
    flags: Flags,
    /// Never empty while reading.
    open: Vec<Group>,
}

impl<'t> Parser<'t> {
    /// Reads one thing; where it began, if it is a repetition.
    fn step(&mut self, last_repeat: Option<&'t str>) -> Result<Option<&'t str>, SyntaxError> {
        let before = self.rest;
        let Some(first) = before.chars().next() else { return Ok(None) };
        let after = &before[first.len_utf8()..];
        match first {
            '*' | '+' | '?' => {
                let (min, max) = match first {
                    '*' => (0, -1),
                    '+' => (1, -1),
                    _ => (0, 1),
                };
                self.repeat((min, max), after, last_repeat)?;
                return Ok(Some(before));
            }
            '{' => {
                if let Some((min, max, after)) = parse_repeat(before) {
                    let is_wrong = min > REPEAT_MAX || max > REPEAT_MAX || min < 0;
                    if is_wrong || (max >= 0 && min > max) {
                        return Err(error("invalid repeat count", read_of(before, after)));
                    }
                    self.repeat((min, max), after, last_repeat)?;
                    return Ok(Some(before));
                }
                self.rest = after;
                self.push(Node::Literal('{', self.flags.folds))?;
            }
            '(' if after.starts_with('?') => self.parse_flags()?,
            '\\' => self.parse_backslash()?,
            '[' => {
                let (class, rest) = parse_class(before, self.flags.folds)?;
                self.rest = rest;
                self.push(Node::Class(class))?;
            }
            _ => {
                self.rest = after;
                self.step_simple(first)?;
            }
        }
        Ok(None)
    }

    fn step_simple(&mut self, first: char) -> Result<(), SyntaxError> {
        let flags = self.flags;
        let node = match first {
            '(' => {
                self.open.push(Group::new(flags));
                return Ok(());
            }
            ')' => return self.close(),
            '|' => {
                let group = self.group();
                let alternative = concat(std::mem::take(&mut group.parts));
                group.alternatives.push(alternative);
                return Ok(());
            }
            '^' if flags.is_multi_line => Node::BeginLine,
            '^' => Node::BeginText,
            '$' if flags.is_multi_line => Node::EndLine,
            '$' => Node::EndText,
            '.' if flags.dot_is_all => Node::Any,
            '.' => Node::AnyButNewline,
            literal => Node::Literal(literal, flags.folds),
        };
        self.push(node)
    }

    fn group(&mut self) -> &mut Group {
        self.open.last_mut().expect("the outermost group is closed last")
    }

    fn close(&mut self) -> Result<(), SyntaxError> {
        let wrong = error("unexpected )", self.text);
        let group = self.open.pop().ok_or_else(|| wrong.clone())?;
        if self.open.is_empty() {
            return Err(wrong);
        }
        self.flags = group.flags;
        // Go keeps a node for the group itself.
        let inner = group.end();
        let tree = Tree { height: inner.height + 1, size: inner.size + 2, ..inner };
        let tree = self.checked(tree)?;
        self.group().parts.push(tree);
        Ok(())
    }

    fn push(&mut self, node: Node) -> Result<(), SyntaxError> {
        self.group().parts.push(Tree { node, height: 1, size: 1, repeats: 1 });
        Ok(())
    }

    /// Repeats what was read last.
    fn repeat(
        &mut self,
        (min, max): (i32, i32),
        after: &'t str,
        last_repeat: Option<&'t str>,
    ) -> Result<(), SyntaxError> {
        let before = self.rest;
        let mut is_greedy = !self.flags.is_lazy;
        self.rest = after;
        if let Some(after) = after.strip_prefix('?') {
            self.rest = after;
            is_greedy = !is_greedy;
        }
        let after = self.rest;
        if let Some(last) = last_repeat {
            return Err(error("invalid nested repetition operator", read_of(last, after)));
        }
        let Some(of) = self.group().parts.pop() else {
            let code = "missing argument to repetition operator";
            return Err(error(code, read_of(before, after)));
        };
        let times = if max < 0 { min } else { max };
        let repeats = of.repeats.saturating_mul(times.max(1));
        let is_counted = before.starts_with('{') && (min >= 2 || max >= 2);
        if is_counted && repeats > REPEAT_MAX {
            return Err(error("invalid repeat count", read_of(before, after)));
        }
        let copies = u64::from(times.max(1).unsigned_abs());
        let tree = Tree {
            height: of.height + 1,
            size: of.size.saturating_mul(copies).saturating_add(copies + 1),
            repeats: if max == 0 { 1 } else { repeats },
            node: Node::Repeat { of: Box::new(of), min, max, is_greedy },
        };
        let tree = self.checked(tree)?;
        self.group().parts.push(tree);
        Ok(())
    }

    fn checked(&self, tree: Tree) -> Result<Tree, SyntaxError> {
        if tree.height > HEIGHT_MAX {
            return Err(error("expression nests too deeply", self.text));
        }
        if tree.size > INSTRUCTIONS_MAX {
            return Err(error(TOO_LARGE, self.text));
        }
        Ok(tree)
    }

    fn parse_backslash(&mut self) -> Result<(), SyntaxError> {
        let rest = self.rest;
        let after = rest.get(2..).unwrap_or_default();
        let node = match rest.as_bytes().get(1) {
            Some(b'A') => Node::BeginText,
            Some(b'z') => Node::EndText,
            Some(b'b') => Node::WordBoundary,
            Some(b'B') => Node::NoWordBoundary,
            Some(b'C') => return Err(error("invalid escape sequence", &rest[..2])),
            Some(b'Q') => {
                let (literals, after) = after.split_once("\\E").unwrap_or((after, ""));
                for literal in literals.chars() {
                    self.push(Node::Literal(literal, self.flags.folds))?;
                }
                self.rest = after;
                return Ok(());
            }
            _ => {
                if let Some((item, after)) = class::parse_group(rest)? {
                    self.rest = after;
                    let folds = self.flags.folds;
                    return self.push(Node::Class(Class { is_negated: false, folds, items: item }));
                }
                let (literal, after) = parse_escape(rest)?;
                self.rest = after;
                let node = char::from_u32(literal)
                    .map_or(Node::Nothing, |literal| Node::Literal(literal, self.flags.folds));
                return self.push(node);
            }
        };
        self.rest = after;
        self.push(node)
    }

    /// Reads what begins with `(?`: a named group, or flags and perhaps a group.
    fn parse_flags(&mut self) -> Result<(), SyntaxError> {
        let before = self.rest;
        let name_at = match () {
            () if before.starts_with("(?P<") && before.len() > 4 => Some(4),
            () if before.starts_with("(?<") && before.len() > 3 => Some(3),
            () => None,
        };
        if let Some(at) = name_at {
            let Some(end) = before.find('>') else {
                return Err(error("invalid named capture", before));
            };
            let name = before.get(at..end).unwrap_or_default();
            let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(is_word) {
                return Err(error("invalid named capture", &before[..=end]));
            }
            self.open.push(Group::new(self.flags));
            self.rest = &before[end + 1..];
            return Ok(());
        }
        let (mut flags, mut is_set, mut saw_flag) = (self.flags, true, false);
        let mut characters = before[2..].char_indices();
        let mut end = before.len();
        for (at, c) in characters.by_ref() {
            end = at + 2 + c.len_utf8();
            match c {
                'i' => flags.folds = is_set,
                'm' => flags.is_multi_line = is_set,
                's' => flags.dot_is_all = is_set,
                'U' => flags.is_lazy = is_set,
                '-' if is_set => {
                    (is_set, saw_flag) = (false, false);
                    continue;
                }
                ':' | ')' if is_set || saw_flag => {
                    if c == ':' {
                        self.open.push(Group::new(self.flags));
                    }
                    (self.flags, self.rest) = (flags, &before[end..]);
                    return Ok(());
                }
                _ => break,
            }
            saw_flag = true;
        }
        Err(error("invalid or unsupported Perl syntax", &before[..end]))
    }
}

impl Group {
    fn new(flags: Flags) -> Group {
        Group { alternatives: Vec::new(), parts: Vec::new(), flags }
    }

    fn end(self) -> Tree {
        let last = concat(self.parts);
        if self.alternatives.is_empty() {
            return last;
        }
        let mut all = self.alternatives;
        all.push(last);
        let (height, size, repeats) = measure(&all);
        let size = size + u64::try_from(all.len()).unwrap_or(u64::MAX);
        Tree { node: Node::Alternate(all), height, size, repeats }
    }
}

fn concat(mut parts: Vec<Tree>) -> Tree {
    match parts.len() {
        0 => Tree { node: Node::Empty, height: 1, size: 1, repeats: 1 },
        1 => parts.pop().expect("there is one"),
        _ => {
            let (height, size, repeats) = measure(&parts);
            Tree { node: Node::Concat(parts), height, size, repeats }
        }
    }
}

fn measure(parts: &[Tree]) -> (usize, u64, i32) {
    let height = parts.iter().map(|part| part.height).max().unwrap_or_default();
    let size = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.size));
    let repeats = parts.iter().map(|part| part.repeats).max().unwrap_or(1);
    (height + 1, size, repeats)
}

/// Reads `{2}`, `{2,}` or `{2,3}`; the first number is negative when one is much too large.
fn parse_repeat(text: &str) -> Option<(i32, i32, &str)> {
    let (min, rest) = parse_number(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (min, rest),
        Some(rest) if rest.starts_with('}') => (-1, rest),
        Some(rest) => parse_number(rest)?,
    };
    let is_too_large = min > REPEAT_MAX || max > REPEAT_MAX;
    Some((if is_too_large { -1 } else { min }, max, rest.strip_prefix('}')?))
}

fn parse_number(text: &str) -> Option<(i32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    if number.is_empty() || (number.len() > 1 && number.starts_with('0')) {
        return None;
    }
    Some((number.parse().unwrap_or(i32::MAX), rest))
}
