//! MutatingAdmissionPolicy: expressions that change objects on their way in.
//!
//! After `pkg/registry/admissionregistration/mutatingadmissionpolicy` and
//! `pkg/apis/admissionregistration/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::match_conditions::validate_match_conditions;
use super::match_resources::{validate_match_constraints, validate_mutating_operations};
use super::policy::{self, validate_given};
use super::reserved_name::warn_about_reserved_name;
use super::{CATEGORIES, GROUP_VERSION, PACKAGE, REINVOCATION_POLICIES};
use crate::rules::generation;
use crate::rules::scalar::validate_required_choice;

pub(crate) static KIND: MutatingAdmissionPolicy = MutatingAdmissionPolicy;

/// The kind.
pub(crate) struct MutatingAdmissionPolicy;

/// A way to change an object: its patch type, its field, what it is checked with.
type PatchType = (&'static str, &'static str, fn(&Node<'_>, &mut Errors));

const PATCH_TYPES: [PatchType; 2] = [
    ("ApplyConfiguration", "applyConfiguration", validate_apply_configuration_expression),
    ("JSONPatch", "jsonPatch", validate_json_patch_expression),
];

const COLUMNS: &[Column] =
    &[Column::NAME, Column::integer("Mutations"), Column::text("ParamKind"), Column::AGE];

impl Kind for MutatingAdmissionPolicy {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("MutatingAdmissionPolicy", "mutatingadmissionpolicies");
        Resource::cluster(GROUP_VERSION, kind, plural, PACKAGE).categories(CATEGORIES)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[(
            "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec",
            policy::set_policy_defaults,
        )]
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        policy::row(context, object, "mutations")
    }
}

impl Rules for MutatingAdmissionPolicy {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(&object.at("spec"), true, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let checks_match_conditions = !policy::has_same_match_conditions(new, old);
        validate_spec(&new.at("spec"), checks_match_conditions, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_reserved_name(object, warnings);
    }
}

fn validate_spec(spec: &Node<'_>, checks_match_conditions: bool, errors: &mut Errors) {
    policy::validate_failure_policy_and_param_kind(spec, errors);
    let constraints = spec.at("matchConstraints");
    validate_match_constraints(&constraints, errors);
    validate_mutating_operations(&constraints, errors);
    if checks_match_conditions {
        validate_match_conditions(&spec.at("matchConditions"), errors);
    }
    policy::validate_variables(&spec.at("variables"), errors);
    let mutations = spec.at("mutations");
    if mutations.is_empty() {
        errors.required(&mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        validate_mutation(&mutation, errors);
    }
    validate_required_choice(&spec.at("reinvocationPolicy"), REINVOCATION_POLICIES, errors);
}

/// What belongs to the patch type is there, and nothing else.
fn validate_mutation(mutation: &Node<'_>, errors: &mut Errors) {
    let patch_type = mutation.at("patchType");
    validate_required_choice(&patch_type, &PATCH_TYPES.map(|(name, ..)| name), errors);
    let chosen = PATCH_TYPES.iter().find(|(name, ..)| *name == patch_type.str());
    let Some((name, field, validate_expression)) = chosen else { return };
    let patch = mutation.at(field);
    if patch.is_set() {
        validate_expression(&patch.at("expression"), errors);
    } else {
        errors.required(&patch, format!("must be specified when patchType is {name}"));
    }
    for (_, field, _) in PATCH_TYPES.iter().filter(|(other, ..)| other != name) {
        let patch = mutation.at(field);
        if patch.is_set() {
            let detail = format!("must not be specified when patchType is {name}");
            errors.invalid_value(&patch, format!("{{{field}}}"), detail);
        }
    }
}

/// An expression that makes a part of the object. Compiling it is not there yet and goes here.
fn validate_apply_configuration_expression(expression: &Node<'_>, errors: &mut Errors) {
    validate_given(expression, "", errors);
}

/// An expression that makes a list of changes. Compiling it is not there yet and goes here.
fn validate_json_patch_expression(expression: &Node<'_>, errors: &mut Errors) {
    validate_given(expression, "", errors);
}
