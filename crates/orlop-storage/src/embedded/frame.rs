//! Frames: how a batch of log entries lies in a segment.
//!
//! A frame starts at a block boundary and fills whole blocks, so writing one never touches a block
//! that holds an older one. It names its segment and its batch, and its checksum covers the secret
//! of the store: what is left over from other uses of the file, or planted in a value, is not taken
//! for a frame. `docs/storage-format.md` has it byte by byte.

use super::checksum;
use crate::Revision;

/// Frames begin at multiples of this and are padded to it.
pub(super) const BLOCK: usize = 4096;
/// The bytes before the payload.
pub(super) const HEAD: usize = 36;

const MAGIC: [u8; 4] = *b"OFRM";

/// A buffer that has become larger than this is given back after the frame.
const KEEP_BYTES: usize = 8 << 20;

/// The random number that marks the frames of one store.
pub(super) type Secret = [u8; 16];

/// What a frame says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) segment: u64,
    pub(super) batch: u64,
    /// The newest revision after the batch.
    pub(super) revision: Revision,
    pub(super) payload_length: usize,
}

impl Head {
    /// The whole frame with its padding.
    pub(super) fn frame_length(&self) -> usize {
        (HEAD + self.payload_length).next_multiple_of(BLOCK)
    }
}

/// The frame at the beginning of `bytes`, if there is a valid one of this segment.
pub(super) fn parse<'a>(
    bytes: &'a [u8],
    secret: &Secret,
    segment: u64,
) -> Option<(Head, &'a [u8])> {
    let head = bytes.get(..HEAD)?;
    let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let short = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    if head[..4] != MAGIC || number(8) != segment {
        return None;
    }
    let payload_length = short(4) as usize;
    let payload = bytes.get(HEAD..HEAD.checked_add(payload_length)?)?;
    if !checksum::is_right(short(32), &[secret, &head[..32], payload]) {
        return None;
    }
    let revision = Revision(number(24));
    Some((Head { segment, batch: number(16), revision, payload_length }, payload))
}

/// Whether the bytes begin like this frame, valid or not.
pub(super) fn is_begun(bytes: &[u8], segment: u64, batch: u64) -> bool {
    bytes.get(..HEAD).is_some_and(|head| {
        head[..4] == MAGIC
            && head[8..16] == segment.to_le_bytes()
            && head[16..24] == batch.to_le_bytes()
    })
}

/// A frame under construction, in memory that can be written past the page cache.
#[derive(Debug)]
pub(super) struct FrameBuffer {
    storage: Vec<u8>,
    /// The first place in `storage` whose address is a multiple of [`BLOCK`].
    start: usize,
}

impl FrameBuffer {
    pub(super) fn new() -> Self {
        let mut buffer = Self::empty();
        buffer.clear();
        buffer
    }

    fn empty() -> Self {
        let mut buffer = Self { storage: Vec::new(), start: 0 };
        buffer.move_to(256 << 10);
        buffer
    }

    /// Starts a new frame.
    pub(super) fn clear(&mut self) {
        if self.storage.capacity() > KEEP_BYTES {
            *self = Self::empty();
        }
        self.storage.truncate(self.start);
        self.extend(&[0; HEAD]);
    }

    /// Adds to the payload.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        let needed = self.storage.len() + bytes.len() + BLOCK;
        if needed > self.storage.capacity() {
            self.move_to(needed.next_power_of_two());
        }
        self.storage.extend_from_slice(bytes);
    }

    /// The length of the payload.
    pub(super) fn payload_length(&self) -> usize {
        self.storage.len() - self.start - HEAD
    }

    /// The length of the whole frame.
    pub(super) fn frame_length(&self) -> usize {
        (HEAD + self.payload_length()).next_multiple_of(BLOCK)
    }

    /// Completes the frame; [`FrameBuffer::clear`] starts the next one.
    pub(super) fn finish(
        &mut self,
        secret: &Secret,
        segment: u64,
        batch: u64,
        revision: Revision,
    ) -> &[u8] {
        let payload_length = self.payload_length();
        let length = self.frame_length();
        let (head, payload) = self.storage[self.start..].split_at_mut(HEAD);
        head[..4].copy_from_slice(&MAGIC);
        head[8..16].copy_from_slice(&segment.to_le_bytes());
        head[16..24].copy_from_slice(&batch.to_le_bytes());
        head[24..32].copy_from_slice(&revision.0.to_le_bytes());
        let short = u32::try_from(payload_length).expect("a batch is bounded");
        head[4..8].copy_from_slice(&short.to_le_bytes());
        let sum = checksum::of(&[secret, &head[..32], payload]);
        head[32..36].copy_from_slice(&sum.to_le_bytes());
        self.storage.resize(self.start + length, 0);
        &self.storage[self.start..]
    }

    fn move_to(&mut self, capacity: usize) {
        let mut storage: Vec<u8> = Vec::with_capacity(capacity + 2 * BLOCK);
        let start = storage.as_ptr().align_offset(BLOCK);
        storage.resize(start, 0);
        storage.extend_from_slice(&self.storage[self.start.min(self.storage.len())..]);
        *self = Self { storage, start };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: Secret = [7; 16];

    fn frame(payload: &[u8]) -> Vec<u8> {
        let mut buffer = FrameBuffer::new();
        buffer.extend(payload);
        let bytes = buffer.finish(&SECRET, 3, 9, Revision(12));
        assert_eq!(bytes.as_ptr().align_offset(BLOCK), 0, "direct writes need aligned memory");
        bytes.to_vec()
    }

    #[test]
    fn a_frame_comes_back_as_it_was_written() {
        for length in [0, 1, BLOCK - HEAD, BLOCK - HEAD + 1, 3 << 20] {
            let payload: Vec<u8> = (0..=250).cycle().take(length).collect();
            let bytes = frame(&payload);
            assert_eq!(bytes.len() % BLOCK, 0);
            let (head, found) = parse(&bytes, &SECRET, 3).expect("a valid frame");
            assert_eq!(head.batch, 9);
            assert_eq!(head.revision, Revision(12));
            assert_eq!(head.frame_length(), bytes.len());
            assert_eq!(found, payload);
        }
    }

    #[test]
    fn a_frame_of_another_place_is_none() {
        let bytes = frame(b"payload");
        assert!(parse(&bytes, &SECRET, 4).is_none(), "of another segment");
        assert!(parse(&bytes, &[8; 16], 3).is_none(), "of another store");
        assert!(parse(&bytes[..HEAD + 3], &SECRET, 3).is_none(), "cut off");
        assert!(parse(&vec![0; BLOCK], &SECRET, 3).is_none(), "never written");
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = frame(b"payload");
        for bit in 0..(HEAD + b"payload".len()) * 8 {
            let mut broken = bytes.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&broken, &SECRET, 3).is_none(), "bit {bit}");
        }
    }
}
