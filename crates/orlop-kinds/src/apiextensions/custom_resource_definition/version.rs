//! The versions of a kind, and what they may have in common: columns, subresources, selectable
//! fields.
//!
//! After `validateCustomResourceDefinitionVersion`, `ValidateCustomResourceColumnDefinition`,
//! `ValidateCustomResourceDefinitionSubresources` and `ValidateCustomResourceSelectableFields`.

use std::collections::BTreeSet;

use orlop_cel::rules::field_path::{Brackets, find_field};
use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::node::Node;
use orlop_machinery::text::is_printable;

use super::lifted::Lifted;
use super::names::validate_label;
use super::options::Options;
use super::schema::validate_validation;
use super::structural::conversion_error;

/// How many fields selectors may name.
pub(super) const SELECTABLE_FIELDS_MAX: usize = 8;
const WARNING_MAX: usize = 256;
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 8] =
    ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// Reports all that is wrong with the versions, but for what they have in common.
pub(super) fn validate_versions(
    spec: &Node<'_>,
    lifted: &Lifted<'_>,
    options: &Options,
    errors: &mut Errors,
) {
    let versions = spec.at("versions");
    let mut known = BTreeSet::new();
    let mut is_unique = true;
    for version in versions.items() {
        is_unique &= known.insert(version.value().at("name").str());
        validate_label(&version.at("name"), errors);
        validate_version(&version, lifted, options, errors);
    }
    if !is_unique {
        errors.invalid(&versions, "must contain unique version names");
    }
    if versions.list().iter().filter(|version| version.at("storage").bool()).count() != 1 {
        errors.invalid(&versions, "must have exactly one version marked as storage version");
    }
    // Upstream keeps the name of the first one in the spec, too.
    if let Some(first) = versions.list().first().filter(|first| !first.at("name").is_empty()) {
        let at = Path::field("spec");
        validate_label(&Node::new(first.at("name"), at.child("version")), errors);
    }
}

/// Reports all that is wrong with what the versions have in common.
pub(super) fn validate_lifted(
    spec: &Node<'_>,
    lifted: &Lifted<'_>,
    options: &Options,
    errors: &mut Errors,
) {
    // These fields are not in the schema.
    let at = Path::field("spec");
    let versions = spec.value().at("versions").list();
    let has_status = versions.iter().any(has_status);
    let schema = Node::new(lifted.schema, at.child("validation"));
    let first = versions.first().map_or("", |version| version.at("name").str());
    let limit = options.cost_limit(first);
    validate_validation(&schema, has_status, (options, limit), errors);
    validate_subresources(&Node::new(lifted.subresources, at.child("subresources")), errors);
    validate_columns(&Node::new(lifted.columns, at.child("additionalPrinterColumns")), errors);
    let fields = Node::new(lifted.selectable_fields, at.child("selectableFields"));
    if fields.is_empty() {
        return;
    }
    if lifted.schema.is_null() {
        errors.invalid_value(&fields, "", "may only be set when validations.schema is included");
        return;
    }
    let schema = lifted.schema.at("openAPIV3Schema");
    validate_selectable_fields(&fields, schema, "", options, errors);
}

fn has_status(version: &Value) -> bool {
    !version.path(&["subresources", "status"]).is_null()
}

fn validate_version(
    version: &Node<'_>,
    lifted: &Lifted<'_>,
    options: &Options,
    errors: &mut Errors,
) {
    validate_deprecation_warning(version, errors);
    if !lifted.is_schema_common {
        let has_status = has_status(version.value());
        let limit = options.cost_limit(version.value().at("name").str());
        validate_validation(&version.at("schema"), has_status, (options, limit), errors);
    }
    if !lifted.are_subresources_common {
        validate_subresources(&version.at("subresources"), errors);
    }
    if !lifted.are_columns_common {
        validate_columns(&version.at("additionalPrinterColumns"), errors);
    }
    let fields = version.at("selectableFields");
    if lifted.are_selectable_fields_common || fields.is_empty() {
        return;
    }
    let schema = version.value().path(&["schema", "openAPIV3Schema"]);
    // A schema that all versions share is none of this version.
    if lifted.is_schema_common || schema.is_null() {
        let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
        errors.invalid_value(&fields, "", detail);
        return;
    }
    let name = version.value().at("name").str();
    validate_selectable_fields(&fields, schema, name, options, errors);
}

