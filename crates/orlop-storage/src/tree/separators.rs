//! The keys between the children of a branch, side by side in memory.
//!
//! Looking for a key reads several of them; lying together they cost one or two cache misses and
//! not one each. They are copies: a separator that held a record would keep an old value alive.

use super::{Key, compare};

/// The lower bounds of the children of a branch, in ascending order.
#[derive(Clone, Default)]
pub(super) struct Separators {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    /// Where the key's bytes end; they begin where the one before ends.
    end: u32,
    number: u64,
}

impl Separators {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, place: usize) -> Key<'_> {
        let start = place.checked_sub(1).map_or(0, |before| self.entries[before].end);
        let Entry { end, number } = self.entries[place];
        (&self.bytes[start as usize..end as usize], number)
    }

    /// The last place whose separator is not greater than the key; the first one has no lower
    /// bound.
    pub(super) fn place_of(&self, key: Key<'_>) -> usize {
        let (mut low, mut high) = (1, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if compare(self.get(middle), key).is_le() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low - 1
    }

    pub(super) fn push(&mut self, key: Key<'_>) {
        self.bytes.extend_from_slice(key.0);
        let end = u32::try_from(self.bytes.len()).expect("a few dozen keys");
        self.entries.push(Entry { end, number: key.1 });
    }

    pub(super) fn insert(&mut self, place: usize, key: Key<'_>) {
        if place == self.len() {
            self.push(key);
            return;
        }
        let mut all = self.slice(0, place);
        all.push(key);
        all.append(&self.slice(place, self.len()));
        *self = all;
    }

    pub(super) fn remove(&mut self, place: usize) {
        let mut all = self.slice(0, place);
        all.append(&self.slice(place + 1, self.len()));
        *self = all;
    }

    pub(super) fn append(&mut self, other: &Self) {
        (0..other.len()).for_each(|place| self.push(other.get(place)));
    }

    /// The separators from one place to another.
    pub(super) fn slice(&self, from: usize, to: usize) -> Self {
        let mut slice = Self::default();
        (from..to).for_each(|place| slice.push(self.get(place)));
        slice
    }
}
