//! The leaves of a [`Tree`](super::Tree): a few items in order.
//!
//! Leaves are small on purpose: copying one touches the reference count of every record in it,
//! and with a million records each of those is a cache miss.

use std::ops::Deref;

use arrayvec::ArrayVec;

use super::heads::Heads;
use super::{Key, Keyed, compare};

/// The most items of a leaf.
pub(super) const LEAF_MAX: usize = 8;

/// Items in ascending order; `heads` are always those of their keys.
#[derive(Clone)]
pub(super) struct Leaf<T> {
    items: ArrayVec<T, LEAF_MAX>,
    heads: Heads<LEAF_MAX>,
}

impl<T: Keyed> Leaf<T> {
    /// A leaf of items in ascending order.
    pub(super) fn new(items: ArrayVec<T, LEAF_MAX>) -> Self {
        let heads = Heads::of(items.iter().map(|item| item.key().0));
        Self { items, heads }
    }

    /// The item with this key.
    pub(super) fn get(&self, key: Key<'_>) -> Option<&T> {
        self.find(key).map(|place| &self.items[place])
    }

    /// Where the key is, or where it would be.
    pub(super) fn search(&self, key: Key<'_>) -> Result<usize, usize> {
        if let Some(place) = self.find(key) {
            return Ok(place);
        }
        self.items.binary_search_by(|item| compare(item.key(), key))
    }

    /// Where the key is. If it is here it begins as all keys here do, so the heads tell where;
    /// whether it really is, the comparison with the item tells.
    fn find(&self, key: Key<'_>) -> Option<usize> {
        let places = self.heads.places(key.0);
        let start = places.start;
        let same = &self.items[places];
        same.binary_search_by(|item| compare(item.key(), key)).ok().map(|place| start + place)
    }

    /// Puts an item in the place of one with the same key.
    pub(super) fn replace(&mut self, place: usize, item: T) -> T {
        std::mem::replace(&mut self.items[place], item)
    }

    /// Adds an item; there must be room.
    pub(super) fn insert(&mut self, place: usize, item: T) {
        self.items.insert(place, item);
        self.refresh();
    }

    pub(super) fn remove(&mut self, place: usize) -> T {
        let removed = self.items.remove(place);
        self.refresh();
        removed
    }

    /// Takes the items from a place on out.
    pub(super) fn split_off(&mut self, place: usize) -> Self {
        let upper = Self::new(self.items.drain(place..).collect());
        self.refresh();
        upper
    }

    /// Adds the items of a leaf that follows; there must be room.
    pub(super) fn append(&mut self, other: Self) {
        self.items.extend(other.items);
        self.refresh();
    }

    fn refresh(&mut self) {
        self.heads = Heads::of(self.items.iter().map(|item| item.key().0));
    }
}

impl<T> Deref for Leaf<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}
