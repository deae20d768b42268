//! Merging a map of a patch into a map of an object.
//!
//! Follows `mergeMap`, `applyRetainKeysDirective`, `mergePatchIntoOriginal` and
//! `removeDirectives` of `strategicpatch/patch.go`.

use std::collections::HashSet;

use super::list::{self, merge_list};
use super::lookup::{Lookup, Strategy};
use super::{
    DELETE, DELETE_FROM_PRIMITIVE_LIST, DIRECTIVE, Directive, Mode, PatchError, REPLACE,
    RETAIN_KEYS, SET_ELEMENT_ORDER,
};
use crate::go_text;
use crate::patch::{entries, prune_nulls};
use crate::value::{Map, Str, Value};

/// Merges the patch into the original.
pub(super) fn merge_map(
    mut original: Map,
    mut patch: Map,
    lookup: Lookup<'_>,
    mode: Mode,
) -> Result<Map, PatchError> {
    match patch.get(DIRECTIVE) {
        None => {}
        Some(directive) if directive.as_str() == Some(REPLACE) => {
            patch.remove(DIRECTIVE);
            return Ok(patch);
        }
        Some(directive) if directive.as_str() == Some(DELETE) => return Ok(Map::new()),
        Some(directive) => return Err(PatchError::bad_directive(directive, &patch)),
    }
    retain_keys(&mut original, &mut patch, mode)?;
    let changes = if patch.keys().any(is_list_directive) {
        resolve_list_directives(&mut original, patch, lookup, mode)?
    } else {
        patch.into_iter().map(|(key, value)| (key, Change::Merge(value))).collect()
    };
    entries::update(&mut original, changes, |key, old, change| {
        change.apply(key, old, lookup, mode)
    })?;
    Ok(original)
}

/// What happens to one key. The order is that in which several changes of one key happen.
#[derive(Debug)]
enum Change {
    /// It has been decided.
    Set(Value),
    /// These items go out of the list.
    DeleteItems(Value),
    Merge(Value),
}

impl Change {
    fn rank(&self) -> u8 {
        match self {
            Change::Set(_) => 0,
            Change::DeleteItems(_) => 1,
            Change::Merge(_) => 2,
        }
    }

    fn apply(
        self,
        key: &str,
        old: Option<Value>,
        lookup: Lookup<'_>,
        mode: Mode,
    ) -> Result<Option<Value>, PatchError> {
        let (patch, deletes_items) = match self {
            Change::Set(value) => return Ok(Some(value)),
            Change::DeleteItems(patch) => (patch, true),
            Change::Merge(patch) => (patch, false),
        };
        match (old, patch) {
            (_, Value::Null) => Ok((mode == Mode::Combine).then_some(Value::Null)),
            (Some(Value::Map(old)), Value::Map(patch)) => {
                let rules = lookup.map(key)?;
                let merged = match rules.strategy {
                    Strategy::Replace => patch,
                    Strategy::Merge | Strategy::Unsaid => merge_map(old, patch, rules.inner, mode)?,
                };
                Ok(Some(Value::Map(merged)))
            }
            (Some(Value::List(old)), Value::List(patch)) => {
                let rules = lookup.list(key)?;
                let merged = if deletes_items {
                    list::delete_items(old, patch, &rules, mode)?
                } else if rules.strategy == Strategy::Merge {
                    merge_list(old, patch, &rules, mode)?.items
                } else {
                    patch
                };
                Ok(Some(Value::List(merged)))
            }
            (old, mut patch) => {
                let is_same_type = old.as_ref().is_some_and(|old| is_same_type(old, &patch));
                if deletes_items && !is_same_type {
                    return Ok(old);
                }
                if mode == Mode::Apply {
                    prune_nulls(&mut patch);
                }
                Ok(remove_directives(&mut patch).then_some(patch))
            }
        }
    }
}

fn is_same_type(a: &Value, b: &Value) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Takes what is a directive out of a value that is new; says whether the value is kept.
///
/// Only `$patch` is looked for, as upstream does; the other directives are then unknown fields.
pub(super) fn remove_directives(value: &mut Value) -> bool {
    match value {
        Value::Map(map) => {
            if map.contains_key(DIRECTIVE) {
                return false;
            }
            map.retain(|_, value| remove_directives(value));
        }
        Value::List(list) => list.retain_mut(remove_directives),
        _ => {}
    }
    true
}

