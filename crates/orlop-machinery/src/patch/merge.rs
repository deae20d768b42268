//! JSON merge patch (RFC 7386): a document that has what shall change, and null for what shall go.
//!
//! Applying follows `gopkg.in/evanphx/json-patch.v4/merge.go`, making patches that file and
//! `apimachinery/pkg/util/jsonmergepatch/patch.go`. Where upstream goes beyond the RFC so does
//! this: nulls are also taken out of maps in lists, but only when the list is new or replaces
//! something that is no map.
//!
//! When patches are made numbers are compared as numbers, and written as they were: upstream makes
//! floats of them, and damages whole numbers beyond 2^53.

use std::convert::Infallible;

use super::{Precondition, Refusal, entries, prune_nulls, read_map};
use crate::go_text;
use crate::value::{Map, Value};
use crate::{json, yaml};

/// Why a merge patch cannot be applied, or made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MergePatchError {
    /// The document is no JSON map.
    #[error("Invalid JSON Document")]
    InvalidDocument,
    /// The patch is no JSON map.
    #[error("Invalid JSON Patch")]
    InvalidPatch,
    /// The same, under strict field validation, which says more.
    #[error("error decoding patch: {0}")]
    Malformed(String),
    /// The new patch would change what must not change.
    #[error("precondition failed for: {}", go_text::show(.0))]
    PreconditionFailed(Value),
    /// The new patch would set and delete the same field.
    #[error(
        "patch:\n{}\nconflicts with changes made from original to current:\n{}\n",
        yaml::to_string(patch),
        yaml::to_string(changes)
    )]
    Conflict {
        /// What it would set.
        patch: Value,
        /// What it would delete.
        changes: Value,
    },
}

impl MergePatchError {
    /// What the API server answers with.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        match self {
            MergePatchError::InvalidPatch | MergePatchError::Malformed(_) => Refusal::BadRequest,
            MergePatchError::InvalidDocument
            | MergePatchError::PreconditionFailed(_)
            | MergePatchError::Conflict { .. } => Refusal::Internal,
        }
    }
}

/// Reads a merge patch.
///
/// # Errors
///
/// When the text is no JSON.
pub fn parse(text: &[u8]) -> Result<Value, MergePatchError> {
    json::parse(text).map_err(|_| MergePatchError::InvalidPatch)
}

/// Reads a merge patch under strict field validation, and says which keys stand twice:
/// `duplicate field "a.b"`.
///
/// # Errors
///
/// When the text is no JSON map.
pub fn parse_strict(text: &[u8]) -> Result<(Value, Vec<String>), MergePatchError> {
    read_map(text).map_err(MergePatchError::Malformed)
}

/// Applies a merge patch.
///
/// A patch that is a list replaces the document, as upstream has it: an API server refuses such a
/// result when it decodes it.
///
/// ```
/// use orlop_machinery::{json, patch::merge};
///
/// let document = json::parse(br#"{"a": {"b": 1, "c": 2}}"#).unwrap();
/// let patch = json::parse(br#"{"a": {"b": null, "d": 3}}"#).unwrap();
/// let changed = merge::apply(document, patch).unwrap();
/// assert_eq!(json::to_string(&changed), r#"{"a":{"c":2,"d":3}}"#);
/// ```
///
/// # Errors
///
/// When the document is null, or the patch is neither a map nor a list.
pub fn apply(document: Value, patch: Value) -> Result<Value, MergePatchError> {
    match (document, patch) {
        (Value::Null, _) => Err(MergePatchError::InvalidDocument),
        (Value::Map(mut document), Value::Map(patch)) => {
            merge_maps(&mut document, patch);
            Ok(Value::Map(document))
        }
        (_, mut patch @ (Value::Map(_) | Value::List(_))) => {
            prune_nulls(&mut patch);
            Ok(patch)
        }
        _ => Err(MergePatchError::InvalidPatch),
    }
}

fn merge_maps(document: &mut Map, patch: Map) {
    let changes = patch.into_iter().collect();
    let Ok(()) = entries::update(document, changes, |_, old, new| {
        Ok::<_, Infallible>(merge_values(old, new))
    });
}

