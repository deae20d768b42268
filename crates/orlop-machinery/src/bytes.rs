//! Bytes in objects: base64 text, as Go reads and writes a `[]byte` in JSON.
//!
//! Behaviour follows `StdEncoding` of Go's package `encoding/base64`: line breaks are skipped
//! anywhere, padding is required, bits that are left over in the last sign are ignored.

use crate::value::Str;

/// Text is no base64. In Go's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal base64 data at input byte {at}")]
pub struct BytesError {
    /// Where, as Go counts it.
    pub at: usize,
}

const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The number of each sign; [`NONE`] for what is no sign.
const NUMBERS: [u8; 256] = {
    let mut numbers = [NONE; 256];
    let mut at = 0;
    while at < 64 {
        numbers[SIGNS[at as usize] as usize] = at;
        at += 1;
    }
    numbers
};
const NONE: u8 = 0xff;

/// The bytes as base64 text.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * place)) as usize & 0x3f];
            out.push(if place > chunk.len() { '=' } else { char::from(sign) });
        }
    }
    out
}

/// The bytes that a base64 text stands for.
///
/// ```
/// use orlop_machinery::bytes;
///
/// assert_eq!(bytes::decode("aGVs\nbG8=").unwrap(), b"hello");
/// assert_eq!(bytes::decode("aGVsb").unwrap_err().to_string(),
///     "illegal base64 data at input byte 4");
/// ```
///
/// # Errors
///
/// Where the text is not base64.
pub fn decode(text: &str) -> Result<Vec<u8>, BytesError> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut rest = Reader { text: text.as_bytes(), at: 0 };
    while let Some((quantum, length)) = rest.quantum()? {
        let [a, b, c, d] = quantum.map(u32::from);
        let [_, bytes @ ..] = (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
        out.extend_from_slice(&bytes[..length]);
    }
    Ok(out)
}

/// How many bytes the text stands for, when it is in canonical form.
#[must_use]
pub fn decoded_len(text: &str) -> usize {
    let padding = text.bytes().rev().take(2).filter(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

/// The text that an object keeps of bytes. Text that is already right is returned as it is.
///
/// # Errors
///
/// Where the text is not base64.
pub fn canonicalize(text: &str) -> Result<Str, BytesError> {
    if is_canonical(text.as_bytes()) {
        return Ok(Str::new(text));
    }
    Ok(Str::from(encode(&decode(text)?)))
}

/// Whether the text is exactly what [`encode`] makes.
pub(crate) fn is_canonical(text: &[u8]) -> bool {
    let (signs, unused_bits) = match text {
        [signs @ .., b'=', b'='] => (signs, 0x0f),
        [signs @ .., b'='] => (signs, 0x03),
        signs => (signs, 0),
    };
    let last = signs.last().map_or(0, |sign| NUMBERS[usize::from(*sign)]);
    text.len().is_multiple_of(4)
        && signs.iter().all(|sign| NUMBERS[usize::from(*sign)] != NONE)
        && last & unused_bits == 0
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next four signs as numbers, and how many bytes they stand for; none at the end.
    fn quantum(&mut self) -> Result<Option<([u8; 4], usize)>, BytesError> {
        let mut quantum = [0; 4];
        let mut count = 0;
        while count < 4 {
            let Some(&sign) = self.text.get(self.at) else {
                // Go does not count line breaks here.
                return if count == 0 { Ok(None) } else { Err(BytesError { at: self.at - count }) };
            };
            self.at += 1;
            match NUMBERS[usize::from(sign)] {
                NONE if matches!(sign, b'\n' | b'\r') => {}
                NONE if sign == b'=' && count >= 2 => {
                    self.padding(count)?;
                    return Ok(Some((quantum, count - 1)));
                }
                NONE => return Err(BytesError { at: self.at - 1 }),
                number => {
                    quantum[count] = number;
                    count += 1;
                }
            }
        }
        Ok(Some((quantum, 3)))
    }

    /// The rest of the padding, of which one sign was read, and nothing after it.
    fn padding(&mut self, count: usize) -> Result<(), BytesError> {
        if count == 2 {
            self.skip_line_breaks();
            match self.text.get(self.at) {
                None => return Err(BytesError { at: self.at }),
                Some(b'=') => self.at += 1,
                Some(_) => return Err(BytesError { at: self.at - 1 }),
            }
        }
        self.skip_line_breaks();
        if self.at < self.text.len() { Err(BytesError { at: self.at }) } else { Ok(()) }
    }

    fn skip_line_breaks(&mut self) {
        while matches!(self.text.get(self.at), Some(b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &str) {
        let seen = match decode(text) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expect, "{text:?}");
        assert_eq!(canonicalize(text).is_ok(), decode(text).is_ok(), "{text:?}");
    }

    #[test]
    fn text_becomes_bytes() {
        check("", "");
        check("\n", "");
        check("Zg==", "f");
        check("Zm8=", "fo");
        check("Zm9v", "foo");
        check("Zm9v\r\nYg=\n=\n", "foob");
        // Bits that are left over.
        check("Zh==", "f");
        assert_eq!(canonicalize("Zh==").unwrap(), "Zg==");
        assert_eq!(canonicalize("Zm9v\nYg==").unwrap(), "Zm9vYg==");
    }

    #[test]
    fn what_is_no_base64_says_where() {
        let table = [
            ("!!!!", 0),
            ("====", 0),
            ("x===", 1),
            ("=AAA", 0),
            ("A=AA", 1),
            ("AA=A", 2),
            ("AA==A", 4),
            ("AAA=AAAA", 4),
            ("AAAAA", 4),
            ("AAAAAA", 4),
            ("A=", 1),
            ("AA=", 3),
            ("AA=\n", 4),
            ("AAAAA=", 5),
            ("YWJjZA=====", 8),
            ("A!\n", 1),
            ("A\nB", 1),
            ("aGVsbG8", 4),
        ];
        for (text, at) in table {
            check(text, &format!("illegal base64 data at input byte {at}"));
        }
    }

    proptest! {
        #[test]
        fn encoded_bytes_read_as_the_same(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let text = encode(&bytes);
            prop_assert!(is_canonical(text.as_bytes()));
            prop_assert_eq!(decode(&text).unwrap(), bytes);
        }

        #[test]
        fn canonical_is_what_is_encoded(text in "[A-Za-z0-9+/=\n]{0,12}") {
            let is_same = decode(&text).is_ok_and(|bytes| encode(&bytes) == text);
            prop_assert_eq!(is_canonical(text.as_bytes()), is_same);
        }
    }
}
