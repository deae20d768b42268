//! Whether two patches treat a field differently.
//!
//! Follows `MergingMapsHaveConflicts` of `strategicpatch/patch.go`.

use std::collections::BTreeMap;

use super::key::Key;
use super::list::{ItemKind, item_kind};
use super::lookup::{Lookup, Rules, Strategy};
use super::{DIRECTIVE, PatchError, RETAIN_KEYS};
use crate::go_text;
use crate::value::{Map, Value};

/// Whether two patches treat a field differently.
pub(super) fn have_conflicts(
    left: &Map,
    right: &Map,
    lookup: Lookup<'_>,
) -> Result<bool, PatchError> {
    maps_have_conflicts(left, right, lookup, Strategy::Unsaid)
}

fn maps_have_conflicts(
    left: &Map,
    right: &Map,
    lookup: Lookup<'_>,
    strategy: Strategy,
) -> Result<bool, PatchError> {
    // A directive is for the whole map: two patches must have the same one.
    if left.get(DIRECTIVE) != right.get(DIRECTIVE) {
        return Ok(true);
    }
    if strategy == Strategy::Replace {
        return Ok(false);
    }
    for (key, left) in left.iter() {
        if key == DIRECTIVE || key == RETAIN_KEYS {
            continue;
        }
        let Some(right) = right.get(key) else { continue };
        if fields_have_conflicts(key, left, right, lookup)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn fields_have_conflicts(
    key: &str,
    left: &Value,
    right: &Value,
    lookup: Lookup<'_>,
) -> Result<bool, PatchError> {
    match left {
        Value::Map(left) => {
            let rules = lookup.map(key)?;
            match right {
                Value::Map(right) => maps_have_conflicts(left, right, rules.inner, rules.strategy),
                _ => Ok(true),
            }
        }
        Value::List(left) => {
            let rules = lookup.list(key)?;
            match right {
                Value::List(right) => lists_have_conflicts(left, right, &rules),
                _ => Ok(true),
            }
        }
        left => Ok(left != right),
    }
}

fn lists_have_conflicts(
    left: &[Value],
    right: &[Value],
    rules: &Rules<'_>,
) -> Result<bool, PatchError> {
    let kind = item_kind(&[left, right])?;
    if rules.strategy == Strategy::Merge {
        return match kind {
            ItemKind::Map => merged_lists_have_conflicts(left, right, rules),
            ItemKind::Scalar => Ok(false),
        };
    }
    if left.len() != right.len() {
        return Ok(true);
    }
    if kind == ItemKind::Scalar {
        let (left, right) = (sort(left), sort(right));
        return Ok(!right.starts_with(&left));
    }
    for (left, right) in left.iter().zip(right) {
        if maps_have_conflicts(left.map(), right.map(), rules.inner, Strategy::Unsaid)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The text of each scalar, sorted, once.
fn sort(items: &[Value]) -> Vec<String> {
    let mut texts: Vec<String> = items.iter().map(go_text::show).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn merged_lists_have_conflicts(
    left: &[Value],
    right: &[Value],
    rules: &Rules<'_>,
) -> Result<bool, PatchError> {
    let left = by_merge_key(left, rules.merge_key)?;
    let right = by_merge_key(right, rules.merge_key)?;
    for (key, left) in left {
        let Some(right) = right.get(&key) else { continue };
        if maps_have_conflicts(left, right, rules.inner, Strategy::Unsaid)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The items by merge key; of several with the same key the last one.
fn by_merge_key<'a>(
    items: &'a [Value],
    merge_key: &str,
) -> Result<BTreeMap<Key, &'a Map>, PatchError> {
    let mut by_key = BTreeMap::new();
    for item in items {
        let Some(key) = item.get(merge_key) else {
            return Err(PatchError::Content(format!(
                "cannot find merge key `{merge_key}` in merging list element:{}",
                go_text::show(item)
            )));
        };
        by_key.insert(Key::of(key)?, item.map());
    }
    Ok(by_key)
}
