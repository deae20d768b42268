//! PodDisruptionBudget: how many pods may be missing at a time.
//!
//! After `pkg/registry/policy/poddisruptionbudget`, `pkg/apis/policy/v1/conversion.go` and
//! `pkg/apis/policy/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::int_or_percent::{validate_at_most_all, validate_int_or_percent};
use crate::rules::scalar::{validate_choice, validate_non_negative};
use crate::rules::{generation, meaning, status};

pub(crate) static KIND: PodDisruptionBudget = PodDisruptionBudget;
static STATUS: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus;

/// The kind.
pub(crate) struct PodDisruptionBudget;

/// Its status.
struct PodDisruptionBudgetStatus;

const SPEC_STRUCT: &str = "io.k8s.api.policy.v1.PodDisruptionBudgetSpec";
const STATUS_STRUCT: &str = "io.k8s.api.policy.v1.PodDisruptionBudgetStatus";

/// A label that no pod has: an older version selects nothing with it, and everything.
const NO_POD_LABEL: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

impl Kind for PodDisruptionBudget {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("PodDisruptionBudget", "poddisruptionbudgets");
        Resource::namespaced(GROUP_VERSION, kind, plural, PACKAGE).short(&["pdb"]).status(&STATUS)
    }

    /// Upstream has no rule of its own for these names.
    fn name_rule(&self) -> NameRule {
        names::name_is_path_segment
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.policy.v1.PodDisruptionBudget", |budget| {
            if let Some(selector) = budget.path_mut(&["spec", "selector"]) {
                remove_no_pod_label(selector);
            }
        })]
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Min Available"),
                Column::text("Max Unavailable"),
                Column::integer("Allowed Disruptions"),
                Column::AGE,
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let bound = |field: &str| match object.path(&["spec", field]) {
            Value::Null => "N/A".to_owned(),
            Value::Int(number) => number.to_string(),
            text => text.str().to_owned(),
        };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            bound("minAvailable").into(),
            bound("maxUnavailable").into(),
            object.path(&["status", "disruptionsAllowed"]).int().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for PodDisruptionBudget {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear_struct(object, STATUS_STRUCT);
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        if !meaning::is_same(SPEC_STRUCT, new.at("spec"), old.at("spec")) {
            generation::count(new, old);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(&object.at("spec"), SelectorOptions::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let mut old_errors = Errors::new();
        let (new, old) = (new.at("spec"), old.at("spec"));
        let selector = old.at("selector");
        meta::validate_label_selector(&selector, SelectorOptions::default(), &mut old_errors);
        let options = SelectorOptions {
            allows_invalid_values: !old_errors.is_empty(),
            ..SelectorOptions::default()
        };
        validate_spec(&new, options, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for PodDisruptionBudgetStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let status = object.at("status");
        meta::validate_conditions(&status.at("conditions"), errors);
        for count in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
            validate_non_negative(&status.at(count), errors);
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

/// The label that no pod has stands alone, or not at all.
fn remove_no_pod_label(selector: &mut Value) {
    let selects_nothing = |selector: &Value| {
        let expressions = selector.at("matchExpressions").list();
        let [only] = expressions else { return false };
        selector.at("matchLabels").is_empty()
            && only.at("key").str() == NO_POD_LABEL
            && only.at("operator").str() == "Exists"
            && only.at("values").is_empty()
    };
    if selects_nothing(selector) {
        return;
    }
    let Some(Value::List(expressions)) = selector.get_mut("matchExpressions") else { return };
    expressions.retain(|expression| expression.at("key").str() != NO_POD_LABEL);
    if expressions.is_empty() {
        selector.remove("matchExpressions");
    }
}

fn validate_spec(spec: &Node<'_>, options: SelectorOptions, errors: &mut Errors) {
    let bounds = [spec.at("minAvailable"), spec.at("maxUnavailable")];
    if bounds.iter().all(Node::is_set) {
        errors.invalid(spec, "minAvailable and maxUnavailable cannot be both set");
    }
    for bound in bounds.iter().filter(|bound| bound.is_set()) {
        validate_int_or_percent(bound, errors);
        validate_at_most_all(bound, errors);
    }
    meta::validate_label_selector(&spec.at("selector"), options, errors);
    let policies = &["AlwaysAllow", "IfHealthyBudget"];
    validate_choice(&spec.at("unhealthyPodEvictionPolicy"), policies, errors);
}
