//! One thing that was wrong.

use crate::field::FieldError;
use crate::value::Str;

/// One thing that was wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// For programs.
    pub reason: Str,
    /// For people.
    pub message: String,
    /// The path of the field that it is about; empty when it is about none.
    pub field: String,
}

/// Reasons of causes that are not about the value of a field; the others are those of
/// [`ErrorKind`](crate::field::ErrorKind).
pub mod cause_reason {
    /// Something answered that does not speak the API.
    pub const UNEXPECTED_SERVER_RESPONSE: &str = "UnexpectedServerResponse";
    /// Another manager owns the field.
    pub const FIELD_MANAGER_CONFLICT: &str = "FieldManagerConflict";
    /// The store has not come that far.
    pub const RESOURCE_VERSION_TOO_LARGE: &str = "ResourceVersionTooLarge";
    /// The namespace is going.
    pub const NAMESPACE_TERMINATING: &str = "NamespaceTerminating";
}

impl Cause {
    /// From its parts.
    #[must_use]
    pub fn new(reason: &str, message: impl Into<String>, field: impl Into<String>) -> Cause {
        Cause { reason: Str::new(reason), message: message.into(), field: field.into() }
    }
}

impl From<&FieldError> for Cause {
    fn from(error: &FieldError) -> Cause {
        Cause::new(error.kind.reason(), error.body(), error.field.as_str())
    }
}
