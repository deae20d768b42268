//! MutatingAdmissionPolicyBinding: where a policy changes objects, and with which parameters.
//!
//! After `pkg/registry/admissionregistration/mutatingadmissionpolicybinding` and
//! `pkg/apis/admissionregistration/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::match_resources::{validate_match_resources, validate_mutating_operations};
use super::policy_binding;
use super::reserved_name::warn_about_reserved_name;
use super::{CATEGORIES, GROUP_VERSION, PACKAGE};
use crate::rules::generation;

pub(crate) static KIND: MutatingAdmissionPolicyBinding = MutatingAdmissionPolicyBinding;

/// The kind.
pub(crate) struct MutatingAdmissionPolicyBinding;

impl Kind for MutatingAdmissionPolicyBinding {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings");
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

impl Rules for MutatingAdmissionPolicyBinding {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        policy_binding::validate_policy_and_params(&spec, errors);
        let resources = spec.at("matchResources");
        validate_match_resources(&resources, errors);
        validate_mutating_operations(&resources, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_reserved_name(object, warnings);
    }
}
