//! Text into tokens.
//!
//! The tokens and their longest-match rule are those of cel-go's grammar (`parser/gen/CEL.g4`).
//! Text that starts no token is skipped and remembered up to and including the character at which
//! the last possible token ended, because upstream's messages show exactly that much.

use super::token::{Token, TokenKind};

/// Reads tokens one after the other.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
    /// The same place, in characters.
    offset: u32,
    /// What was skipped, in order.
    pub(super) skipped: Vec<Skipped>,
}

/// Text that is no token, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skipped {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where it starts, in characters.
    pub(super) offset: u32,
}

/// The end of a token, or the place at which no token could go on. Both in bytes.
type Scan<T = usize> = Result<T, usize>;

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0, offset: 0, skipped: Vec::new() }
    }

    /// The next token that is neither space nor comment; the end again and again.
    pub(super) fn next(&mut self) -> Token {
        loop {
            self.skip_hidden();
            let start = self.at;
            if start == self.text.len() {
                return self.token(TokenKind::End, start);
            }
            match scan(self.text.as_bytes(), start) {
                Ok((kind, end)) => return self.token(kind, end),
                Err(failed) => self.skip_broken(failed),
            }
        }
    }

    fn token(&mut self, kind: TokenKind, end: usize) -> Token {
        let token = Token { kind, start: self.at, end, offset: self.offset };
        self.advance(end);
        token
    }

    fn skip_hidden(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.at..];
            let end = match rest {
                [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
                [b' ' | b'\t' | b'\r' | b'\n' | 0x0c, ..] => 1,
                _ => return,
            };
            self.advance(self.at + end);
        }
    }

    fn skip_broken(&mut self, failed: usize) {
        let (start, offset) = (self.at, self.offset);
        let width = self.text[failed..].chars().next().map_or(0, char::len_utf8);
        self.advance(failed + width);
        self.skipped.push(Skipped { start, end: self.at, offset });
    }

    fn advance(&mut self, end: usize) {
        let taken = &self.text[self.at..end];
        // Most sources are ASCII, where a character is a byte.
        let count = if taken.is_ascii() { taken.len() } else { taken.chars().count() };
        self.offset += u32::try_from(count).expect("the parser bounds the length of sources");
        self.at = end;
    }
}

/// The longest token at `start`, which is not the end.
fn scan(bytes: &[u8], start: usize) -> Scan<(TokenKind, usize)> {
    use TokenKind as Kind;
    let second = bytes.get(start + 1).copied();
    let one = |kind| Ok((kind, start + 1));
    let two = |kind| Ok((kind, start + 2));
    match bytes[start] {
        b'=' if second == Some(b'=') => two(Kind::Equals),
        b'&' if second == Some(b'&') => two(Kind::And),
        b'|' if second == Some(b'|') => two(Kind::Or),
        b'=' | b'&' | b'|' => Err(start + 1),
        b'!' if second == Some(b'=') => two(Kind::NotEquals),
        b'<' if second == Some(b'=') => two(Kind::LessEquals),
        b'>' if second == Some(b'=') => two(Kind::GreaterEquals),
        b'!' => one(Kind::Not),
        b'<' => one(Kind::Less),
        b'>' => one(Kind::Greater),
        b'[' => one(Kind::LeftBracket),
        b']' => one(Kind::RightBracket),
        b'{' => one(Kind::LeftBrace),
        b'}' => one(Kind::RightBrace),
        b'(' => one(Kind::LeftParen),
        b')' => one(Kind::RightParen),
        b',' => one(Kind::Comma),
        b'-' => one(Kind::Minus),
        b'?' => one(Kind::Question),
        b':' => one(Kind::Colon),
        b'+' => one(Kind::Plus),
        b'*' => one(Kind::Star),
        b'/' => one(Kind::Slash),
        b'%' => one(Kind::Percent),
        b'.' if second.is_some_and(|b| b.is_ascii_digit()) => {
            let end = digits(bytes, start + 1);
            Ok((Kind::Double, exponent(bytes, end).unwrap_or(end)))
        }
        b'.' => one(Kind::Dot),
        b'0'..=b'9' => Ok(number(bytes, start)),
        b'"' | b'\'' => Ok((Kind::String, string(bytes, start, false)?)),
        b'`' => Ok((Kind::QuotedIdent, quoted_ident(bytes, start)?)),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => Ok(word(bytes, start)),
        _ => Err(start),
    }
}

