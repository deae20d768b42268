//! The fields that an object mentions: what its applier will own, or its updater.
//!
//! Scalars and what changes as a whole count as one field each; items of lists and keys of maps
//! count themselves beside what is in them; structs count only through their fields, unless they
//! are empty. Behaviour after `structured-merge-diff/typed` (`tofieldset.go`) and
//! `structured-merge-diff/fieldpath` (`set.go`: `EnsureNamedFieldsAreMembers`).

use super::field_path::PathElement;
use super::field_set::{Branch, FieldSet};
use super::items::{Same, sorted_items};
use super::typing::{Choice, Shape, is_without_parts};
use crate::value::{Map, Value};

/// The fields of an object that fits its schema.
pub(super) fn owned_fields(value: &Value, shape: &Shape<'_>) -> FieldSet {
    branch(value, shape).children
}

/// Every path of an object that fits its schema, the way to its fields included: what somebody
/// gains or loses who writes all of it.
pub(super) fn all_paths(value: &Value, shape: &Shape<'_>) -> Branch {
    let mut all = Branch::leaf();
    match (shape.choose(Some(value)), value) {
        (Choice::List, Value::List(items)) if !shape.is_list_atomic() => {
            let item_shape = shape.item();
            all.children.reserve(items.len());
            for (element, items) in sorted_items(items, shape) {
                all.children.push(
                    element,
                    match items {
                        Same::One(item) => all_paths(item, &item_shape),
                        Same::Several(_) => Branch::leaf(),
                    },
                );
            }
        }
        (Choice::Map | Choice::Open, Value::Map(map)) if !shape.is_map_atomic() => {
            all.children.reserve(map.len());
            let mut cursor = shape.cursor();
            for (key, value) in map.entries() {
                let below = match is_without_parts(value) {
                    true => Branch::leaf(),
                    false => all_paths(value, &cursor.at_known(key).shape),
                };
                all.children.push(PathElement::Field(key.clone()), below);
            }
        }
        _ => {}
    }
    all
}

/// Makes the structs on the way to a field members too, where the schema declares them as fields.
pub(super) fn add_named_fields(set: &mut FieldSet, shape: &Shape<'_>) {
    let mut cursor = shape.cursor();
    for node in set.nodes_mut() {
        if node.branch.children.is_empty() {
            continue;
        }
        if let Some(below) = cursor.below(&node.element) {
            node.branch.is_member |= below.is_declared;
            add_named_fields(&mut node.branch.children, &below.shape);
        }
    }
}

fn branch(value: &Value, shape: &Shape<'_>) -> Branch {
    match (shape.choose(Some(value)), value) {
        (Choice::Scalar, _) => Branch::leaf(),
        (Choice::List, _) if shape.is_list_atomic() => Branch::leaf(),
        (Choice::Map | Choice::Open, _) if shape.is_map_atomic() => Branch::leaf(),
        (Choice::List, Value::List(items)) => branch_of_list(items, shape),
        (Choice::Map | Choice::Open, Value::Map(map)) => branch_of_map(map, shape),
        _ => Branch::default(),
    }
}

fn branch_of_map(map: &Map, shape: &Shape<'_>) -> Branch {
    let mut children = FieldSet::new();
    children.reserve(map.len());
    let mut cursor = shape.cursor();
    for (key, value) in map.entries() {
        let below = match is_without_parts(value) {
            true => Branch::leaf(),
            false => {
                let place = cursor.at_known(key);
                let mut below = branch(value, &place.shape);
                let is_empty = value.as_map().is_some_and(Map::is_empty);
                below.is_member |= is_empty || !place.is_declared;
                below
            }
        };
        children.push(PathElement::Field(key.clone()), below);
    }
    Branch { is_member: false, children }
}

fn branch_of_list(items: &[Value], shape: &Shape<'_>) -> Branch {
    let item_shape = shape.item();
    let mut children = FieldSet::new();
    children.reserve(items.len());
    for (element, items) in sorted_items(items, shape) {
        // Of items that cannot be told apart only that they are there is owned.
        let mut below = match items {
            Same::One(item) => branch(item, &item_shape),
            Same::Several(_) => Branch::default(),
        };
        below.is_member = true;
        children.push(element, below);
    }
    Branch { is_member: false, children }
}
