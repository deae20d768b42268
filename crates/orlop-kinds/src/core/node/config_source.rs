//! Where a node once got its configuration from.
//!
//! After `validateNodeConfigSourceSpec` and `validateNodeConfigStatus` in
//! `pkg/apis/core/validation/validation.go`. The feature is gone; nodes that have the fields keep
//! them.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::validate_required_text;

/// What is asked for: a ConfigMap, not a version of it.
pub(super) fn validate_spec(source: &Node<'_>, errors: &mut Errors) {
    validate_source(source, errors, |config_map, errors| {
        for field in ["uid", "resourceVersion"] {
            let field_node = config_map.at(field);
            if !field_node.is_empty() {
                errors.forbidden(&field_node, format!("{field} must not be set in spec"));
            }
        }
    });
}

/// What is used: a version of a ConfigMap.
pub(super) fn validate_status(status: &Node<'_>, errors: &mut Errors) {
    for field in ["assigned", "active", "lastKnownGood"] {
        validate_source(&status.at(field), errors, |config_map, errors| {
            for field in ["uid", "resourceVersion"] {
                let field = config_map.at(field);
                if field.is_empty() {
                    errors.required(&field, "");
                }
            }
        });
    }
}

fn validate_source(
    source: &Node<'_>,
    errors: &mut Errors,
    validate_version: impl Fn(&Node<'_>, &mut Errors),
) {
    if !source.is_set() {
        return;
    }
    let config_map = source.at("configMap");
    if !config_map.is_set() {
        errors.invalid(source, "exactly one reference subfield must be non-nil");
        return;
    }
    validate_version(&config_map, errors);
    validate_required_text(&config_map.at("namespace"), names::dns_label, errors);
    validate_required_text(&config_map.at("name"), names::dns_subdomain, errors);
    validate_required_text(&config_map.at("kubeletConfigKey"), names::config_map_key, errors);
}
