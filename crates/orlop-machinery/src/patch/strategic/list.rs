//! Merging a list of a patch into a list of an object.
//!
//! Follows `mergeSlice` and the functions around it in `strategicpatch/patch.go`.

use std::collections::HashSet;

use super::key::{Key, KeyIndex};
use super::lookup::{Rules, Strategy};
use super::map::{merge_map, remove_directives};
use super::order::{arrange, check_order};
use super::{DELETE, DIRECTIVE, MERGE, Mode, PatchError, REPLACE};
use crate::go_text;
use crate::value::{Map, Value};

/// A merged list.
pub(super) struct Merged {
    pub(super) items: Vec<Value>,
    /// How upstream remembers the order of the list before it was merged: Go's slice still has
    /// the old length, but items that were deleted from it have made room for new ones.
    order: KeyIndex,
}

/// What the items of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Map,
    Scalar,
}

/// The kind of all items of some lists.
pub(super) fn item_kind(lists: &[&[Value]]) -> Result<ItemKind, PatchError> {
    let mut items = lists.iter().flat_map(|list| list.iter());
    let Some(first) = items.next() else {
        return Err(PatchError::Content("no elements in any of the given slices".into()));
    };
    if matches!(first, Value::List(_)) {
        return Err(PatchError::ListOfLists);
    }
    let kind = std::mem::discriminant(first);
    // Upstream panics when the first one is null.
    if first.is_null() || items.any(|item| std::mem::discriminant(item) != kind) {
        return Err(PatchError::Content(format!(
            "list element types are not identical: {}",
            go_text::show_lists(lists)
        )));
    }
    Ok(if matches!(first, Value::Map(_)) { ItemKind::Map } else { ItemKind::Scalar })
}

/// Merges the patch into the original.
pub(super) fn merge_list(
    original: Vec<Value>,
    patch: Vec<Value>,
    rules: &Rules<'_>,
    mode: Mode,
) -> Result<Merged, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(Merged { items: original, order: KeyIndex::default() });
    }
    match item_kind(&[&original, &patch])? {
        ItemKind::Map => merge_maps(original, patch, rules, mode),
        ItemKind::Scalar => merge_scalars(original, patch, rules),
    }
}

/// Takes the items of the patch out of the original.
pub(super) fn delete_items(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    rules: &Rules<'_>,
    mode: Mode,
) -> Result<Vec<Value>, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if item_kind(&[&original, &patch])? == ItemKind::Map {
        // The directive is for scalars; upstream takes it for a list to merge then.
        return Ok(merge_maps(original, patch, rules, mode)?.items);
    }
    let deleted = patch.iter().map(Key::of).collect::<Result<HashSet<_>, _>>()?;
    original.retain(|item| Key::of(item).is_ok_and(|key| !deleted.contains(&key)));
    Ok(original)
}

fn merge_scalars(
    original: Vec<Value>,
    patch: Vec<Value>,
    rules: &Rules<'_>,
) -> Result<Merged, PatchError> {
    if !rules.merge_key.is_empty() {
        let first = original.first().or(patch.first()).unwrap_or(&Value::Null);
        return Err(PatchError::bad_map(first));
    }
    let order = keys_of(&original, "")?;
    let wanted = keys_of(&patch, "")?;
    let mut seen = HashSet::with_capacity(original.len() + patch.len());
    let mut items = Vec::with_capacity(original.len() + patch.len());
    for item in original.into_iter().chain(patch) {
        let key = Key::of(&item)?;
        if seen.insert(key.clone()) {
            items.push((key, item));
        }
    }
    Ok(Merged { items: arrange(items, &wanted, &order), order })
}

fn merge_maps(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    rules: &Rules<'_>,
    mode: Mode,
) -> Result<Merged, PatchError> {
    let merge_key = rules.merge_key;
    if merge_key.is_empty() {
        let kind = rules.inner.kind();
        return Err(PatchError::Schema(format!("cannot merge lists without merge key for {kind}")));
    }
    let len_before = original.len();
    let Special { deleted, replaces, rest } = split_special(patch, merge_key)?;
    if !deleted.is_empty() {
        original.retain(|item| {
            let key = item.get(merge_key).and_then(|key| Key::of(key).ok());
            !key.is_some_and(|key| deleted.contains(&key))
        });
    }
    let order = keys_of(&original, merge_key)?;
    if replaces {
        let items: Vec<Value> = rest.into_iter().map(Value::Map).collect();
        let own = keys_of(&items, merge_key)?;
        let items = arrange(with_keys(items, merge_key)?, &KeyIndex::default(), &own);
        return Ok(Merged { items, order });
    }
    let mut items = original;
    let mut known = keys_of(&items, merge_key)?;
    let mut wanted = Vec::with_capacity(rest.len());
    for item in rest {
        let key = Key::of_item(&item, merge_key)?;
        wanted.push(Some(key.clone()));
        match known.find(&key) {
            Some(at) => {
                let Value::Map(old) = items[at].take() else {
                    unreachable!("all items are maps: their kind was looked at")
                };
                items[at] = Value::Map(merge_map(old, item, rules.inner, mode)?);
            }
            None => {
                known.push(key);
                items.push(Value::Map(item));
            }
        }
    }
    let items = arrange(with_keys(items, merge_key)?, &KeyIndex::new(wanted), &order);
    known.truncate(len_before);
    Ok(Merged { items, order: known })
}

