//! A set of fields: what somebody owns of an object.
//!
//! A trie. Each node is one step of a path, and either the path that ends there is in the set, or
//! something below it is, or both; a node that is neither does not exist. Nodes are sorted, so
//! every operation on two sets is one walk side by side. The object as a whole is never in a set.
//!
//! Behaviour after `structured-merge-diff/fieldpath` (`set.go`), where members and children lie in
//! two lists; here they share their nodes.

use std::cmp::Ordering;
use std::fmt;

use super::field_path::{PathElement, path_text};

/// A set of paths.
///
/// ```
/// use orlop_machinery::apply::{FieldSet, PathElement};
///
/// let mut set = FieldSet::new();
/// set.insert(&PathElement::fields("spec.replicas"));
/// assert!(set.contains(&PathElement::fields("spec.replicas")));
/// assert!(!set.contains(&PathElement::fields("spec")));
/// assert_eq!(set.to_string(), ".spec.replicas\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Sorted by element, each element once, none of them empty.
    nodes: Vec<FieldNode>,
}

/// A step of the paths of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldNode {
    pub(super) element: PathElement,
    pub(super) branch: Branch,
}

/// What a set has from one path on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Branch {
    /// Whether the path itself is in the set.
    pub(super) is_member: bool,
    /// What is below it.
    pub(super) children: FieldSet,
}

impl Branch {
    /// The path itself and nothing below it.
    pub(super) fn leaf() -> Branch {
        Branch { is_member: true, children: FieldSet::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.is_member && self.children.is_empty()
    }

    pub(super) fn union(self, other: Branch) -> Branch {
        Branch {
            is_member: self.is_member || other.is_member,
            children: self.children.union(other.children),
        }
    }
}

impl FieldSet {
    /// Without fields.
    #[must_use]
    pub const fn new() -> FieldSet {
        FieldSet { nodes: Vec::new() }
    }

    /// Of paths of field names with dots between them.
    #[must_use]
    pub fn of_fields(paths: &[&str]) -> FieldSet {
        let mut set = FieldSet::new();
        for path in paths {
            set.insert(&PathElement::fields(path));
        }
        set
    }

    /// Adds a path; those above it stay out unless they are added too.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((first, rest)) = path.split_first() else { return };
        let branch = self.descend(first);
        match rest {
            [] => branch.is_member = true,
            rest => branch.children.insert(rest),
        }
    }

