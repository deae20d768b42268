//! The patch that makes one object of another.
//!
//! Follows `diffMaps`, `diffLists` and the functions around them in `strategicpatch/patch.go`, down
//! to patches that say more than they must: a map with `patch=replace` is always in the patch.
//!
//! Not followed: upstream sorts one of two lists of scalars before it looks whether their order is
//! the same. So it sets an order that did not change, and leaves one that changed to be sorted.
//!
//! Of items with the same merge key upstream's sort swaps the order, which matters for what is
//! compared with what; beyond twelve items its order is arbitrary, and here the same as below.

use std::collections::HashSet;

use super::key::{Key, KeyIndex};
use super::list::{ItemKind, item_kind};
use super::lookup::{Lookup, Rules, Strategy};
use super::order::{is_deleted, is_same_item};
use super::{
    DELETE, DELETE_FROM_PRIMITIVE_LIST, DIRECTIVE, PatchError, RETAIN_KEYS, SET_ELEMENT_ORDER,
};
use crate::go_text;
use crate::value::{Map, Str, Value};

/// What goes into a patch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DiffOptions {
    /// The order of merged lists.
    pub(super) sets_order: bool,
    /// Not what is new or different.
    pub(super) ignores_changes: bool,
    /// Not what is gone.
    pub(super) ignores_deletions: bool,
    /// Which fields of this map stay.
    pub(super) retains_keys: bool,
}

/// Makes the patch that changes `original` to `modified`.
pub(super) fn diff_maps(
    original: &Map,
    modified: &Map,
    lookup: Lookup<'_>,
    options: DiffOptions,
) -> Result<Map, PatchError> {
    let mut patch = Vec::new();
    for (key, new) in modified.entries() {
        match (original.get(key), new) {
            (None, _) if options.ignores_changes => {}
            (None, _) => patch.push((key.clone(), new.clone())),
            (Some(old), _) if key == DIRECTIVE => diff_directives(old, new, &mut patch)?,
            (Some(Value::Map(old)), Value::Map(new)) => {
                let field = diff_map_field((key, old, new), lookup, options)?;
                patch.extend(field.map(|field| (key.clone(), field)));
            }
            (Some(Value::List(old)), Value::List(new)) => {
                diff_list_field((key, old, new), lookup, options, &mut patch)?;
            }
            (Some(old), _) if options.ignores_changes || old == new => {}
            (Some(_), _) => patch.push((key.clone(), new.clone())),
        }
    }
    let gone = original.entries().iter().filter(|(key, _)| !modified.contains_key(key));
    let clears_a_value = gone.clone().any(|(_, value)| !value.is_null());
    if !options.ignores_deletions {
        patch.extend(gone.map(|(key, _)| (key.clone(), Value::Null)));
    }
    if options.retains_keys && (clears_a_value || !patch.is_empty()) {
        let kept = modified.entries().iter().filter(|(_, value)| !value.is_null());
        let kept: Vec<Value> = kept.map(|(key, _)| Value::String(key.clone())).collect();
        if !kept.is_empty() {
            patch.push((Str::const_new(RETAIN_KEYS), Value::List(kept)));
        }
    }
    Ok(Map::from_unsorted(patch))
}

fn diff_directives(
    old: &Value,
    new: &Value,
    patch: &mut Vec<(Str, Value)>,
) -> Result<(), PatchError> {
    if old.as_str().is_none() || new.as_str().is_none() {
        return Err(PatchError::Content(format!("invalid value for special key: {DIRECTIVE}")));
    }
    if old != new {
        patch.push((Str::const_new(DIRECTIVE), new.clone()));
    }
    Ok(())
}

fn diff_map_field(
    (key, old, new): (&str, &Map, &Map),
    lookup: Lookup<'_>,
    options: DiffOptions,
) -> Result<Option<Value>, PatchError> {
    let rules = match lookup.map(key) {
        Ok(rules) => rules,
        Err(_) if old == new => return Ok(None),
        Err(error) => return Err(error),
    };
    if rules.strategy == Strategy::Replace {
        return Ok((!options.ignores_changes).then(|| Value::Map(new.clone())));
    }
    let options = DiffOptions { retains_keys: rules.retains_keys, ..options };
    let patch = diff_maps(old, new, rules.inner, options)?;
    Ok((!patch.is_empty()).then_some(Value::Map(patch)))
}

