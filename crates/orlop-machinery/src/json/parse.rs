//! From JSON text to a value.
//!
//! Whole numbers that fit into 64 bits stay whole numbers; all others become floats. Of several
//! entries with one key the last one stays, as Go has it when it reads into no struct; who has to
//! know of the others asks [`parse_with_duplicates`].

use std::borrow::Cow;

use super::duplicates;
use super::scan::{Failure, Number, Scanner, SyntaxError};
use crate::value::{Map, Str, Value};

/// Deeper nesting is refused. Go stops at 10000; nothing that is an object comes near either.
pub(crate) const DEPTH_MAX: usize = 512;

/// Reads one JSON value.
///
/// # Errors
///
/// When the text is not one JSON value, is nested too deeply, or has a number out of range.
pub fn parse(text: &[u8]) -> Result<Value, SyntaxError> {
    read(text)?.value()
}

/// Reads one JSON value and says which keys stand more than once in their object.
///
/// A path is as strict decoding names it, such as `spec.containers[0].name`: each once, in the
/// order of the text, at most 100.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_with_duplicates(text: &[u8]) -> Result<(Value, Vec<String>), SyntaxError> {
    let document = read(text)?;
    let paths = match document.has_duplicates {
        true => duplicates::find(text)?,
        false => Vec::new(),
    };
    Ok((document.value()?, paths))
}

/// What a text says, and what was lost on the way.
pub(crate) struct Document {
    pub(crate) value: Value,
    /// Whether some key stands twice in its object.
    pub(crate) has_duplicates: bool,
    /// Whether some number does not tell how it was written, beyond zeros at its end.
    pub(crate) has_rounded: bool,
    /// The first number that no float can hold. It is null in the value.
    out_of_range: Option<Failure>,
}

impl Document {
    /// The value, unless it has a number out of range.
    fn value(self) -> Result<Value, SyntaxError> {
        self.out_of_range.map_or(Ok(self.value), |error| Err(*error))
    }
}

pub(crate) fn read(text: &[u8]) -> Result<Document, Failure> {
    let mut parser = Parser {
        scanner: Scanner::new(text),
        depth: 0,
        entries: Vec::with_capacity(32),
        items: Vec::with_capacity(16),
        has_duplicates: false,
        has_rounded: false,
        out_of_range: None,
        error: None,
    };
    let value = parser.value();
    if let Some(error) = parser.error {
        return Err(error);
    }
    parser.scanner.finish()?;
    let Parser { has_duplicates, has_rounded, out_of_range, .. } = parser;
    Ok(Document { value, has_duplicates, has_rounded, out_of_range })
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    depth: usize,
    /// The entries of all objects that are open, the innermost last. When one ends, its entries
    /// move to a vector that fits them.
    entries: Vec<(Str, Value)>,
    /// The same for the items of arrays.
    items: Vec<Value>,
    has_duplicates: bool,
    has_rounded: bool,
    out_of_range: Option<Failure>,
    /// Where the text stopped being JSON.
    error: Option<Failure>,
}

