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

mod strict;

use std::borrow::Cow;

use super::json_pointer::{self, Container};
use super::{Refusal, json_type};
use crate::json;
use crate::value::{Str, Value};

/// A patch may have so many operations.
pub const OPERATIONS_MAX: usize = 10_000;

/// All copies of a patch together may make a document so many bytes longer, as JSON text.
pub const COPY_BYTES_MAX: usize = 3 * 1024 * 1024;

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

/// One step of a patch, as lax as upstream reads it: most of what is wrong with it shows when it
/// is applied.
#[derive(Clone, Debug, PartialEq)]
struct Operation {
    kind: Kind,
    path: Member,
    from: Member,
    /// None when there is no such member.
    value: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
    Unknown(Str),
}

/// A member that should be text.
#[derive(Clone, Debug, PartialEq)]
enum Member {
    Text(Str),
    Missing,
    /// It is of this JSON type.
    Other(&'static str),
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
        let mut copied = 0;
        for (at, operation) in self.operations.iter().enumerate() {
            operation.apply(&mut document, &mut copied).map_err(|message| {
                let path = match &operation.path {
                    Member::Text(path) => path.clone(),
                    Member::Missing | Member::Other(_) => Str::default(),
                };
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

impl Operation {
    fn from_value(value: Value) -> Result<Operation, JsonPatchError> {
        let mut map = match value {
            Value::Map(map) => map,
            // Upstream reads it as an operation without members.
            Value::Null => crate::value::Map::new(),
            other => return Err(mistyped(&other, "jsonpatch.Operation")),
        };
        Ok(Operation {
            kind: Kind::from_member(Member::from_value(map.remove("op"))),
            path: Member::from_value(map.remove("path")),
            from: Member::from_value(map.remove("from")),
            value: map.remove("value"),
        })
    }

    fn apply(&self, document: &mut Value, copied: &mut usize) -> Result<(), String> {
        match &self.kind {
            Kind::Add => self.add(document),
            Kind::Remove => self.remove(document),
            Kind::Replace => self.replace(document),
            Kind::Move => self.move_value(document),
            Kind::Copy => self.copy(document, copied),
            Kind::Test => self.test(document),
            Kind::Unknown(kind) => Err(format!("Unexpected kind: {kind}")),
        }
    }

    fn add(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let (mut container, key) = self.find(document, "doc is missing path", path)?;
        let value = self.value.clone().unwrap_or_default();
        check_depth(&value, path)?;
        let result = container.add(&key, value);
        result.map_err(|error| format!("error in add for path: '{path}': {error}"))
    }

    fn remove(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let (mut container, key) = self.find(document, "doc is missing path", path)?;
        match container.remove(&key) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("error in remove for path: '{path}': {error}")),
        }
    }

    fn replace(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        if path.is_empty() {
            return self.replace_document(document);
        }
        let (mut container, key) = self.find(document, "doc is missing path", path)?;
        let value = self.value.clone().unwrap_or_default();
        check_depth(&value, path)?;
        container.set(&key, value).map_err(|_| self.missing("doc is missing key", path))
    }

    fn replace_document(&self, document: &mut Value) -> Result<(), String> {
        match &self.value {
            Some(value @ (Value::Map(_) | Value::List(_))) => {
                document.clone_from(value);
                Ok(())
            }
            // Upstream's message, with what Go prints for an error that is not there.
            _ => Err("replace operation value must be object or array: %!w(<nil>)".into()),
        }
    }

    fn move_value(&self, document: &mut Value) -> Result<(), String> {
        let from = self.from()?;
        let (mut container, key) = self.find(document, "doc is missing from path", from)?;
        let value = container.remove(&key);
        let value = value.map_err(|error| format!("error in move for path: '{key}': {error}"))?;
        let path = self.path()?;
        let (mut container, key) = self.find(document, "doc is missing destination path", path)?;
        if json_pointer::depth(path) > json_pointer::depth(from) {
            check_depth(&value, path)?;
        }
        let result = container.add(&key, value);
        result.map_err(|error| format!("error in move for path: '{path}': {error}"))
    }

    fn copy(&self, document: &mut Value, copied: &mut usize) -> Result<(), String> {
        let from = self.from()?;
        let (container, key) = self.find(document, "doc is missing from path", from)?;
        let value = container.get(&key);
        let value = value.map_err(|error| format!("error in copy for from: '{from}': {error}"))?;
        let value = value.cloned().unwrap_or_default();
        let path = self.path()?;
        let (mut container, key) = self.find(document, "doc is missing destination path", path)?;
        if !value.is_null() {
            *copied += json::to_vec(&value).len();
        }
        if *copied > COPY_BYTES_MAX {
            return Err(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {copied}, \
                 exceeding the limit {COPY_BYTES_MAX}"
            ));
        }
        check_depth(&value, path)?;
        let result = container.add(&key, value);
        result.map_err(|error| format!("error while adding value during copy: {error}"))
    }

    fn test(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let wanted = self.value.as_ref();
        let is_equal = if path.is_empty() {
            wanted == Some(&*document)
        } else {
            let (container, key) = self.find(document, "is missing path", path)?;
            let found = container.get(&key);
            let found =
                found.map_err(|error| format!("error in test for path: '{path}': {error}"))?;
            wanted.unwrap_or(&Value::Null) == found.unwrap_or(&Value::Null)
        };
        if is_equal { Ok(()) } else { Err(format!("testing value {path} failed: test failed")) }
    }

    fn path(&self) -> Result<&str, String> {
        let reason = match &self.path {
            Member::Text(path) => return Ok(path),
            // These do not say why.
            _ if matches!(self.kind, Kind::Add | Kind::Remove | Kind::Copy) => MISSING.into(),
            Member::Missing => format!("operation missing path field: {MISSING}"),
            Member::Other(found) => not_text(found),
        };
        Err(format!("{} operation failed to decode path: {reason}", self.kind.name()))
    }

    fn from(&self) -> Result<&str, String> {
        let reason = match &self.from {
            Member::Text(from) => return Ok(from),
            Member::Missing => format!("operation, missing from field: {MISSING}"),
            Member::Other(found) => not_text(found),
        };
        Err(format!("{} operation failed to decode from: {reason}", self.kind.name()))
    }

    fn find<'a, 'b>(
        &self,
        document: &'a mut Value,
        complaint: &str,
        path: &'b str,
    ) -> Result<(Container<'a>, Cow<'b, str>), String> {
        json_pointer::find(document, path).ok_or_else(|| match self.kind {
            Kind::Add | Kind::Remove => self.missing(complaint, &format!("\"{path}\"")),
            _ => self.missing(complaint, path),
        })
    }

    fn missing(&self, complaint: &str, path: &str) -> String {
        format!("{} operation does not apply: {complaint}: {path}: {MISSING}", self.kind.name())
    }
}

const MISSING: &str = "missing value";

impl Kind {
    fn from_member(member: Member) -> Kind {
        let Member::Text(text) = member else { return Kind::Unknown(Str::const_new("unknown")) };
        match text.as_str() {
            "add" => Kind::Add,
            "remove" => Kind::Remove,
            "replace" => Kind::Replace,
            "move" => Kind::Move,
            "copy" => Kind::Copy,
            "test" => Kind::Test,
            _ => Kind::Unknown(text),
        }
    }

    fn name(&self) -> &str {
        match self {
            Kind::Add => "add",
            Kind::Remove => "remove",
            Kind::Replace => "replace",
            Kind::Move => "move",
            Kind::Copy => "copy",
            Kind::Test => "test",
            Kind::Unknown(kind) => kind,
        }
    }
}

impl Member {
    fn from_value(value: Option<Value>) -> Member {
        match value {
            Some(Value::String(text)) => Member::Text(text),
            Some(Value::Null) | None => Member::Missing,
            Some(other) => Member::Other(json_type(&other)),
        }
    }
}

fn not_text(found: &str) -> String {
    format!("json: cannot unmarshal {found} into Go value of type string")
}

/// Refuses a value that would make the document too deep.
fn check_depth(value: &Value, path: &str) -> Result<(), String> {
    let is_fine = json::DEPTH_MAX
        .checked_sub(json_pointer::depth(path))
        .is_some_and(|levels| fits_into(value, levels));
    if is_fine { Ok(()) } else { Err("exceeded max depth".into()) }
}

fn fits_into(value: &Value, levels: usize) -> bool {
    match value {
        Value::List(_) | Value::Map(_) if levels == 0 => false,
        Value::List(list) => list.iter().all(|item| fits_into(item, levels - 1)),
        Value::Map(map) => map.values().all(|value| fits_into(value, levels - 1)),
        _ => true,
    }
}
