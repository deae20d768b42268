//! What both kinds of policies have: parameters, variables, columns.
//!
//! After `pkg/apis/admissionregistration/validation/validation.go` and, for the columns,
//! `pkg/printers/internalversion/printers.go`.

use orlop_cel::escape::RESERVED;
use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::group_version::GroupVersion;
use orlop_machinery::kind::{Context, Row};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::FAILURE_POLICIES;
use crate::rules::scalar::validate_choice;

/// A policy that fails itself refuses the request.
pub(super) fn set_policy_defaults(spec: &mut Value) {
    spec.set_default("failurePolicy", "Fail");
}

/// The cells of a policy; `items` is the field of what is counted.
pub(super) fn row(context: &Context<'_>, object: &Value, items: &str) -> Row {
    let spec = object.at("spec");
    let count = i64::try_from(spec.at(items).list().len()).unwrap_or(i64::MAX);
    let kind = match spec.at("paramKind") {
        Value::Null => "<unset>".to_owned(),
        kind => format!("{}/{}", kind.at("apiVersion").str(), kind.at("kind").str()),
    };
    Row::new(vec![
        object.path(&["metadata", "name"]).clone(),
        count.into(),
        kind.into(),
        context.age(object).into(),
    ])
}

/// Whether nothing changed that match conditions are made of.
pub(super) fn has_same_match_conditions(new: &Node<'_>, old: &Node<'_>) -> bool {
    let (new, old) = (new.value().at("spec"), old.value().at("spec"));
    ["paramKind", "matchConditions"].iter().all(|field| new.at(field) == old.at(field))
}

/// What becomes of a request when the policy fails, and the kind of its parameters.
pub(super) fn validate_failure_policy_and_param_kind(spec: &Node<'_>, errors: &mut Errors) {
    validate_choice(&spec.at("failurePolicy"), FAILURE_POLICIES, errors);
    let kind = spec.at("paramKind");
    if kind.is_set() {
        validate_param_kind(&kind, errors);
    }
}

fn validate_param_kind(param_kind: &Node<'_>, errors: &mut Errors) {
    validate_api_version(&param_kind.at("apiVersion"), errors);
    let kind = param_kind.at("kind");
    if kind.is_empty() {
        return errors.required(&kind, "");
    }
    let lower_case: String =
        kind.str().chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect();
    let messages = names::dns1035_label(&lower_case);
    if !messages.is_empty() {
        let detail = "may have mixed case, but should otherwise match: ";
        errors.invalid(&kind, format!("{detail}{}", messages.join(",")));
    }
}

fn validate_api_version(api_version: &Node<'_>, errors: &mut Errors) {
    if api_version.is_empty() {
        return errors.required(api_version, "");
    }
    let parsed = match GroupVersion::parse(api_version.str()) {
        Ok(parsed) => parsed,
        Err(error) => return errors.invalid(api_version, error.to_string()),
    };
    let (group, version) = (parsed.group.as_str(), parsed.version.as_str());
    let messages = names::dns_subdomain(group);
    if !group.is_empty() && !messages.is_empty() {
        errors.invalid_value(api_version, group, messages.join(","));
    }
    if version.is_empty() {
        return errors.invalid(api_version, "version must be specified");
    }
    let messages = names::dns1035_label(version);
    if !messages.is_empty() {
        errors.invalid_value(api_version, version, messages.join(","));
    }
}

/// Variables: expressions with names, for other expressions to use.
pub(super) fn validate_variables(variables: &Node<'_>, errors: &mut Errors) {
    for variable in variables.items() {
        let name = variable.at("name");
        if name.str().trim().is_empty() {
            errors.required(&name, "name is not specified");
        } else if !is_cel_identifier(name.str()) {
            errors.invalid(&name, "must be a valid CEL identifier");
        }
        validate_variable_expression(&variable.at("expression"), errors);
    }
}

fn is_cel_identifier(name: &str) -> bool {
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_inside)
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && !RESERVED.contains(&name)
}

/// An expression of any type. Compiling it is not there yet and goes here; those that follow may
/// use it, and a policy of validation with variables compiles all its expressions with them.
fn validate_variable_expression(expression: &Node<'_>, errors: &mut Errors) {
    validate_given(expression, "expression is not specified", errors);
}

/// An expression that is more than blanks.
pub(super) fn validate_given(expression: &Node<'_>, detail: &str, errors: &mut Errors) {
    if expression.str().trim().is_empty() {
        errors.required(expression, detail);
    }
}