impl Parser<'_> {
    /// A value, or null after an error. Errors are kept aside, because a value that comes inside of
    /// a result is copied at every step on its way.
    fn value(&mut self) -> Value {
        match self.scanner.peek_word() {
            Some(b'"') => match self.scanner.string() {
                Ok(text) => Value::String(to_str(text)),
                Err(error) => self.fail(error),
            },
            Some(b'{') => self.nested(Parser::object),
            Some(b'[') => self.nested(Parser::array),
            Some(b'-' | b'0'..=b'9') => match self.scanner.number() {
                Ok(number) => self.number(&number),
                Err(error) => self.fail(error),
            },
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => self.fail(self.scanner.unexpected("looking for beginning of value")),
        }
    }

    fn literal(&mut self, word: &'static str, value: Value) -> Value {
        match self.scanner.literal(word) {
            Ok(()) => value,
            Err(error) => self.fail(error),
        }
    }

    fn number(&mut self, number: &Number<'_>) -> Value {
        let value = to_value(number).unwrap_or_else(|error| {
            self.out_of_range.get_or_insert(error);
            Value::Null
        });
        self.has_rounded |= !matches!(value, Value::Int(_)) && is_rounded(number);
        value
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.depth == DEPTH_MAX {
            return self.fail(self.scanner.unexpected("exceeded max depth"));
        }
        self.depth += 1;
        self.scanner.bump();
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Value {
        let start = self.entries.len();
        let mut goes_on = !self.scanner.take(b'}');
        while goes_on {
            let key = match self.scanner.key() {
                Ok(key) => to_str(key),
                Err(error) => return self.fail(error),
            };
            let value = self.value();
            self.entries.push((key, value));
            goes_on = match self.scanner.next_entry() {
                Ok(goes_on) => goes_on && self.error.is_none(),
                Err(error) => return self.fail(error),
            };
        }
        let count = self.entries.len() - start;
        let map = Map::from_unsorted(self.entries.split_off(start));
        self.has_duplicates |= map.len() < count;
        Value::Map(map)
    }

    fn array(&mut self) -> Value {
        let start = self.items.len();
        let mut goes_on = !self.scanner.take(b']');
        while goes_on {
            let item = self.value();
            self.items.push(item);
            goes_on = match self.scanner.next_item() {
                Ok(goes_on) => goes_on && self.error.is_none(),
                Err(error) => return self.fail(error),
            };
        }
        Value::List(self.items.split_off(start))
    }

    /// Of several errors the first one counts: after it, the others mean nothing.
    #[cold]
    fn fail(&mut self, error: Failure) -> Value {
        self.error.get_or_insert(error);
        Value::Null
    }
}

#[inline(always)]
fn to_str(text: Cow<'_, str>) -> Str {
    match text {
        Cow::Borrowed(text) => Str::new(text),
        Cow::Owned(text) => Str::from(text),
    }
}

/// Whether a float does not tell what was written: it had an exponent, or more digits than a float
/// can keep apart.
fn is_rounded(number: &Number<'_>) -> bool {
    let has_exponent = number.text.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    number.is_whole || number.text.len() > 16 || has_exponent
}

