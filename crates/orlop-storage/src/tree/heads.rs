//! Short stand-ins for keys.
//!
//! Keys that lie next to each other begin alike. The eight bytes behind what a whole node has in
//! common, as a number, order most of its keys without looking at them; and looking at a key is a
//! cache miss.

use std::ops::Range;

use arrayvec::ArrayVec;

/// The most bytes of a common beginning that are remembered.
const SKIP_MAX: usize = 56;

/// The heads of some keys in ascending order.
#[derive(Clone)]
pub(super) struct Heads<const MAX: usize> {
    /// What all keys begin with, or the first part of it.
    alike: ArrayVec<u8, SKIP_MAX>,
    heads: ArrayVec<u64, MAX>,
}

impl<const MAX: usize> Heads<MAX> {
    /// The heads of keys in ascending order.
    pub(super) fn of<'a>(keys: impl DoubleEndedIterator<Item = &'a [u8]> + Clone) -> Self {
        let first = keys.clone().next().unwrap_or_default();
        let last = keys.clone().next_back().unwrap_or_default();
        let both = first.iter().zip(last);
        let alike: ArrayVec<u8, SKIP_MAX> = both
            .take_while(|(left, right)| left == right)
            .map(|(byte, _)| *byte)
            .take(SKIP_MAX)
            .collect();
        let heads = keys.map(|key| head(key, alike.len())).collect();
        Self { alike, heads }
    }

    /// Whether the key begins as all keys here do.
    pub(super) fn is_alike(&self, key: &[u8]) -> bool {
        self.alike.is_empty() || key.starts_with(&self.alike)
    }

    /// The places where a key that begins as all others can be. Everything before has a smaller
    /// key, everything behind a greater one.
    pub(super) fn places(&self, key: &[u8]) -> Range<usize> {
        let head = head(key, self.alike.len());
        let start = self.heads.iter().take_while(|other| **other < head).count();
        let same = self.heads[start..].iter().take_while(|other| **other == head).count();
        start..start + same
    }
}

/// The eight bytes behind the first `skip`, big endian; zeros where there are none.
fn head(key: &[u8], skip: usize) -> u64 {
    let rest = key.get(skip..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(bytes)
        }
    }
}