    /// Whether the path is in the set.
    #[must_use]
    pub fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.get(last).is_some_and(|branch| branch.is_member),
            [first, rest @ ..] => {
                self.get(first).is_some_and(|branch| branch.children.contains(rest))
            }
        }
    }

    /// Whether there are no paths.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many paths there are.
    #[must_use]
    pub fn len(&self) -> usize {
        let count =
            |node: &FieldNode| usize::from(node.branch.is_member) + node.branch.children.len();
        self.nodes.iter().map(count).sum()
    }

    /// What is in one or the other.
    #[must_use]
    pub fn union(self, other: FieldSet) -> FieldSet {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let mut nodes = Vec::with_capacity(self.nodes.len().max(other.nodes.len()));
        let mut left = self.nodes.into_iter().peekable();
        let mut right = other.nodes.into_iter().peekable();
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match a.element.cmp(&b.element) {
                Ordering::Less => nodes.extend(left.next()),
                Ordering::Greater => nodes.extend(right.next()),
                Ordering::Equal => {
                    if let (Some(a), Some(b)) = (left.next(), right.next()) {
                        let branch = a.branch.union(b.branch);
                        nodes.push(FieldNode { element: a.element, branch });
                    }
                }
            }
        }
        nodes.extend(left);
        nodes.extend(right);
        FieldSet { nodes }
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let mut nodes = Vec::new();
        let mut others = other.nodes.iter().peekable();
        for node in &self.nodes {
            let Some(other) = find_next(&mut others, &node.element) else { continue };
            let branch = Branch {
                is_member: node.branch.is_member && other.is_member,
                children: node.branch.children.intersection(&other.children),
            };
            if !branch.is_empty() {
                nodes.push(FieldNode { element: node.element.clone(), branch });
            }
        }
        FieldSet { nodes }
    }

    /// Takes out the paths of the other; what is below them stays.
    pub fn subtract(&mut self, other: &FieldSet) {
        if other.is_empty() {
            return;
        }
        let mut others = other.nodes.iter().peekable();
        self.nodes.retain_mut(|node| {
            if let Some(other) = find_next(&mut others, &node.element) {
                node.branch.is_member &= !other.is_member;
                node.branch.children.subtract(&other.children);
            }
            !node.branch.is_empty()
        });
    }

    /// Takes out the paths of the other and everything below them.
    pub fn subtract_with_children(&mut self, other: &FieldSet) {
        if other.is_empty() {
            return;
        }
        let mut others = other.nodes.iter().peekable();
        self.nodes.retain_mut(|node| {
            if let Some(other) = find_next(&mut others, &node.element) {
                if other.is_member {
                    return false;
                }
                node.branch.children.subtract_with_children(&other.children);
            }
            !node.branch.is_empty()
        });
    }

    /// Whether the other has all of it.
    #[must_use]
    pub fn is_subset_of(&self, other: &FieldSet) -> bool {
        let mut others = other.nodes.iter().peekable();
        self.nodes.iter().all(|node| {
            find_next(&mut others, &node.element).is_some_and(|other| {
                (!node.branch.is_member || other.is_member)
                    && node.branch.children.is_subset_of(&other.children)
            })
        })
    }

    /// Only the paths that no other path goes through.
    #[must_use]
    pub fn leaves(mut self) -> FieldSet {
        for node in &mut self.nodes {
            if !node.branch.children.is_empty() {
                node.branch.is_member = false;
                node.branch.children = std::mem::take(&mut node.branch.children).leaves();
            }
        }
        self
    }

    /// Calls `visit` with every path. At each level the paths that end there come first, then
    /// those that go on: the order in which conflicts are listed.
    pub fn for_each(&self, mut visit: impl FnMut(&[PathElement])) {
        self.visit(&mut Vec::new(), &mut visit);
    }

    /// The steps from here.
    pub(super) fn nodes(&self) -> &[FieldNode] {
        &self.nodes
    }

    /// The steps from here, to change what is below them; nothing may become empty.
    pub(super) fn nodes_mut(&mut self) -> &mut [FieldNode] {
        &mut self.nodes
    }

    /// What the set has from an element on.
    pub(super) fn get(&self, element: &PathElement) -> Option<&Branch> {
        let found = self.nodes.binary_search_by(|node| node.element.cmp(element));
        found.ok().map(|at| &self.nodes[at].branch)
    }

    /// The same for a field, without making an element of its name.
    pub(super) fn get_field(&self, name: &str) -> Option<&Branch> {
        let found = self.nodes.binary_search_by(|node| match &node.element {
            PathElement::Field(known) => known.as_str().cmp(name),
            _ => Ordering::Greater,
        });
        found.ok().map(|at| &self.nodes[at].branch)
    }

    /// Room for some more steps.
    pub(super) fn reserve(&mut self, count: usize) {
        self.nodes.reserve(count);
    }

    /// Adds a step above all others. An empty one is left out.
    pub(super) fn push(&mut self, element: PathElement, branch: Branch) {
        if branch.is_empty() {
            return;
        }
        debug_assert!(self.nodes.last().is_none_or(|last| last.element < element));
        self.nodes.push(FieldNode { element, branch });
    }

    /// From steps in order, each element once.
    pub(super) fn from_sorted(nodes: Vec<FieldNode>) -> FieldSet {
        debug_assert!(nodes.is_sorted_by(|a, b| a.element < b.element));
        FieldSet { nodes }
    }

    /// From steps in any order. Of several with one element the last one with children gives them.
    pub(super) fn from_unsorted(mut nodes: Vec<FieldNode>) -> FieldSet {
        if !nodes.is_sorted_by(|a, b| a.element < b.element) {
            // Stable, so that the last of several comes last.
            nodes.sort_by(|a, b| a.element.cmp(&b.element));
            nodes.dedup_by(|later, earlier| {
                let is_same = later.element == earlier.element;
                if is_same {
                    earlier.branch.is_member |= later.branch.is_member;
                    if !later.branch.children.is_empty() {
                        earlier.branch.children = std::mem::take(&mut later.branch.children);
                    }
                }
                is_same
            });
        }
        FieldSet { nodes }
    }

    /// Keeps the steps that `keep` says to; it may change what is below them.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&PathElement, &mut Branch) -> bool) {
        self.nodes
            .retain_mut(|node| keep(&node.element, &mut node.branch) && !node.branch.is_empty());
    }

    /// The branch of an element, made when it is missing.
    fn descend(&mut self, element: &PathElement) -> &mut Branch {
        let at = match self.nodes.binary_search_by(|node| node.element.cmp(element)) {
            Ok(at) => at,
            Err(at) => {
                let new = FieldNode { element: element.clone(), branch: Branch::default() };
                self.nodes.insert(at, new);
                at
            }
        };
        &mut self.nodes[at].branch
    }

    fn visit(&self, path: &mut Vec<PathElement>, visit: &mut impl FnMut(&[PathElement])) {
        for node in self.nodes.iter().filter(|node| node.branch.is_member) {
            path.push(node.element.clone());
            visit(path);
            path.pop();
        }
        for node in self.nodes.iter().filter(|node| !node.branch.children.is_empty()) {
            path.push(node.element.clone());
            node.branch.children.visit(path, visit);
            path.pop();
        }
    }
}

impl fmt::Display for FieldSet {
    /// One path a line.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = String::new();
        self.for_each(|path| {
            lines += &path_text(path);
            lines.push('\n');
        });
        out.write_str(&lines)
    }
}

