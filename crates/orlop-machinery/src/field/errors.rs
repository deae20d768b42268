//! What can be wrong with a field, and the list that collects it.

use std::fmt;

use super::At;
use crate::node::Node;
use crate::text::quote;
use crate::value::Value;
use crate::{go_text, json};

/// The kind of an error: the reason of a cause in a Status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A value that refers to something was not found.
    NotFound,
    /// A value is missing.
    Required,
    /// A value stands twice.
    Duplicate,
    /// A value is malformed.
    Invalid,
    /// A value is none of those allowed.
    NotSupported,
    /// A value is fine, but not here and now.
    Forbidden,
    /// A text is too long.
    TooLong,
    /// A text is too short.
    TooShort,
    /// A list is too long.
    TooMany,
    /// A list is too short.
    TooFew,
    /// Not the user's fault.
    Internal,
    /// A value is of another type than the schema says.
    TypeInvalid,
}

impl ErrorKind {
    /// The `reason` of the cause.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "FieldValueNotFound",
            ErrorKind::Required => "FieldValueRequired",
            ErrorKind::Duplicate => "FieldValueDuplicate",
            ErrorKind::Invalid => "FieldValueInvalid",
            ErrorKind::NotSupported => "FieldValueNotSupported",
            ErrorKind::Forbidden => "FieldValueForbidden",
            ErrorKind::TooLong => "FieldValueTooLong",
            ErrorKind::TooShort => "FieldValueTooShort",
            ErrorKind::TooMany => "FieldValueTooMany",
            ErrorKind::TooFew => "FieldValueTooFew",
            ErrorKind::Internal => "InternalError",
            ErrorKind::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    /// How it starts in a message.
    fn title(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "Not found",
            ErrorKind::Required => "Required value",
            ErrorKind::Duplicate => "Duplicate value",
            ErrorKind::Invalid | ErrorKind::TypeInvalid => "Invalid value",
            ErrorKind::NotSupported => "Unsupported value",
            ErrorKind::Forbidden => "Forbidden",
            ErrorKind::TooLong => "Too long",
            ErrorKind::TooShort => "Too short",
            ErrorKind::TooMany => "Too many",
            ErrorKind::TooFew => "Too few",
            ErrorKind::Internal => "Internal error",
        }
    }
}

/// One error about one field.
///
/// Prints as `spec.replicas: Invalid value: -1: must be greater than or equal to 0`.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The path of the field.
    pub field: String,
    /// The offending value, for kinds that show it.
    pub bad_value: Option<Value>,
    /// What would be right; may be empty.
    pub detail: String,
}

impl FieldError {
    /// The message without the field: the `message` of the cause.
    #[must_use]
    pub fn body(&self) -> String {
        let mut text = self.kind.title().to_owned();
        if let Some(value) = &self.bad_value {
            text += ": ";
            match value {
                Value::String(value) => text += &quote(value),
                Value::Float(_) => text += &go_text::show(value),
                value => text += &json::to_string(value),
            }
        }
        if !self.detail.is_empty() {
            text += ": ";
            text += &self.detail;
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.field, self.body())
    }
}

/// All errors about an object, in the order in which they were found.
///
/// Each method adds one. Where a [`Node`] is given, the error shows its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    list: Vec<FieldError>,
}

impl Errors {
    /// None yet.
    #[must_use]
    pub fn new() -> Errors {
        Errors::default()
    }

    /// Whether nothing was wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are. Compare before and after a rule to know whether it complained.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// All of them.
    #[must_use]
    pub fn list(&self) -> &[FieldError] {
        &self.list
    }

    /// Adds one.
    pub fn push(&mut self, error: FieldError) {
        self.list.push(error);
    }

    /// Adds those of another list.
    pub fn extend(&mut self, others: Errors) {
        self.list.extend(others.list);
    }

    /// Keeps those that `keep` says to.
    pub fn retain(&mut self, keep: impl FnMut(&FieldError) -> bool) {
        self.list.retain(keep);
    }

    /// The value must be given.
    pub fn required(&mut self, at: &impl At, detail: impl Into<String>) {
        self.add(ErrorKind::Required, at, None, detail);
    }

    /// The value must not be given here.
    pub fn forbidden(&mut self, at: &impl At, detail: impl Into<String>) {
        self.add(ErrorKind::Forbidden, at, None, detail);
    }

    /// The node's value is malformed.
    pub fn invalid(&mut self, node: &Node<'_>, detail: impl Into<String>) {
        self.add(ErrorKind::Invalid, node, Some(node.shown()), detail);
    }

