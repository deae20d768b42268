//! The nodes of a [`Tree`](super::Tree): how they split, merge and are copied.
//!
//! Invariants, checked by `check` in tests: all leaves are at the same depth; only the root may be
//! empty, and a branch at the root has several children; `counts[i]` is the number of items below
//! `children[i]`; `separators[i]` is greater than every key below `children[i - 1]` and at most
//! every key below `children[i]` (`separators[0]` is never looked at).

use arrayvec::ArrayVec;
use triomphe::Arc;

use super::leaf::{LEAF_MAX, Leaf};
use super::separators::Separators;
use super::{Key, Keyed, Tree, compare};

/// The most children of a branch.
pub(super) const BRANCH_MAX: usize = 16;

/// A shared node. What it is stands beside the pointer, so finding out costs nothing.
#[derive(Clone)]
pub(super) enum Node<T> {
    Leaf(Arc<Leaf<T>>),
    Branch(Arc<Branch<T>>),
}

#[derive(Clone)]
pub(super) struct Branch<T> {
    separators: Separators,
    pub(super) children: ArrayVec<Node<T>, BRANCH_MAX>,
    pub(super) counts: ArrayVec<u32, BRANCH_MAX>,
}

/// What became of an insertion below a node.
pub(super) enum Inserted<T> {
    Replaced(T),
    Added,
    /// The node was full: this one holds its upper part.
    Split(Node<T>),
}

impl<T: Keyed> Node<T> {
    pub(super) fn empty() -> Self {
        Self::Leaf(Arc::new(Leaf::new(ArrayVec::new())))
    }

    /// The number of items below.
    fn count(&self) -> u32 {
        match self {
            Self::Leaf(items) => small(items.len()),
            Self::Branch(branch) => branch.counts.iter().sum(),
        }
    }

    /// The number of items or children.
    fn width(&self) -> usize {
        match self {
            Self::Leaf(items) => items.len(),
            Self::Branch(branch) => branch.children.len(),
        }
    }

    /// The smallest key below; a node under a branch has one.
    fn lowest(&self) -> Key<'_> {
        match self {
            Self::Leaf(items) => items.first().map_or((&[], 0), Keyed::key),
            Self::Branch(branch) => branch.children[0].lowest(),
        }
    }

    fn width_max(&self) -> usize {
        match self {
            Self::Leaf(_) => LEAF_MAX,
            Self::Branch(_) => BRANCH_MAX,
        }
    }
}

impl<T: Keyed> Branch<T> {
    /// A branch of children that are in order.
    fn of(children: impl IntoIterator<Item = Node<T>>) -> Self {
        let mut branch = Self {
            children: ArrayVec::new(),
            counts: ArrayVec::new(),
            separators: Separators::of([]),
        };
        for child in children {
            branch.counts.push(child.count());
            branch.children.push(child);
        }
        let lowest = branch.children.iter().map(|child| child.lowest());
        branch.separators = Separators::of(lowest);
        branch
    }

    /// Adds a child at a place; there must be room.
    fn insert(&mut self, place: usize, child: Node<T>) {
        self.separators = self.separators.with(place, child.lowest());
        self.counts.insert(place, child.count());
        self.children.insert(place, child);
    }

    /// The child whose keys surround this one.
    pub(super) fn child_of(&self, key: Key<'_>) -> usize {
        self.separators.place_of(key)
    }
}

/// Adds `item` below `node`, or puts it in the place of the one with the same key.
pub(super) fn insert<T: Keyed>(node: &mut Node<T>, item: T) -> Inserted<T> {
    match node {
        Node::Leaf(leaf) => insert_into_leaf(Arc::make_mut(leaf), item),
        Node::Branch(branch) => insert_into_branch(Arc::make_mut(branch), item),
    }
}

fn insert_into_leaf<T: Keyed>(leaf: &mut Leaf<T>, item: T) -> Inserted<T> {
    let place = match leaf.search(item.key()) {
        Ok(place) => return Inserted::Replaced(leaf.replace(place, item)),
        Err(place) => place,
    };
    if leaf.len() < LEAF_MAX {
        leaf.insert(place, item);
        return Inserted::Added;
    }
    let cut = split_at(place, LEAF_MAX);
    let mut right = leaf.split_off(cut);
    if place < cut {
        leaf.insert(place, item);
    } else {
        right.insert(place - cut, item);
    }
    Inserted::Split(Node::Leaf(Arc::new(right)))
}