/// Obeys `$retainKeys`.
fn retain_keys(original: &mut Map, patch: &mut Map, mode: Mode) -> Result<(), PatchError> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    if mode == Mode::Combine {
        let known = original.entry(RETAIN_KEYS);
        if known.is_null() {
            *known = keys;
        } else if *known != keys {
            return Err(PatchError::Content(format!(
                "{} and {} are not deep equal: this may happen when calculating the 3-way diff \
                 patch",
                go_text::show(known),
                go_text::show(&keys)
            )));
        }
        return Ok(());
    }
    let Value::List(keys) = keys else { return Err(PatchError::Format(Directive::RetainKeys)) };
    let keys: HashSet<&str> = keys.iter().filter_map(Value::as_str).collect();
    let is_fine = |(key, value): (&str, &Value)| {
        value.is_null() || is_list_directive(key) || keys.contains(key)
    };
    if !patch.iter().all(is_fine) {
        return Err(PatchError::Format(Directive::RetainKeys));
    }
    original.retain(|key, _| keys.contains(key));
    Ok(())
}

fn is_list_directive(key: &str) -> bool {
    key.starts_with(SET_ELEMENT_ORDER) || key.starts_with(DELETE_FROM_PRIMITIVE_LIST)
}

/// Turns the directives that stand beside a list into changes of that list.
fn resolve_list_directives(
    original: &mut Map,
    patch: Map,
    lookup: Lookup<'_>,
    mode: Mode,
) -> Result<Vec<(Str, Change)>, PatchError> {
    let (orders, rest): (Vec<_>, Vec<_>) =
        patch.into_iter().partition(|(key, _)| key.starts_with(SET_ELEMENT_ORDER));
    let mut rest = Map::from_unsorted(rest);
    let mut changes = Vec::with_capacity(rest.len() + orders.len());
    let mut ordered = HashSet::new();
    for (key, order) in orders {
        let known = original.get(&key);
        if mode == Mode::Combine && known.is_some_and(|known| *known != order) {
            return Err(PatchError::Format(Directive::SetElementOrder));
        }
        let is_new = mode == Mode::Combine && known.is_none();
        let Value::List(list) = &order else { return Err(PatchError::bad_list(&order)) };
        let field = list_name(&key, SET_ELEMENT_ORDER, Directive::SetElementOrder)?;
        let old = original.get_mut(field).map(take_list).transpose()?;
        let new = rest.get_mut(field).map(take_list).transpose()?;
        let rules = lookup.list(field)?;
        if let Some(items) = list::set_order(old, new, list, &rules, mode)? {
            ordered.insert(Str::new(field));
            changes.push((Str::new(field), Change::Set(Value::List(items))));
        }
        if is_new {
            changes.push((key, Change::Set(order)));
        }
    }
    for (key, value) in rest {
        if ordered.contains(&key) {
            continue;
        }
        let change = match list_to_shorten(&key) {
            None => (key, Change::Merge(value)),
            Some(_) if mode == Mode::Combine => (key, Change::Set(value)),
            Some(field) => (Str::new(field?), Change::DeleteItems(value)),
        };
        changes.push(change);
    }
    changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.rank().cmp(&b.1.rank())));
    Ok(changes)
}

fn take_list(value: &mut Value) -> Result<Vec<Value>, PatchError> {
    match value {
        Value::List(list) => Ok(std::mem::take(list)),
        other => Err(PatchError::bad_list(other)),
    }
}

/// The list that `$deleteFromPrimitiveList` is about, when the key is one.
fn list_to_shorten(key: &str) -> Option<Result<&str, PatchError>> {
    let is_directive = key.starts_with(DELETE_FROM_PRIMITIVE_LIST);
    is_directive
        .then(|| list_name(key, DELETE_FROM_PRIMITIVE_LIST, Directive::DeleteFromPrimitiveList))
}

fn list_name<'a>(key: &'a str, prefix: &str, directive: Directive) -> Result<&'a str, PatchError> {
    let (found, name) = key.split_once('/').ok_or(PatchError::Format(directive))?;
    if found == prefix { Ok(name) } else { Err(PatchError::Format(directive)) }
}