    /// The same with another value to show.
    pub fn invalid_value(
        &mut self,
        at: &impl At,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) {
        self.add(ErrorKind::Invalid, at, Some(value.into()), detail);
    }

    /// The same without a value to show.
    pub fn invalid_without_value(&mut self, at: &impl At, detail: impl Into<String>) {
        self.add(ErrorKind::Invalid, at, None, detail);
    }

    /// The same for a value that is shown as this JSON: where the order of its fields is known.
    pub fn invalid_json(&mut self, at: &impl At, json: &str, detail: &str) {
        self.add(ErrorKind::Invalid, at, None, format!("{json}: {detail}"));
    }

    /// The value is of another type than the schema says.
    pub fn type_invalid(
        &mut self,
        at: &impl At,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) {
        self.add(ErrorKind::TypeInvalid, at, Some(value.into()), detail);
    }

    /// The node's value is none of those allowed (in the order to show them).
    pub fn not_supported(&mut self, node: &Node<'_>, allowed: &[&str]) {
        self.not_supported_value(node, node.shown(), allowed);
    }

    /// The same with another value to show.
    pub fn not_supported_value(&mut self, at: &impl At, value: impl Into<Value>, allowed: &[&str]) {
        let quoted: Vec<String> = allowed.iter().map(|value| quote(value)).collect();
        let detail = match quoted.as_slice() {
            [] => String::new(),
            quoted => format!("supported values: {}", quoted.join(", ")),
        };
        self.add(ErrorKind::NotSupported, at, Some(value.into()), detail);
    }

    /// The node's value stands twice.
    pub fn duplicate(&mut self, node: &Node<'_>) {
        self.add(ErrorKind::Duplicate, node, Some(node.shown()), "");
    }

    /// The same with another value to show.
    pub fn duplicate_value(&mut self, at: &impl At, value: impl Into<Value>) {
        self.add(ErrorKind::Duplicate, at, Some(value.into()), "");
    }

    /// The same for a value that is shown as this JSON: where the order of its fields is known.
    pub fn duplicate_json(&mut self, at: &impl At, json: impl Into<String>) {
        self.add(ErrorKind::Duplicate, at, None, json);
    }

    /// What the node names does not exist.
    pub fn not_found(&mut self, node: &Node<'_>) {
        self.add(ErrorKind::NotFound, node, Some(node.shown()), "");
    }

    /// The same with another value to show.
    pub fn not_found_value(&mut self, at: &impl At, value: impl Into<Value>) {
        self.add(ErrorKind::NotFound, at, Some(value.into()), "");
    }

    /// A text of more than `max` bytes.
    pub fn too_long(&mut self, at: &impl At, max: usize) {
        let unit = if max == 1 { "byte" } else { "bytes" };
        self.add(ErrorKind::TooLong, at, None, format!("may not be more than {max} {unit}"));
    }

    /// A text of more than `max` characters.
    pub fn too_long_characters(&mut self, at: &impl At, max: usize) {
        let unit = if max == 1 { "character" } else { "characters" };
        self.add(ErrorKind::TooLong, at, None, format!("may not be more than {max} {unit}"));
    }

    /// A list of `actual` items where `max` are allowed.
    pub fn too_many(&mut self, at: &impl At, actual: usize, max: usize) {
        let unit = if max == 1 { "item" } else { "items" };
        let actual = i64::try_from(actual).unwrap_or(i64::MAX);
        let detail = format!("must have at most {max} {unit}");
        self.add(ErrorKind::TooMany, at, Some(Value::Int(actual)), detail);
    }

    /// A text of fewer than `min` characters.
    pub fn too_short(&mut self, at: &impl At, min: usize) {
        let unit = if min == 1 { "character" } else { "characters" };
        self.add(ErrorKind::TooShort, at, None, format!("must be at least {min} {unit}"));
    }

    /// Not the user's fault.
    pub fn internal(&mut self, at: &impl At, detail: impl Into<String>) {
        self.add(ErrorKind::Internal, at, None, detail);
    }

    fn add(
        &mut self,
        kind: ErrorKind,
        at: &impl At,
        bad_value: Option<Value>,
        detail: impl Into<String>,
    ) {
        let field = at.path().to_string();
        self.list.push(FieldError { kind, field, bad_value, detail: detail.into() });
    }
}

impl fmt::Display for Errors {
    /// One line each.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list.iter().try_for_each(|error| writeln!(out, "{error}"))
    }
}
