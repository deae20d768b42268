//! The keywords of a schema, and what goes with what.
//!
//! After `ValidateCustomResourceDefinitionOpenAPISchema` and `specStandardValidatorV3`. A schema
//! is at most as deep as JSON may be.

use std::collections::BTreeSet;

use orlop_cel::rules::field_path::{Brackets, find_field};
use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;

use super::options::Options;
use super::structural::conversion_error;
use super::validations::{CostLimit, RuleScope, Step};
use crate::rules::scalar::validate_choice;

/// The types that values can have.
pub(super) const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Keywords of JSON Schema that there are not here.
const UNSUPPORTED: [&str; 6] =
    ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Each error about keys of a list shows all of them: beyond so many errors it is clear enough.
const KEY_ERRORS_MAX: usize = 16;

/// What the schemas around say about one inside.
#[derive(Clone)]
pub(super) struct Surroundings<'a> {
    is_root: bool,
    /// Why there can be no default here, if so.
    forbidden_default: Option<String>,
    /// Whether this is about what every object has.
    is_inside_meta: bool,
    /// Whether the whole schema can be read as a structural one.
    is_convertible: bool,
    /// The path of the outermost schema whose values cannot be told from old ones.
    uncorrelatable: Option<String>,
    /// What rules see; none where they are not compiled.
    scope: Option<&'a RuleScope<'a>>,
    limit: CostLimit,
}

/// What is wrong with a schema.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) schema: Errors,
    /// With its rules. These are compiled only where nothing else is wrong.
    pub(super) rules: Errors,
}

impl<'a> Surroundings<'a> {
    /// Of the outermost schema.
    pub(super) fn of_root(
        is_convertible: bool,
        scope: Option<&'a RuleScope<'a>>,
        limit: CostLimit,
    ) -> Surroundings<'a> {
        Surroundings {
            is_root: true,
            forbidden_default: None,
            is_inside_meta: false,
            is_convertible,
            uncorrelatable: None,
            scope,
            limit,
        }
    }

    /// Of a schema under `not`, `allOf` and the like.
    fn inner(&self) -> Surroundings<'a> {
        Surroundings { is_root: false, scope: None, ..self.clone() }
    }

    /// Of the items of a list.
    fn of_items(&self, schema: &Node<'_>) -> Surroundings<'a> {
        let mut inner = self.inner();
        if schema.at("x-kubernetes-list-type").str() != "map" {
            inner.forbid_old_self(schema);
        }
        inner
    }

    /// Values below are not compared with old ones.
    fn forbid_old_self(&mut self, schema: &Node<'_>) {
        self.uncorrelatable.get_or_insert_with(|| schema.path().to_string());
    }

    /// With what rules see there.
    fn with_scope<'b>(self, scope: Option<&'b RuleScope<'b>>) -> Surroundings<'b>
    where
        'a: 'b,
    {
        Surroundings { scope, ..self }
    }

    /// Of a property of this schema.
    fn of_property(&self, schema: &Node<'_>, name: &str) -> Surroundings<'a> {
        let mut inner = self.inner();
        let map_type = schema.at("x-kubernetes-map-type");
        if map_type.is_set() && !matches!(map_type.str(), "atomic" | "granular") {
            inner.forbid_old_self(schema);
        }
        let is_object = self.is_root || schema.at("x-kubernetes-embedded-resource").bool();
        if is_object && matches!(name, "metadata" | "kind" | "apiVersion") {
            inner.is_inside_meta = true;
            if self.is_root {
                inner.forbidden_default = Some(format!("in top-level {name}"));
            }
        }
        inner
    }

    /// Of the entries of a map.
    fn of_additional_properties(&self) -> Surroundings<'a> {
        let mut inner = self.inner();
        if self.is_inside_meta {
            let reason = "inside additionalProperties applying to object metadata";
            inner.forbidden_default = Some(reason.to_owned());
        }
        inner
    }
}

/// Reports all that is wrong with a schema and those inside.
pub(super) fn validate_open_api_schema(
    schema: &Node<'_>,
    around: &Surroundings<'_>,
    options: &Options,
    found: &mut Findings,
) {
    let before = found.schema.len();
    validate_keywords(schema, around, options, &mut found.schema);
    validate_inner(schema, around, options, found);
    let errors = &mut found.schema;
    let keeps = schema.at("x-kubernetes-preserve-unknown-fields");
    if keeps.is_set() && !keeps.bool() {
        errors.invalid(&keeps, "must be true or undefined");
    }
    validate_map_type(schema, errors);
    validate_list_type(schema, options, errors);
    validate_list_map(schema, errors);
    if !options.allows_optional_list_keys {
        validate_list_keys(schema, errors);
    }
    validate_rules(schema, around, errors);
    let rules = schema.at("x-kubernetes-validations");
    // What is wrong with the schema would make no sense in the words of the compiler.
    let is_fine = found.schema.len() == before;
    if let Some(scope) = around.scope.filter(|_| is_fine && !rules.is_empty()) {
        let uncorrelatable = around.uncorrelatable.as_deref();
        scope.validate(&rules, uncorrelatable, around.limit, &mut found.rules);
    }
}

