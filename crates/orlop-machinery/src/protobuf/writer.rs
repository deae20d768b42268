//! Writing a message from its end to its start.
//!
//! The length of a message stands before it and is known only when the message is written. Writing
//! backwards, as upstream's generated code does, needs neither a second pass nor a buffer for each
//! message.

use super::wire;

/// Bytes that grow at their front.
pub(crate) struct Writer {
    /// What is written stands at its end.
    buffer: Vec<u8>,
    /// Where in `buffer` what is written starts.
    start: usize,
}

impl Writer {
    pub(crate) fn with_capacity(capacity: usize) -> Writer {
        Writer { buffer: vec![0; capacity], start: capacity }
    }

    /// How many bytes are written.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len()).copy_from_slice(bytes);
    }

    fn varint(&mut self, mut number: u64) {
        let bits = 64 - (number | 1).leading_zeros();
        let room = self.make_room(bits.div_ceil(7) as usize);
        let (last, others) = room.split_last_mut().expect("at least one byte");
        for byte in others {
            *byte = low_byte(number) | 0x80;
            number >>= 7;
        }
        *last = low_byte(number);
    }

    fn tag(&mut self, number: u32, wire: u8) {
        self.varint(u64::from(number) << 3 | u64::from(wire));
    }

    /// A field of whole numbers.
    pub(crate) fn varint_field(&mut self, number: u32, value: u64) {
        self.varint(value);
        self.tag(number, wire::VARINT);
    }

    /// A field of eight bytes.
    pub(crate) fn fixed64_field(&mut self, number: u32, bits: u64) {
        self.bytes(&bits.to_le_bytes());
        self.tag(number, wire::FIXED64);
    }

    /// A field of text or bytes.
    pub(crate) fn bytes_field(&mut self, number: u32, bytes: &[u8]) {
        self.bytes(bytes);
        self.varint(bytes.len() as u64);
        self.tag(number, wire::BYTES);
    }

    /// Makes all that was written since `len` a field.
    pub(crate) fn close_field(&mut self, number: u32, len: usize) {
        self.field_start(number, self.len() - len);
    }

    /// The start of a field of so many bytes that are written elsewhere.
    pub(crate) fn field_start(&mut self, number: u32, length: usize) {
        self.varint(length as u64);
        self.tag(number, wire::BYTES);
    }

    /// Room for so many bytes before what is written.
    fn make_room(&mut self, size: usize) -> &mut [u8] {
        if size > self.start {
            self.grow(size);
        }
        let end = self.start;
        self.start -= size;
        &mut self.buffer[self.start..end]
    }

    #[cold]
    fn grow(&mut self, size: usize) {
        let len = self.len();
        let capacity = (self.buffer.len() * 2).max(len + size);
        let mut buffer = vec![0; capacity];
        buffer[capacity - len..].copy_from_slice(&self.buffer[self.start..]);
        self.start = capacity - len;
        self.buffer = buffer;
    }

    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        let len = self.len();
        self.buffer.copy_within(self.start.., 0);
        self.buffer.truncate(len);
        self.buffer
    }
}

/// The lowest seven bits.
fn low_byte(number: u64) -> u8 {
    number.to_le_bytes()[0] & 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_as_few_bytes_as_possible() {
        for (number, expect) in [
            (0, vec![0]),
            (1, vec![1]),
            (127, vec![127]),
            (128, vec![0x80, 1]),
            (300, vec![0xac, 2]),
            (u64::MAX, vec![255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
        ] {
            let mut writer = Writer::with_capacity(0);
            writer.varint(number);
            assert_eq!(writer.into_vec(), expect, "{number}");
        }
    }

    #[test]
    fn what_is_written_last_stands_first() {
        let mut writer = Writer::with_capacity(1);
        writer.bytes(b"de");
        let len = writer.len();
        writer.bytes(b"abc");
        writer.close_field(1, len);
        assert_eq!(writer.into_vec(), b"\x0a\x03abcde");
    }
}
