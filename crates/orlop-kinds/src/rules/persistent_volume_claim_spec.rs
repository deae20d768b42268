//! What is asked for with a claim: by a PersistentVolumeClaim, by the templates of a StatefulSet,
//! and by ephemeral volumes of a pod.
//!
//! After `ValidatePersistentVolumeClaimSpec`, `ValidatePersistentVolumeClaimTemplate` and
//! `ValidationOptionsForPersistentVolumeClaim` in `pkg/apis/core/validation/validation.go`, and
//! `pkg/api/persistentvolumeclaim/util.go`. Not here: what may change in a claim that exists.

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::{Map, Value, names};

use super::access_mode::validate_access_modes;
use super::claim_template_metadata::validate_claim_template_metadata;
use super::resource_list::quantity;
use super::resource_requirements::validate_positive_quantity;
use super::scalar::{validate_choice, validate_optional_text};

/// How a volume is seen: as a device or as files.
pub(crate) const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];

/// Which rules look away, because the claim broke them before. The default is for new claims: none
/// does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClaimOptions {
    /// The selector may have label values that no label can have.
    pub(crate) allow_invalid_label_value_in_selector: bool,
    /// The API groups of data sources may be anything.
    pub(crate) allow_invalid_api_group_in_data_source: bool,
}

impl ClaimOptions {
    /// For an update: what the old claim already breaks is let through.
    pub(crate) fn from_old(old_spec: &Node<'_>) -> ClaimOptions {
        let mut errors = Errors::new();
        let selector = old_spec.at("selector");
        meta::validate_label_selector(&selector, SelectorOptions::default(), &mut errors);
        let has_group = |field: &str| !old_spec.value().path(&[field, "apiGroup"]).is_null();
        ClaimOptions {
            allow_invalid_label_value_in_selector: !errors.is_empty(),
            allow_invalid_api_group_in_data_source: has_group("dataSource")
                || has_group("dataSourceRef"),
        }
    }
}

/// Reports all that is wrong with the spec of a claim.
pub(crate) fn validate_claim_spec(spec: &Node<'_>, options: ClaimOptions, errors: &mut Errors) {
    let modes = spec.at("accessModes");
    if modes.is_empty() {
        errors.required(&modes, "at least 1 access mode is required");
    }
    let selector_options = SelectorOptions {
        allows_invalid_values: options.allow_invalid_label_value_in_selector,
        ..SelectorOptions::default()
    };
    meta::validate_label_selector(&spec.at("selector"), selector_options, errors);
    validate_access_modes(&modes, errors);
    validate_storage_request(&spec.at("resources"), errors);
    validate_optional_text(&spec.at("storageClassName"), names::dns_subdomain, errors);
    validate_choice(&spec.at("volumeMode"), VOLUME_MODES, errors);
    validate_data_sources(spec, options, errors);
    validate_optional_text(&spec.at("volumeAttributesClassName"), names::dns_subdomain, errors);
}

/// Reports all that is wrong with a template of claims.
pub(crate) fn validate_claim_template(
    template: &Node<'_>,
    options: ClaimOptions,
    errors: &mut Errors,
) {
    validate_claim_template_metadata(&template.at("metadata"), errors);
    validate_claim_spec(&template.at("spec"), options, errors);
}

/// Warns of sizes that are no whole number of bytes. `at` is what warnings call the spec.
pub(crate) fn warn_of_claim_spec(at: &Path<'_>, spec: &Value, warnings: &mut Vec<String>) {
    let resources = at.child("resources");
    for field in ["requests", "limits"] {
        let size = quantity(spec.path(&["resources", field, "storage"]));
        if size.milli_value() % 1000 != 0 {
            let (list, size) = (resources.child(field), quote(&size.to_string()));
            let at = list.key("storage");
            let detail = format!("fractional byte value {size} is invalid, must be an integer");
            warnings.push(format!("{at}: {detail}"));
        }
    }
}

/// As upstream, errors do not say that the size is in `requests`.
fn validate_storage_request(resources: &Node<'_>, errors: &mut Errors) {
    let at = resources.path().key("storage");
    let size = resources.value().path(&["requests", "storage"]);
    if size.is_null() {
        errors.required(&at, "");
    } else {
        validate_positive_quantity(&Node::new(size, at), errors);
    }
}

fn validate_data_sources(spec: &Node<'_>, options: ClaimOptions, errors: &mut Errors) {
    let (source, reference) = (spec.at("dataSource"), spec.at("dataSourceRef"));
    for object in [&source, &reference] {
        if object.is_set() {
            validate_data_source(object, options, errors);
        }
    }
    let namespace = reference.value().at("namespace");
    if !namespace.is_empty() {
        for message in names::dns_label(namespace.str()) {
            errors.invalid(&reference.at("namespace"), message);
        }
    }
    if !source.is_set() || !reference.is_set() {
        return;
    }
    let is_same = |field: &str| source.value().at(field) == reference.value().at(field);
    // Upstream shows a path here, which prints like this.
    if !namespace.is_empty() {
        let detail = "may not be specified when dataSourceRef.namespace is specified";
        errors.invalid_value(spec, Map::new(), detail);
    } else if !["apiGroup", "kind", "name"].into_iter().all(is_same) {
        errors.invalid_value(spec, Map::new(), "must match dataSourceRef");
    }
}

/// What the volume is filled with. Only claims are in no API group.
fn validate_data_source(source: &Node<'_>, options: ClaimOptions, errors: &mut Errors) {
    for field in ["name", "kind"] {
        if source.at(field).is_empty() {
            errors.required(&source.at(field), "");
        }
    }
    let (group, kind) = (source.at("apiGroup"), source.at("kind"));
    if group.is_empty() && kind.str() != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.invalid_value(source, kind.str(), detail);
    }
    if !options.allow_invalid_api_group_in_data_source {
        validate_optional_text(&group, names::dns_subdomain, errors);
    }
}
