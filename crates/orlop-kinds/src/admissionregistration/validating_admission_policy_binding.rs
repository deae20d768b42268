//! ValidatingAdmissionPolicyBinding: where a policy judges requests, with which parameters.
//!
//! After `pkg/registry/admissionregistration/validatingadmissionpolicybinding` and
//! `pkg/apis/admissionregistration/validation/validation.go`.

use std::collections::HashSet;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::match_resources::validate_match_resources;
use super::policy_binding;
use super::reserved_name::warn_about_reserved_name;
use super::{CATEGORIES, GROUP_VERSION, PACKAGE};
use crate::rules::generation;
use crate::rules::scalar::validate_choice;

pub(crate) static KIND: ValidatingAdmissionPolicyBinding = ValidatingAdmissionPolicyBinding;

/// The kind.
pub(crate) struct ValidatingAdmissionPolicyBinding;

const ACTIONS: &[&str] = &["Audit", "Deny", "Warn"];

impl Kind for ValidatingAdmissionPolicyBinding {
    fn resource(&self) -> Resource {
        let (kind, plural) =
            ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");
        Resource::cluster(GROUP_VERSION, kind, plural, PACKAGE).categories(CATEGORIES)
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        policy_binding::COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        policy_binding::row(context, object)
    }
}

impl Rules for ValidatingAdmissionPolicyBinding {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        policy_binding::validate_policy_and_params(&spec, errors);
        validate_match_resources(&spec.at("matchResources"), errors);
        validate_actions(&spec.at("validationActions"), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_reserved_name(object, warnings);
    }
}

/// What is done about a request that the policy finds fault with.
fn validate_actions(actions: &Node<'_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for action in actions.items() {
        validate_choice(&action, ACTIONS, errors);
        if !seen.insert(action.str()) {
            errors.duplicate(&action);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure \
                      information in the API response and headers serves no purpose)";
        errors.invalid(actions, detail);
    }
    if seen.is_empty() {
        errors.required(actions, "at least one validation action is required");
    }
}