fn insert_into_branch<T: Keyed>(branch: &mut Branch<T>, item: T) -> Inserted<T> {
    let place = branch.child_of(item.key());
    match insert(&mut branch.children[place], item) {
        Inserted::Replaced(old) => Inserted::Replaced(old),
        Inserted::Added => {
            branch.counts[place] += 1;
            Inserted::Added
        }
        Inserted::Split(right) => {
            branch.counts[place] = branch.children[place].count();
            add_child(branch, place + 1, right)
        }
    }
}

fn add_child<T: Keyed>(branch: &mut Branch<T>, place: usize, child: Node<T>) -> Inserted<T> {
    if branch.children.len() < BRANCH_MAX {
        branch.insert(place, child);
        return Inserted::Added;
    }
    let cut = split_at(place, BRANCH_MAX);
    let mut right = Branch {
        children: branch.children.drain(cut..).collect(),
        counts: branch.counts.drain(cut..).collect(),
        separators: branch.separators.slice(cut, BRANCH_MAX),
    };
    branch.separators = branch.separators.slice(0, cut);
    if place < cut {
        branch.insert(place, child);
    } else {
        right.insert(place - cut, child);
    }
    Inserted::Split(Node::Branch(Arc::new(right)))
}

/// Where a full node is cut for an insertion at `place`: in the middle, but keys that only ever
/// ascend fill their nodes.
fn split_at(place: usize, width_max: usize) -> usize {
    if place == width_max { width_max } else { width_max / 2 }
}

/// Puts a new root above a root that was split.
pub(super) fn grow<T: Keyed>(root: &mut Node<T>, right: Node<T>) {
    let left = std::mem::replace(root, Node::empty());
    *root = Node::Branch(Arc::new(Branch::of([left, right])));
}

/// Takes the item with this key, which must exist, out.
pub(super) fn remove<T: Keyed>(node: &mut Node<T>, key: Key<'_>) -> T {
    match node {
        Node::Leaf(leaf) => {
            let leaf = Arc::make_mut(leaf);
            let place = leaf.search(key).expect("the caller has seen the key");
            leaf.remove(place)
        }
        Node::Branch(branch) => {
            let branch = Arc::make_mut(branch);
            let place = branch.child_of(key);
            let removed = remove(&mut branch.children[place], key);
            branch.counts[place] -= 1;
            mend(branch, place);
            removed
        }
    }
}

/// Merges a child that has become thin with a neighbour that has room.
fn mend<T: Keyed>(branch: &mut Branch<T>, place: usize) {
    let child = &branch.children[place];
    let (width, width_max) = (child.width(), child.width_max());
    if width > width_max / 4 {
        return;
    }
    if width == 0 {
        drop_child(branch, place);
        return;
    }
    let fits = |other: usize| {
        branch.children.get(other).is_some_and(|n| n.width() + width <= width_max * 3 / 4)
    };
    if fits(place + 1) {
        merge(branch, place);
    } else if place > 0 && fits(place - 1) {
        merge(branch, place - 1);
    }
}

/// Appends the child behind `place` to the one at `place`.
fn merge<T: Keyed>(branch: &mut Branch<T>, place: usize) {
    let right = branch.children.remove(place + 1);
    let added = branch.counts.remove(place + 1);
    branch.counts[place] += added;
    branch.separators = branch.separators.without(place + 1);
    match (&mut branch.children[place], right) {
        (Node::Leaf(left), Node::Leaf(right)) => {
            let right = Arc::try_unwrap(right).unwrap_or_else(|shared| (*shared).clone());
            Arc::make_mut(left).append(right);
        }
        (Node::Branch(left), Node::Branch(right)) => {
            let left = Arc::make_mut(left);
            for child in &right.children {
                left.insert(left.children.len(), child.clone());
            }
        }
        _ => unreachable!("siblings are at the same depth"),
    }
}

