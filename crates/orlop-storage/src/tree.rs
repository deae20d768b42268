//! A persistent ordered map: cloning it is O(1), and a clone never changes.
//!
//! A B+ tree of shared nodes. A change copies the path from the root to one leaf, except for nodes
//! that nobody else holds, which are changed in place; so a batch of changes between two clones
//! copies each node at most once. Branches know how many items each child holds, which makes
//! counting a range O(log n).

mod heads;
mod iter;
mod leaf;
mod node;
mod separators;

use std::cmp::Ordering;
use std::fmt;

pub use self::iter::Iter;
use self::node::{Inserted, Node};

/// What an item is ordered by: bytes, then a number.
pub type Key<'a> = (&'a [u8], u64);

/// An item that knows its place in a [`Tree`].
pub trait Keyed: Clone {
    /// What the item is ordered by. No two items of a tree have the same key.
    fn key(&self) -> Key<'_>;
}

/// See the module's documentation.
#[derive(Clone)]
pub struct Tree<T> {
    root: Node<T>,
    len: usize,
}

impl<T: Keyed> Tree<T> {
    /// A tree without items.
    #[must_use]
    pub fn new() -> Self {
        Self { root: Node::empty(), len: 0 }
    }

    /// A tree of items that come in ascending order, in O(n).
    ///
    /// # Panics
    /// If the items are not in strictly ascending order.
    #[must_use]
    pub fn from_ascending(items: impl IntoIterator<Item = T>) -> Self {
        node::build(items)
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The item with this key.
    #[must_use]
    pub fn get(&self, key: Key<'_>) -> Option<&T> {
        let mut node = &self.root;
        loop {
            match node {
                Node::Branch(branch) => node = &branch.children[branch.child_of(key)],
                Node::Leaf(leaf) => return leaf.get(key),
            }
        }
    }

    /// How many items have a smaller key.
    #[must_use]
    pub fn rank(&self, key: Key<'_>) -> usize {
        let mut node = &self.root;
        let mut before = 0;
        loop {
            match node {
                Node::Branch(branch) => {
                    let child = branch.child_of(key);
                    before += branch.counts[..child].iter().map(|&c| c as usize).sum::<usize>();
                    node = &branch.children[child];
                }
                Node::Leaf(leaf) => {
                    return before + leaf.search(key).unwrap_or_else(|place| place);
                }
            }
        }
    }

    /// The item that has exactly `place` smaller ones.
    #[must_use]
    pub fn nth(&self, place: usize) -> Option<&T> {
        self.iter_from_place(place).next()
    }

    /// Adds the item, or puts it in the place of the one with the same key, which it returns.
    pub fn insert(&mut self, item: T) -> Option<T> {
        match node::insert(&mut self.root, item) {
            Inserted::Replaced(old) => return Some(old),
            Inserted::Added => {}
            Inserted::Split(right) => node::grow(&mut self.root, right),
        }
        self.len += 1;
        None
    }

    /// Takes the item with this key out.
    pub fn remove(&mut self, key: Key<'_>) -> Option<T> {
        // Looking first keeps a miss from copying a path.
        self.get(key)?;
        let removed = node::remove(&mut self.root, key);
        node::shrink(&mut self.root);
        self.len -= 1;
        Some(removed)
    }

    /// The first item.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.iter().next()
    }

    /// All items in ascending order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        self.iter_from_place(0)
    }

    /// The items whose keys are at least this one, in ascending order.
    #[must_use]
    pub fn iter_from(&self, key: Key<'_>) -> Iter<'_, T> {
        Iter::from_key(&self.root, key)
    }

    /// The items that have at least `place` smaller ones, in ascending order.
    #[must_use]
    pub fn iter_from_place(&self, place: usize) -> Iter<'_, T> {
        Iter::from_place(&self.root, place)
    }
}

impl<T: Keyed> Default for Tree<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Tree<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree of {} items", self.len)
    }
}

