//! The live object with an applied one on top.
//!
//! Nothing is removed here: what both have becomes what the applied one says, everything else
//! stays. The items of a list keep the order of the live list as far as the applied list does not
//! say otherwise. Behaviour after `structured-merge-diff/typed` (`merge.go`).

use super::field_path::PathElement;
use super::items::listed_items;
use super::typing::{Choice, Shape};
use crate::value::{Map, Str, Value};

/// Merges two objects that fit the schema.
pub(super) fn merge(left: &Value, right: &Value, shape: &Shape<'_>) -> Value {
    let is_list = |side: &Value| side.as_list().is_some_and(|items| !items.is_empty());
    let is_map = |side: &Value| side.as_map().is_some_and(|map| !map.is_empty());
    match shape.choose(Some(right)) {
        Choice::List if !shape.is_list_atomic() && is_list(left) => match right {
            Value::List(items) => Value::List(merge_lists(left.list(), items, shape)),
            _ => left.clone(),
        },
        Choice::Map | Choice::Open if !shape.is_map_atomic() && is_map(left) => match right {
            Value::Map(right) => Value::Map(merge_maps(left.map(), right, shape)),
            _ => left.clone(),
        },
        // What the left side has not, or holds as one, is as the right side says.
        _ => right.clone(),
    }
}

fn merge_maps(left: &Map, right: &Map, shape: &Shape<'_>) -> Map {
    let mut merged: Vec<(Str, Value)> = Vec::with_capacity(left.len().max(right.len()));
    let mut rights = right.entries().iter().peekable();
    let mut cursor = shape.cursor();
    for (key, value) in left.entries() {
        while let Some(new) = rights.next_if(|(next, _)| next < key) {
            merged.push(new.clone());
        }
        let value = match rights.next_if(|(next, _)| next == key) {
            Some((_, right)) => merge(value, right, &cursor.at_known(key).shape),
            None => value.clone(),
        };
        merged.push((key.clone(), value));
    }
    merged.extend(rights.cloned());
    Map::from_sorted(merged)
}

/// Both lists of items that are told apart, item by item.
///
/// Walks both at once. An item of the left list that the right list does not have is taken where
/// it stands; one that both have is taken where the right list has it, and the right list decides
/// the order among those.
fn merge_lists(left: &[Value], right: &[Value], shape: &Shape<'_>) -> Vec<Value> {
    let item_shape = shape.item();
    let lefts = listed_items(left, shape);
    let rights = listed_items(right, shape);
    let pairs = Pairs::new(&lefts, &rights);
    let mut merged = Vec::with_capacity(lefts.len().max(rights.len()));
    let merge_at = |at: usize| match pairs.left_of_right[at] {
        Twin::One(left) => merge(lefts[left].1, rights[at].1, &item_shape),
        // Which of several it is cannot be told: all of them make place for the new one.
        Twin::None | Twin::Several => rights[at].1.clone(),
    };
    let mut shared = (0..rights.len()).filter(|at| pairs.left_of_right[*at] != Twin::None);
    let mut next_shared = shared.next();
    let (mut at_left, mut at_right) = (0, 0);
    let mut is_taken = vec![false; rights.len()];
    while at_left < lefts.len() || at_right < rights.len() {
        let twin = pairs.right_of_left.get(at_left).copied().flatten();
        if at_left < lefts.len() && at_right < rights.len() {
            if twin == Some(at_right) {
                is_taken[at_right] = true;
                merged.push(merge_at(at_right));
                at_left += 1;
                at_right += 1;
                next_shared = shared.next();
                continue;
            }
            if twin.is_some() && next_shared.is_some() && next_shared != twin {
                // The right list wants another one first.
                at_left += 1;
                continue;
            }
        }
        if at_left < lefts.len() {
            match twin {
                None => {
                    merged.push(lefts[at_left].1.clone());
                    at_left += 1;
                    continue;
                }
                Some(twin) if is_taken[twin] => at_left += 1,
                Some(_) => {}
            }
        }
        if at_right < rights.len() {
            is_taken[at_right] = true;
            merged.push(merge_at(at_right));
            if next_shared == Some(at_right) {
                next_shared = shared.next();
            }
            at_right += 1;
        }
    }
    merged
}

/// Which items of two lists have the same element. The right list has each element once.
struct Pairs {
    /// For every item of the left list the place of its twin.
    right_of_left: Vec<Option<usize>>,
    /// For every item of the right list the place of its twin.
    left_of_right: Vec<Twin>,
}

#[derive(Clone, Copy, PartialEq)]
enum Twin {
    None,
    One(usize),
    Several,
}

impl Pairs {
    fn new(lefts: &[(PathElement, &Value)], rights: &[(PathElement, &Value)]) -> Pairs {
        let mut sorted: Vec<usize> = (0..rights.len()).collect();
        sorted.sort_by(|a, b| rights[*a].0.cmp(&rights[*b].0));
        let find = |element: &PathElement| {
            let found = sorted.binary_search_by(|at| rights[*at].0.cmp(element));
            found.ok().map(|at| sorted[at])
        };
        let right_of_left: Vec<_> = lefts.iter().map(|(element, _)| find(element)).collect();
        let mut left_of_right = vec![Twin::None; rights.len()];
        for (left, right) in right_of_left.iter().enumerate() {
            if let Some(right) = right {
                left_of_right[*right] = match left_of_right[*right] {
                    Twin::None => Twin::One(left),
                    Twin::One(_) | Twin::Several => Twin::Several,
                };
            }
        }
        Pairs { right_of_left, left_of_right }
    }
}
