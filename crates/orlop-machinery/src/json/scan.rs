//! The words of JSON text: strings, numbers, literals and what stands between them.
//!
//! Every reader of JSON stands on this, so all of them say the same about text that is none. The
//! messages and the number of bytes read are those of Go's scanner, `scanner.go` of
//! `vendor/sigs.k8s.io/json`. What the words mean together is not here.

use std::borrow::Cow;

use crate::text::from_utf8_as_go;

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// In Go's words.
    pub message: String,
    /// How many bytes were read until it was clear.
    pub offset: usize,
}

/// A [`SyntaxError`] on its way out: small, so that values travel fast when there is none.
pub(crate) type Failure = Box<SyntaxError>;

impl From<Failure> for SyntaxError {
    fn from(failure: Failure) -> SyntaxError {
        *failure
    }
}

/// A place in JSON text.
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    /// The same text, when all of it is UTF-8.
    utf8: Option<&'a str>,
    at: usize,
}

/// A number as it was written.
pub(crate) struct Number<'a> {
    pub(crate) text: &'a str,
    /// Without fraction and exponent.
    pub(crate) is_whole: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Scanner<'a> {
        Scanner { text, utf8: std::str::from_utf8(text).ok(), at: 0 }
    }

    /// The next byte, if there is one.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next byte that is not white space.
    #[inline]
    pub(crate) fn peek_word(&mut self) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Goes over the byte that was peeked at.
    #[inline]
    pub(crate) fn bump(&mut self) {
        self.at += 1;
    }

    /// Goes over the next word if it is this byte.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_it = self.peek_word() == Some(byte);
        self.at += usize::from(is_it);
        is_it
    }

    /// The key of an entry, and the colon behind it.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<Cow<'a, str>, Failure> {
        if self.peek_word() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let key = self.string()?;
        match self.take(b':') {
            true => Ok(key),
            false => Err(self.unexpected("after object key")),
        }
    }

    /// Whether another entry follows; else the object ends here.
    pub(crate) fn next_entry(&mut self) -> Result<bool, Failure> {
        self.next_of(b'}', "after object key:value pair")
    }

    /// Whether another item follows; else the array ends here.
    pub(crate) fn next_item(&mut self) -> Result<bool, Failure> {
        self.next_of(b']', "after array element")
    }

    #[inline]
    fn next_of(&mut self, end: u8, context: &str) -> Result<bool, Failure> {
        match self.peek_word() {
            Some(b',') => self.at += 1,
            Some(byte) if byte == end => {
                self.at += 1;
                return Ok(false);
            }
            _ => return Err(self.unexpected(context)),
        }
        Ok(true)
    }

    /// The end of the text: only white space may follow.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        match self.peek_word() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("after top-level value")),
        }
    }

    /// The text between two quotes; the first of them comes next.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Failure> {
        self.at += 1;
        let start = self.at;
        self.at += plain_length(&self.text[start..]);
        match self.peek() {
            Some(b'"') => {}
            Some(b'\\') => return self.escaped_string(start),
            _ => return Err(self.unexpected("in string literal")),
        }
        let end = self.at;
        self.at += 1;
        Ok(match self.utf8 {
            Some(text) => Cow::Borrowed(&text[start..end]),
            None => from_utf8_as_go(&self.text[start..end]),
        })
    }

    #[cold]
    fn escaped_string(&mut self, start: usize) -> Result<Cow<'a, str>, Failure> {
        let mut out = self.text[start..self.at].to_vec();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut out)?,
                Some(0..=0x1f) | None => return Err(self.unexpected("in string literal")),
                Some(_) => {
                    let length = plain_length(&self.text[self.at..]);
                    out.extend_from_slice(&self.text[self.at..self.at + length]);
                    self.at += length;
                }
            }
        }
        self.at += 1;
        Ok(Cow::Owned(match String::from_utf8(out) {
            Ok(text) => text,
            Err(error) => from_utf8_as_go(error.as_bytes()).into_owned(),
        }))
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.at += 1;
        let byte = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let c = self.unicode_escape()?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.unexpected_inside("in string escape code")),
        };
        out.push(byte);
        self.at += 1;
        Ok(())
    }

    /// Half of a pair without the other half becomes the replacement character.
    fn unicode_escape(&mut self) -> Result<char, Failure> {
        let first = self.hex4()?;
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        let is_pair = self.text[self.at..].starts_with(b"\\u");
        if (0xd800..0xdc00).contains(&first) && is_pair {
            let before = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&mut self) -> Result<u32, Failure> {
        let mut number = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected_inside("in \\u hexadecimal character escape"));
            };
            number = number * 16 + digit;
            self.at += 1;
        }
        Ok(number)
    }

    /// A number; its first byte comes next.
    pub(crate) fn number(&mut self) -> Result<Number<'a>, Failure> {
        let start = self.at;
        let mut is_whole = true;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected_inside("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            is_whole = false;
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        let text = &self.text[start..self.at];
        Ok(Number { text: std::str::from_utf8(text).expect("digits are ASCII"), is_whole })
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self, context: &str) -> Result<(), Failure> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected_inside(context));
        }
        self.digits();
        Ok(())
    }

    /// One of the words `true`, `false` and `null`; its first letter comes next.
    pub(crate) fn literal(&mut self, word: &'static str) -> Result<(), Failure> {
        if self.text[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        let same = word.bytes().zip(&self.text[self.at..]).take_while(|(a, b)| a == *b).count();
        self.at += same;
        let expected = char::from(word.as_bytes()[same]);
        Err(self.unexpected_inside(&format!("in literal {word} (expecting '{expected}')")))
    }

    /// Goes over a string, a number or a literal.
    pub(crate) fn skip_scalar(&mut self) -> Result<(), Failure> {
        match self.peek_word() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number().map(drop),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    /// Goes over a value and returns its text. Only for text that is known to be JSON.
    pub(crate) fn skip_value(&mut self) -> Result<&'a [u8], Failure> {
        let mut depth = 0_usize;
        self.peek_word();
        let start = self.at;
        loop {
            match self.peek_word() {
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                Some(b',' | b':') => self.at += 1,
                _ => self.skip_scalar()?,
            }
            if depth == 0 {
                return Ok(&self.text[start..self.at]);
            }
        }
    }

    /// The next byte cannot be here. At the end of the text, the text is what is wrong.
    #[cold]
    pub(crate) fn unexpected(&self, context: &str) -> Failure {
        match self.peek() {
            Some(byte) => self.invalid(byte, context),
            None => Box::new(SyntaxError {
                message: "unexpected end of JSON input".to_owned(),
                offset: self.text.len(),
            }),
        }
    }

    /// The same inside a word. There Go takes the end of the text for a space.
    #[cold]
    fn unexpected_inside(&self, context: &str) -> Failure {
        self.invalid(self.peek().unwrap_or(b' '), context)
    }

    fn invalid(&self, byte: u8, context: &str) -> Failure {
        Box::new(SyntaxError {
            message: format!("invalid character {} {context}", quote_byte(byte)),
            offset: (self.at + 1).min(self.text.len()),
        })
    }
}

/// How many bytes come before the first quote, backslash or control character.
///
/// Eight bytes at a time: a byte of a word is below a bound exactly if subtracting the bound
/// borrows into its highest bit. Borrowing can only mislead about bytes behind the first one
/// found.
#[inline]
fn plain_length(text: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word;
    let mut length = 0;
    while let Some(chunk) = text.get(length..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = (quote | backslash | below(word, 0x20)) & HIGHEST;
        if found != 0 {
            return length + found.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = text[length..].iter();
    length + rest.take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count()
}

/// A byte as Go shows it: as a character in single quotes.
fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".into(),
        b'"' => "'\"'".into(),
        byte => {
            let quoted = crate::text::quote(&char::from(byte).to_string());
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_short_texts_end_at_the_same_byte() {
        for length in 0..40 {
            for end in ['"', '\\', '\n', '\u{1f}'] {
                let plain: String = " a~\u{7f}\u{e9}!#[]^".chars().cycle().take(length).collect();
                let text = format!("{plain}{end}\"\\ tail that is long enough");
                assert_eq!(plain_length(text.as_bytes()), plain.len(), "{text:?}");
            }
            assert_eq!(plain_length("x".repeat(length).as_bytes()), length);
        }
    }
}
