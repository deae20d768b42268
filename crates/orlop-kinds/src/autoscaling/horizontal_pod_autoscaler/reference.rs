//! An object in any version: what is scaled, and what a metric describes.
//!
//! After `ValidateCrossVersionObjectReference` in `pkg/apis/autoscaling/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::group_version::GroupVersion;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::validate_required_text;

/// Which rules look away.
#[derive(Clone, Copy)]
pub(super) struct ReferenceOptions {
    /// The version may have no group.
    pub(super) allows_empty_group: bool,
    /// The version may be anything.
    pub(super) allows_invalid_version: bool,
}

/// Reports all that is wrong with a reference.
pub(super) fn validate(reference: &Node<'_>, options: ReferenceOptions, errors: &mut Errors) {
    validate_required_text(&reference.at("kind"), names::path_segment_name, errors);
    validate_required_text(&reference.at("name"), names::path_segment_name, errors);
    let version = reference.at("apiVersion");
    if let Some(problem) = what_is_wrong_with_version(version.str(), options) {
        errors.invalid(&version, problem);
    }
}

/// What is wrong with an `apiVersion`; nothing when it is fine.
pub(super) fn what_is_wrong_with_version(
    version: &str,
    options: ReferenceOptions,
) -> Option<String> {
    if options.allows_invalid_version {
        return None;
    }
    match GroupVersion::parse(version) {
        Err(error) => Some(error.to_string()),
        Ok(parsed) if parsed.group.is_empty() && !options.allows_empty_group => {
            Some("apiVersion must specify API group".to_owned())
        }
        Ok(_) => None,
    }
}