fn validate_deprecation_warning(version: &Node<'_>, errors: &mut Errors) {
    let warning = version.at("deprecationWarning");
    if !warning.is_set() {
        return;
    }
    if !version.at("deprecated").bool() {
        errors.invalid(&warning, "can only be set for deprecated versions");
        return;
    }
    if warning.str().len() > WARNING_MAX {
        errors.invalid(&warning, format!("must be <= {WARNING_MAX} characters long"));
    }
    if warning.is_empty() {
        errors.invalid(&warning, "must not be an empty string");
    }
    let wrong = warning.str().char_indices().find(|(_, character)| !is_printable(*character));
    if let Some((at, _)) = wrong {
        let detail = format!(
            "must only contain printable UTF-8 characters; non-printable character found at index \
             {at}"
        );
        errors.invalid(&warning, detail);
    }
}

fn validate_subresources(subresources: &Node<'_>, errors: &mut Errors) {
    let scale = subresources.at("scale");
    if !scale.is_set() {
        return;
    }
    for (field, under, detail) in [
        ("specReplicasPath", &[".spec."][..], "should be a json path under .spec"),
        ("statusReplicasPath", &[".status."][..], "should be a json path under .status"),
        (
            "labelSelectorPath",
            &[".spec.", ".status."][..],
            "should be a json path under either .spec or .status",
        ),
    ] {
        let path = scale.at(field);
        if path.is_empty() {
            if field != "labelSelectorPath" {
                errors.required(&path, "");
            }
        } else if validate_simple_path(&path, path.str(), errors)
            && !under.iter().any(|prefix| path.str().starts_with(prefix))
        {
            errors.invalid(&path, detail);
        }
    }
}

fn validate_columns(columns: &Node<'_>, errors: &mut Errors) {
    for column in columns.items() {
        if column.at("name").is_empty() {
            errors.required(&column.at("name"), "");
        }
        let (ty, format) = (column.at("type"), column.at("format"));
        let types = format!("must be one of {}", COLUMN_TYPES.join(","));
        if ty.is_empty() {
            errors.required(&ty, types);
        } else if !COLUMN_TYPES.contains(&ty.str()) {
            errors.invalid(&ty, types);
        }
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format.str()) {
            errors.invalid(&format, format!("must be one of {}", COLUMN_FORMATS.join(",")));
        }
        let path = column.value().at("jsonPath").str();
        let at = column.path().child("JSONPath");
        if path.is_empty() {
            errors.required(&at, "");
        } else {
            validate_simple_path(&at, path, errors);
        }
    }
}

/// Whether a path, which is not empty, starts like one.
fn validate_simple_path(at: &impl At, path: &str, errors: &mut Errors) -> bool {
    let is_fine = path.starts_with('.');
    if !is_fine {
        errors.invalid_value(at, path, "must be a simple json path starting with .");
    }
    is_fine
}

fn validate_selectable_fields(
    fields: &Node<'_>,
    schema: &Value,
    version: &str,
    options: &Options,
    errors: &mut Errors,
) {
    if let Some(wrong) = conversion_error(schema) {
        // As upstream, the schema is sought beside the fields.
        let at = parent_text(fields);
        errors.invalid_value(&Path::field(&at).child("schema.openAPIV3Schema"), "", wrong);
        return;
    }
    let mut known = BTreeSet::new();
    for field in fields.items() {
        let path = field.at("jsonPath");
        if path.is_empty() {
            errors.required(&path, "");
            continue;
        }
        let found = match find_field(path.str(), schema, Brackets::Forbidden) {
            Ok(found) => found,
            Err(wrong) => {
                errors.invalid(&path, format!("is an invalid path: {wrong}"));
                continue;
            }
        };
        if found.root == "metadata" {
            errors.invalid(&path, "must not point to fields in metadata");
        }
        if !matches!(found.schema.at("type").str(), "string" | "boolean" | "integer") {
            let detail = "must point to a field of type string, boolean or integer. Enum string \
                          fields and strings with formats are allowed.";
            errors.invalid(&path, detail);
        }
        if !known.insert(found.path) {
            errors.duplicate(&path);
        }
    }
    let is_allowed = options.many_selectable_fields.contains(version);
    if known.len() > SELECTABLE_FIELDS_MAX && !is_allowed {
        errors.too_many(fields, known.len(), SELECTABLE_FIELDS_MAX);
    }
}

/// The path of what a field is in.
fn parent_text(field: &Node<'_>) -> String {
    let text = field.path().to_string();
    text.rsplit_once('.').map_or_else(String::new, |(parent, _)| parent.to_owned())
}
