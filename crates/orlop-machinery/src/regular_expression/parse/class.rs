//! Classes of characters.

use super::super::SyntaxError;
use super::escape::parse_escape;
use super::{Class, Item, error, read_of};

type Ranges = &'static [(u8, u8)];

const DIGIT: Ranges = &[(b'0', b'9')];
const SPACE: Ranges = &[(b'\t', b'\n'), (0x0c, b'\r'), (b' ', b' ')];
const WORD: Ranges = &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')];

/// The named classes of POSIX.
const NAMED: [(&str, Ranges); 14] = [
    ("alnum", &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')]),
    ("alpha", &[(b'A', b'Z'), (b'a', b'z')]),
    ("ascii", &[(0, 0x7f)]),
    ("blank", &[(b'\t', b'\t'), (b' ', b' ')]),
    ("cntrl", &[(0, 0x1f), (0x7f, 0x7f)]),
    ("digit", DIGIT),
    ("graph", &[(b'!', b'~')]),
    ("lower", &[(b'a', b'z')]),
    ("print", &[(b' ', b'~')]),
    ("punct", &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')]),
    ("space", &[(b'\t', b'\r'), (b' ', b' ')]),
    ("upper", &[(b'A', b'Z')]),
    ("word", WORD),
    ("xdigit", &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]),
];

/// Reads a class in brackets.
pub(super) fn parse_class(text: &str, folds: bool) -> Result<(Class, &str), SyntaxError> {
    let mut rest = &text[1..];
    let is_negated = rest.starts_with('^');
    if is_negated {
        rest = &rest[1..];
    }
    let mut items = Vec::new();
    let mut is_first = true;
    while is_first || !rest.starts_with(']') {
        is_first = false;
        if let Some((group, after)) = parse_named(rest)? {
            items.extend(group);
            rest = after;
            continue;
        }
        if let Some((group, after)) = parse_group(rest)? {
            items.extend(group);
            rest = after;
            continue;
        }
        let before = rest;
        let low = parse_character(&mut rest, text)?;
        let mut high = low;
        if rest.len() >= 2 && rest.starts_with('-') && !rest[1..].starts_with(']') {
            rest = &rest[1..];
            high = parse_character(&mut rest, text)?;
            if high < low {
                return Err(error("invalid character class range", read_of(before, rest)));
            }
        }
        items.push(Item::Range(low, high));
    }
    Ok((Class { is_negated, folds, items }, &rest[1..]))
}

fn parse_character(rest: &mut &str, class: &str) -> Result<u32, SyntaxError> {
    let Some(c) = rest.chars().next() else {
        return Err(error("missing closing ]", class));
    };
    if c == '\\' {
        let (value, after) = parse_escape(rest)?;
        *rest = after;
        return Ok(value);
    }
    *rest = &rest[c.len_utf8()..];
    Ok(u32::from(c))
}

/// Reads `[:alpha:]` or `[:^alpha:]`.
fn parse_named(text: &str) -> Result<Option<(Vec<Item>, &str)>, SyntaxError> {
    let Some(inner) = text.strip_prefix("[:") else { return Ok(None) };
    let Some((name, rest)) = inner.split_once(":]") else { return Ok(None) };
    let (is_negated, known) = match name.strip_prefix('^') {
        Some(name) => (true, name),
        None => (false, name),
    };
    match NAMED.iter().find(|(name, _)| *name == known) {
        Some((_, ranges)) => Ok(Some((group_items(ranges, is_negated), rest))),
        None => Err(error("invalid character class range", read_of(text, rest))),
    }
}

/// Reads `\d` and the like, and `\pL` and the like.
pub(super) fn parse_group(text: &str) -> Result<Option<(Vec<Item>, &str)>, SyntaxError> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'\\') {
        return Ok(None);
    }
    let (ranges, is_negated) = match bytes.get(1) {
        Some(b'd') => (DIGIT, false),
        Some(b'D') => (DIGIT, true),
        Some(b's') => (SPACE, false),
        Some(b'S') => (SPACE, true),
        Some(b'w') => (WORD, false),
        Some(b'W') => (WORD, true),
        Some(b'p' | b'P') => return parse_unicode(text).map(Some),
        _ => return Ok(None),
    };
    Ok(Some((group_items(ranges, is_negated), &text[2..])))
}

fn group_items(ranges: Ranges, is_negated: bool) -> Vec<Item> {
    if is_negated {
        return vec![Item::Not(ranges)];
    }
    ranges.iter().map(|(low, high)| Item::Range(u32::from(*low), u32::from(*high))).collect()
}

fn parse_unicode(text: &str) -> Result<(Vec<Item>, &str), SyntaxError> {
    let wrong = |seen: &str| error("invalid character class range", seen);
    let inner = &text[2..];
    let (name, rest) = match inner.strip_prefix('{') {
        Some(inner) => inner.split_once('}').ok_or_else(|| wrong(text))?,
        None => {
            let length = inner.chars().next().map_or(0, char::len_utf8);
            inner.split_at(length)
        }
    };
    let seen = read_of(text, rest);
    let mut is_negated = text.as_bytes()[1] == b'P';
    let known = match name.strip_prefix('^') {
        Some(name) => {
            is_negated = !is_negated;
            name
        }
        None => name,
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ');
    let class = format!("\\p{{{known}}}");
    if known.is_empty() || !known.chars().all(is_word) || regex::Regex::new(&class).is_err() {
        return Err(wrong(seen));
    }
    Ok((vec![Item::Unicode(known.to_owned(), is_negated)], rest))
}