fn merge_values(old: Option<Value>, new: Value) -> Option<Value> {
    match (old, new) {
        (_, Value::Null) => None,
        (Some(Value::Map(mut old)), Value::Map(new)) => {
            merge_maps(&mut old, new);
            Some(Value::Map(old))
        }
        (Some(Value::Map(_)), new) => Some(new),
        (_, mut new) => {
            prune_nulls(&mut new);
            Some(new)
        }
    }
}

/// Makes the patch that changes `original` to `modified`; null stands for an empty map.
///
/// # Errors
///
/// When one of them is no map.
pub fn create_two_way(original: &Value, modified: &Value) -> Result<Value, MergePatchError> {
    Ok(Value::Map(diff_maps(map_of(original)?, map_of(modified)?)))
}

/// Makes the patch that brings `current` to `modified`, where those who changed `current` keep what
/// `modified` does not have, unless `original` had it: then it was deleted since.
///
/// # Errors
///
/// When one of them is no map, when a precondition does not hold, or when the patch would both set
/// and delete a field.
pub fn create_three_way(
    original: &Value,
    modified: &Value,
    current: &Value,
    preconditions: &[Precondition<'_>],
) -> Result<Value, MergePatchError> {
    let (original, modified) = (map_of(original)?, map_of(modified)?);
    let mut set = diff_maps(map_of(current)?, modified);
    keep_values(&mut set);
    let mut delete = diff_maps(original, modified);
    keep_nulls(&mut delete);
    let (set, delete) = (Value::Map(set), Value::Map(delete));
    if have_conflicts(&set, &delete) {
        return Err(MergePatchError::Conflict { patch: set, changes: delete });
    }
    let patch = apply(delete, set)?;
    if preconditions.iter().all(|precondition| precondition.holds(&patch)) {
        Ok(patch)
    } else {
        Err(MergePatchError::PreconditionFailed(patch))
    }
}

fn map_of(value: &Value) -> Result<&Map, MergePatchError> {
    match value {
        Value::Map(_) | Value::Null => Ok(value.map()),
        _ => Err(MergePatchError::InvalidDocument),
    }
}

fn diff_maps(original: &Map, modified: &Map) -> Map {
    let mut patch = Vec::new();
    for (key, new) in modified.entries() {
        match original.get(key) {
            Some(Value::Map(old)) if new.as_map().is_some() => {
                let inner = diff_maps(old, new.map());
                if !inner.is_empty() {
                    patch.push((key.clone(), Value::Map(inner)));
                }
            }
            Some(old) if is_equal(old, new) => {}
            _ => patch.push((key.clone(), new.clone())),
        }
    }
    let deleted = original.entries().iter().filter(|(key, _)| !modified.contains_key(key));
    patch.extend(deleted.map(|(key, _)| (key.clone(), Value::Null)));
    Map::from_unsorted(patch)
}

/// Whether two values are the same in JSON, where 1 is 1.0.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter().zip(b.iter()).all(|(a, b)| a.0 == b.0 && is_equal(a.1, b.1))
        }
        (Value::Int(_), Value::Float(_)) | (Value::Float(_), Value::Int(_)) => {
            a.as_float() == b.as_float()
        }
        _ => a == b,
    }
}

/// Keeps what a patch sets. A map that becomes empty goes away; one that was empty is a value.
fn keep_values(patch: &mut Map) {
    patch.retain(|_, value| match value {
        Value::Null => false,
        Value::Map(map) if map.is_empty() => true,
        Value::Map(map) => {
            keep_values(map);
            !map.is_empty()
        }
        _ => true,
    });
}

/// Keeps what a patch deletes.
fn keep_nulls(patch: &mut Map) {
    patch.retain(|_, value| match value {
        Value::Null => true,
        Value::Map(map) => {
            keep_nulls(map);
            !map.is_empty()
        }
        _ => false,
    });
}

/// Whether two patches treat a field differently.
///
/// Follows `HasConflicts` of `apimachinery/pkg/util/mergepatch/util.go`.
fn have_conflicts(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Map(left), Value::Map(right)) => left
            .iter()
            .any(|(key, left)| right.get(key).is_some_and(|right| have_conflicts(left, right))),
        (Value::List(left), Value::List(right)) => {
            left.len() != right.len()
                || left.iter().zip(right).any(|(left, right)| have_conflicts(left, right))
        }
        _ => left != right,
    }
}