/// A list of a patch, without the items that are directives.
struct Special {
    deleted: HashSet<Key>,
    replaces: bool,
    rest: Vec<Map>,
}

fn split_special(patch: Vec<Value>, merge_key: &str) -> Result<Special, PatchError> {
    let mut special =
        Special { deleted: HashSet::new(), replaces: false, rest: Vec::with_capacity(patch.len()) };
    for item in patch {
        let Value::Map(item) = item else { return Err(PatchError::bad_map(&item)) };
        match item.get(DIRECTIVE).map(|directive| (directive, directive.as_str())) {
            None => special.rest.push(item),
            Some((_, Some(DELETE))) => {
                special.deleted.insert(Key::of_item(&item, merge_key)?);
            }
            Some((_, Some(REPLACE))) => special.replaces = true,
            Some((_, Some(MERGE))) => {
                let message = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Content(message.into()));
            }
            Some((directive, _)) => return Err(PatchError::bad_directive(directive, &item)),
        }
    }
    Ok(special)
}

/// Brings a list into the order that the patch asks for, and merges the list of the patch into
/// it on the way. Nothing when there is no list.
pub(super) fn set_order(
    old: Option<Vec<Value>>,
    new: Option<Vec<Value>>,
    wanted: &[Value],
    rules: &Rules<'_>,
    mode: Mode,
) -> Result<Option<Vec<Value>>, PatchError> {
    let merge_key = rules.merge_key;
    let old_items = old.as_deref().unwrap_or_default();
    let new_items = new.as_deref().unwrap_or_default();
    check_order(new_items, wanted, merge_key)?;
    let kind = item_kind(&[old_items, new_items]);
    let merged = match (old, new) {
        (None, None) => return Ok(None),
        (Some(items), None) => Merged { order: keys_of(&items, merge_key)?, items },
        (None, Some(mut items)) => {
            items.retain_mut(remove_directives);
            Merged { items, order: KeyIndex::default() }
        }
        (Some(old), Some(new)) if rules.strategy == Strategy::Merge => {
            merge_list(old, new, rules, mode)?
        }
        (Some(old), Some(items)) => {
            kind.clone()?;
            Merged { order: keys_of(&old, merge_key)?, items }
        }
    };
    let items = with_keys(merged.items, merge_key)?;
    let wanted_keys = if merge_key.is_empty() {
        keys_of(wanted, "")?
    } else {
        keys_of_order(wanted, merge_key, &items)?
    };
    if kind? == ItemKind::Map {
        for item in wanted {
            let map = item.as_map().ok_or_else(|| PatchError::bad_map(item))?;
            Key::of_item(map, merge_key)?;
        }
    }
    Ok(Some(arrange(items, &wanted_keys, &merged.order)))
}

/// The keys of a wanted order. Upstream stops at what is no map while it looks for an item.
fn keys_of_order(
    wanted: &[Value],
    merge_key: &str,
    items: &[(Key, Value)],
) -> Result<KeyIndex, PatchError> {
    let Some(bad) = wanted.iter().position(|item| item.as_map().is_none()) else {
        return keys_of(wanted, merge_key);
    };
    let before = keys_of(&wanted[..bad], merge_key)?;
    if items.iter().any(|(key, _)| before.find(key).is_none()) {
        return Err(PatchError::Content(format!("value for key {bad} is not a map")));
    }
    Ok(before)
}

/// The key of each item: the item itself when there is no merge key.
fn keys_of(items: &[Value], merge_key: &str) -> Result<KeyIndex, PatchError> {
    let key = |item: &Value| match item {
        item if merge_key.is_empty() => Key::of(item).map(Some),
        item => item.get(merge_key).map(Key::of).transpose(),
    };
    Ok(KeyIndex::new(items.iter().map(key).collect::<Result<_, _>>()?))
}

/// Each item with its key, which it must have.
fn with_keys(items: Vec<Value>, merge_key: &str) -> Result<Vec<(Key, Value)>, PatchError> {
    let key = |item: Value| match &item {
        _ if merge_key.is_empty() => Ok((Key::of(&item)?, item)),
        Value::Map(map) => Ok((Key::of_item(map, merge_key)?, item)),
        _ => Err(PatchError::bad_map(&item)),
    };
    items.into_iter().map(key).collect()
}
