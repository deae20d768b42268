//! The order of a merged list.
//!
//! Items of the patch come in the order that the patch wants, all others in the order that the
//! list had; both are shuffled into each other by the old order, and where that says nothing the
//! items of the patch come first.
//!
//! Follows `normalizeElementOrder`, `mergeSortedSlice` and `validatePatchWithSetOrderList` of
//! `strategicpatch/patch.go`.

use super::key::{Key, KeyIndex};
use super::{DELETE, DIRECTIVE, PatchError, SET_ELEMENT_ORDER};
use crate::go_text::show_list;
use crate::value::Value;

/// Brings items into order: those in `wanted` as it says, all others as `before` says.
pub(super) fn arrange(
    items: Vec<(Key, Value)>,
    wanted: &KeyIndex,
    before: &KeyIndex,
) -> Vec<Value> {
    let mut from_patch = Vec::new();
    let mut others = Vec::with_capacity(items.len());
    for (key, value) in items {
        let before = before.find(&key);
        match wanted.find(&key) {
            Some(rank) => from_patch.push(Placed { rank: Some(rank), before, value }),
            None => others.push(Placed { rank: before, before, value }),
        }
    }
    sort(&mut from_patch);
    sort(&mut others);
    shuffle(others, from_patch)
}

/// An item on its way.
struct Placed {
    /// Where it is among its own.
    rank: Option<usize>,
    /// Where it was in the list.
    before: Option<usize>,
    value: Value,
}

/// Sorts by rank; items that a patch deletes come last.
fn sort(items: &mut Vec<Placed>) {
    let deleted: Vec<Placed> = items.extract_if(.., |item| is_deleted(&item.value)).collect();
    let has_unranked = items.iter().any(|item| item.rank.is_none());
    if has_unranked && items.len() <= INSERTION_MAX {
        sort_by_insertion(items);
    } else {
        items.sort_by_key(|item| item.rank);
    }
    items.extend(deleted);
}

/// Up to here Go's stable sort inserts items one by one.
const INSERTION_MAX: usize = 20;

/// Sorts as Go does with upstream's comparison, which says of an item without rank that it comes
/// before and after every other: then the algorithm decides. Only an empty order in the patch lets
/// items without rank get here.
fn sort_by_insertion(items: &mut [Placed]) {
    let is_before = |a: &Placed, b: &Placed| a.rank.zip(b.rank).is_none_or(|(a, b)| a < b);
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && is_before(&items[at], &items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Whether the item of a patch deletes an item.
pub(super) fn is_deleted(item: &Value) -> bool {
    item.get(DIRECTIVE).is_some_and(|directive| directive.as_str() == Some(DELETE))
}

fn shuffle(others: Vec<Placed>, from_patch: Vec<Placed>) -> Vec<Value> {
    let mut out = Vec::with_capacity(others.len() + from_patch.len());
    let mut others = others.into_iter().peekable();
    for item in from_patch {
        let is_before = |other: &Placed| other.before.zip(item.before).is_some_and(|(a, b)| a < b);
        while let Some(other) = others.next_if(is_before) {
            out.push(other.value);
        }
        out.push(item.value);
    }
    out.extend(others.map(|other| other.value));
    out
}

/// Checks that the items of a patch stand in the wanted order, all of them.
pub(super) fn check_order(
    patch: &[Value],
    wanted: &[Value],
    merge_key: &str,
) -> Result<(), PatchError> {
    if wanted.is_empty() || patch.is_empty() {
        return Ok(());
    }
    if !merge_key.is_empty()
        && let Some(item) = patch.iter().find(|item| item.as_map().is_none())
    {
        return Err(PatchError::bad_map(item));
    }
    let is_checked = |item: &&Value| merge_key.is_empty() || !is_deleted(item);
    let items: Vec<&Value> = patch.iter().filter(is_checked).collect();
    let (mut at, mut place) = (0, 0);
    while at < items.len() && place < wanted.len() {
        if items[at].get(DIRECTIVE).is_some() {
            at += 1;
            continue;
        }
        if is_same_item(items[at], &wanted[place], merge_key)? {
            at += 1;
        }
        place += 1;
    }
    if at == items.len() || place < wanted.len() {
        return Ok(());
    }
    Err(PatchError::Content(format!(
        "The order in patch list:\n{}\n doesn't match {SET_ELEMENT_ORDER} list:\n{}\n",
        show_list(patch),
        show_list(wanted)
    )))
}

/// Whether two items have the same merge key, or without one are the same.
pub(super) fn is_same_item(a: &Value, b: &Value, merge_key: &str) -> Result<bool, PatchError> {
    if merge_key.is_empty() {
        return Ok(a == b);
    }
    let a = a.as_map().ok_or_else(|| PatchError::bad_map(a))?;
    let b = b.as_map().ok_or_else(|| PatchError::bad_map(b))?;
    let found = a.get(merge_key).ok_or_else(|| PatchError::no_merge_key(a, merge_key))?;
    let wanted = b.get(merge_key).ok_or_else(|| PatchError::no_merge_key(b, merge_key))?;
    Ok(found == wanted)
}