fn validate_keywords(
    schema: &Node<'_>,
    around: &Surroundings<'_>,
    options: &Options,
    errors: &mut Errors,
) {
    let (ty, default) = (schema.at("type"), schema.at("default"));
    if !options.allows_unknown_types && !ty.is_empty() {
        validate_choice(&ty, &TYPES, errors);
    }
    if let Some(reason) = around.forbidden_default.as_ref().filter(|_| default.is_set()) {
        errors.forbidden(&default, format!("must not be set {reason}"));
    }
    for field in UNSUPPORTED {
        if schema.at(field).is_set() {
            errors.forbidden(&schema.at(field), format!("{field} is not supported"));
        }
    }
    if ty.str() == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.forbidden(&ty, detail);
    }
    let items = schema.at("items");
    if !items.list().is_empty() {
        errors.forbidden(&items, "items must be a schema object and not an array");
    }
    let embedded = schema.at("x-kubernetes-embedded-resource");
    if around.is_inside_meta && embedded.bool() {
        errors.forbidden(&embedded, "must not be used inside of resource meta");
    }
    let unique = schema.at("uniqueItems");
    if unique.bool() {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes \
                      quadratic";
        errors.forbidden(&unique, detail);
    }
}

fn validate_inner(
    schema: &Node<'_>,
    around: &Surroundings<'_>,
    options: &Options,
    found: &mut Findings,
) {
    let inner = around.inner();
    let (properties, additional) = (schema.at("properties"), schema.at("additionalProperties"));
    if additional.is_set() && *additional.value() != Value::Bool(true) && !properties.is_empty() {
        let detail = "additionalProperties and properties are mutual exclusive";
        found.schema.forbidden(&additional, detail);
    }
    if additional.value().as_map().is_some() {
        let scope = around.scope.and_then(|scope| scope.child(Step::Values, additional.value()));
        let inner = around.of_additional_properties().with_scope(scope.as_ref());
        validate_open_api_schema(&additional, &inner, options, found);
    }
    for (name, property) in properties.entries() {
        let step = Step::Property(name);
        let scope = around.scope.and_then(|scope| scope.child(step, property.value()));
        let inner = around.of_property(schema, name).with_scope(scope.as_ref());
        validate_open_api_schema(&property, &inner, options, found);
    }
    let not = schema.at("not");
    if not.is_set() {
        validate_open_api_schema(&not, &inner, options, found);
    }
    for field in ["allOf", "oneOf", "anyOf"] {
        for nested in schema.at(field).items() {
            validate_open_api_schema(&nested, &inner, options, found);
        }
    }
    for (_, definition) in schema.at("definitions").entries() {
        validate_open_api_schema(&definition, &inner, options, found);
    }
    let items = schema.at("items");
    if items.value().as_map().is_some() {
        let scope = around.scope.and_then(|scope| scope.child(Step::Items, items.value()));
        let inner = around.of_items(schema).with_scope(scope.as_ref());
        validate_open_api_schema(&items, &inner, options, found);
    }
    for item in items.items() {
        validate_open_api_schema(&item, &inner, options, found);
    }
    for (_, dependency) in schema.at("dependencies").entries() {
        if dependency.value().as_map().is_some() {
            validate_open_api_schema(&dependency, &inner, options, found);
        }
    }
}

/// A keyword that only makes sense with one type.
fn validate_type_for(schema: &Node<'_>, wanted: &str, keyword: &str, errors: &mut Errors) -> bool {
    let ty = schema.at("type");
    let detail = format!("must be {wanted} if {keyword} is specified");
    match ty.str() {
        found if found == wanted => return true,
        "" => errors.required(&ty, detail),
        _ => errors.invalid(&ty, detail),
    }
    false
}

fn validate_map_type(schema: &Node<'_>, errors: &mut Errors) {
    let map_type = schema.at("x-kubernetes-map-type");
    if map_type.is_set() {
        validate_type_for(schema, "object", "x-kubernetes-map-type", errors);
        validate_choice(&map_type, &["atomic", "granular"], errors);
    }
}

fn validate_list_type(schema: &Node<'_>, options: &Options, errors: &mut Errors) {
    let list_type = schema.at("x-kubernetes-list-type");
    if list_type.is_set() {
        let is_array = validate_type_for(schema, "array", "x-kubernetes-list-type", errors);
        let looks = is_array && !options.allows_granular_set_items;
        if looks && has_granular_set_items(schema.value()) {
            let items = schema.at("items");
            let field = match items.at("type").str() {
                "array" => "x-kubernetes-list-type",
                _ => "x-kubernetes-map-type",
            };
            // As upstream, the list type is shown in both cases.
            let shown = items.value().at("x-kubernetes-list-type").clone();
            let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
            errors.invalid_value(&items.at(field), shown, detail);
        }
        validate_choice(&list_type, &["atomic", "set", "map"], errors);
    }
    if !schema.at("x-kubernetes-list-map-keys").is_empty() && list_type.str() != "map" {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        if list_type.is_set() {
            errors.invalid(&list_type, detail);
        } else {
            errors.required(&list_type, detail);
        }
    }
}

