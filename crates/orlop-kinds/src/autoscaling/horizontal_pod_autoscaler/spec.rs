//! The spec of a HorizontalPodAutoscaler.
//!
//! After `validateHorizontalPodAutoscalerSpec` in `pkg/apis/autoscaling/validation/validation.go`
//! and the options of `pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go`. That pods can
//! be scaled to none is a feature that is off, so only an object that had none of them may.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

use super::metrics;
use super::reference::{self, ReferenceOptions};
use crate::rules::resource_requirements::validate_non_negative_quantity;
use crate::rules::scalar::{validate_choice, validate_positive};

const STABILIZATION_WINDOW_SECONDS_MAX: i64 = 3600;
const PERIOD_SECONDS_MAX: i64 = 1800;

/// Sorted, as they are shown.
const SELECT_POLICIES: &[&str] = &["Disabled", "Max", "Min"];
const POLICY_TYPES: &[&str] = &["Percent", "Pods"];

/// Reports all that is wrong with a spec.
pub(super) fn validate(spec: &Node<'_>, old: Option<&Value>, errors: &mut Errors) {
    let (min, max) = (spec.at("minReplicas"), spec.at("maxReplicas"));
    let was_zero = old.is_some_and(|old| old.at("minReplicas").as_int() == Some(0));
    let bound = if was_zero { 0 } else { 1 };
    if min.is_set() && min.int() < bound {
        errors.invalid(&min, format!("must be greater than or equal to {bound}"));
    }
    if max.int() == 0 {
        errors.required(&max, "must be set and greater than 0");
    } else if max.int() < 0 {
        errors.invalid(&max, "must be greater than or equal to 1");
    }
    if min.is_set() && max.int() < min.int() {
        errors.invalid(&max, "must be greater than or equal to `minReplicas`");
    }
    let target = spec.at("scaleTargetRef");
    reference::validate(&target, target_options(target.value(), old), errors);
    metrics::validate(spec, metric_options(old), errors);
    let behavior = spec.at("behavior");
    for direction in ["scaleUp", "scaleDown"] {
        let rules = behavior.at(direction);
        if rules.is_set() {
            validate_scaling_rules(&rules, errors);
        }
    }
}

/// What is scaled is in a group, but for the one kind of the core group that can be. What did not
/// change is not looked at.
fn target_options(target: &Value, old: Option<&Value>) -> ReferenceOptions {
    let is_same = |old: &Value| {
        let old = old.at("scaleTargetRef");
        ["apiVersion", "kind"].iter().all(|field| old.at(field).str() == target.at(field).str())
    };
    let allows_invalid_version = old.is_some_and(is_same);
    let allows_empty_group = target.at("kind").str() == "ReplicationController";
    ReferenceOptions { allows_empty_group, allows_invalid_version }
}

fn metric_options(old: Option<&Value>) -> ReferenceOptions {
    let strict = ReferenceOptions { allows_empty_group: true, allows_invalid_version: false };
    let is_invalid = |metric: &Value| {
        let version = metric.path(&["object", "describedObject", "apiVersion"]);
        metric.at("type").str() == "Object"
            && !metric.at("object").is_null()
            && reference::what_is_wrong_with_version(version.str(), strict).is_some()
    };
    let allows_invalid_version =
        old.is_some_and(|old| old.at("metrics").list().iter().any(is_invalid));
    ReferenceOptions { allows_invalid_version, ..strict }
}

fn validate_scaling_rules(rules: &Node<'_>, errors: &mut Errors) {
    let window = rules.at("stabilizationWindowSeconds");
    if window.int() < 0 {
        errors.invalid(&window, "must be greater than or equal to zero");
    }
    if window.int() > STABILIZATION_WINDOW_SECONDS_MAX {
        let max = STABILIZATION_WINDOW_SECONDS_MAX;
        errors.invalid(&window, format!("must be less than or equal to {max}"));
    }
    validate_choice(&rules.at("selectPolicy"), SELECT_POLICIES, errors);
    let policies = rules.at("policies");
    if policies.is_empty() {
        errors.required(&policies, "must specify at least one Policy");
    }
    for policy in policies.items() {
        validate_scaling_policy(&policy, errors);
    }
    let tolerance = rules.at("tolerance");
    if tolerance.is_set() {
        validate_non_negative_quantity(&tolerance, errors);
    }
}

fn validate_scaling_policy(policy: &Node<'_>, errors: &mut Errors) {
    let kind = policy.at("type");
    if !POLICY_TYPES.contains(&kind.str()) {
        errors.not_supported(&kind, POLICY_TYPES);
    }
    validate_positive(&policy.at("value"), errors);
    let period = policy.at("periodSeconds");
    validate_positive(&period, errors);
    if period.int() > PERIOD_SECONDS_MAX {
        errors.invalid(&period, format!("must be less than or equal to {PERIOD_SECONDS_MAX}"));
    }
}
