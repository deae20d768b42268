//! Structural schemas: those that say of every field what it is, apart from which values it has.
//!
//! After `pkg/apiserver/schema/{convert,validation,complete}.go`. Upstream makes a structure of
//! another type first; here the schema itself is read in that way. A schema is at most as deep as
//! JSON may be.

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;
use orlop_machinery::regular_expression;

/// Keywords that stand for something that structural schemas do not have.
const UNSUPPORTED: [(&str, &str); 7] = [
    ("id", "OpenAPIV3Schema 'id' is not supported"),
    ("$schema", "OpenAPIV3Schema 'schema' is not supported"),
    ("$ref", "OpenAPIV3Schema '$ref' is not supported"),
    ("patternProperties", "OpenAPIV3Schema 'patternProperties' is not supported"),
    ("dependencies", "OpenAPIV3Schema 'dependencies' is not supported"),
    ("additionalItems", "OpenAPIV3Schema 'additionalItems' is not supported"),
    ("definitions", "OpenAPIV3Schema 'definitions' is not supported"),
];

/// What says something about the structure, and so must not stand under `allOf` and its like.
const FORBIDDEN_NESTED: [(&str, &str); 13] = [
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
];

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Why a schema cannot be read as a structural one at all, if so.
pub(super) fn conversion_error(schema: &Value) -> Option<&'static str> {
    // Where there is none, or a truth instead, there is nothing to read.
    schema.as_map()?;
    let is_there = |field: &str| match field {
        "additionalItems" => !schema.at(field).is_null(),
        field => !schema.at(field).is_empty(),
    };
    if let Some((_, wrong)) = UNSUPPORTED.iter().find(|(field, _)| is_there(field)) {
        return Some(wrong);
    }
    let junctors = ["allOf", "anyOf", "oneOf"].into_iter();
    let nested = junctors.flat_map(|field| schema.at(field).list());
    if let Some(wrong) = [schema.at("not")].into_iter().chain(nested).find_map(conversion_error) {
        return Some(wrong);
    }
    if schema.at("x-kubernetes-preserve-unknown-fields").as_bool() == Some(false) {
        return Some(
            "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined",
        );
    }
    if !schema.at("items").list().is_empty() {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array");
    }
    let properties = schema.at("properties").map().values();
    let inner = [schema.at("items")].into_iter().chain(properties);
    inner.chain([schema.at("additionalProperties")]).find_map(conversion_error)
}

/// Whether a schema is structural; none at all is.
pub(super) fn is_structural(schema: &Value) -> bool {
    if schema.is_null() {
        return true;
    }
    let mut errors = Errors::new();
    if conversion_error(schema).is_none() {
        validate_structural(&Node::root(schema), &mut errors);
        return errors.is_empty();
    }
    false
}

/// Reports why a schema that can be read is not structural, sorted as text.
pub(super) fn validate_structural(schema: &Node<'_>, errors: &mut Errors) {
    let mut found = Errors::new();
    validate_invariants(schema, Level::Root, &mut found);
    validate_completeness(schema, schema, &mut found);
    let mut found = found.list().to_vec();
    found.sort_by_cached_key(ToString::to_string);
    found.into_iter().for_each(|error| errors.push(error));
}

fn validate_invariants(schema: &Node<'_>, level: Level, errors: &mut Errors) {
    let (ty, items) = (schema.at("type"), schema.at("items"));
    if ty.str() == "array" && !items.is_set() {
        errors.required(&items, "must be specified");
    }
    if items.is_set() {
        validate_invariants(&items, Level::Item, errors);
    }
    for (_, property) in schema.at("properties").entries() {
        validate_invariants(&property, Level::Field, errors);
    }
    let additional = schema.at("additionalProperties");
    if additional.is_set() && level == Level::Root {
        errors.forbidden(&additional, "must not be used at the root");
    }
    if additional.value().as_map().is_some() {
        validate_invariants(&additional, Level::Field, errors);
    }
    if schema.at("x-kubernetes-int-or-string").bool() {
        for field in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if schema.at(field).bool() {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                errors.invalid(&schema.at(field), detail);
            }
        }
    }
    let skips_any = is_int_or_string(schema.value());
    let skips_first = schema.value().at("allOf").list().first().is_some_and(is_int_or_string);
    validate_junctors(schema, skips_any, skips_first, errors);
    validate_type(schema, level, errors);
    validate_metadata(schema, level, errors);
    if schema.at("x-kubernetes-embedded-resource").bool()
        && !schema.at("x-kubernetes-preserve-unknown-fields").bool()
        && schema.at("properties").is_empty()
    {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.required(&schema.at("properties"), detail);
    }
}

