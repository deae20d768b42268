//! Parts of an object: without the fields of a set, or with nothing else.
//!
//! What becomes empty by it becomes null, not an empty list or map: nobody has set it. Behaviour
//! after `structured-merge-diff/typed` (`remove.go`).

use super::field_set::{Branch, FieldSet};
use super::items::listed_items;
use super::typing::{Choice, Shape};
use crate::value::{Map, Str, Value};

/// The object without the fields of a set.
pub(super) fn remove_fields(value: &Value, fields: &FieldSet, shape: &Shape<'_>) -> Value {
    match (shape.choose(Some(value)), value) {
        (Choice::Scalar, scalar) => scalar.clone(),
        (Choice::List, Value::List(items)) if !shape.is_list_atomic() => {
            remove_items(items, fields, shape)
        }
        (Choice::Map | Choice::Open, Value::Map(map)) if !shape.is_map_atomic() => {
            remove_keys(map, fields, shape)
        }
        // Parts of what is one thing cannot go alone.
        _ => Value::Null,
    }
}

/// Only the fields of a set, which should be its leaves.
pub(super) fn extract_fields(value: &Value, fields: &FieldSet, shape: &Shape<'_>) -> Value {
    match (shape.choose(Some(value)), value) {
        (Choice::List, Value::List(items)) if !shape.is_list_atomic() && !items.is_empty() => {
            extract_items(items, fields, shape)
        }
        (Choice::Map | Choice::Open, Value::Map(map))
            if !shape.is_map_atomic() && !map.is_empty() =>
        {
            extract_keys(map, fields, shape)
        }
        (Choice::List, Value::List(_)) | (Choice::Map | Choice::Open, Value::Map(_)) => {
            value.clone()
        }
        (Choice::Scalar, scalar) => scalar.clone(),
        _ => Value::Null,
    }
}

fn remove_items(items: &[Value], fields: &FieldSet, shape: &Shape<'_>) -> Value {
    let item_shape = shape.item();
    let mut kept = Vec::with_capacity(items.len());
    for (element, item) in listed_items(items, shape) {
        match fields.get(&element) {
            None => kept.push(item.clone()),
            Some(branch) if branch.is_member => {}
            Some(branch) => kept.push(remove_fields(item, &branch.children, &item_shape)),
        }
    }
    list_or_null(kept)
}

fn remove_keys(map: &Map, fields: &FieldSet, shape: &Shape<'_>) -> Value {
    let mut kept = Vec::with_capacity(map.len());
    let mut cursor = shape.cursor();
    for (key, value) in map.entries() {
        let value = match fields.get_field(key) {
            None => value.clone(),
            Some(branch) if branch.is_member => continue,
            Some(branch) => remove_fields(value, &branch.children, &cursor.at_known(key).shape),
        };
        kept.push((key.clone(), value));
    }
    map_or_null(kept)
}

fn extract_items(items: &[Value], fields: &FieldSet, shape: &Shape<'_>) -> Value {
    let item_shape = shape.item();
    let mut kept = Vec::new();
    for (element, item) in listed_items(items, shape) {
        match fields.get(&element) {
            None => {}
            Some(Branch { children, .. }) if children.is_empty() => kept.push(item.clone()),
            Some(branch) => kept.push(extract_fields(item, &branch.children, &item_shape)),
        }
    }
    list_or_null(kept)
}

fn extract_keys(map: &Map, fields: &FieldSet, shape: &Shape<'_>) -> Value {
    let mut kept = Vec::new();
    let mut cursor = shape.cursor();
    for (key, value) in map.entries() {
        let Some(branch) = fields.get_field(key) else { continue };
        // Upstream looks below a member for what the set has beside it, and so takes from others
        // what is named alike. Not so here.
        let below = &branch.children;
        kept.push((key.clone(), extract_fields(value, below, &cursor.at_known(key).shape)));
    }
    map_or_null(kept)
}

fn list_or_null(items: Vec<Value>) -> Value {
    if items.is_empty() { Value::Null } else { Value::List(items) }
}

fn map_or_null(entries: Vec<(Str, Value)>) -> Value {
    if entries.is_empty() { Value::Null } else { Value::Map(Map::from_sorted(entries)) }
}
