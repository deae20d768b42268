//! The schema of a version, or of all.
//!
//! After `validateCustomResourceDefinitionValidation` and the parts of
//! `validateCustomResourceDefinitionSpec` about schemas.

use std::cell::RefCell;

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;
use orlop_machinery::structural::Structural;

use super::defaults::validate_defaults;
use super::open_api_schema::{Findings, Surroundings, validate_open_api_schema};
use super::options::Options;
use super::schema_tree::walk;
use super::structural::{conversion_error, validate_structural};
use super::validations::{CostLimit, RuleScope, TotalCost};

/// The only fields at the root of a schema whose kind has a status: the name in JSON, and in Go,
/// as errors list them.
const ROOT_FIELDS: [(&str, &str); 22] = [
    ("description", "Description"),
    ("type", "Type"),
    ("format", "Format"),
    ("title", "Title"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "ExclusiveMaximum"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "ExclusiveMinimum"),
    ("maxLength", "MaxLength"),
    ("minLength", "MinLength"),
    ("pattern", "Pattern"),
    ("maxItems", "MaxItems"),
    ("minItems", "MinItems"),
    ("uniqueItems", "UniqueItems"),
    ("multipleOf", "MultipleOf"),
    ("required", "Required"),
    ("items", "Items"),
    ("properties", "Properties"),
    ("externalDocs", "ExternalDocs"),
    ("example", "Example"),
    ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields"),
    ("x-kubernetes-validations", "XValidations"),
];

/// Reports schemas that are missing; the options with what these schemas make necessary.
pub(super) fn validate_presence(
    spec: &Node<'_>,
    options: &Options,
    errors: &mut Errors,
) -> Options {
    let mut options = options.clone();
    let keeps = spec.at("preserveUnknownFields");
    let versions = spec.at("versions");
    for version in versions.items() {
        let schema = version.at("schema");
        let schema = schema.at("openAPIV3Schema");
        if schema.is_set() {
            continue;
        }
        if !options.allows_missing_schema {
            errors.required(&schema, "");
        } else if !keeps.bool() && version.at("served").bool() {
            errors.required(&schema, "because otherwise all fields are pruned");
        }
    }
    let schemas =
        versions.list().iter().map(|version| version.path(&["schema", "openAPIV3Schema"]));
    let (mut has_defaults, mut has_extensions) = (false, false);
    for schema in schemas.flat_map(walk) {
        has_defaults |= !schema.at("default").is_null();
        has_extensions |= has_extension(schema);
    }
    if has_defaults && keeps.bool() {
        errors.invalid(&keeps, "must be false in order to use defaults in the schema");
    }
    if !keeps.bool() || has_defaults || has_extensions {
        options.allows_non_structural = false;
    }
    options
}

fn has_extension(schema: &Value) -> bool {
    schema.at("x-kubernetes-embedded-resource").bool()
        || !schema.at("x-kubernetes-preserve-unknown-fields").is_null()
        || schema.at("x-kubernetes-int-or-string").bool()
        || !schema.at("x-kubernetes-list-map-keys").is_empty()
        || !schema.at("x-kubernetes-list-type").is_null()
        || !schema.at("x-kubernetes-validations").is_empty()
}

/// Reports all that is wrong with a schema.
pub(super) fn validate_validation(
    validation: &Node<'_>,
    has_status: bool,
    (options, limit): (&Options, CostLimit),
    errors: &mut Errors,
) {
    let schema = validation.at("openAPIV3Schema");
    if !schema.is_set() {
        return;
    }
    let mut found = Errors::new();
    if has_status {
        validate_root_fields(&schema, &mut found);
    }
    if schema.at("nullable").bool() {
        found.forbidden(&schema.at("nullable"), "nullable cannot be true at the root");
    }
    let unconverted = conversion_error(schema.value());
    let total = RefCell::new(TotalCost::default());
    let read = Structural::read(schema.value());
    // Rules are looked at only where all else about the structure is fine.
    let mut structural = None;
    if !options.allows_non_structural && unconverted.is_none() {
        let before = found.len();
        validate_structural(&schema, &mut found);
        if let (true, Ok(read)) = (found.len() == before, &read) {
            validate_defaults(&schema, read, options, &mut found);
            structural = (found.len() == before).then_some(read);
        }
    }
    let scope = structural.map(|read| RuleScope::root(schema.value(), read, &total));
    let surroundings = Surroundings::of_root(unconverted.is_none(), scope.as_ref(), limit);
    let mut inside = Findings::default();
    validate_open_api_schema(&schema, &surroundings, options, &mut inside);
    found.extend(inside.schema);
    found.extend(inside.rules);
    if let Some(wrong) = unconverted.filter(|_| !options.allows_non_structural && found.is_empty())
    {
        found.invalid_value(&schema, "", wrong);
    }
    // Only what is nested too deeply gets here, or has types that were fine before.
    let is_read = options.allows_non_structural || options.allows_unknown_types;
    if let Some(wrong) = read.err().filter(|_| found.is_empty() && !is_read) {
        found.invalid_value(&schema, "", wrong.message);
    }
    total.borrow().validate(&schema, &mut found);
    errors.extend(found);
}

/// What stands beside the schema of the status would be lost when that is taken out.
fn validate_root_fields(schema: &Node<'_>, errors: &mut Errors) {
    let is_allowed = |field: &str| ROOT_FIELDS.iter().any(|(name, _)| *name == field);
    let ty = schema.at("type");
    // Upstream looks at these before the type, and stops at the first one.
    let is_early = ["id", "$schema", "$ref"].iter().any(|field| schema.at(field).is_set());
    if !is_early && !ty.is_empty() && ty.str() != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the \
                      status subresource is enabled";
        errors.invalid(&ty, detail);
    } else if !schema.map().keys().all(is_allowed) {
        let names: Vec<&str> = ROOT_FIELDS.iter().map(|(_, name)| *name).collect();
        let detail = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is \
             enabled",
            names.join(" ")
        );
        errors.invalid_value(schema.path(), schema.value().clone(), detail);
    }
}

#[cfg(test)]
mod tests {
    use orlop_machinery::Map;

    use super::*;

    #[test]
    fn a_schema_may_be_as_deep_as_json() {
        let mut schema = Value::from([("type", "string")]);
        for field in ["items", "not", "additionalProperties"].iter().cycle().take(510) {
            let mut outer = Value::from([("type", "array")]);
            outer.set(field, schema);
            schema = outer;
        }
        schema.set("type", "object");
        let mut validation = Value::from(Map::new());
        validation.set("openAPIV3Schema", schema);
        let mut errors = Errors::new();
        let options = (&Options::default(), CostLimit::PerRule);
        validate_validation(&Node::root(&validation), true, options, &mut errors);
        assert!(!errors.is_empty());
    }
}
