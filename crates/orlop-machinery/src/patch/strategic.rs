//! Strategic merge patch: a merge patch that knows the API, so that lists are merged too.
//!
//! What a list or map does is said by its field in the [`Schema`]: `patch=merge` with `key=name`
//! merges the items that have the same name, `patch=merge` alone makes a set of scalars, without
//! either a list is replaced. A patch can say more, by keys that no object has:
//!
//! | in the patch | does |
//! |---|---|
//! | `$patch: replace` in a map | the map becomes the rest of the patch |
//! | `$patch: delete` in a map | the map becomes empty |
//! | `{$patch: replace}` as an item | the list becomes the other items of the patch |
//! | `{name: a, $patch: delete}` as an item | all items with that name go |
//! | `$retainKeys: [a, b]` | all other fields of the map go |
//! | `$deleteFromPrimitiveList/x: [1]` | these items of the list `x` go |
//! | `$setElementOrder/x: [{name: a}, {name: b}]` | the items of the list `x` come in this order |
//!
//! Follows `apimachinery/pkg/util/strategicpatch/patch.go` and `meta.go` (of the ways to look up
//! a field the one that goes by Go's struct), including the order of merged lists, which depends
//! on how Go's slices share memory; and `interpretStrategicMergePatchError` of
//! `apiserver/pkg/endpoints/handlers/patch.go`. Where upstream panics there is an error here.
//! Upstream visits the keys of a patch in random order; here it is the order of the keys, so of
//! two directives for one list the same one is always first: the order, then what is deleted, then
//! what is merged.

mod conflict;
mod diff;
mod key;
mod list;
mod lookup;
mod map;
mod order;

use self::diff::{DiffOptions, diff_maps};
use self::lookup::Lookup;
use super::{Precondition, Refusal, check_map, read_map};
use crate::go_text;
use crate::schema::{Schema, StructId};
use crate::value::{Map, Value};
use crate::yaml;

const DIRECTIVE: &str = "$patch";
const DELETE: &str = "delete";
const REPLACE: &str = "replace";
const MERGE: &str = "merge";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";

/// Why a strategic merge patch cannot be applied, or made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PatchError {
    /// A document is no map.
    #[error("invalid JSON document")]
    InvalidDocument,
    /// The patch is no JSON map.
    #[error("{0}")]
    Malformed(String),
    /// A directive is not in its form.
    #[error("invalid patch format of {0}")]
    Format(Directive),
    /// A list that is to be merged has lists as items.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The patch wants to merge what by the schema cannot be merged.
    #[error("{0}")]
    Schema(String),
    /// The patch and the document do not go together.
    #[error("{0}")]
    Content(String),
    /// The new patch would change what must not change.
    #[error("precondition failed for: {}", go_text::show(.0))]
    PreconditionFailed(Value),
    /// The new patch would undo what others changed.
    #[error(
        "patch:\n{}\nconflicts with changes made from original to current:\n{}\n",
        yaml::to_string(patch),
        yaml::to_string(changes)
    )]
    Conflict {
        /// The new patch.
        patch: Value,
        /// What others changed.
        changes: Value,
    },
}

/// A directive that has a form of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `$deleteFromPrimitiveList/x`
    DeleteFromPrimitiveList,
    /// `$retainKeys`
    RetainKeys,
    /// `$setElementOrder/x`
    SetElementOrder,
}

impl std::fmt::Display for Directive {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Directive::DeleteFromPrimitiveList => "primitive list",
            Directive::RetainKeys => "retainKeys",
            Directive::SetElementOrder => "setElementOrder list",
        })
    }
}

impl PatchError {
    /// What the API server answers with.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        match self {
            PatchError::InvalidDocument | PatchError::Malformed(_) | PatchError::Format(_) => {
                Refusal::BadRequest
            }
            PatchError::ListOfLists => Refusal::Unprocessable,
            PatchError::Schema(_)
            | PatchError::Content(_)
            | PatchError::PreconditionFailed(_)
            | PatchError::Conflict { .. } => Refusal::Internal,
        }
    }

    fn no_merge_key(item: &Map, key: &str) -> PatchError {
        // The clone is only for showing it.
        let item = go_text::show(&Value::Map(item.clone()));
        PatchError::Content(format!("map: {item} does not contain declared merge key: {key}"))
    }

    fn bad_type(expected: &str, actual: &Value) -> PatchError {
        let actual = go_text::type_name(actual);
        PatchError::Content(format!("expected a {expected}, but received a {actual}"))
    }

    fn bad_map(actual: &Value) -> PatchError {
        PatchError::bad_type("map[string]interface {}", actual)
    }

    fn bad_list(actual: &Value) -> PatchError {
        PatchError::bad_type("[]interface {}", actual)
    }

    fn bad_directive(directive: &Value, patch: &Map) -> PatchError {
        let directive = go_text::show_as_text(directive);
        let patch = go_text::show(&Value::Map(patch.clone()));
        PatchError::Content(format!("unknown patch type: {directive} in map: {patch}"))
    }
}

/// What becomes of directives and nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A patch changes an object: directives are obeyed, nulls delete.
    Apply,
    /// A patch is added to a patch: directives and nulls stay for whoever applies it.
    Combine,
}

