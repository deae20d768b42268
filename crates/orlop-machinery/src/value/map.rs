//! The entries of an object, sorted by key.

use std::cmp::Ordering;

use super::{Str, Value};

/// Values by name, sorted by name, each name once.
///
/// A vector: most maps of an object have fewer than ten entries, and those are found faster by
/// looking at all of them than by any tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Sorted by key; no key stands twice.
    entries: Vec<(Str, Value)>,
}

/// Up to here the entries are looked at one by one.
const LINEAR_MAX: usize = 12;

impl Map {
    /// Without entries.
    #[must_use]
    pub const fn new() -> Map {
        Map { entries: Vec::new() }
    }

    /// Without entries, with room for some.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Map {
        Map { entries: Vec::with_capacity(capacity) }
    }

    /// From entries in any order. Of entries with the same key the last one stays.
    #[must_use]
    pub fn from_unsorted(mut entries: Vec<(Str, Value)>) -> Map {
        if !entries.is_sorted_by(|a, b| compare_keys(&a.0, &b.0).is_lt()) {
            // Stable, so that the last of several comes last.
            entries.sort_by(|a, b| compare_keys(&a.0, &b.0));
            entries.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        Map { entries }
    }

    /// From entries that are sorted by key, each key once.
    pub(crate) fn from_sorted(entries: Vec<(Str, Value)>) -> Map {
        debug_assert!(entries.is_sorted_by(|a, b| a.0 < b.0), "entries come sorted");
        Map { entries }
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).ok().map(|at| &self.entries[at].1)
    }

    /// The value of a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.position(key).ok().map(|at| &mut self.entries[at].1)
    }

    /// Whether the key is there.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_ok()
    }

    /// Sets a key; returns what it had.
    pub fn insert(&mut self, key: impl AsRef<str> + Into<Str>, value: Value) -> Option<Value> {
        match self.position(key.as_ref()) {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.entries.insert(at, (key.into(), value));
                None
            }
        }
    }

    /// The value of a key, made (as null) when it is missing.
    pub fn entry(&mut self, key: impl AsRef<str> + Into<Str>) -> &mut Value {
        let at = match self.position(key.as_ref()) {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, (key.into(), Value::Null));
                at
            }
        };
        &mut self.entries[at].1
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.position(key).ok()?;
        Some(self.entries.remove(at).1)
    }

    /// Keeps the entries that `keep` says to; it may change them.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }

    /// The entries in the order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + DoubleEndedIterator {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The entries in the order of their keys, to change the values.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Value)> {
        self.entries.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The entries as they lie, sorted by key.
    #[must_use]
    pub fn entries(&self) -> &[(Str, Value)] {
        &self.entries
    }

    /// Where the key is, or where it would have to be.
    fn position(&self, key: &str) -> Result<usize, usize> {
        if self.entries.len() > LINEAR_MAX {
            return self.entries.binary_search_by(|(known, _)| known.as_str().cmp(key));
        }
        let found = self.entries.iter().position(|(known, _)| known.as_str() == key);
        found.ok_or_else(|| self.entries.partition_point(|(known, _)| known.as_str() < key))
    }
}

/// The order of keys. Most differ in their first byte, which needs no call to find out.
#[inline]
pub(crate) fn compare_keys(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    match a.first().cmp(&b.first()) {
        Ordering::Equal => a.cmp(b),
        order => order,
    }
}

/// The first eight bytes of a key, as a number: keys are in the order of these, as long as these
/// differ.
#[inline]
pub(crate) fn key_prefix(key: &str) -> u64 {
    let bytes = key.as_bytes();
    match bytes.first_chunk() {
        Some(word) => u64::from_be_bytes(*word),
        None => {
            let fill = |prefix, at| prefix << 8 | u64::from(bytes.get(at).copied().unwrap_or(0));
            (0..8).fold(0, fill)
        }
    }
}

impl FromIterator<(Str, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Str, Value)>>(entries: I) -> Map {
        Map::from_unsorted(entries.into_iter().collect())
    }
}

impl IntoIterator for Map {
    type Item = (Str, Value);
    type IntoIter = std::vec::IntoIter<(Str, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_equal_keys_stays() {
        let entries = ["b", "a", "b", "c", "a"].into_iter().zip(0..);
        let map: Map = entries.map(|(key, at)| (Str::new(key), Value::Int(at))).collect();
        let seen: Vec<_> = map.iter().map(|(key, value)| (key, value.int())).collect();
        assert_eq!(seen, [("a", 4), ("b", 2), ("c", 3)]);
    }

    #[test]
    fn large_and_small_maps_find_the_same() {
        for size in [0, 1, LINEAR_MAX, LINEAR_MAX + 1, 100] {
            let mut map = Map::new();
            for at in (0..size).rev() {
                map.insert(format!("{at:03}"), Value::Int(1));
            }
            assert!(map.keys().is_sorted());
            for at in 0..size {
                assert!(map.contains_key(&format!("{at:03}")));
            }
            assert!(!map.contains_key("x"));
            assert_eq!(map.len(), size);
        }
    }
}
