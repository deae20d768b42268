//! Walking a [`Tree`](super::Tree) in order.

use std::fmt;

use super::node::Node;
use super::{Key, Keyed};

/// The items from some place on, in ascending order.
pub struct Iter<'a, T> {
    /// The branches above the current leaf, each with the place of the child to visit next.
    path: Vec<(&'a Node<T>, usize)>,
    leaf: std::slice::Iter<'a, T>,
}

impl<'a, T: Keyed> Iter<'a, T> {
    pub(super) fn from_key(root: &'a Node<T>, key: Key<'_>) -> Self {
        let mut path = Vec::new();
        let mut node = root;
        loop {
            match node {
                Node::Branch(branch) => {
                    let place = branch.child_of(key);
                    path.push((node, place + 1));
                    node = &branch.children[place];
                }
                Node::Leaf(items) => {
                    let place = items.search(key).unwrap_or_else(|place| place);
                    return Self { path, leaf: items[place..].iter() };
                }
            }
        }
    }

    pub(super) fn from_place(root: &'a Node<T>, mut rest: usize) -> Self {
        let mut path = Vec::new();
        let mut node = root;
        loop {
            match node {
                Node::Branch(branch) => {
                    let mut place = 0;
                    while place + 1 < branch.counts.len() && rest >= branch.counts[place] as usize {
                        rest -= branch.counts[place] as usize;
                        place += 1;
                    }
                    path.push((node, place + 1));
                    node = &branch.children[place];
                }
                Node::Leaf(items) => {
                    return Self { path, leaf: items[rest.min(items.len())..].iter() };
                }
            }
        }
    }

    /// Goes to the first leaf behind the current one; false at the end.
    fn next_leaf(&mut self) -> bool {
        while let Some((node, place)) = self.path.pop() {
            let Node::Branch(branch) = node else { unreachable!("a path is made of branches") };
            let Some(child) = branch.children.get(place) else {
                continue;
            };
            self.path.push((node, place + 1));
            let mut node: &'a Node<T> = child;
            while let Node::Branch(branch) = node {
                self.path.push((node, 1));
                node = &branch.children[0];
            }
            let Node::Leaf(items) = node else { unreachable!("below branches are leaves") };
            self.leaf = items.iter();
            return true;
        }
        false
    }
}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Iter with {} items left in its leaf", self.leaf.len())
    }
}

impl<'a, T: Keyed> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(item) = self.leaf.next() {
                return Some(item);
            }
            if !self.next_leaf() {
                return None;
            }
        }
    }
}