/// Reads a strategic merge patch, and says which keys stand twice: `duplicate field "a.b"`.
///
/// # Errors
///
/// When the text is no JSON map.
pub fn parse(text: &[u8]) -> Result<(Value, Vec<String>), PatchError> {
    read_map(text).map_err(PatchError::Malformed)
}

/// Applies a strategic merge patch.
///
/// A patch that is null changes nothing. The result is not in normal form: fields that the struct
/// does not have, and nulls in new items of lists, are left to whoever decodes it.
///
/// ```
/// use orlop_machinery::{json, patch::strategic, schema};
///
/// let schema = schema::parse(&["package test\nPod\n containers [Container] 1 patch=merge key=name
/// Container\n name string 1\n image string 2"]).unwrap();
/// let pod = schema.find("test.Pod").unwrap();
/// let original = json::parse(br#"{"containers": [{"name": "a"}, {"name": "b"}]}"#).unwrap();
/// let patch = json::parse(br#"{"containers": [{"name": "b", "image": "x"}]}"#).unwrap();
/// let changed = strategic::strategic_merge(&schema, pod, original, patch).unwrap();
/// let expect = r#"{"containers":[{"name":"a"},{"image":"x","name":"b"}]}"#;
/// assert_eq!(json::to_string(&changed), expect);
/// ```
///
/// # Errors
///
/// When one of them is no map, when a directive is wrong, or when maps or lists meet that the
/// schema does not let merge.
pub fn strategic_merge(
    schema: &Schema,
    id: StructId,
    original: Value,
    patch: Value,
) -> Result<Value, PatchError> {
    let original = match original {
        Value::Map(original) => original,
        Value::Null => Map::new(),
        _ => return Err(PatchError::InvalidDocument),
    };
    check_map(&patch).map_err(PatchError::Malformed)?;
    let Value::Map(patch) = patch else { return Ok(Value::Map(original)) };
    let lookup = Lookup::of(schema, id);
    map::merge_map(original, patch, lookup, Mode::Apply).map(Value::Map)
}

/// Makes the patch that changes `original` to `modified`; null stands for an empty map.
///
/// # Errors
///
/// When one of them is no map, when maps or lists differ of which the schema knows nothing, or
/// when a precondition does not hold.
pub fn create_two_way_merge_patch(
    schema: &Schema,
    id: StructId,
    original: &Value,
    modified: &Value,
    preconditions: &[Precondition<'_>],
) -> Result<Value, PatchError> {
    let lookup = Lookup::of(schema, id);
    let options = DiffOptions { sets_order: true, ..DiffOptions::default() };
    let patch = diff_maps(map_of(original)?, map_of(modified)?, lookup, options)?;
    check(Value::Map(patch), preconditions)
}

/// What a three-way patch is made of. Null stands for an empty map.
#[derive(Clone, Copy, Debug)]
pub struct ThreeWay<'a> {
    /// What was applied the last time.
    pub original: &'a Value,
    /// What shall be applied now.
    pub modified: &'a Value,
    /// The object as it is.
    pub current: &'a Value,
    /// Whether the patch may undo what others changed since `original` was applied; else that is
    /// an error.
    pub overwrites: bool,
    /// What the patch must not change.
    pub preconditions: &'a [Precondition<'a>],
}

/// Makes the patch that brings `current` to `modified`, where those who changed `current` keep what
/// `modified` does not have, unless `original` had it: then it was deleted since.
///
/// # Errors
///
/// When one of them is no map, when maps or lists differ of which the schema knows nothing, when a
/// precondition does not hold, or when the patch would undo what others changed and must not.
pub fn create_three_way_merge_patch(
    schema: &Schema,
    id: StructId,
    input: &ThreeWay<'_>,
) -> Result<Value, PatchError> {
    let lookup = Lookup::of(schema, id);
    let original = map_of(input.original)?;
    let modified = map_of(input.modified)?;
    let current = map_of(input.current)?;
    let options =
        DiffOptions { sets_order: true, ignores_deletions: true, ..DiffOptions::default() };
    let set = diff_maps(current, modified, lookup, options)?;
    let options = DiffOptions { sets_order: true, ignores_changes: true, ..DiffOptions::default() };
    let delete = diff_maps(original, modified, lookup, options)?;
    let patch = map::merge_map(delete, set, lookup, Mode::Combine)?;
    let patch = check(Value::Map(patch), input.preconditions)?;
    if !input.overwrites {
        let changes = diff_maps(original, current, lookup, DiffOptions::default())?;
        if conflict::have_conflicts(patch.map(), &changes, lookup)? {
            return Err(PatchError::Conflict { patch, changes: Value::Map(changes) });
        }
    }
    Ok(patch)
}

fn map_of(value: &Value) -> Result<&Map, PatchError> {
    match value {
        Value::Map(_) | Value::Null => Ok(value.map()),
        _ => Err(PatchError::InvalidDocument),
    }
}

fn check(patch: Value, preconditions: &[Precondition<'_>]) -> Result<Value, PatchError> {
    if preconditions.iter().all(|precondition| precondition.holds(&patch)) {
        Ok(patch)
    } else {
        Err(PatchError::PreconditionFailed(patch))
    }
}
