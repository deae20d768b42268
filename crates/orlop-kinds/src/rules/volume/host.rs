//! Volumes that need nothing but the node, the cluster's own objects, or an image.
//!
//! After `validateHostPathVolumeSource`, `validateGitRepoVolumeSource`,
//! `validatePersistentClaimVolumeSource`, `validateLocalVolumeSource` and
//! `validateImageVolumeSource` in `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

use super::source::require;
use crate::rules::local_path::{validate_local_descending_path, validate_path_without_backsteps};
use crate::rules::resource_list::quantity;
use crate::rules::scalar::{validate_choice, validate_required_choice};

/// What may be found at a path of the host.
const HOST_PATH_TYPES: &[&str] = &[
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// A folder that is empty at first.
pub(super) fn validate_empty_dir(source: &Node<'_>, errors: &mut Errors) {
    let limit = source.at("sizeLimit");
    if quantity(limit.value()).sign() < 0 {
        errors.forbidden(&limit, "SizeLimit field must be a valid resource quantity");
    }
}

/// A path of the host.
pub(crate) fn validate_host_path(source: &Node<'_>, errors: &mut Errors) {
    let path = source.at("path");
    if path.is_empty() {
        errors.required(&path, "");
        return;
    }
    validate_path_without_backsteps(&path, errors);
    validate_choice(&source.at("type"), HOST_PATH_TYPES, errors);
}

/// A disk that is at home on one node.
pub(crate) fn validate_local(source: &Node<'_>, errors: &mut Errors) {
    let path = source.at("path");
    if path.is_empty() {
        errors.required(&path, "");
    } else {
        validate_path_without_backsteps(&path, errors);
    }
}

/// The contents of a repository.
pub(super) fn validate_git_repo(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["repository"], errors);
    validate_local_descending_path(&source.at("directory"), errors);
}

/// A claim in the pod's namespace.
pub(super) fn validate_claim_reference(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["claimName"], errors);
}

/// The contents of an image. A template may leave open which one.
pub(super) fn validate_image(source: &Node<'_>, resource_is_pod: bool, errors: &mut Errors) {
    if resource_is_pod {
        require(source, &["reference"], errors);
    }
    let policies = &["Always", "IfNotPresent", "Never"];
    validate_required_choice(&source.at("pullPolicy"), policies, errors);
}