fn compare(left: Key<'_>, right: Key<'_>) -> Ordering {
    // Many keys are only numbers. The vectorized comparison of nothing with nothing looks at
    // addresses that are not mapped, and some processors take a microsecond to not fault.
    if left.0.is_empty() || right.0.is_empty() {
        return left.0.len().cmp(&right.0.len()).then(left.1.cmp(&right.1));
    }
    left.0.cmp(right.0).then(left.1.cmp(&right.1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Item(Vec<u8>, u64);

    impl Keyed for Item {
        fn key(&self) -> Key<'_> {
            (&self.0, 0)
        }
    }

    fn item(number: u32, value: u64) -> Item {
        Item(format!("/registry/{number:05}").into_bytes(), value)
    }

    /// Everything the tree can be asked agrees with the standard library's map.
    fn check(tree: &Tree<Item>, model: &BTreeMap<Vec<u8>, u64>) {
        node::check(&tree.root);
        let expect: Vec<Item> = model.iter().map(|(k, v)| Item(k.clone(), *v)).collect();
        assert_eq!(tree.iter().cloned().collect::<Vec<_>>(), expect);
        assert_eq!(tree.len(), expect.len());
        for probe in 0..40 {
            let key = item(probe * 13, 0).0;
            let before = model.range(..key.clone()).count();
            assert_eq!(tree.rank((&key, 0)), before);
            assert_eq!(tree.get((&key, 0)).map(|i| i.1), model.get(&key).copied());
            assert_eq!(tree.nth(before), expect.get(before));
            let from: Vec<Item> = tree.iter_from((&key, 0)).cloned().collect();
            assert_eq!(from, expect[before..]);
        }
    }

    fn config() -> ProptestConfig {
        ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn behaves_like_a_sorted_map(
            start in 0_u32..300,
            changes in prop::collection::vec((0_u32..500, any::<bool>(), any::<u64>()), 0..1500),
        ) {
            let mut tree = Tree::from_ascending((0..start).map(|n| item(n, 0)));
            let mut model: BTreeMap<_, _> = (0..start).map(|n| (item(n, 0).0, 0)).collect();
            for (number, insert, value) in changes {
                let new = item(number, value);
                if insert {
                    let old = model.insert(new.0.clone(), value);
                    prop_assert_eq!(tree.insert(new).map(|i| i.1), old);
                } else {
                    let old = model.remove(&new.0);
                    prop_assert_eq!(tree.remove((&new.0, 0)).map(|i| i.1), old);
                }
            }
            check(&tree, &model);
        }

        #[test]
        fn a_clone_does_not_change(
            numbers in prop::collection::vec(0_u32..400, 1..600),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut tree = Tree::new();
            let mut model = BTreeMap::new();
            let mut kept = None;
            let cut = cut.index(numbers.len());
            for (step, number) in numbers.iter().enumerate() {
                if step == cut {
                    kept = Some((tree.clone(), model.clone()));
                }
                if step % 3 == 2 {
                    tree.remove((&item(*number, 0).0, 0));
                    model.remove(&item(*number, 0).0);
                } else {
                    tree.insert(item(*number, step as u64));
                    model.insert(item(*number, 0).0, step as u64);
                }
            }
            let (old_tree, old_model) = kept.expect("the cut is inside");
            check(&old_tree, &old_model);
            check(&tree, &model);
        }
    }

    #[test]
    fn appending_fills_the_nodes() {
        let mut tree = Tree::new();
        for number in 0..10_000 {
            tree.insert(item(number, 0));
        }
        assert!(node::leaf_count(&tree.root) <= 10_000 / leaf::LEAF_MAX + 1);
    }

    #[test]
    fn removing_everything_leaves_one_empty_leaf() {
        let mut tree = Tree::from_ascending((0..5_000).map(|n| item(n, 0)));
        for number in 0..5_000 {
            assert!(tree.remove((&item(number, 0).0, 0)).is_some());
        }
        check(&tree, &BTreeMap::new());
        assert_eq!(node::leaf_count(&tree.root), 1);
    }

    #[test]
    #[should_panic(expected = "ascending")]
    fn unordered_items_are_refused() {
        let _ = Tree::from_ascending([item(2, 0), item(1, 0)]);
    }
}
