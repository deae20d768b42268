//! Bytes as JSON has them: text in base64.
//!
//! Behaviour follows Go's `base64.StdEncoding`: line ends are skipped, digits are padded, and bits
//! beyond the last byte do not matter. Objects in normal form hold what [`encode`] gives.

use std::borrow::Cow;

use crate::value::Str;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What a byte is that is no digit.
const NONE: u8 = 64;

/// The value of each digit.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < 64 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Why a text is not base64. In Go's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal base64 data at input byte {offset}")]
pub struct Base64Error {
    /// Where it stops making sense.
    pub offset: usize,
}

/// Bytes as text.
#[must_use]
pub fn encode(bytes: &[u8]) -> Str {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let [a, b, c] = group;
        let sextets = [a >> 2, (a & 3) << 4 | b >> 4, (b & 15) << 2 | c >> 6, c & 63];
        for (at, sextet) in sextets.into_iter().enumerate() {
            out.push(if at > chunk.len() { b'=' } else { DIGITS[usize::from(sextet)] });
        }
    }
    Str::from_utf8(&out).expect("base64 is ASCII")
}

/// The bytes that a text stands for.
///
/// # Errors
///
/// When Go refuses the text.
pub fn decode(text: &str) -> Result<Vec<u8>, Base64Error> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    while let Some(group) = reader.group()? {
        let [a, b, c, d] = group.sextets;
        let group_bytes = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
        bytes.extend_from_slice(&group_bytes[..group.count - 1]);
    }
    Ok(bytes)
}

/// The text that an object keeps of bytes. Text that is already right is returned as it is.
///
/// # Errors
///
/// When Go refuses the text.
pub fn canonicalize(text: &str) -> Result<Cow<'_, str>, Base64Error> {
    if is_canonical(text.as_bytes()) {
        return Ok(Cow::Borrowed(text));
    }
    decode(text).map(|bytes| Cow::Owned(encode(&bytes).into()))
}

fn is_canonical(text: &[u8]) -> bool {
    let digits = match text {
        [digits @ .., b'=', b'='] | [digits @ .., b'='] => digits,
        digits => digits,
    };
    // Bits of the last digit that no byte uses.
    let unused = match digits.len() % 4 {
        0 => 0,
        2 => 0b1111,
        3 => 0b11,
        _ => return false,
    };
    let value = |byte: &u8| VALUES[usize::from(*byte)];
    let is_last_zero = digits.last().is_none_or(|last| value(last) & unused == 0);
    text.len() % 4 == 0 && is_last_zero && digits.iter().all(|digit| value(digit) != NONE)
}

/// Four digits, or fewer and padding.
struct Group {
    sextets: [u8; 4],
    /// How many of them there are: two at least.
    count: usize,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next group; none at the end.
    fn group(&mut self) -> Result<Option<Group>, Base64Error> {
        let mut group = Group { sextets: [0; 4], count: 0 };
        while group.count < 4 {
            let Some(&byte) = self.text.get(self.at) else {
                return match group.count {
                    0 => Ok(None),
                    count => Err(Base64Error { offset: self.at - count }),
                };
            };
            match VALUES[usize::from(byte)] {
                NONE if matches!(byte, b'\n' | b'\r') => {}
                NONE if byte == b'=' && group.count >= 2 => {
                    self.padding(group.count)?;
                    break;
                }
                NONE => return Err(Base64Error { offset: self.at }),
                sextet => {
                    group.sextets[group.count] = sextet;
                    group.count += 1;
                }
            }
            self.at += 1;
        }
        Ok(Some(group))
    }

    /// The end of the text after so many digits of a group; the first sign of padding comes next.
    fn padding(&mut self, digits: usize) -> Result<(), Base64Error> {
        self.at += 1;
        self.skip_line_ends();
        if digits == 2 {
            match self.text.get(self.at) {
                Some(b'=') => self.at += 1,
                Some(_) => return Err(Base64Error { offset: self.at - 1 }),
                None => return Err(Base64Error { offset: self.text.len() }),
            }
            self.skip_line_ends();
        }
        if self.at < self.text.len() {
            return Err(Base64Error { offset: self.at });
        }
        Ok(())
    }

    fn skip_line_ends(&mut self) {
        while matches!(self.text.get(self.at), Some(b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let got = canonicalize(text).map_or_else(|error| error.to_string(), Cow::into_owned);
        assert_eq!(got, expect, "{text:?}");
    }

    #[test]
    fn text_becomes_the_text_of_its_bytes() {
        check("", "");
        check("Zg==", "Zg==");
        check("Zm8=", "Zm8=");
        check("Zm9v", "Zm9v");
        check("z7/Pvw==", "z7/Pvw==");
        check("Zh==", "Zg==");
        check("Zm9=", "Zm8=");
        check("Zm\n9v\r\nZg\n=\r=\n", "Zm9vZg==");
        check("\n", "");
    }

    #[test]
    fn what_is_wrong_is_found_where_go_finds_it() {
        let wrong = |text: &str, offset: usize| {
            check(text, &format!("illegal base64 data at input byte {offset}"));
        };
        wrong("e*", 1);
        wrong("Z", 0);
        wrong("Zg", 0);
        wrong("Zm9vZg", 4);
        wrong("Zg=", 3);
        wrong("Zg=x", 2);
        wrong("Zg==x", 4);
        wrong("Zm8=x", 4);
        wrong("=", 0);
        wrong("Z===", 1);
        wrong("Zm9v====", 4);
        wrong("Zm9v Zg==", 4);
        wrong("Zg\n", 1);
        wrong("\u{e9}", 0);
        wrong("Zg-_", 2);
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            let text = encode(&bytes);
            prop_assert_eq!(decode(&text).unwrap(), bytes);
            prop_assert!(is_canonical(text.as_bytes()));
        }

        #[test]
        fn no_text_is_a_panic(text in "[A-Da-d+/=\n\r*]{0,12}") {
            if let Ok(canonical) = canonicalize(&text) {
                prop_assert_eq!(decode(&canonical).unwrap(), decode(&text).unwrap());
            }
        }
    }
}
