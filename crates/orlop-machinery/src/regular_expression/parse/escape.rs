//! Escapes of single characters.

use super::super::SyntaxError;
use super::{error, read_of};

/// The largest code point.
const CODE_POINT_MAX: u32 = 0x10_FFFF;

/// Reads an escape such as `\n` or `\x{41}`: a code point, and what comes after.
pub(super) fn parse_escape(text: &str) -> Result<(u32, &str), SyntaxError> {
    let mut rest = text.get(1..).unwrap_or_default();
    let Some(c) = next(&mut rest) else {
        return Err(error("trailing backslash at end of expression", ""));
    };
    let is_octal = |text: &str| text.starts_with(|c: char| ('0'..='7').contains(&c));
    let value = match c {
        '1'..='7' if !is_octal(rest) => None,
        '0'..='7' => {
            let mut value = digit(c, 8).unwrap_or_default();
            for _ in 1..3 {
                if is_octal(rest) {
                    let next = next(&mut rest).and_then(|c| digit(c, 8));
                    value = value * 8 + next.unwrap_or_default();
                }
            }
            Some(value)
        }
        'x' => parse_hexadecimal(&mut rest),
        'a' => Some(7),
        'f' => Some(12),
        'n' => Some(10),
        'r' => Some(13),
        't' => Some(9),
        'v' => Some(11),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
        _ => None,
    };
    match value {
        Some(value) => Ok((value, rest)),
        None => Err(error("invalid escape sequence", read_of(text, rest))),
    }
}

fn parse_hexadecimal(rest: &mut &str) -> Option<u32> {
    let first = next(rest)?;
    if first != '{' {
        let second = next(rest);
        return Some(digit(first, 16)? * 16 + digit(second?, 16)?);
    }
    let mut value = None;
    loop {
        match next(rest)? {
            '}' => return value,
            c => {
                let more = value.unwrap_or(0) * 16 + digit(c, 16)?;
                if more > CODE_POINT_MAX {
                    return None;
                }
                value = Some(more);
            }
        }
    }
}

fn next(rest: &mut &str) -> Option<char> {
    let mut characters = rest.chars();
    let c = characters.next()?;
    *rest = characters.as_str();
    Some(c)
}

fn digit(c: char, radix: u32) -> Option<u32> {
    c.to_digit(radix)
}
