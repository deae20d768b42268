//! Text as Go writes it.

use std::borrow::Cow;
use std::fmt::Write;

/// Quotes text as Go's `%q` does: what error messages show.
///
/// ```
/// assert_eq!(orlop_machinery::text::quote("a\"b\n"), r#""a\"b\n""#);
/// ```
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x80 => write!(out, "\\x{:02x}", c as u32).expect("a string grows"),
            c if (c as u32) < 0x10000 => {
                write!(out, "\\u{:04x}", c as u32).expect("a string grows");
            }
            c => write!(out, "\\U{:08x}", c as u32).expect("a string grows"),
        }
    }
    out.push('"');
    out
}

/// Quotes text as Go's package `time` does in its errors: byte by byte what is not ASCII.
///
/// ```
/// assert_eq!(orlop_machinery::text::quote_bytes("a\"\u{e9}\n"), r#""a\"\xc3\xa9\x0a""#);
/// ```
#[must_use]
pub fn quote_bytes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b' '..=0x7f => out.push(char::from(byte)),
            byte => write!(out, "\\x{byte:02x}").expect("a string grows"),
        }
    }
    out.push('"');
    out
}

/// Quotes bytes as Go's `%q` quotes a string of them: what is no text is shown as numbers.
///
/// ```
/// assert_eq!(orlop_machinery::text::quote_lossless(b"a\xff\n"), r#""a\xff\n""#);
/// ```
#[must_use]
pub fn quote_lossless(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        let quoted = quote(chunk.valid());
        out += &quoted[1..quoted.len() - 1];
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}").expect("a string grows");
        }
    }
    out.push('"');
    out
}

/// Text from bytes that should be UTF-8. As Go reads JSON, each byte that is not becomes the
/// replacement character.
#[inline]
#[must_use]
pub fn from_utf8_as_go(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(replace_invalid(bytes)),
    }
}

#[cold]
fn replace_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

/// Whether text shows the character as it is: Go's `unicode.IsPrint`, which is letters, marks,
/// numbers, signs and the plain space.
#[must_use]
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    // Rust escapes what has no shape, too. A mark is escaped only at the start of a text.
    let mut buffer = [b'.'; 5];
    c.encode_utf8(&mut buffer[1..]);
    let text = std::str::from_utf8(&buffer[..1 + c.len_utf8()]).unwrap_or_default();
    text.escape_debug().count() == 2
}
