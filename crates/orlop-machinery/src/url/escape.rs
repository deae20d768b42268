//! Escapes in URLs: which bytes stand for themselves where, and what `%41` stands for.
//!
//! Follows `shouldEscape`, `escape` and `unescape` of Go's package `net/url`.

use std::fmt::Write;

use super::Problem;

/// Where in a URL a text stands, which decides what is escaped there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Host,
    /// The interface in an IPv6 address.
    Zone,
    User,
    Path,
    /// A key or a value of the query.
    Query,
    Fragment,
}

/// The text with everything escaped that may not stand there as it is.
pub(super) fn escape(bytes: &[u8], part: Part) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if part.is_plain(*byte) {
            out.push(char::from(*byte));
        } else {
            write!(out, "%{byte:02X}").expect("a string grows");
        }
    }
    out
}

/// With escapes replaced by the bytes that they stand for.
pub(super) fn unescape(text: &str, part: Part) -> Result<Vec<u8>, Problem> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            if part.is_in_host() && first.is_ascii() && !part.is_plain(first) {
                return Err(Problem::HostCharacter(first));
            }
            out.push(if first == b'+' && part == Part::Query { b' ' } else { first });
            rest = after;
            continue;
        }
        let escape = &rest[..rest.len().min(3)];
        let Some(byte) = unescaped_byte(escape).filter(|byte| part.may_escape(*byte)) else {
            return Err(Problem::Escape(escape.to_vec()));
        };
        out.push(byte);
        rest = &rest[3..];
    }
    Ok(out)
}

/// Whether a text could be the escaped form of a path or a fragment.
pub(super) fn is_escaped(text: &str, part: Part) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || part.is_plain(byte))
}

impl Part {
    fn is_in_host(self) -> bool {
        matches!(self, Part::Host | Part::Zone)
    }

    /// Whether the byte stands for itself.
    fn is_plain(self, byte: u8) -> bool {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            return true;
        }
        let others: &[u8] = match self {
            Part::Host | Part::Zone => b"!$&'()*+,;=:[]<>\"",
            Part::User => b"$&+,;=",
            Part::Path => b"$&+,/:;=@",
            Part::Query => b"",
            Part::Fragment => b"$&+,/:;=?@!()*",
        };
        others.contains(&byte)
    }

    /// Whether an escape may stand for the byte. In a host it is for what is not ASCII; in a zone
    /// it may not bring in what could not stand there as it is, besides a space.
    fn may_escape(self, byte: u8) -> bool {
        match self {
            Part::Host => !byte.is_ascii() || byte == b'%',
            Part::Zone => matches!(byte, b'%' | b' ') || self.is_plain(byte),
            Part::User | Part::Path | Part::Query | Part::Fragment => true,
        }
    }
}

/// What `%41` stands for.
fn unescaped_byte(escape: &[u8]) -> Option<u8> {
    let &[b'%', high, low] = escape else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}
