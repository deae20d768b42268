//! Reading JSON text.
//!
//! The messages are those of Go's decoder, because clients and people know them. Whole numbers
//! that fit into 64 bits stay whole numbers; all others become floats.

use crate::value::{Map, Str, Value};

/// Deeper nesting is refused.
pub(crate) const DEPTH_MAX: usize = 512;

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// In Go's words.
    pub message: String,
    /// How many bytes were read before it was clear.
    pub offset: usize,
}

/// Reads one JSON value.
///
/// # Errors
///
/// When the text is not one JSON value, is nested too deeply, or has a number out of range.
pub fn parse(text: &[u8]) -> Result<Value, SyntaxError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let value = parser.value()?;
    parser.skip_space();
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.unexpected("after top-level value")),
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Value, SyntaxError> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.nested(Parser::object),
            Some(b'[') => self.nested(Parser::array),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Value, SyntaxError>,
    ) -> Result<Value, SyntaxError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error("exceeded max depth".into()));
        }
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value, SyntaxError> {
        let mut entries = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(Map::new()));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            entries.push((key, self.value()?));
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
        self.at += 1;
        Ok(Value::Map(Map::from_unsorted(entries)))
    }

    fn array(&mut self) -> Result<Value, SyntaxError> {
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.unexpected("after array element")),
            }
        }
        self.at += 1;
        Ok(Value::List(items))
    }

    fn string(&mut self) -> Result<Str, SyntaxError> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => return self.escaped_string(start),
                Some(0..=0x1f) | None => return Err(self.unexpected("in string literal")),
                Some(_) => self.at += 1,
            }
        }
        let text = &self.text[start..self.at];
        self.at += 1;
        Ok(match std::str::from_utf8(text) {
            Ok(text) => Str::new(text),
            // Go puts the replacement character for what is not UTF-8.
            Err(_) => Str::from(String::from_utf8_lossy(text)),
        })
    }

    fn escaped_string(&mut self, start: usize) -> Result<Str, SyntaxError> {
        let mut out = self.text[start..self.at].to_vec();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut out)?,
                Some(0..=0x1f) | None => return Err(self.unexpected("in string literal")),
                Some(byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Ok(Str::from(String::from_utf8_lossy(&out)))
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), SyntaxError> {
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
            _ => return Err(self.unexpected("in string escape code")),
        };
        out.push(byte);
        self.at += 1;
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<char, SyntaxError> {
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

    fn hex4(&mut self) -> Result<u32, SyntaxError> {
        let mut number = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            number = number * 16 + digit;
            self.at += 1;
        }
        Ok(number)
    }

    fn number(&mut self) -> Result<Value, SyntaxError> {
        let start = self.at;
        let mut is_whole = true;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
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
        let text = std::str::from_utf8(&self.text[start..self.at]).expect("digits are ASCII");
        if is_whole && let Ok(number) = text.parse() {
            return Ok(Value::Int(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => {
                let message =
                    format!("json: cannot unmarshal number {text} into Go value of type float64");
                Err(self.error(message))
            }
        }
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self, context: &str) -> Result<(), SyntaxError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected(context));
        }
        self.digits();
        Ok(())
    }

    fn literal(&mut self, word: &'static str, value: Value) -> Result<Value, SyntaxError> {
        for &byte in word.as_bytes() {
            if self.peek() != Some(byte) {
                let expected = char::from(byte);
                let context = format!("in literal {word} (expecting '{expected}')");
                return Err(self.unexpected(&context));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn unexpected(&self, context: &str) -> SyntaxError {
        match self.peek() {
            None => self.error("unexpected end of JSON input".into()),
            Some(byte) => self.error(format!("invalid character {} {context}", quote_byte(byte))),
        }
    }

    fn error(&self, message: String) -> SyntaxError {
        SyntaxError { message, offset: self.at }
    }
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