/// Whether this is a set with items that may change in part.
pub(super) fn has_granular_set_items(schema: &Value) -> bool {
    let items = schema.at("items");
    if schema.at("x-kubernetes-list-type").str() != "set" {
        return false;
    }
    match items.at("type").str() {
        "array" => {
            let list_type = items.at("x-kubernetes-list-type");
            !list_type.is_null() && list_type.str() != "atomic"
        }
        "object" => items.at("x-kubernetes-map-type").str() != "atomic",
        _ => false,
    }
}

/// A list whose items have keys.
fn validate_list_map(schema: &Node<'_>, errors: &mut Errors) {
    if schema.at("x-kubernetes-list-type").str() != "map" {
        return;
    }
    let (keys, items) = (schema.at("x-kubernetes-list-map-keys"), schema.at("items"));
    if keys.is_empty() {
        errors.required(&keys, "must not be empty if x-kubernetes-list-type is map");
    }
    if !items.is_set() {
        errors.required(&items, "must have a schema if x-kubernetes-list-type is map");
        return;
    }
    if items.value().as_list().is_some() {
        errors.invalid(&items, "must only have a single schema if x-kubernetes-list-type is map");
        return;
    }
    let ty = items.at("type");
    if ty.str() != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.invalid_value(&ty, ty.str(), detail);
        return;
    }
    let before = errors.len();
    let properties = items.at("properties");
    let mut known = BTreeSet::new();
    for key in keys.list().iter().map(Value::str) {
        let property = properties.key(key);
        if !property.is_set() {
            errors.invalid(&keys, "entries must all be names of item properties");
        } else if matches!(property.at("type").str(), "array" | "object") {
            let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            errors.invalid_value(&property.at("type"), ty.str(), detail);
        }
        if !known.insert(key) {
            errors.invalid(&keys, "must not contain duplicate entries");
        }
        if errors.len() - before >= KEY_ERRORS_MAX {
            break;
        }
    }
}

/// The keys of items are always there.
pub(super) fn validate_list_keys(schema: &Node<'_>, errors: &mut Errors) {
    let (list_type, items) = (schema.at("x-kubernetes-list-type"), schema.at("items"));
    let is_known = matches!(list_type.str(), "set" | "map");
    if !is_known || items.value().as_map().is_none() {
        return;
    }
    if items.at("nullable").bool() {
        let detail =
            format!("cannot be nullable when x-kubernetes-list-type is {}", list_type.str());
        errors.forbidden(&items.at("nullable"), detail);
    }
    if list_type.str() == "set" {
        return;
    }
    let required: BTreeSet<&str> =
        items.value().at("required").list().iter().map(Value::str).collect();
    let properties = items.at("properties");
    let in_keys = "this property is in x-kubernetes-list-map-keys, so it";
    for key in schema.value().at("x-kubernetes-list-map-keys").list().iter().map(Value::str) {
        let property = properties.key(key);
        if !property.is_set() {
            continue;
        }
        let default = property.at("default");
        if !required.contains(key) && !default.is_set() {
            let detail = format!("{in_keys} must have a default or be a required property");
            errors.required(&default, detail);
        }
        if property.at("nullable").bool() {
            let detail = format!("{in_keys} cannot be nullable");
            errors.forbidden(&property.at("nullable"), detail);
        }
    }
}

/// Rules in CEL: all that can be said without compiling them.
fn validate_rules(schema: &Node<'_>, around: &Surroundings<'_>, errors: &mut Errors) {
    for rule in schema.at("x-kubernetes-validations").items() {
        validate_rule_text(&rule, errors);
        let expression = rule.at("messageExpression");
        if !expression.is_empty() && expression.str().trim().is_empty() {
            errors.required(&expression, "messageExpression must be non-empty if specified");
        }
        validate_choice(&rule.at("reason"), &REASONS, errors);
        let path = rule.at("fieldPath");
        if path.is_empty() {
            continue;
        }
        if path.str().trim().is_empty() {
            errors.invalid(&path, "must be non-empty if specified");
        }
        if has_line_break(path.str()) {
            errors.invalid(&path, "must not contain line breaks");
        }
        let is_convertible = around.is_convertible || conversion_error(schema.value()).is_none();
        if is_convertible && find_field(path.str(), schema.value(), Brackets::Allowed).is_err() {
            errors.invalid(&path, "must be a valid path");
        }
    }
}

fn validate_rule_text(rule: &Node<'_>, errors: &mut Errors) {
    let (text, message) = (rule.at("rule"), rule.at("message"));
    let trimmed = message.str().trim();
    if text.str().trim().is_empty() {
        errors.required(&text, "rule is not specified");
    } else if !message.is_empty() && trimmed.is_empty() {
        errors.invalid(&message, "must be non-empty if specified");
    } else if has_line_break(trimmed) {
        errors.invalid(&message, "must not contain line breaks");
    } else if has_line_break(text.str().trim()) && trimmed.is_empty() {
        errors.required(&message, "message must be specified if rule contains line breaks");
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
