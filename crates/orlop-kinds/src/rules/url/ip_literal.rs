//! Whether a text is an IP address, and in Go's words why it is none.
//!
//! Follows `ParseAddr` of Go's package `net/netip`. Only the family is told; addresses of objects
//! are read by `orlop_machinery::names`.

use super::quote_bytes;

/// What kind of address it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

/// What is wrong, and from where on where that is told.
type Wrong<'a> = (&'static str, &'a [u8]);

const BYTES: usize = 16;
const NOWHERE: &[u8] = &[];

/// The family of an address.
pub(super) fn read(text: &[u8]) -> Result<Family, String> {
    let sign = text.iter().find(|byte| matches!(byte, b'.' | b':' | b'%'));
    let read = match sign {
        Some(b'.') => read_v4(text).map(|()| Family::V4),
        Some(b':') => read_v6(text).map(|()| Family::V6),
        Some(_) => Err(("missing IPv6 address", NOWHERE)),
        None => Err(("unable to parse IP", NOWHERE)),
    };
    read.map_err(|(message, rest)| {
        let mut out = format!("ParseAddr({}): {message}", quote_bytes(text));
        if !rest.is_empty() {
            out += &format!(" (at {})", quote_bytes(rest));
        }
        out
    })
}

fn read_v4(text: &[u8]) -> Result<(), Wrong<'_>> {
    let (mut value, mut digits, mut dots) = (0_u32, 0, 0);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", NOWHERE));
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", NOWHERE));
                }
            }
            b'.' if digits == 0 || at + 1 == text.len() => {
                return Err(("IPv4 field must have at least one digit", &text[at..]));
            }
            b'.' if dots == 3 => return Err(("IPv4 address too long", NOWHERE)),
            b'.' => {
                dots += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(("unexpected character", &text[at..])),
        }
    }
    if dots < 3 { Err(("IPv4 address too short", NOWHERE)) } else { Ok(()) }
}

fn read_v6(text: &[u8]) -> Result<(), Wrong<'_>> {
    let mut rest = text;
    if let Some(at) = text.iter().position(|byte| *byte == b'%') {
        if at + 1 == text.len() {
            return Err(("zone must be a non-empty string", NOWHERE));
        }
        rest = &text[..at];
    }
    let mut has_ellipsis = false;
    if let Some(after) = rest.strip_prefix(b"::") {
        if after.is_empty() {
            return Ok(());
        }
        (has_ellipsis, rest) = (true, after);
    }
    let mut filled = 0;
    while filled < BYTES {
        let digits = count_digits(rest)?;
        if rest.get(digits) == Some(&b'.') {
            read_embedded_v4(rest, filled, has_ellipsis)?;
            (filled, rest) = (filled + 4, NOWHERE);
            break;
        }
        filled += 2;
        rest = &rest[digits..];
        rest = match rest {
            [] => break,
            [b':'] => return Err(("colon must be followed by more characters", rest)),
            [b':', after @ ..] => after,
            _ => return Err(("unexpected character, want colon", rest)),
        };
        if let Some(after) = rest.strip_prefix(b":") {
            if has_ellipsis {
                return Err(("multiple :: in address", rest));
            }
            (has_ellipsis, rest) = (true, after);
            if rest.is_empty() {
                break;
            }
        }
    }
    match (rest, filled < BYTES) {
        ([_, ..], _) => Err(("trailing garbage after address", rest)),
        ([], true) if !has_ellipsis => Err(("address string too short", NOWHERE)),
        ([], false) if has_ellipsis => {
            Err(("the :: must expand to at least one field of zeros", NOWHERE))
        }
        ([], _) => Ok(()),
    }
}

/// How many digits the next group has.
fn count_digits(text: &[u8]) -> Result<usize, Wrong<'_>> {
    match text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count() {
        0 => Err(("each colon-separated field must have at least one digit", text)),
        digits @ 1..=4 => Ok(digits),
        _ => Err(("each group must have 4 or less digits", text)),
    }
}

/// An IPv4 address in place of the last two groups.
fn read_embedded_v4(text: &[u8], filled: usize, has_ellipsis: bool) -> Result<(), Wrong<'_>> {
    if !has_ellipsis && filled != BYTES - 4 {
        let message = "embedded IPv4 address must replace the final 2 fields of the address";
        return Err((message, text));
    }
    if filled + 4 > BYTES {
        let message = "too many hex fields to fit an embedded IPv4 at the end of the address";
        return Err((message, text));
    }
    read_v4(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let start = format!("ParseAddr({text:?}): ");
        let seen = match read(text.as_bytes()) {
            Ok(family) => format!("{family:?}"),
            Err(wrong) => wrong.strip_prefix(&start).unwrap_or(&wrong).to_owned(),
        };
        assert_eq!(seen, expect, "{text}");
    }

    #[test]
    fn an_address_is_of_one_of_two_families() {
        check("1.2.3.4", "V4");
        for text in ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "::1.2.3.4", "fe80::1%eth0", "A::b"] {
            check(text, "V6");
        }
    }

    #[test]
    fn what_is_no_ipv4_address_is_said_as_go_does() {
        check("a", "unable to parse IP");
        check("%a", "missing IPv6 address");
        check("1.2.3", "IPv4 address too short");
        check("1.2.3.4.5", "IPv4 address too long");
        check("1.02.3.4", "IPv4 field has octet with leading zero");
        check("1.2.3.256", "IPv4 field has value >255");
        check("1..2.3", r#"IPv4 field must have at least one digit (at ".2.3")"#);
        check("1.2.3.", r#"IPv4 field must have at least one digit (at ".")"#);
        check("1.2.x.4", r#"unexpected character (at "x.4")"#);
    }

    #[test]
    fn what_is_no_ipv6_address_is_said_as_go_does() {
        check("::1%", "zone must be a non-empty string");
        check("1:2", "address string too short");
        check("12345::", r#"each group must have 4 or less digits (at "12345::")"#);
        check(":1", r#"each colon-separated field must have at least one digit (at ":1")"#);
        check("1:x", r#"each colon-separated field must have at least one digit (at "x")"#);
        check("1x:", r#"unexpected character, want colon (at "x:")"#);
        check("1:2:", r#"colon must be followed by more characters (at ":")"#);
        check("1::2::3", r#"multiple :: in address (at ":3")"#);
        check("1:2:3:4:5:6:7:8:9", r#"trailing garbage after address (at "9")"#);
        check("1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros");
        let place = "embedded IPv4 address must replace the final 2 fields of the address";
        check("1:1.2.3.4", &format!(r#"{place} (at "1.2.3.4")"#));
        let room = "too many hex fields to fit an embedded IPv4 at the end of the address";
        check("::1:2:3:4:5:6:7:1.2.3.4", &format!(r#"{room} (at "1.2.3.4")"#));
        check("::1.2.3", "IPv4 address too short");
    }
}
