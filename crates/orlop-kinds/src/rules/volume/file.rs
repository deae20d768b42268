//! Volumes whose files hold what the cluster's objects say.
//!
//! After `validateSecretVolumeSource`, `validateConfigMapVolumeSource`,
//! `validateDownwardAPIVolumeSource` and what they call in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::node::Node;

use super::source::require;
use crate::rules::local_path::validate_local_non_reserved_path;
use crate::rules::pod_spec::env::{validate_field_selector, validate_resource_field_selector};

const MODE_MAX: i64 = 0o777;

/// What a file may take from its pod.
const FIELDS: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// The entries of a secret.
pub(super) fn validate_secret(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["secretName"], errors);
    validate_mode(&source.at("defaultMode"), errors);
    validate_items(source, errors);
}

/// The entries of a config map.
pub(super) fn validate_config_map(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["name"], errors);
    validate_mode(&source.at("defaultMode"), errors);
    validate_items(source, errors);
}

/// What the pod says about itself.
pub(super) fn validate_downward_api(source: &Node<'_>, errors: &mut Errors) {
    validate_mode(&source.at("defaultMode"), errors);
    let at = source.path().to_string();
    for file in source.at("items").list() {
        validate_downward_api_file(&Node::new(file, Path::field(&at)), errors);
    }
}

/// A file of a downward API. As upstream, its path is that of the source: errors do not say which
/// file they are about.
pub(super) fn validate_downward_api_file(file: &Node<'_>, errors: &mut Errors) {
    require(file, &["path"], errors);
    validate_local_non_reserved_path(&file.at("path"), errors);
    let (field, resource) = (file.at("fieldRef"), file.at("resourceFieldRef"));
    if field.is_set() {
        validate_field_selector(&field, FIELDS, errors);
        if resource.is_set() {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.invalid_value(file, "resource", detail);
        }
    } else if resource.is_set() {
        validate_resource_field_selector(&resource, true, errors);
    } else {
        errors.required(file, "one of fieldRef and resourceFieldRef is required");
    }
    validate_mode(&file.at("mode"), errors);
}

/// An entry and the file that it becomes.
pub(super) fn validate_key_to_path(item: &Node<'_>, errors: &mut Errors) {
    require(item, &["key", "path"], errors);
    validate_local_non_reserved_path(&item.at("path"), errors);
    validate_mode(&item.at("mode"), errors);
}

/// The bits of who may do what with a file.
pub(super) fn validate_mode(mode: &Node<'_>, errors: &mut Errors) {
    if !(0..=MODE_MAX).contains(&mode.int()) {
        errors.invalid(mode, "must be a number between 0 and 0777 (octal), both inclusive");
    }
}

fn validate_items(source: &Node<'_>, errors: &mut Errors) {
    for item in source.at("items").items() {
        validate_key_to_path(&item, errors);
    }
}
