//! Rust text split into code and comments, as far as the checks need to tell them apart.
//!
//! Both halves keep the lines and columns of the original; what belongs to the other half, and
//! the inside of strings and characters, is blank. This is a lexer for source that compiles,
//! not a parser: names, brackets and keywords are where they were, and that is all.

/// The two halves of a source file.
#[derive(Debug)]
pub(super) struct Halves {
    pub(super) code: String,
    pub(super) comments: String,
}

/// Splits a source file.
pub(super) fn split(text: &str) -> Halves {
    let mut splitter =
        Splitter { text: text.as_bytes(), at: 0, code: Vec::new(), comments: Vec::new() };
    while splitter.at < text.len() {
        splitter.step();
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Halves { code: text(splitter.code), comments: text(splitter.comments) }
}

/// The code before the unit tests: up to `#[cfg(test)]` on a module written in place.
pub(super) fn production(code: &str) -> &str {
    let mut from = 0;
    while let Some(at) = code[from..].find("#[cfg(test)]") {
        let at = from + at;
        let below = code[at..].lines().nth(1).unwrap_or_default().trim();
        if below.contains("mod ") && below.ends_with('{') {
            return &code[..at];
        }
        from = at + 1;
    }
    code
}

/// Whether a file under `src/` holds nothing but tests.
pub(super) fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// The lines, counted from one, on which `word` stands as a whole word.
pub(super) fn lines_with_word(code: &str, word: &str) -> Vec<usize> {
    let numbered = code.lines().enumerate();
    let found = numbered.filter(|(_, line)| has_word(line, word));
    found.map(|(index, _)| index + 1).collect()
}

/// The lines that name a module of std, alone (`std::fs`) or in a list (`use std::{fs, io}`).
pub(super) fn lines_with_std_module(code: &str, module: &str) -> Vec<usize> {
    let path = format!("std::{module}");
    let mut lines = Vec::new();
    let mut in_list = false;
    for (index, line) in code.lines().enumerate() {
        let list = line.split_once("use std::{").map(|(_, list)| list);
        let members = list.or_else(|| in_list.then_some(line));
        if has_word(line, &path) || members.is_some_and(|members| has_word(members, module)) {
            lines.push(index + 1);
        }
        in_list = (in_list || list.is_some()) && !line.contains(';');
    }
    lines
}

/// Whether `word` stands in the line as a whole.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    word_columns(line, word).next().is_some()
}

/// The columns at which `word` stands as a whole: where its own first or last character could
/// be part of a longer name, its neighbour is not.
pub(super) fn word_columns<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let joins = |left: Option<u8>, right: Option<u8>| {
        left.is_some_and(is_identifier) && right.is_some_and(is_identifier)
    };
    let columns = line.match_indices(word).map(|(at, _)| at);
    columns.filter(move |at| {
        let (before, after) = (&line[..*at], &line[at + word.len()..]);
        !joins(before.bytes().next_back(), word.bytes().next())
            && !joins(word.bytes().next_back(), after.bytes().next())
    })
}

fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

struct Splitter<'a> {
    text: &'a [u8],
    at: usize,
    code: Vec<u8>,
    comments: Vec<u8>,
}

/// Which half a piece of text goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Code,
    Comments,
    Neither,
}

