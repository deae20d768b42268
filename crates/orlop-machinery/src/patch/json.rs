//! JSON patch (RFC 6902): a list of operations that all succeed or all do nothing.
//!
//! Follows `gopkg.in/evanphx/json-patch.v4/patch.go` and `jsonPatcher` of
//! `apiserver/pkg/endpoints/handlers/patch.go`. That library is laxer than the RFC, and clients
//! depend on it:
//!
//! - `replace` makes a missing field of a map, `copy` from one makes null;
//! - `add` and `replace` without `value` set null, `test` without `value` finds null and missing;
//! - `test` with null finds a missing field;
//! - an empty path names the whole document for `replace` and `test` only;
//! - places are found as `json_pointer` says.
//!
//! Where that library panics there is an error here, and null equals null however it came into the
//! document, which there it does not always do. Values are compared, not their text: text that is
//! escaped in another way is equal here, and not there.

mod operation;
mod strict;

use self::operation::{Operation, Spent};
use super::{Refusal, json_type};
use crate::json;
use crate::value::{Str, Value};

/// A patch may have so many operations.
pub const OPERATIONS_MAX: usize = 10_000;

/// All copies of a patch together may make a document so many bytes longer, as JSON text.
pub const COPY_BYTES_MAX: usize = 3 * 1024 * 1024;

/// All operations of a patch together may touch so many items of lists and entries of maps.
///
/// Upstream has no such limit: there ten thousand items at the front of a list of a million take
/// as long as they take.
pub const MOVED_ITEMS_MAX: usize = 1 << 29;

/// A patch that can be applied, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPatch {
    operations: Vec<Operation>,
}

/// Why a patch is none, or does not fit a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonPatchError {
    /// The text is no patch.
    #[error("{0}")]
    Malformed(String),
    /// There are more than [`OPERATIONS_MAX`] operations.
    #[error("The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {count}")]
    TooManyOperations {
        /// So many are there.
        count: usize,
    },
    /// An operation does not fit the document.
    #[error("{message}")]
    Inapplicable {
        /// Which one, counted from 0.
        operation: usize,
        /// Where it should have happened.
        path: Str,
        /// What is wrong with it, in upstream's words.
        message: String,
    },
}

impl JsonPatchError {
    /// What the API server answers with.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        match self {
            JsonPatchError::Malformed(_) => Refusal::BadRequest,
            JsonPatchError::TooManyOperations { .. } => Refusal::TooLarge,
            JsonPatchError::Inapplicable { .. } => Refusal::Unprocessable,
        }
    }
}

impl JsonPatch {
    /// Reads a patch.
    ///
    /// # Errors
    ///
    /// When the text is not a JSON list of maps, or the list is too long.
    pub fn parse(text: &[u8]) -> Result<JsonPatch, JsonPatchError> {
        let value = json::parse(text).map_err(|error| JsonPatchError::Malformed(error.message))?;
        JsonPatch::from_value(value)
    }

    /// Makes a patch of a list of operations.
    ///
    /// # Errors
    ///
    /// When it is not a list of maps, or too long.
    pub fn from_value(patch: Value) -> Result<JsonPatch, JsonPatchError> {
        let list = match patch {
            Value::List(list) => list,
            Value::Null => Vec::new(),
            other => return Err(mistyped(&other, "jsonpatch.Patch")),
        };
        let count = list.len();
        let operations = list.into_iter().map(Operation::from_value).collect::<Result<_, _>>()?;
        if count > OPERATIONS_MAX {
            return Err(JsonPatchError::TooManyOperations { count });
        }
        Ok(JsonPatch { operations })
    }

    /// Applies all operations.
    ///
    /// # Errors
    ///
    /// When an operation does not fit the document that those before it left.
    pub fn apply(&self, mut document: Value) -> Result<Value, JsonPatchError> {
        if !matches!(document, Value::Map(_) | Value::List(_)) {
            return Err(mistyped(&document, "jsonpatch.partialDoc"));
        }
        let mut spent = Spent::default();
        for (at, operation) in self.operations.iter().enumerate() {
            operation.apply(&mut document, &mut spent).map_err(|message| {
                let path = operation.path().map(Str::new).unwrap_or_default();
                JsonPatchError::Inapplicable { operation: at, path, message }
            })?;
        }
        Ok(document)
    }

    /// How many operations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

fn mistyped(value: &Value, wanted: &str) -> JsonPatchError {
    let found = json_type(value);
    JsonPatchError::Malformed(format!(
        "json: cannot unmarshal {found} into Go value of type {wanted}"
    ))
}
