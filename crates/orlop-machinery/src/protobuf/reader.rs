//! Taking a message apart.
//!
//! Every length is checked against what is there before it is used. The messages of errors are
//! those of upstream's generated code.

use std::borrow::Cow;

use super::{ProtobufError, wire};
use crate::text::from_utf8_as_go;
use crate::value::Str;

/// The part of a message that was not read yet.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

/// The number of a field and how its value is written.
#[derive(Clone, Copy)]
pub(super) struct Tag {
    pub(super) number: u32,
    pub(super) wire: u8,
}

impl<'a> Reader<'a> {
    pub(super) fn new(message: &'a [u8]) -> Reader<'a> {
        Reader { rest: message }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next field, or none at the end of the message. `name` is that of the message.
    pub(super) fn tag(&mut self, name: impl Fn() -> String) -> Result<Option<Tag>, ProtobufError> {
        if self.is_at_end() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let wire = tag.to_le_bytes()[0] & 7;
        if wire == wire::END_GROUP {
            return Err(malformed(format!("proto: {}: wiretype end group for non-group", name())));
        }
        match i32_of(tag >> 3) {
            number @ 1.. => Ok(Some(Tag { number: number.unsigned_abs(), wire })),
            number => {
                Err(malformed(format!("proto: {}: illegal tag {number} (wire type {tag})", name())))
            }
        }
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, ProtobufError> {
        // Most numbers and lengths are small.
        if let [byte @ 0..=0x7f, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64, ProtobufError> {
        let mut number = 0;
        for (at, &byte) in self.rest.iter().enumerate().take(10) {
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Ok(number);
            }
        }
        if self.rest.len() < 10 {
            return Err(malformed("unexpected EOF"));
        }
        Err(malformed("proto: integer overflow"))
    }

    pub(super) fn fixed64(&mut self) -> Result<u64, ProtobufError> {
        let Some((bytes, rest)) = self.rest.split_first_chunk() else {
            return Err(malformed("unexpected EOF"));
        };
        self.rest = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    /// Bytes that have their length before them.
    #[inline]
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], ProtobufError> {
        let len = self.varint()?;
        if len > i64::MAX.unsigned_abs() {
            return Err(malformed("proto: negative length found during unmarshaling"));
        }
        let bytes = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((bytes, rest)) = bytes else {
            return Err(malformed("unexpected EOF"));
        };
        self.rest = rest;
        Ok(bytes)
    }

    /// Passes over the value of a field that nobody knows.
    pub(super) fn skip(&mut self, wire: u8) -> Result<(), ProtobufError> {
        let mut depth = 0_usize;
        let mut wire = wire;
        loop {
            match wire {
                wire::VARINT => drop(self.varint()?),
                wire::FIXED64 => drop(self.fixed64()?),
                wire::BYTES => drop(self.bytes()?),
                wire::START_GROUP => depth += 1,
                wire::END_GROUP => match depth.checked_sub(1) {
                    Some(outer) => depth = outer,
                    None => return Err(malformed("proto: unexpected end of group")),
                },
                wire::FIXED32 => match self.rest.split_first_chunk::<4>() {
                    Some((_, rest)) => self.rest = rest,
                    None => return Err(malformed("unexpected EOF")),
                },
                wire => return Err(malformed(format!("proto: illegal wireType {wire}"))),
            }
            if depth == 0 {
                return Ok(());
            }
            wire = self.varint()?.to_le_bytes()[0] & 7;
        }
    }
}

pub(super) fn malformed(message: impl Into<String>) -> ProtobufError {
    ProtobufError::Malformed { message: message.into() }
}

/// Bytes as text.
#[inline]
pub(super) fn read_text(bytes: &[u8]) -> Str {
    match from_utf8_as_go(bytes) {
        Cow::Borrowed(text) => Str::new(text),
        Cow::Owned(text) => Str::from(text),
    }
}

/// The lowest 32 bits as a number, as Go converts.
pub(super) fn i32_of(number: u64) -> i32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: &str) {
        let mut reader = Reader::new(bytes);
        let mut seen = Vec::new();
        let result = loop {
            match reader.tag(|| "Pod".into()) {
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
                Ok(Some(tag)) => {
                    seen.push(format!("{}:{}", tag.number, tag.wire));
                    if let Err(error) = reader.skip(tag.wire) {
                        break Err(error);
                    }
                }
            }
        };
        if let Err(error) = result {
            seen.push(error.to_string());
        }
        assert_eq!(seen.join(", "), expect, "{bytes:x?}");
    }

    #[test]
    fn fields_that_nobody_knows_are_passed_over() {
        check(b"", "");
        check(b"\x08\x96\x01\x10\x00", "1:0, 2:0");
        check(b"\x09aaaaaaaa\x15aaaa", "1:1, 2:5");
        check(b"\x0a\x03abc\x12\x00", "1:2, 2:2");
        check(b"\x0b\x10\x01\x13\x14\x0c\x10\x00", "1:3, 2:0");
        check(b"\xfa\xff\xff\xff\x0f\x00", "536870911:2");
    }

    #[test]
    fn what_is_no_message_is_refused_in_gos_words() {
        check(b"\x08", "1:0, unexpected EOF");
        check(b"\x80", "unexpected EOF");
        check(b"\x09aaa", "1:1, unexpected EOF");
        check(b"\x15aaa", "2:5, unexpected EOF");
        check(b"\x0a\x04abc", "1:2, unexpected EOF");
        check(b"\x0b\x10\x01", "1:3, unexpected EOF");
        check(b"\x0c", "proto: Pod: wiretype end group for non-group");
        check(b"\x0e", "1:6, proto: illegal wireType 6");
        check(b"\x00\x00", "proto: Pod: illegal tag 0 (wire type 0)");
        check(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "proto: integer overflow");
        check(
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            "1:2, proto: negative length found during unmarshaling",
        );
        check(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "1:2, unexpected EOF");
    }
}
