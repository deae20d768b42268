//! What both kinds of bindings have: a policy, parameters, columns.
//!
//! After `pkg/apis/admissionregistration/validation/validation.go` and, for the columns,
//! `pkg/printers/internalversion/printers.go`.

use std::fmt::Write;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Row};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::{
    validate_optional_text, validate_required_choice, validate_required_text,
};

/// What `kubectl get` shows of both kinds of bindings.
pub(super) const COLUMNS: &[Column] =
    &[Column::NAME, Column::text("PolicyName"), Column::text("ParamRef"), Column::AGE];

const NOT_FOUND_ACTIONS: &[&str] = &["Deny", "Allow"];
const ONE_OF_TWO: &str = "name and selector are mutually exclusive";

/// The cells of one of them.
pub(super) fn row(context: &Context<'_>, object: &Value) -> Row {
    let spec = object.at("spec");
    Row::new(vec![
        object.path(&["metadata", "name"]).clone(),
        spec.at("policyName").str().into(),
        format_param_reference(spec.at("paramRef")).into(),
        context.age(object).into(),
    ])
}

/// The parameters as columns show them: those of any namespace when it is not told.
fn format_param_reference(reference: &Value) -> String {
    let selector = reference.at("selector");
    match (reference.at("namespace").str(), reference.at("name").str()) {
        (_, "") if selector.is_null() => "<unset>".into(),
        (_, "") => format_selector(selector),
        ("", name) => format!("*/{name}"),
        (namespace, name) => format!("{namespace}/{name}"),
    }
}

/// A selector as Go prints its struct.
fn format_selector(selector: &Value) -> String {
    let mut out = String::from("&LabelSelector{MatchLabels:map[string]string{");
    for (key, value) in selector.at("matchLabels").map().iter() {
        write!(out, "{key}: {},", value.str()).expect("a string grows");
    }
    out += "},MatchExpressions:[]LabelSelectorRequirement{";
    for expression in selector.at("matchExpressions").list() {
        let values: Vec<&str> = expression.at("values").list().iter().map(Value::str).collect();
        let (key, operator) = (expression.at("key").str(), expression.at("operator").str());
        let values = values.join(" ");
        write!(
            out,
            "LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},"
        )
        .expect("a string grows");
    }
    out + "},}"
}

/// The policy that is bound, and the parameters that it is bound with.
pub(super) fn validate_policy_and_params(spec: &Node<'_>, errors: &mut Errors) {
    validate_required_text(&spec.at("policyName"), names::dns_subdomain, errors);
    let reference = spec.at("paramRef");
    if reference.is_set() {
        validate_param_reference(&reference, errors);
    }
}

fn validate_param_reference(reference: &Node<'_>, errors: &mut Errors) {
    let (name, selector) = (reference.at("name"), reference.at("selector"));
    let has_both = !name.is_empty() && selector.is_set();
    validate_optional_text(&name, names::path_segment_name, errors);
    if has_both {
        errors.forbidden(&name, ONE_OF_TWO);
    }
    meta::validate_label_selector(&selector, SelectorOptions::default(), errors);
    if has_both {
        errors.forbidden(&selector, ONE_OF_TWO);
    }
    if name.is_empty() && !selector.is_set() {
        errors.required(reference, "one of name or selector must be specified");
    }
    let action = reference.at("parameterNotFoundAction");
    validate_required_choice(&action, NOT_FOUND_ACTIONS, errors);
}
