//! The values of literals.
//!
//! After `parser/unescape.go` of cel-go and the visits of literals in `parser/parser.go`.

use orlop_machinery::Str;

use super::token::TokenKind;
use crate::ast::Literal;

/// The value of a literal, or what is wrong with it.
pub(super) fn read(
    kind: TokenKind,
    text: &str,
    is_negative: bool,
) -> Result<Literal, &'static str> {
    match kind {
        TokenKind::Int => {
            let (digits, radix) = without_radix(text);
            let sign = if is_negative { "-" } else { "" };
            let value = i64::from_str_radix(&format!("{sign}{digits}"), radix);
            value.map(Literal::Int).map_err(|_| "invalid int literal")
        }
        TokenKind::Uint => {
            let (digits, radix) = without_radix(&text[..text.len() - 1]);
            let value = u64::from_str_radix(digits, radix);
            value.map(Literal::Uint).map_err(|_| "invalid uint literal")
        }
        TokenKind::Double => {
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            let value = value.ok_or("invalid double literal")?;
            Ok(Literal::Double(if is_negative { -value } else { value }))
        }
        TokenKind::String => {
            let bytes = unescape(text, false)?;
            let text = String::from_utf8(bytes).map_err(|_| "invalid unicode code point")?;
            Ok(Literal::String(Str::from(text)))
        }
        TokenKind::Bytes => Ok(Literal::Bytes(unescape(&text[1..], true)?)),
        TokenKind::True => Ok(Literal::Bool(true)),
        TokenKind::False => Ok(Literal::Bool(false)),
        _ => Ok(Literal::Null),
    }
}

fn without_radix(text: &str) -> (&str, u32) {
    text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16))
}

/// What a string with its quotes stands for. The lexer has seen that its escapes are complete.
fn unescape(text: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    let (text, is_raw) = match text.strip_prefix(['r', 'R']) {
        Some(text) => (text, true),
        None => (text, false),
    };
    let quotes = if text.len() >= 6 && is_long(text) { 3 } else { 1 };
    let text = text[quotes..text.len() - quotes].replace("\r\n", "\n").replace('\r', "\n");
    if is_raw || !text.contains('\\') {
        return Ok(text.into_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = unescape_one(&rest[at + 1..], is_bytes, &mut bytes)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

fn is_long(text: &str) -> bool {
    text.starts_with("'''") || text.starts_with("\"\"\"")
}

/// Adds what the escape at the beginning stands for, and gives what comes after it.
fn unescape_one<'a>(
    text: &'a str,
    is_bytes: bool,
    out: &mut Vec<u8>,
) -> Result<&'a str, &'static str> {
    const BROKEN: &str = "unable to unescape string";
    let first = *text.as_bytes().first().ok_or(BROKEN)?;
    let (digits, radix) = match first {
        b'a' => return plain(text, 0x07, out),
        b'b' => return plain(text, 0x08, out),
        b'f' => return plain(text, 0x0c, out),
        b'n' => return plain(text, b'\n', out),
        b'r' => return plain(text, b'\r', out),
        b't' => return plain(text, b'\t', out),
        b'v' => return plain(text, 0x0b, out),
        b'\\' | b'\'' | b'"' | b'`' | b'?' => return plain(text, first, out),
        b'x' | b'X' => (1..3, 16),
        b'u' if !is_bytes => (1..5, 16),
        b'U' if !is_bytes => (1..9, 16),
        b'0'..=b'3' => (0..3, 8),
        _ => return Err(BROKEN),
    };
    let rest = &text[digits.end.min(text.len())..];
    let code = text.get(digits).and_then(|text| u32::from_str_radix(text, radix).ok());
    let code = code.ok_or(BROKEN)?;
    if is_bytes {
        out.push(u8::try_from(code).map_err(|_| BROKEN)?);
    } else {
        let character = char::from_u32(code).ok_or("invalid unicode code point")?;
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(rest)
}

fn plain<'a>(text: &'a str, byte: u8, out: &mut Vec<u8>) -> Result<&'a str, &'static str> {
    out.push(byte);
    Ok(&text[1..])
}
