//! What changed between two objects, field by field.
//!
//! A field is in one of the three sets at most: what the right object lost, changed, or gained.
//! The order of items does not matter. Behaviour after `structured-merge-diff/typed`
//! (`compare.go`).

use std::cmp::Ordering;

use super::field_path::PathElement;
use super::field_set::{Branch, FieldSet};
use super::items::{Same, sorted_items};
use super::owned_fields::all_paths;
use super::typing::{Choice, Shape, is_without_parts};
use super::value_order;
use crate::value::{Str, Value, compare_keys};

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
}

fn compare_values(left: Option<&Value>, right: Option<&Value>, shape: &Shape<'_>) -> Delta {
    match (left, right) {
        (Some(left), Some(right)) => compare_both(left, right, shape),
        (Some(left), None) => Delta { removed: all_paths(left, shape), ..Delta::default() },
        (None, Some(right)) => Delta { added: all_paths(right, shape), ..Delta::default() },
        (None, None) => Delta::default(),
    }
}

fn compare_both(left: &Value, right: &Value, shape: &Shape<'_>) -> Delta {
    let (left_choice, right_choice) = (shape.choose(Some(left)), shape.choose(Some(right)));
    let as_right = compare_as(right_choice, left, right, shape);
    if left_choice == right_choice {
        return as_right;
    }
    // What the left side was is gone; what the right side is has changed.
    compare_as(left_choice, left, right, shape).union(as_right)
}

fn compare_as(choice: Choice, left: &Value, right: &Value, shape: &Shape<'_>) -> Delta {
    match choice {
        Choice::List if !shape.is_list_atomic() => match (left.list(), right.list()) {
            ([], []) => compare_leaves(left, right),
            // Mostly nothing has changed, and to see that is cheaper than to sort the items.
            (left, right) if equal_lists(left, right) => Delta::default(),
            (left, right) => compare_lists(left, right, shape),
        },
        Choice::Map | Choice::Open if !shape.is_map_atomic() => {
            match (left.map().entries(), right.map().entries()) {
                ([], []) => compare_leaves(left, right),
                (left, right) => compare_maps(left, right, shape),
            }
        }
        _ => compare_leaves(left, right),
    }
}

fn compare_leaves(left: &Value, right: &Value) -> Delta {
    let mut delta = Delta::default();
    delta.modified.is_member = !value_order::equal(left, right);
    delta
}

fn equal_lists(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| value_order::equal(left, right))
}

fn compare_maps(left: &[(Str, Value)], right: &[(Str, Value)], shape: &Shape<'_>) -> Delta {
    let mut delta = Delta::default();
    if left.is_empty() {
        delta.added.children.reserve(right.len());
    }
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut cursor = shape.cursor();
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return delta,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((left, _)), Some((right, _))) => compare_keys(left, right),
        };
        let from_left = if order.is_le() { left.next() } else { None };
        let from_right = if order.is_ge() { right.next() } else { None };
        let Some((key, _)) = from_left.or(from_right) else { return delta };
        let below = match (from_left, from_right) {
            (Some((_, left)), Some((_, right)))
                if is_without_parts(left) && is_without_parts(right) =>
            {
                if value_order::equal(left, right) {
                    continue;
                }
                compare_leaves(left, right)
            }
            (left, right) => compare_values(
                left.map(|(_, value)| value),
                right.map(|(_, value)| value),
                &cursor.at_known(key).shape,
            ),
        };
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
        delta.push(element, compare_items(left.as_ref(), right.as_ref(), &item_shape));
    }
}

/// Compares items with the same element. Several on one side are one thing as a whole.
fn compare_items(left: Option<&Same<'_>>, right: Option<&Same<'_>>, shape: &Shape<'_>) -> Delta {
    let mut delta = compare_values(only_of(left), only_of(right), shape);
    match (left, right) {
        (Some(Same::Several(left)), Some(Same::Several(right))) => {
            let pairs = left.iter().zip(right);
            let is_same = left.len() == right.len()
                && pairs.into_iter().all(|(left, right)| value_order::equal(left, right));
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