/// The number as Go reads it where no type says what it must be.
pub(crate) fn to_value(number: &Number<'_>) -> Result<Value, Failure> {
    let text = number.text;
    if number.is_whole
        && let Ok(number) = text.parse()
    {
        return Ok(Value::Int(number));
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Value::Float(number)),
        _ => Err(Box::new(SyntaxError {
            message: format!("json: cannot unmarshal number {text} into Go value of type float64"),
            offset: 0,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        check_bytes(text.as_bytes(), expect);
    }

    #[track_caller]
    fn check_bytes(text: &[u8], expect: &str) {
        let got = match parse(text) {
            Ok(value) => json::to_string(&value),
            Err(error) => format!("{} (offset {})", error, error.offset),
        };
        assert_eq!(got, expect, "{}", String::from_utf8_lossy(text));
    }

    #[test]
    fn values_are_read_as_go_reads_them() {
        check(" { } ", "{}");
        check("[ ]", "[]");
        check(r#"{"b":1,"a":[true,false,null,"x"]}"#, r#"{"a":[true,false,null,"x"],"b":1}"#);
        check("\t\r\n 1 \n", "1");
        check(r#"{"a":1,"a":2}"#, r#"{"a":2}"#);
    }

    #[test]
    fn numbers_are_whole_or_floats() {
        check("-0", "0");
        check("-0.0", "-0");
        check("9223372036854775807", "9223372036854775807");
        check("-9223372036854775808", "-9223372036854775808");
        check("9223372036854775808", "9223372036854776000");
        check("18446744073709551616", "18446744073709552000");
        check("1.0", "1");
        check("1e3", "1000");
        check("1E+2", "100");
        check("1e-400", "0");
        check(
            "[1e400, 1]",
            "json: cannot unmarshal number 1e400 into Go value of type float64 (offset 0)",
        );
        check("[1e400, x]", "invalid character 'x' looking for beginning of value (offset 9)");
    }

    #[test]
    fn escapes_become_characters() {
        check(r#""\"\\\/\b\f\n\r\t\u0041\u00e9""#, "\"\\\"\\\\/\\b\\f\\n\\r\\tA\u{e9}\"");
        check(r#""\ud83d\ude00""#, "\"\u{1f600}\"");
        for alone in [r"\ud83d", r"\ude00", r"\ud83d", r"\ude00"] {
            check(&format!("\"{alone}x\""), "\"\u{fffd}x\"");
        }
        check(r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}\u{1f600}\"");
        check(r#""\ud83d\n""#, "\"\u{fffd}\\n\"");
    }

    #[test]
    fn each_byte_that_is_no_text_is_replaced() {
        check_bytes(b"\"a\xffb\"", "\"a\u{fffd}b\"");
        check_bytes(b"\"\xe2\x80\"", "\"\u{fffd}\u{fffd}\"");
        check_bytes(b"\"\xed\xa0\x80\\n\"", "\"\u{fffd}\u{fffd}\u{fffd}\\n\"");
        check_bytes(b"{\"\xff\":\"\xc3\xa9\"}", "{\"\u{fffd}\":\"\u{e9}\"}");
    }

    #[test]
    fn errors_are_in_the_words_of_go() {
        let end = "unexpected end of JSON input";
        check("", &format!("{end} (offset 0)"));
        check("  ", &format!("{end} (offset 2)"));
        check("{", &format!("{end} (offset 1)"));
        check("[1,", &format!("{end} (offset 3)"));
        check("\"abc", &format!("{end} (offset 4)"));
        check(r#"{"a""#, &format!("{end} (offset 4)"));
        check(r#"{"a":"#, &format!("{end} (offset 5)"));
        check(r#"{"a":1"#, &format!("{end} (offset 6)"));
        check("x", "invalid character 'x' looking for beginning of value (offset 1)");
        check("{a}", "invalid character 'a' looking for beginning of object key string (offset 2)");
        check(
            "{\"a\":1,}",
            "invalid character '}' looking for beginning of object key string (offset 8)",
        );
        check("{\"a\" 1}", "invalid character '1' after object key (offset 6)");
        check("{\"a\":1 2}", "invalid character '2' after object key:value pair (offset 8)");
        check("[1 2]", "invalid character '2' after array element (offset 4)");
        check("[1,]", "invalid character ']' looking for beginning of value (offset 4)");
        check("1 2", "invalid character '2' after top-level value (offset 3)");
        check("01", "invalid character '1' after top-level value (offset 2)");
        check("{}'", r"invalid character '\'' after top-level value (offset 3)");
        check("{}\"", "invalid character '\"' after top-level value (offset 3)");
        check("\"a\nb\"", r"invalid character '\n' in string literal (offset 3)");
        check("\"\u{1}\"", r"invalid character '\x01' in string literal (offset 2)");
        check("\"\\x\"", "invalid character 'x' in string escape code (offset 3)");
        check(
            "\"\\u12x4\"",
            r"invalid character 'x' in \u hexadecimal character escape (offset 6)",
        );
        check("-x", "invalid character 'x' in numeric literal (offset 2)");
        check("1.x", "invalid character 'x' after decimal point in numeric literal (offset 3)");
        check("1ex", "invalid character 'x' in exponent of numeric literal (offset 3)");
        check("trux", "invalid character 'x' in literal true (expecting 'e') (offset 4)");
        check("fxlse", "invalid character 'x' in literal false (expecting 'a') (offset 2)");
        check("nul1", "invalid character '1' in literal null (expecting 'l') (offset 4)");
        check_bytes(
            b"\xef\xbb\xbf{}",
            "invalid character '\u{ef}' looking for beginning of value (offset 1)",
        );
        check_bytes(
            b"[\x80]",
            r"invalid character '\u0080' looking for beginning of value (offset 2)",
        );
    }

    #[test]
    fn a_word_that_ends_with_the_text_ends_with_a_space() {
        check("\"\\", "invalid character ' ' in string escape code (offset 2)");
        check("\"\\u12", r"invalid character ' ' in \u hexadecimal character escape (offset 5)");
        check("-", "invalid character ' ' in numeric literal (offset 1)");
        check("1.", "invalid character ' ' after decimal point in numeric literal (offset 2)");
        check("1e+", "invalid character ' ' in exponent of numeric literal (offset 3)");
        check("tru", "invalid character ' ' in literal true (expecting 'e') (offset 3)");
    }

    #[test]
    fn nesting_has_a_bound() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
        let message = "invalid character '[' exceeded max depth (offset 513)";
        check(&nested(DEPTH_MAX + 1), message);
        check(&"[".repeat(1_000_000), message);
        let objects = "{\"a\":".repeat(1_000_000);
        check(&objects, "invalid character '{' exceeded max depth (offset 2561)");
    }
}