/// Removes a child that has nothing left.
fn drop_child<T: Keyed>(branch: &mut Branch<T>, place: usize) {
    branch.children.remove(place);
    branch.counts.remove(place);
    branch.separators = branch.separators.without(place);
}

/// Takes away roots with one child.
pub(super) fn shrink<T: Keyed>(root: &mut Node<T>) {
    loop {
        let only = match root {
            Node::Branch(branch) if branch.children.len() <= 1 => branch.children.first().cloned(),
            Node::Branch(_) | Node::Leaf(_) => return,
        };
        *root = only.unwrap_or_else(|| Node::empty());
    }
}

/// Builds a tree from items in ascending order, leaf by leaf and then level by level.
pub(super) fn build<T: Keyed>(items: impl IntoIterator<Item = T>) -> Tree<T> {
    // Not full, so that the first insertions do not split every leaf.
    const FILL: usize = LEAF_MAX - 1;
    let mut len = 0;
    let mut level: Vec<Node<T>> = Vec::new();
    let mut leaf: ArrayVec<T, LEAF_MAX> = ArrayVec::new();
    for item in items {
        let ascends = leaf.last().is_none_or(|last| compare(last.key(), item.key()).is_lt());
        assert!(ascends, "the items must be in ascending order");
        if leaf.len() == FILL {
            level.push(Node::Leaf(Arc::new(Leaf::new(std::mem::take(&mut leaf)))));
        }
        leaf.push(item);
        len += 1;
    }
    level.push(Node::Leaf(Arc::new(Leaf::new(leaf))));
    while level.len() > 1 {
        level = level_above(level);
    }
    let root = level.pop().expect("there is at least one leaf");
    Tree { root, len }
}

fn level_above<T: Keyed>(level: Vec<Node<T>>) -> Vec<Node<T>> {
    // Even shares: no branch is left with a single child.
    let branches = level.len().div_ceil(BRANCH_MAX - 1);
    let share = level.len().div_ceil(branches);
    let mut above = Vec::with_capacity(branches);
    let mut level = level.into_iter().peekable();
    while level.peek().is_some() {
        let branch = Branch::of(level.by_ref().take(share));
        above.push(Node::Branch(Arc::new(branch)));
    }
    above
}

fn small(width: usize) -> u32 {
    u32::try_from(width).expect("a node is narrow")
}

/// The invariants of the module's documentation.
#[cfg(test)]
pub(super) fn check<T: Keyed>(root: &Node<T>) {
    fn visit<T: Keyed>(node: &Node<T>, low: Option<Key<'_>>, high: Option<Key<'_>>) -> usize {
        match node {
            Node::Leaf(items) => {
                assert!(items.is_sorted_by(|a, b| compare(a.key(), b.key()).is_lt()));
                for item in items.iter() {
                    assert!(low.is_none_or(|low| compare(low, item.key()).is_le()));
                    assert!(high.is_none_or(|high| compare(item.key(), high).is_lt()));
                }
                0
            }
            Node::Branch(branch) => {
                assert_eq!(branch.children.len(), branch.counts.len());
                assert_eq!(branch.children.len(), branch.separators.len());
                let mut depths = Vec::new();
                for (place, child) in branch.children.iter().enumerate() {
                    assert_eq!(branch.counts[place], child.count());
                    assert!(child.width() > 0, "only the root may be empty");
                    let own = (place > 0).then(|| branch.separators.get(place));
                    let behind = place + 1 < branch.separators.len();
                    let next = behind.then(|| branch.separators.get(place + 1));
                    depths.push(visit(child, own.or(low), next.or(high)));
                }
                assert!(depths.windows(2).all(|pair| pair[0] == pair[1]));
                depths[0] + 1
            }
        }
    }
    visit(root, None, None);
    if let Node::Branch(branch) = root {
        assert!(branch.children.len() > 1, "a root has several children");
    }
}

#[cfg(test)]
pub(super) fn leaf_count<T>(node: &Node<T>) -> usize {
    match node {
        Node::Leaf(_) => 1,
        Node::Branch(branch) => branch.children.iter().map(|child| leaf_count(child)).sum(),
    }
}
