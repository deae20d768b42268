//! What a job makes of a pod that failed.
//!
//! After `validatePodFailurePolicy` in `pkg/apis/batch/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::validate_text;

const RULES_MAX: usize = 20;
const EXIT_CODES_MAX: usize = 255;
const CONDITIONS_MAX: usize = 20;

const ACTIONS: &[&str] = &["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: &[&str] = &["In", "NotIn"];
const CONDITION_STATUSES: &[&str] = &["False", "True", "Unknown"];

/// Reports all that is wrong with the policy of a job with this spec.
pub(super) fn validate(policy: &Node<'_>, spec: &Value, errors: &mut Errors) {
    let rules = policy.at("rules");
    if rules.len() > RULES_MAX {
        errors.too_many(&rules, rules.len(), RULES_MAX);
    }
    let pod = spec.path(&["template", "spec"]);
    let containers = pod.at("containers").list().iter().chain(pod.at("initContainers").list());
    let containers: BTreeSet<&str> =
        containers.map(|container| container.at("name").str()).collect();
    let has_limit_per_index = !spec.at("backoffLimitPerIndex").is_null();
    for rule in rules.items() {
        validate_action(&rule.at("action"), has_limit_per_index, errors);
        validate_match(&rule, &containers, errors);
    }
}

fn validate_action(action: &Node<'_>, has_limit_per_index: bool, errors: &mut Errors) {
    validate_required_choice(action, ACTIONS, errors);
    if action.str() == "FailIndex" && !has_limit_per_index {
        errors.invalid(action, "requires the backoffLimitPerIndex to be set");
    }
}

/// Which pods a rule is about: by their exit codes or by their conditions.
fn validate_match(rule: &Node<'_>, containers: &BTreeSet<&str>, errors: &mut Errors) {
    let (exit_codes, conditions) = (rule.at("onExitCodes"), rule.at("onPodConditions"));
    if exit_codes.is_set() {
        validate_exit_codes(&exit_codes, containers, errors);
    }
    if conditions.len() > CONDITIONS_MAX {
        errors.too_many(&conditions, conditions.len(), CONDITIONS_MAX);
    }
    for pattern in conditions.items() {
        validate_text(&pattern.at("type"), names::qualified_name, errors);
        validate_required_choice(&pattern.at("status"), CONDITION_STATUSES, errors);
    }
    match (exit_codes.is_set(), !conditions.is_empty()) {
        (true, true) => {
            let detail = "specifying both OnExitCodes and OnPodConditions is not supported";
            errors.invalid_without_value(rule, detail);
        }
        (false, false) => {
            let detail = "specifying one of OnExitCodes and OnPodConditions is required";
            errors.invalid_without_value(rule, detail);
        }
        _ => {}
    }
}

fn validate_exit_codes(requirement: &Node<'_>, containers: &BTreeSet<&str>, errors: &mut Errors) {
    let operator = requirement.at("operator");
    validate_required_choice(&operator, OPERATORS, errors);
    let container = requirement.at("containerName");
    if container.is_set() && !containers.contains(container.str()) {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.invalid(&container, detail);
    }
    let values = requirement.at("values");
    if values.is_empty() {
        errors.invalid(&values, "at least one value is required");
    } else if values.len() > EXIT_CODES_MAX {
        errors.too_many(&values, values.len(), EXIT_CODES_MAX);
    }
    let mut known = BTreeSet::new();
    for value in values.items() {
        if operator.str() == "In" && value.int() == 0 {
            errors.invalid(&value, "must not be 0 for the In operator");
        }
        if !known.insert(value.int()) {
            errors.duplicate(&value);
        }
    }
    if !values.list().is_sorted_by_key(Value::int) {
        errors.invalid(&values, "must be ordered");
    }
}

/// One of a few texts. That it is missing is said with all of them.
fn validate_required_choice(text: &Node<'_>, allowed: &[&str], errors: &mut Errors) {
    if text.is_empty() {
        let quoted: Vec<String> = allowed.iter().map(|value| format!("{value:?}")).collect();
        errors.required(text, format!("valid values: [{}]", quoted.join(" ")));
    } else if !allowed.contains(&text.str()) {
        errors.not_supported(text, allowed);
    }
}
