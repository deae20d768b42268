//! The number that no other object ever has.
//!
//! A random UUID (version 4), as upstream takes from `github.com/google/uuid`. The randomness is
//! an argument.

use std::fmt;

/// A random uid. Prints in lower case with dashes.
///
/// ```
/// use orlop_machinery::uid::Uid;
///
/// let uid = Uid::from_random([0xff; 16]);
/// assert_eq!(uid.to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid([u8; 16]);

impl Uid {
    /// From random bytes. Six of their bits say that they are random.
    #[must_use]
    pub const fn from_random(mut bytes: [u8; 16]) -> Uid {
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Uid(bytes)
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                out.write_str("-")?;
            }
            write!(out, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::uuid;

    #[test]
    fn every_uid_is_a_uuid_of_version_4() {
        for seed in 0..=255u8 {
            let bytes: [u8; 16] =
                std::array::from_fn(|at| seed.wrapping_mul(31 + u8::try_from(at).unwrap()));
            let text = Uid::from_random(bytes).to_string();
            assert!(uuid(&text).is_empty(), "{text}");
            assert_eq!(text.as_bytes()[14], b'4');
            assert!(b"89ab".contains(&text.as_bytes()[19]));
        }
    }
}
