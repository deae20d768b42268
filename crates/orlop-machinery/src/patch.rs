//! Changing an object by a description of the change.
//!
//! | content type | module |
//! |---|---|
//! | `application/json-patch+json` | [`json`] |
//! | `application/merge-patch+json` | [`merge`] |
//! | `application/strategic-merge-patch+json` | [`strategic`] |
//!
//! A patch takes a document and returns the changed one; a patch that fails returns nothing, so
//! nobody can go on with half a change. Results, and messages, are those of the upstream API
//! server. Each kind of patch has its own error, and each error tells by [`Refusal`] whose fault it
//! is.
//!
//! Values are as deep as decoders let them be, and stay so: no patch makes a document that could
//! not be read again. So functions that call themselves for nested values end.
//!
//! Server-side apply is not here: it is no patch but a merge of owners.

mod entries;
pub mod json;
mod json_pointer;
pub mod merge;
pub mod strategic;

use crate::text::quote;
use crate::value::Value;

/// Why a patch was refused: the status that the API server answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The patch is not a patch.
    BadRequest,
    /// The patch is too long.
    TooLarge,
    /// The patch is one, but does not fit this object.
    Unprocessable,
    /// Upstream does not say whose fault it is, and answers as if it were its own.
    Internal,
}

impl Refusal {
    /// The status code of the response.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Refusal::BadRequest => 400,
            Refusal::TooLarge => 413,
            Refusal::Unprocessable => 422,
            Refusal::Internal => 500,
        }
    }
}

/// What a new patch must not change: whoever asks for the patch wants an error then.
///
/// Follows `RequireKeyUnchanged` and `RequireMetadataKeyUnchanged` of
/// `apimachinery/pkg/util/mergepatch/util.go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition<'a> {
    /// A field of the object, such as `kind`.
    KeyUnchanged(&'a str),
    /// A field of its metadata, such as `name`.
    MetadataKeyUnchanged(&'a str),
}

impl Precondition<'_> {
    /// Whether the patch leaves it alone.
    #[must_use]
    pub fn holds(&self, patch: &Value) -> bool {
        match self {
            Precondition::KeyUnchanged(key) => patch.get(key).is_none(),
            Precondition::MetadataKeyUnchanged(key) => patch.at("metadata").get(key).is_none(),
        }
    }
}

/// Reads a patch that is a map, and says which keys stand twice: `duplicate field "a.b"`.
fn read_map(text: &[u8]) -> Result<(Value, Vec<String>), String> {
    let (patch, twice) = crate::json::parse_with_duplicates(text).map_err(|error| error.message)?;
    check_map(&patch)?;
    let twice = twice.iter().map(|path| format!("duplicate field {}", quote(path)));
    Ok((patch, twice.collect()))
}

/// Refuses what is neither a map nor null, which Go reads as an empty one.
fn check_map(patch: &Value) -> Result<(), String> {
    match patch {
        Value::Map(_) | Value::Null => Ok(()),
        other => Err(format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_type(other)
        )),
    }
}

/// What JSON calls the type of a value, in Go's messages.
fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
    }
}

/// Takes the entries of maps that are null out; items of lists stay.
fn prune_nulls(value: &mut Value) {
    match value {
        Value::Map(map) => map.retain(|_, value| {
            prune_nulls(value);
            !value.is_null()
        }),
        Value::List(list) => list.iter_mut().for_each(prune_nulls),
        _ => {}
    }
}
