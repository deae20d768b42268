//! The keys between the children of a branch.
//!
//! They are copies: a separator that held a record would keep an old value alive. The heads tell
//! most of them apart and lie in the branch itself; the keys lie side by side in one place, shared
//! by all copies of a branch, because most changes leave them alone.

use triomphe::Arc;

use super::heads::Heads;
use super::node::BRANCH_MAX;
use super::{Key, compare};

/// The lower bounds of the children of a branch, in ascending order. The first one is never looked
/// at: the first child has no lower bound.
#[derive(Clone)]
pub(super) struct Separators {
    /// Of all but the first.
    heads: Heads<BRANCH_MAX>,
    keys: Arc<Keys>,
}

#[derive(Default)]
struct Keys {
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
    /// Separators in ascending order.
    pub(super) fn of<'a>(separators: impl IntoIterator<Item = Key<'a>>) -> Self {
        let mut keys = Keys::default();
        for (bytes, number) in separators {
            keys.bytes.extend_from_slice(bytes);
            let end = u32::try_from(keys.bytes.len()).expect("a few dozen keys");
            keys.entries.push(Entry { end, number });
        }
        let heads = Heads::of((1..keys.entries.len()).map(|place| keys.get(place).0));
        Self { heads, keys: Arc::new(keys) }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.entries.len()
    }

    pub(super) fn get(&self, place: usize) -> Key<'_> {
        self.keys.get(place)
    }

    /// The last place whose separator is not greater than the key, or the first.
    pub(super) fn place_of(&self, key: Key<'_>) -> usize {
        let places = if self.heads.is_alike(key.0) {
            self.heads.places(key.0)
        } else {
            0..self.len().saturating_sub(1)
        };
        // How many separators, the first aside, are not greater.
        let (mut low, mut high) = (places.start, places.end);
        while low < high {
            let middle = usize::midpoint(low, high);
            if compare(self.get(middle + 1), key).is_le() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Separators with one more.
    pub(super) fn with(&self, place: usize, key: Key<'_>) -> Self {
        let before = (0..place).map(|place| self.get(place));
        let behind = (place..self.len()).map(|place| self.get(place));
        Self::of(before.chain([key]).chain(behind))
    }

    /// Separators with one less.
    pub(super) fn without(&self, place: usize) -> Self {
        Self::of((0..self.len()).filter(|other| *other != place).map(|place| self.get(place)))
    }

    /// The separators from one place to another.
    pub(super) fn slice(&self, from: usize, to: usize) -> Self {
        Self::of((from..to).map(|place| self.get(place)))
    }
}

impl Keys {
    fn get(&self, place: usize) -> Key<'_> {
        let start = place.checked_sub(1).map_or(0, |before| self.entries[before].end);
        let Entry { end, number } = self.entries[place];
        (&self.bytes[start as usize..end as usize], number)
    }
}