fn diff_list_field(
    (key, old, new): (&Str, &[Value], &[Value]),
    lookup: Lookup<'_>,
    options: DiffOptions,
    patch: &mut Vec<(Str, Value)>,
) -> Result<(), PatchError> {
    let rules = match lookup.list(key) {
        Ok(rules) => rules,
        Err(_) if old == new => return Ok(()),
        Err(error) => return Err(error),
    };
    if rules.strategy != Strategy::Merge {
        if !options.ignores_changes && old != new {
            patch.push((key.clone(), Value::List(new.to_vec())));
        }
        return Ok(());
    }
    let diff = diff_lists(old, new, &rules, options)?;
    let mut add = |key: Str, list: Vec<Value>| {
        if !list.is_empty() {
            patch.push((key, Value::List(list)));
        }
    };
    add(key.clone(), diff.items);
    add(Str::from(format!("{DELETE_FROM_PRIMITIVE_LIST}/{key}")), diff.deleted);
    add(Str::from(format!("{SET_ELEMENT_ORDER}/{key}")), diff.order);
    Ok(())
}

/// What makes one list of another.
#[derive(Default)]
struct ListDiff {
    items: Vec<Value>,
    /// Scalars that go; maps that go are among the items.
    deleted: Vec<Value>,
    order: Vec<Value>,
}

fn diff_lists(
    original: &[Value],
    modified: &[Value],
    rules: &Rules<'_>,
    options: DiffOptions,
) -> Result<ListDiff, PatchError> {
    if original.is_empty() {
        let items = if options.ignores_changes { Vec::new() } else { modified.to_vec() };
        return Ok(ListDiff { items, ..ListDiff::default() });
    }
    match item_kind(&[original, modified])? {
        ItemKind::Map => diff_lists_of_maps(original, modified, rules, options),
        ItemKind::Scalar => diff_lists_of_scalars(original, modified, options),
    }
}

fn diff_lists_of_maps(
    original: &[Value],
    modified: &[Value],
    rules: &Rules<'_>,
    options: DiffOptions,
) -> Result<ListDiff, PatchError> {
    let merge_key = rules.merge_key;
    let options = DiffOptions { retains_keys: rules.retains_keys, ..options };
    let (mut items, mut deleted) = (Vec::new(), Vec::new());
    let olds = sort_by_merge_key(original, merge_key)?;
    let news = sort_by_merge_key(modified, merge_key)?;
    for pair in pair_up(olds, news) {
        match pair {
            (Some(old), Some(new)) => {
                let mut patch = diff_maps(old, new, rules.inner, options)?;
                if !patch.is_empty() {
                    patch.insert(merge_key, new.get(merge_key).cloned().unwrap_or_default());
                    items.push(Value::Map(patch));
                }
            }
            (None, Some(new)) if !options.ignores_changes => items.push(Value::Map(new.clone())),
            (Some(old), None) if !options.ignores_deletions => {
                let mut item = Map::with_capacity(2);
                item.insert(merge_key, old.get(merge_key).cloned().unwrap_or_default());
                item.insert(DIRECTIVE, DELETE.into());
                deleted.push(Value::Map(item));
            }
            _ => {}
        }
    }
    sort_like(&mut items, modified, merge_key)?;
    let is_same_order = is_same_order(original, modified, merge_key)?;
    items.append(&mut deleted);
    let sets_order = !options.ignores_changes && (!items.is_empty() || !is_same_order)
        || !options.ignores_deletions && !items.is_empty();
    let order = if options.sets_order && sets_order {
        modified.iter().map(|item| only_key(item, merge_key)).collect()
    } else {
        Vec::new()
    };
    Ok(ListDiff { items, deleted: Vec::new(), order })
}