/// Every schema has a type, with few exceptions.
fn validate_type(schema: &Node<'_>, level: Level, errors: &mut Errors) {
    let ty = schema.at("type");
    let is_embedded = schema.at("x-kubernetes-embedded-resource").bool();
    let has_any_type = schema.at("x-kubernetes-int-or-string").bool()
        || schema.at("x-kubernetes-preserve-unknown-fields").bool();
    if is_embedded && ty.str() != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        match ty.str() {
            "" => errors.required(&ty, detail),
            _ => errors.invalid(&ty, detail),
        }
    } else if ty.is_empty() && !has_any_type {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.required(&ty, detail);
    }
    let additional = schema.at("additionalProperties");
    if is_embedded && additional.is_set() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.forbidden(&additional, detail);
    }
    if level == Level::Root && !ty.is_empty() && ty.str() != "object" {
        errors.invalid(&ty, "must be object at the root");
    }
}

/// What every object has is known: a schema can only say more about its name.
fn validate_metadata(schema: &Node<'_>, level: Level, errors: &mut Errors) {
    let properties = schema.at("properties");
    let is_object = level == Level::Root || schema.at("x-kubernetes-embedded-resource").bool();
    for (field, ty) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
        let property = properties.key(field);
        let found = property.at("type");
        if is_object && property.is_set() && found.str() != ty {
            errors.invalid_value(&found, found.str(), format!("must be {ty}"));
        }
    }
    let metadata = properties.key("metadata");
    if level != Level::Root || !metadata.is_set() {
        return;
    }
    let is_name = |field: &str| matches!(field, "name" | "generateName");
    let is_fine = metadata.map().iter().all(|(keyword, value)| match keyword {
        "type" | "default" => true,
        "properties" => value.map().keys().all(is_name),
        _ => false,
    });
    if !is_fine {
        let detail = "must not specify anything other than name and generateName, but metadata is \
                      implicitly specified";
        errors.forbidden(&metadata, detail);
    }
}

/// `anyOf` with whole numbers and with text, as it is written beside `x-kubernetes-int-or-string`.
fn is_int_or_string(schema: &Value) -> bool {
    let is_only = |schema: &Value, ty: &str| *schema == Value::from([("type", ty)]);
    match schema.at("anyOf").list() {
        [first, second] => is_only(first, "integer") && is_only(second, "string"),
        _ => false,
    }
}

/// The schemas that a value must match besides: they are about values alone.
fn validate_junctors(
    schema: &Node<'_>,
    skips_any: bool,
    skips_first_all: bool,
    errors: &mut Errors,
) {
    if !skips_any {
        for nested in schema.at("anyOf").items() {
            validate_nested(&nested, false, errors);
        }
    }
    for (at, nested) in schema.at("allOf").items().enumerate() {
        validate_nested(&nested, skips_first_all && at == 0, errors);
    }
    for nested in schema.at("oneOf").items() {
        validate_nested(&nested, false, errors);
    }
    let not = schema.at("not");
    if not.is_set() {
        validate_nested(&not, false, errors);
    }
    let pattern = schema.at("pattern");
    if let Err(wrong) = regular_expression::check(pattern.str()) {
        let detail = format!("must be a valid regular expression, but isn't: {wrong}");
        errors.invalid(&pattern, detail);
    }
}

fn validate_nested(schema: &Node<'_>, skips_any: bool, errors: &mut Errors) {
    validate_junctors(schema, skips_any, false, errors);
    let items = schema.at("items");
    if items.is_set() {
        validate_nested(&items, false, errors);
    }
    for (_, property) in schema.at("properties").entries() {
        validate_nested(&property, false, errors);
    }
    for (field, detail) in FORBIDDEN_NESTED {
        let keyword = schema.at(field);
        // A default, a list type and a map type of nothing are there all the same.
        let is_there = match field {
            "default" | "x-kubernetes-list-type" | "x-kubernetes-map-type" => keyword.is_set(),
            "additionalProperties" => keyword.is_set() && *keyword.value() != Value::Bool(false),
            _ => !keyword.is_empty(),
        };
        if is_there {
            errors.forbidden(&keyword, detail);
        }
    }
    let properties = schema.at("properties");
    let metadata = properties.key("metadata");
    if metadata.is_set() {
        errors.forbidden(&metadata, "must not be specified in a nested context");
    }
}

/// What nested schemas speak of is there in the structure, too.
fn validate_completeness(schema: &Node<'_>, structure: &Node<'_>, errors: &mut Errors) {
    let not = schema.at("not");
    if not.is_set() {
        validate_nested_completeness(&not, structure, errors);
    }
    for field in ["allOf", "anyOf", "oneOf"] {
        for nested in schema.at(field).items() {
            validate_nested_completeness(&nested, structure, errors);
        }
    }
}

fn validate_nested_completeness(schema: &Node<'_>, structure: &Node<'_>, errors: &mut Errors) {
    if !structure.is_set() {
        errors.required(structure, format!("because it is defined in {}", schema.path()));
        return;
    }
    validate_completeness(schema, structure, errors);
    let items = schema.at("items");
    if items.is_set() {
        validate_nested_completeness(&items, &structure.at("items"), errors);
    }
    let known = structure.at("properties");
    for (name, property) in schema.at("properties").entries() {
        validate_nested_completeness(&property, &known.key(name), errors);
    }
}