/// The branch of an element, in nodes of which those before it are no longer wanted.
fn find_next<'a>(
    nodes: &mut std::iter::Peekable<std::slice::Iter<'a, FieldNode>>,
    element: &PathElement,
) -> Option<&'a Branch> {
    while let Some(node) = nodes.peek() {
        match node.element.cmp(element) {
            Ordering::Less => _ = nodes.next(),
            Ordering::Equal => return nodes.next().map(|node| &node.branch),
            Ordering::Greater => return None,
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::super::fields_v1;
    use super::*;

    /// A set from words such as `a.b`.
    fn set(words: &str) -> FieldSet {
        FieldSet::of_fields(&words.split_whitespace().collect::<Vec<_>>())
    }

    fn check(actual: &FieldSet, expect: &str) {
        assert_eq!(actual, &set(expect), "{actual}");
    }

    #[test]
    fn paths_are_members_only_when_inserted() {
        let set = set("a.b.c a d");
        assert_eq!(set.len(), 3);
        let has = |path: &str| set.contains(&PathElement::fields(path));
        assert!(has("a") && has("a.b.c") && has("d"));
        assert!(!has("a.b") && !has("c") && !set.contains(&[]) && !has("d.e"));
    }

    #[test]
    fn the_object_itself_cannot_be_a_member() {
        let mut set = FieldSet::new();
        set.insert(&[]);
        assert!(set.is_empty());
    }

    #[test]
    fn a_difference_takes_paths_but_not_what_is_below_them() {
        let mut left = set("a a.b a.b.c d e.f");
        left.subtract(&set("a a.b d.x e"));
        check(&left, "a.b.c d e.f");
    }

    #[test]
    fn a_deep_difference_takes_what_is_below_too() {
        let mut left = set("a a.b.c b.a b.c.d d e.f g.h.i");
        left.subtract_with_children(&set("a b.c d.x e.f g.h"));
        check(&left, "b.a d");
    }

    #[test]
    fn an_intersection_has_what_both_have() {
        check(&set("a a.b c.d e").intersection(&set("a.b c c.d e f")), "a.b c.d e");
        check(&set("a.b").intersection(&set("a")), "");
    }

    #[test]
    fn leaves_are_paths_that_no_other_goes_through() {
        check(&set("a a.b a.b.c d d.e f").leaves(), "a.b.c d.e f");
    }

    #[test]
    fn paths_that_end_come_before_paths_that_go_on() {
        assert_eq!(set("a.c b a a.b.d a.b").to_string(), ".a\n.b\n.a.b\n.a.c\n.a.b.d\n");
    }

    #[test]
    fn unsorted_steps_with_one_element_are_joined() {
        let node = |name: &str, below: &str, is_member| FieldNode {
            element: PathElement::field(name),
            branch: Branch { is_member, children: set(below) },
        };
        let nodes = vec![node("b", "x", false), node("a", "", true), node("b", "y", true)];
        check(&FieldSet::from_unsorted(nodes), "a b b.y");
    }

    prop_compose! {
        fn arbitrary_set()(
            paths in prop::collection::vec(prop::collection::vec(0..3_i64, 1..4), 0..12)
        ) -> FieldSet {
            let mut set = FieldSet::new();
            for path in paths {
                let elements: Vec<_> = path.into_iter().map(|at| match at {
                    0 => PathElement::field("a"),
                    1 => PathElement::Value("v".into()),
                    at => PathElement::Index(at),
                }).collect();
                set.insert(&elements);
            }
            set
        }
    }

    fn minus(mut left: FieldSet, right: &FieldSet) -> FieldSet {
        left.subtract(right);
        left
    }

    proptest! {
        #[test]
        fn sets_obey_the_algebra_of_sets(
            a in arbitrary_set(),
            b in arbitrary_set(),
            c in arbitrary_set(),
        ) {
            let both = a.intersection(&b);
            let either = a.clone().union(b.clone());
            prop_assert_eq!(&either, &b.clone().union(a.clone()));
            prop_assert_eq!(&both, &b.intersection(&a));
            let all = either.clone().union(c.clone());
            prop_assert_eq!(&all, &a.clone().union(b.clone().union(c)));
            prop_assert_eq!(either.len() + both.len(), a.len() + b.len());
            prop_assert_eq!(&both, &minus(a.clone(), &minus(a.clone(), &b)));
            prop_assert_eq!(&either, &minus(a.clone(), &b).union(b.clone()));
            prop_assert!(minus(a.clone(), &a).is_empty());
            prop_assert!(both.is_subset_of(&a) && a.is_subset_of(&either));
            prop_assert_eq!(a.is_subset_of(&b), minus(a.clone(), &b).is_empty());
            let mut deep = a.clone();
            deep.subtract_with_children(&b);
            prop_assert!(deep.is_subset_of(&minus(a.clone(), &b)));
            prop_assert!(a.clone().leaves().is_subset_of(&a));
        }

        #[test]
        fn text_and_back_is_the_same_set(a in arbitrary_set()) {
            let text = fields_v1::to_text(&a);
            prop_assert_eq!(fields_v1::parse(&text).unwrap(), a);
        }
    }
}