/// The items by the text of their merge keys; of equal ones the last is first.
fn sort_by_merge_key<'a>(
    items: &'a [Value],
    merge_key: &str,
) -> Result<Vec<(String, &'a Map)>, PatchError> {
    let mut sorted = Vec::with_capacity(items.len());
    for item in items.iter().rev() {
        let map = item.as_map().ok_or_else(|| PatchError::bad_map(item))?;
        let Some(key) = map.get(merge_key) else {
            return Err(PatchError::no_merge_key(map, merge_key));
        };
        sorted.push((go_text::show(key), map));
    }
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(sorted)
}

/// Walks two sorted lists: what both have together, all else alone.
fn pair_up<T>(
    olds: Vec<(String, T)>,
    news: Vec<(String, T)>,
) -> impl Iterator<Item = (Option<T>, Option<T>)> {
    let mut olds = olds.into_iter().peekable();
    let mut news = news.into_iter().peekable();
    std::iter::from_fn(move || {
        let (takes_old, takes_new) = match (olds.peek(), news.peek()) {
            (None, None) => return None,
            (old, None) => (old.is_some(), false),
            (None, new) => (false, new.is_some()),
            (Some((old, _)), Some((new, _))) => (old <= new, new <= old),
        };
        let old = if takes_old { olds.next() } else { None };
        let new = if takes_new { news.next() } else { None };
        Some((old.map(|(_, old)| old), new.map(|(_, new)| new)))
    })
}

/// Sorts items as their keys come in another list; items that delete come last.
fn sort_like(items: &mut [Value], like: &[Value], merge_key: &str) -> Result<(), PatchError> {
    let key = |item: &Value| match item {
        Value::Map(map) if !merge_key.is_empty() => Key::of_item(map, merge_key),
        item => Key::of(item),
    };
    let order = like.iter().map(key).collect::<Result<KeyIndex, _>>()?;
    items.sort_by_cached_key(|item| {
        let rank = key(item).ok().and_then(|key| order.find(&key));
        let is_deleted = is_deleted(item);
        (is_deleted, rank.filter(|_| !is_deleted))
    });
    Ok(())
}

fn is_same_order(
    original: &[Value],
    modified: &[Value],
    merge_key: &str,
) -> Result<bool, PatchError> {
    if original.len() != modified.len() {
        return Ok(false);
    }
    for (old, new) in original.iter().zip(modified) {
        if !is_same_item(old, new, merge_key)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn only_key(item: &Value, merge_key: &str) -> Value {
    let mut map = Map::with_capacity(1);
    map.insert(merge_key, item.at(merge_key).clone());
    Value::Map(map)
}

fn diff_lists_of_scalars(
    original: &[Value],
    modified: &[Value],
    options: DiffOptions,
) -> Result<ListDiff, PatchError> {
    let olds = sort_by_text(original);
    let news = sort_by_text(modified);
    let (mut items, mut deleted) = (Vec::new(), Vec::new());
    for pair in pair_up(olds, news) {
        match pair {
            (None, Some(new)) if !options.ignores_changes => items.push(new.clone()),
            (Some(old), None) if !options.ignores_deletions => deleted.push(old.clone()),
            _ => {}
        }
    }
    deduplicate(&mut deleted)?;
    sort_like(&mut items, modified, "")?;
    let sets_order = !options.ignores_deletions && !deleted.is_empty()
        || !options.ignores_changes && original != modified;
    let order = if options.sets_order && sets_order { modified.to_vec() } else { Vec::new() };
    Ok(ListDiff { items, deleted, order })
}

fn sort_by_text(items: &[Value]) -> Vec<(String, &Value)> {
    let mut sorted: Vec<_> = items.iter().map(|item| (go_text::show(item), item)).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    sorted
}

/// Takes what stands twice out. The last item comes in its place, as upstream does it.
fn deduplicate(items: &mut Vec<Value>) -> Result<(), PatchError> {
    let mut seen = HashSet::with_capacity(items.len());
    let mut at = 0;
    while at < items.len() {
        if seen.insert(Key::of(&items[at])?) {
            at += 1;
        } else {
            items.swap_remove(at);
        }
    }
    Ok(())
}
