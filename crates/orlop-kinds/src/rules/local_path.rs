//! Paths of files inside something: they may not lead out of it.
//!
//! After `validateLocalDescendingPath` and its like in `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;

/// A path that is relative and does not go up; the error is at another place than the path.
pub(crate) fn validate_local_descending_path_at(at: &impl At, path: &str, errors: &mut Errors) {
    if path.starts_with('/') {
        errors.invalid_value(at, path, "must be a relative path");
    }
    if has_backsteps(path) {
        errors.invalid_value(at, path, "must not contain '..'");
    }
}

/// A path that is relative and does not go up.
pub(crate) fn validate_local_descending_path(path: &Node<'_>, errors: &mut Errors) {
    validate_local_descending_path_at(path, path.str(), errors);
}

/// The same, and its first name does not start with two dots: such names are taken.
pub(crate) fn validate_local_non_reserved_path(path: &Node<'_>, errors: &mut Errors) {
    validate_local_descending_path(path, errors);
    if path.str().starts_with("..") && !path.str().starts_with("../") {
        errors.invalid(path, "must not start with '..'");
    }
}

/// A path that does not go up.
pub(crate) fn validate_path_without_backsteps(path: &Node<'_>, errors: &mut Errors) {
    if has_backsteps(path.str()) {
        errors.invalid(path, "must not contain '..'");
    }
}

/// Whether a path goes up somewhere.
pub(crate) fn has_backsteps(path: &str) -> bool {
    path.split('/').any(|name| name == "..")
}
