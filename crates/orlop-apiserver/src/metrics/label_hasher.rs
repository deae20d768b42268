//! Hashes labels. They are few, bounded and ours, so nothing has to withstand an attacker, and a
//! request must not pay for that.
//!
//! The multiplication of Firefox's hash: each word is mixed in with a rotation and a product.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps whose keys are labels.
pub(super) type LabelHashes = BuildHasherDefault<LabelHasher>;

/// See the module's documentation.
#[derive(Default)]
pub(super) struct LabelHasher(u64);

const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
const ROTATION: u32 = 5;

impl LabelHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(ROTATION) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for LabelHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.mix(word.try_into().map_or(0, u64::from_le_bytes));
        }
        let rest = words.remainder().iter().rev();
        self.mix(rest.fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(byte.into());
    }

    fn finish(&self) -> u64 {
        // The map looks at the upper bits and at the lower ones; only the upper ones are mixed.
        self.0 ^ self.0 >> 32
    }
}
