//! What changed between two objects, field by field.
//!
//! A field is in one of the three sets at most: what the right object lost, changed, or gained.
//! The order of items does not matter. Behaviour after `structured-merge-diff/typed`
//! (`compare.go`).

use std::cmp::Ordering;

use super::field_path::PathElement;
use super::field_set::{Branch, FieldSet};
use super::items::{Same, sorted_items};
use super::typing::{Choice, Shape};
use super::value_order;
use crate::value::{Map, Str, Value};

/// What changed from the left object to the right one.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    /// Only the left one has it.
    pub(super) removed: FieldSet,
    /// Both have it, differently.
    pub(super) modified: FieldSet,
    /// Only the right one has it.
    pub(super) added: FieldSet,
}

/// Compares two objects that fit the schema.
pub(super) fn compare(left: &Value, right: &Value, shape: &Shape<'_>) -> Comparison {
    let delta = compare_values(Some(left), Some(right), shape);
    Comparison {
        removed: delta.removed.children,
        modified: delta.modified.children,
        added: delta.added.children,
    }
}

/// What changed from one path on.
#[derive(Default)]
struct Delta {
    removed: Branch,
    modified: Branch,
    added: Branch,
}

impl Delta {
    fn union(self, other: Delta) -> Delta {
        Delta {
            removed: self.removed.union(other.removed),
            modified: self.modified.union(other.modified),
            added: self.added.union(other.added),
        }
    }

    /// Adds what changed below an element that is above all others so far.
    fn push(&mut self, element: PathElement, below: Delta) {
        let pairs = [
            (&mut self.removed, below.removed),
            (&mut self.modified, below.modified),
            (&mut self.added, below.added),
        ];
        let mut waiting: Option<(&mut Branch, Branch)> = None;
        for (branch, below) in pairs {
            if below.is_empty() {
                continue;
            }
            if let Some((branch, below)) = waiting.replace((branch, below)) {
                branch.children.push(element.clone(), below);
            }
        }
        if let Some((branch, below)) = waiting {
            branch.children.push(element, below);
        }
    }

    /// Marks the path itself as gained or lost when one side has nothing there.
    fn mark(&mut self, left: Option<&Value>, right: Option<&Value>) {
        self.added.is_member |= left.is_none();
        self.removed.is_member |= left.is_some() && right.is_none();
    }
}

fn compare_values(left: Option<&Value>, right: Option<&Value>, shape: &Shape<'_>) -> Delta {
    let (left_choice, right_choice) = (shape.choose(left), shape.choose(right));
    if right.is_none() || left.is_none() || left_choice == right_choice {
        let choice = if right.is_none() { left_choice } else { right_choice };
        return compare_as(choice, left, right, shape);
    }
    // What the left side was is gone; what the right side is has changed.
    let before = compare_as(left_choice, left, right, shape);
    before.union(compare_as(right_choice, left, right, shape))
}

fn compare_as(
    choice: Choice,
    left: Option<&Value>,
    right: Option<&Value>,
    shape: &Shape<'_>,
) -> Delta {
    match choice {
        Choice::Scalar => compare_leaves(left, right),
        Choice::List => {
            let is_empty = items_of(left).is_empty() && items_of(right).is_empty();
            if shape.is_list_atomic() || is_empty {
                return compare_leaves(left, right);
            }
            let mut delta = compare_lists(items_of(left), items_of(right), shape);
            delta.mark(left, right);
            delta
        }
        Choice::Map | Choice::Open => {
            let is_empty = entries_of(left).is_empty() && entries_of(right).is_empty();
            if shape.is_map_atomic() || is_empty {
                return compare_leaves(left, right);
            }
            let mut delta = compare_maps(entries_of(left), entries_of(right), shape);
            delta.mark(left, right);
            delta
        }
    }
}

/// The items of a list; of anything else none.
fn items_of(side: Option<&Value>) -> &[Value] {
    side.and_then(Value::as_list).unwrap_or_default()
}

/// The entries of a map; of anything else none.
fn entries_of(side: Option<&Value>) -> &[(Str, Value)] {
    side.and_then(Value::as_map).map(Map::entries).unwrap_or_default()
}

fn compare_leaves(left: Option<&Value>, right: Option<&Value>) -> Delta {
    let mut delta = Delta::default();
    match (left, right) {
        (Some(left), Some(right)) => {
            delta.modified.is_member = !value_order::equal(left, right);
        }
        (left, right) => delta.mark(left, right),
    }
    delta
}

fn compare_maps(left: &[(Str, Value)], right: &[(Str, Value)], shape: &Shape<'_>) -> Delta {
    let mut delta = Delta::default();
    if left.is_empty() {
        delta.added.children.reserve(right.len());
    }
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return delta,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((left, _)), Some((right, _))) => left.cmp(right),
        };
        let from_left = if order.is_le() { left.next() } else { None };
        let from_right = if order.is_ge() { right.next() } else { None };
        let Some((key, _)) = from_left.or(from_right) else { return delta };
        let below = compare_values(
            from_left.map(|(_, value)| value),
            from_right.map(|(_, value)| value),
            &shape.at_known(key),
        );
        delta.push(PathElement::Field(key.clone()), below);
    }
}

fn compare_lists(left: &[Value], right: &[Value], shape: &Shape<'_>) -> Delta {
    let mut left = sorted_items(left, shape).peekable();
    let mut right = sorted_items(right, shape).peekable();
    let item_shape = shape.item();
    let mut delta = Delta::default();
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return delta,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((left, _)), Some((right, _))) => left.cmp(right),
        };
        let from_left = if order.is_le() { left.next() } else { None };
        let from_right = if order.is_ge() { right.next() } else { None };
        let (element, left, right) = match (from_left, from_right) {
            (Some((element, left)), None) => (element, Some(left), None),
            (Some((element, left)), Some((_, right))) => (element, Some(left), Some(right)),
            (None, Some((element, right))) => (element, None, Some(right)),
            (None, None) => return delta,
        };
        delta.push(element, compare_items(left, right, &item_shape));
    }
}

/// Compares items with the same element. Several on one side are one thing as a whole.
fn compare_items(left: Option<Same<'_>>, right: Option<Same<'_>>, shape: &Shape<'_>) -> Delta {
    let mut delta = match (only_of(left.as_ref()), only_of(right.as_ref())) {
        (None, None) => Delta::default(),
        (left, right) => compare_values(left, right, shape),
    };
    match (&left, &right) {
        (Some(Same::Several(left)), Some(Same::Several(right))) => {
            let is_same = left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| value_order::equal(left, right));
            delta.modified.is_member |= !is_same;
        }
        (Some(Same::Several(_)), _) => delta.removed.is_member = true,
        (_, Some(Same::Several(_))) => delta.added.is_member = true,
        _ => {}
    }
    delta
}

fn only_of<'a>(same: Option<&Same<'a>>) -> Option<&'a Value> {
    match same {
        Some(Same::One(item)) => Some(item),
        _ => None,
    }
}