impl Splitter<'_> {
    /// Takes the next token.
    fn step(&mut self) {
        let rest = &self.text[self.at..];
        match rest {
            [b'/', b'/', ..] => self.take(line_comment(rest), Half::Comments),
            [b'/', b'*', ..] => self.take(block_comment(rest), Half::Comments),
            [b'"', ..] => self.take_literal(string(rest)),
            [b'\'', ..] => self.take_literal(character(rest)),
            [first, ..] if is_identifier(*first) => {
                let word = rest.iter().take_while(|byte| is_identifier(**byte)).count();
                self.take(word, Half::Code);
                if matches!(&rest[..word], b"r" | b"br" | b"cr") {
                    self.take_literal(raw_string(&rest[word..]));
                }
            }
            _ => self.take(1, Half::Code),
        }
    }

    /// Takes a string or character, keeping only its quotes; a lifetime has length one.
    fn take_literal(&mut self, length: usize) {
        self.take(length.min(1), Half::Code);
        self.take(length.saturating_sub(2), Half::Neither);
        self.take(usize::from(length > 1), Half::Code);
    }

    fn take(&mut self, length: usize, half: Half) {
        let end = (self.at + length).min(self.text.len());
        for byte in &self.text[self.at..end] {
            let shown = |ours: bool| if ours || *byte == b'\n' { *byte } else { b' ' };
            self.code.push(shown(half == Half::Code));
            self.comments.push(shown(half == Half::Comments));
        }
        self.at = end;
    }
}

fn line_comment(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte != b'\n').count()
}

/// The length of a block comment, which may hold others.
fn block_comment(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    text.len()
}

/// The length of a string, both quotes included.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// The length of a raw string after its `r`, or zero when `r` was a name or `r#name`.
fn raw_string(text: &[u8]) -> usize {
    let hashes = text.iter().take_while(|byte| **byte == b'#').count();
    if text.get(hashes) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'"'];
    end.resize(1 + hashes, b'#');
    let body = &text[hashes + 1..];
    let found = body.windows(end.len()).position(|window| window == end);
    found.map_or(text.len(), |at| hashes + 1 + at + end.len())
}

/// The length of a character literal, both quotes included, or one for a lifetime's tick.
fn character(text: &[u8]) -> usize {
    match text {
        [_, b'\\', _, rest @ ..] => {
            let inside = rest.iter().take_while(|byte| **byte != b'\'').count();
            inside + 4
        }
        [_, first, rest @ ..] => {
            // The bytes of one character: the first, and its continuation bytes.
            let more = rest.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
            if *first != b'\'' && rest.get(more) == Some(&b'\'') { more + 3 } else { 1 }
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str, comments: &str) {
        let halves = split(text);
        assert_eq!(halves.code.trim_end(), code, "code of {text}");
        assert_eq!(halves.comments.trim(), comments, "comments of {text}");
        assert_eq!(halves.code.len(), text.len());
    }

    #[test]
    fn comments_and_code_are_told_apart() {
        check("a // b", "a", "// b");
        check("a /* b /* c */ d */ e", "a                   e", "/* b /* c */ d */");
        check("\"// no\" + 1", "\"     \" + 1", "");
        check(r#""\"// no" + 1"#, r#""       " + 1"#, "");
        check("r#\"a\"b\"# // c", "r#     #", "// c");
        check("r#type // c", "r#type", "// c");
    }

    #[test]
    fn characters_are_not_lifetimes() {
        check("'\"' // c", "' '", "// c");
        check("&'a str // c", "&'a str", "// c");
        check(r"'\'' // c", "'  '", "// c");
        check("'\u{e9}' // c", "'  '", "// c");
        check("f::<'a>('b') // c", "f::<'a>(' ')", "// c");
    }

    #[test]
    fn production_ends_at_the_module_of_tests() {
        assert_eq!(production("a\n#[cfg(test)]\nmod tests {\nb"), "a\n");
        let declared = "#[cfg(test)]\nmod tests;\na";
        assert_eq!(production(declared), declared);
    }

    #[test]
    fn words_and_std_modules_are_found() {
        assert_eq!(lines_with_word("randx\nrand::rng()", "rand"), [2]);
        assert_eq!(lines_with_word("rand::rng()\noperand::x", "rand::"), [1]);
        let code = "use std::{\n    fs,\n    io,\n};\nlet fs = 1;\nstd::fs::read()";
        assert_eq!(lines_with_std_module(code, "fs"), [2, 6]);
        assert_eq!(lines_with_std_module("use std::{env, io};", "env"), [1]);
        assert!(lines_with_std_module("my_std::fs", "fs").is_empty());
    }
}
