//! Bytes as JSON has them: text in base64.
//!
//! Objects in normal form hold canonical text. Nothing here complains: whether text is base64 is
//! decided where JSON is decoded.

use crate::value::Str;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of each digit; 64 for what is none.
const VALUES: [u8; 256] = {
    let mut values = [64; 256];
    let mut value = 0;
    while value < 64 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Bytes as text.
pub(super) fn encode(bytes: &[u8]) -> Str {
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

/// How many bytes a text stands for.
pub(super) fn decoded_len(text: &str) -> usize {
    let digits = text.bytes().filter(|&byte| VALUES[usize::from(byte)] < 64).count();
    digits * 6 / 8
}

/// Puts the bytes that a text stands for into `out`, which has room for exactly those.
pub(super) fn decode(text: &str, out: &mut [u8]) {
    let mut out = out.iter_mut();
    let (mut bits, mut count) = (0_u32, 0);
    for value in text.bytes().map(|byte| VALUES[usize::from(byte)]).filter(|&value| value < 64) {
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            if let Some(byte) = out.next() {
                *byte = (bits >> count).to_le_bytes()[0];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(text: &str) -> Vec<u8> {
        let mut out = vec![0; decoded_len(text)];
        decode(text, &mut out);
        out
    }

    #[test]
    fn text_has_four_digits_for_three_bytes() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("\u{3ff}\u{3ff}", "z7/Pvw=="),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decoded(text), bytes.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decoded(&encode(&bytes)), bytes);
        }

        #[test]
        fn no_text_is_a_panic(text: String) {
            decoded(&text);
        }
    }
}
