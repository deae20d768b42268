//! ValidatingAdmissionPolicy: expressions that let requests pass, or remark on them.
//!
//! After `pkg/registry/admissionregistration/validatingadmissionpolicy` and
//! `pkg/apis/admissionregistration/validation/validation.go`.

use std::collections::HashSet;

use orlop_machinery::field::Errors;
use orlop_machinery::json_path::JsonPath;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta, names};

use super::match_conditions::validate_match_conditions;
use super::match_resources::{set_match_defaults, validate_match_constraints};
use super::policy::{self, validate_given};
use super::reserved_name::warn_about_reserved_name;
use super::rule::set_rule_defaults;
use super::{CATEGORIES, GROUP_VERSION, PACKAGE};
use crate::rules::scalar::validate_choice;
use crate::rules::{generation, status};

pub(crate) static KIND: ValidatingAdmissionPolicy = ValidatingAdmissionPolicy;
static STATUS: ValidatingAdmissionPolicyStatus = ValidatingAdmissionPolicyStatus;

/// The kind.
pub(crate) struct ValidatingAdmissionPolicy;

/// Its status.
struct ValidatingAdmissionPolicyStatus;

const AUDIT_ANNOTATIONS_MAX: usize = 20;
const VALUE_EXPRESSION_BYTES_MAX: usize = 5 * 1024;
const REASONS: &[&str] = &["Forbidden", "Invalid", "RequestEntityTooLarge"];

const COLUMNS: &[Column] =
    &[Column::NAME, Column::integer("Validations"), Column::text("ParamKind"), Column::AGE];

impl Kind for ValidatingAdmissionPolicy {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("ValidatingAdmissionPolicy", "validatingadmissionpolicies");
        Resource::cluster(GROUP_VERSION, kind, plural, PACKAGE)
            .categories(CATEGORIES)
            .status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        // What policies and bindings of both kinds match: once is enough.
        &[
            ("io.k8s.api.admissionregistration.v1.MatchResources", set_match_defaults),
            ("io.k8s.api.admissionregistration.v1.NamedRuleWithOperations", set_rule_defaults),
            (
                "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec",
                policy::set_policy_defaults,
            ),
        ]
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        policy::row(context, object, "validations")
    }
}

impl Rules for ValidatingAdmissionPolicy {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear(object);
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_policy(object, true, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_policy(new, !policy::has_same_match_conditions(new, old), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_reserved_name(object, warnings);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

fn validate_policy(object: &Node<'_>, checks_match_conditions: bool, errors: &mut Errors) {
    let spec = object.at("spec");
    policy::validate_failure_policy_and_param_kind(&spec, errors);
    validate_match_constraints(&spec.at("matchConstraints"), errors);
    if checks_match_conditions {
        validate_match_conditions(&spec.at("matchConditions"), errors);
    }
    policy::validate_variables(&spec.at("variables"), errors);
    let (validations, annotations) = (spec.at("validations"), spec.at("auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        errors.required(&validations, detail);
        errors.required(&annotations, detail);
    }
    for validation in validations.items() {
        validate_validation(&validation, errors);
    }
    let metadata = object.at("metadata");
    validate_audit_annotations(&annotations, metadata.at("name").str(), errors);
}

fn validate_validation(validation: &Node<'_>, errors: &mut Errors) {
    validate_validation_expression(&validation.at("expression"), errors);
    validate_message_expression(&validation.at("messageExpression"), errors);
    let message = validation.at("message");
    let trimmed = message.str().trim();
    if !message.is_empty() && trimmed.is_empty() {
        errors.invalid(&message, "must be non-empty if specified");
    } else if trimmed.contains(['\n', '\r']) {
        errors.invalid(&message, "must not contain line breaks");
    }
    validate_choice(&validation.at("reason"), REASONS, errors);
}

/// An expression that says yes or no. Compiling it is not there yet and goes here.
fn validate_validation_expression(expression: &Node<'_>, errors: &mut Errors) {
    validate_given(expression, "expression is not specified", errors);
}

/// An expression that makes a text. Compiling it is not there yet and goes here; it may not ask the
/// authorizer.
fn validate_message_expression(expression: &Node<'_>, errors: &mut Errors) {
    if !expression.is_empty() && expression.str().trim().is_empty() {
        errors.invalid(expression, "must be non-empty if specified");
    }
}

fn validate_audit_annotations(annotations: &Node<'_>, policy: &str, errors: &mut Errors) {
    if annotations.len() > AUDIT_ANNOTATIONS_MAX {
        let detail = format!("must not have more than {AUDIT_ANNOTATIONS_MAX} auditAnnotations");
        errors.invalid(annotations, detail);
    }
    let mut seen = HashSet::new();
    for annotation in annotations.items() {
        let key = annotation.at("key");
        if policy.is_empty() {
            errors.invalid(&key, "requires metadata.name be non-empty");
        } else {
            let name = format!("{policy}/{}", key.str());
            for message in names::qualified_name(&name) {
                errors.invalid_value(&key, name.as_str(), message);
            }
        }
        validate_value_expression(&annotation.at("valueExpression"), errors);
        if !seen.insert(annotation.value().at("key").str()) {
            errors.duplicate(&key);
        }
    }
}

/// An expression that makes a text or nothing. Compiling it is not there yet and goes here.
fn validate_value_expression(expression: &Node<'_>, errors: &mut Errors) {
    validate_given(expression, "valueExpression is not specified", errors);
    if expression.str().trim().len() > VALUE_EXPRESSION_BYTES_MAX {
        let detail = format!("must not exceed {VALUE_EXPRESSION_BYTES_MAX} bytes in length");
        errors.required(expression, detail);
    }
}

impl Rules for ValidatingAdmissionPolicyStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        status::keep_common_metadata(new, old);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let status = object.at("status");
        for warning in status.at("typeChecking").at("expressionWarnings").items() {
            let text = warning.at("warning");
            if text.is_empty() {
                errors.required(&text, "");
            }
            validate_field_reference(&warning.at("fieldRef"), errors);
        }
        meta::validate_conditions(&status.at("conditions"), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_reserved_name(object, warnings);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "metadata"]
    }
}

/// The path of the expression that a warning is about.
fn validate_field_reference(reference: &Node<'_>, errors: &mut Errors) {
    let trimmed = reference.str().trim();
    if trimmed.is_empty() {
        errors.required(reference, "");
    } else if let Err(error) = JsonPath::parse(trimmed) {
        errors.invalid_value(reference, trimmed, format!("invalid JSONPath: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(annotations: &[(String, usize)], expect: &str) {
        let annotation = |(key, length): &(String, usize)| {
            let expression = format!(" {} ", "x".repeat(*length));
            Value::from([("key", key.clone()), ("valueExpression", expression)])
        };
        let annotations: Value = annotations.iter().map(annotation).collect::<Vec<_>>().into();
        let mut errors = Errors::new();
        validate_audit_annotations(&Node::root(&annotations), "policy", &mut errors);
        let seen = errors.to_string();
        assert_eq!(seen.rsplit(": ").next().unwrap_or_default().trim_end(), expect);
    }

    #[test]
    fn there_are_not_too_many_annotations() {
        let keys = |count| (0..count).map(|at| (format!("a{at}"), 1)).collect::<Vec<_>>();
        check(&keys(20), "");
        check(&keys(21), "must not have more than 20 auditAnnotations");
    }

    #[test]
    fn the_expression_of_a_value_is_not_too_long() {
        check(&[("a".into(), 5120)], "");
        check(&[("a".into(), 5121)], "must not exceed 5120 bytes in length");
    }
}