/// A name, a keyword, or a string with letters in front.
fn word(bytes: &[u8], start: usize) -> (TokenKind, usize) {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let end = start + bytes[start..].iter().take_while(|b| is_part(b)).count();
    let (kind, is_raw) = match &bytes[start..end] {
        b"in" => return (TokenKind::In, end),
        b"true" => return (TokenKind::True, end),
        b"false" => return (TokenKind::False, end),
        b"null" => return (TokenKind::Null, end),
        b"r" | b"R" => (TokenKind::String, true),
        b"b" | b"B" => (TokenKind::Bytes, false),
        b"br" | b"bR" | b"Br" | b"BR" => (TokenKind::Bytes, true),
        _ => return (TokenKind::Ident, end),
    };
    match bytes.get(end) {
        // Where the string does not end, the letters stand for themselves.
        Some(b'"' | b'\'') => match string(bytes, end, is_raw) {
            Ok(end) => (kind, end),
            Err(_) => (TokenKind::Ident, end),
        },
        _ => (TokenKind::Ident, end),
    }
}

fn number(bytes: &[u8], start: usize) -> (TokenKind, usize) {
    if bytes[start..].starts_with(b"0x") {
        let hex = bytes[start + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        if hex > 0 {
            return whole_number(bytes, start + 2 + hex);
        }
    }
    let end = digits(bytes, start);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        let end = digits(bytes, end + 1);
        return (TokenKind::Double, exponent(bytes, end).unwrap_or(end));
    }
    match exponent(bytes, end) {
        Some(end) => (TokenKind::Double, end),
        None => whole_number(bytes, end),
    }
}

fn whole_number(bytes: &[u8], end: usize) -> (TokenKind, usize) {
    match bytes.get(end) {
        Some(b'u' | b'U') => (TokenKind::Uint, end + 1),
        _ => (TokenKind::Int, end),
    }
}

fn digits(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count()
}

/// The end of an exponent, if there is one.
fn exponent(bytes: &[u8], start: usize) -> Option<usize> {
    let sign = match bytes.get(start..)? {
        [b'e' | b'E', b'+' | b'-', ..] => start + 2,
        [b'e' | b'E', ..] => start + 1,
        _ => return None,
    };
    let end = digits(bytes, sign);
    (end > sign).then_some(end)
}

fn quoted_ident(bytes: &[u8], start: usize) -> Scan {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"_.-/ ".contains(b);
    let end = start + 1 + bytes[start + 1..].iter().take_while(|b| is_part(b)).count();
    if bytes.get(end) == Some(&b'`') && end > start + 1 { Ok(end + 1) } else { Err(end) }
}

/// A string that starts with a quote at `start`.
fn string(bytes: &[u8], start: usize, is_raw: bool) -> Scan {
    let quote = bytes[start];
    if bytes[start..].starts_with(&[quote; 3]) {
        // Three quotes that are never closed are an empty string and one more quote.
        return Ok(long_string(bytes, start + 3, quote, is_raw).unwrap_or(start + 2));
    }
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None | Some(b'\n' | b'\r') => return Err(at),
            Some(b) if *b == quote => return Ok(at + 1),
            Some(b'\\') if !is_raw => at = escape(bytes, at)?,
            Some(_) => at += 1,
        }
    }
}

fn long_string(bytes: &[u8], start: usize, quote: u8, is_raw: bool) -> Scan {
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(&[quote; 3]) {
            return Ok(at + 3);
        }
        at = if bytes[at] == b'\\' && !is_raw { escape(bytes, at)? } else { at + 1 };
    }
    Err(at)
}

/// The end of an escape that starts with a backslash at `start`.
fn escape(bytes: &[u8], start: usize) -> Scan {
    let (is_digit, count): (fn(&u8) -> bool, usize) = match bytes.get(start + 1) {
        Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v') => return Ok(start + 2),
        Some(b'"' | b'\'' | b'\\' | b'?' | b'`') => return Ok(start + 2),
        Some(b'x' | b'X') => (u8::is_ascii_hexdigit, 2),
        Some(b'u') => (u8::is_ascii_hexdigit, 4),
        Some(b'U') => (u8::is_ascii_hexdigit, 8),
        Some(b'0'..=b'3') => (|b| matches!(b, b'0'..=b'7'), 2),
        _ => return Err(start + 1),
    };
    let digits = bytes[start + 2..].iter().take(count).take_while(|b| is_digit(b)).count();
    let end = start + 2 + digits;
    if digits == count { Ok(end) } else { Err(end) }
}
