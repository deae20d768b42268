//! When a container starts again: after it ended, and for a change of its resources.
//!
//! After `validateContainerRestartPolicy` and `validateResizePolicy` in
//! `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

use crate::rules::scalar::validate_choice;

const POLICIES: &[&str] = &["Always", "Never", "OnFailure"];
const ACTIONS: &[&str] = &["Restart", "RestartAllContainers"];
const OPERATORS: &[&str] = &["In", "NotIn"];
const RULES_MAX: usize = 20;
const EXIT_CODES_MAX: usize = 255;

const RESIZABLE: &[&str] = &["cpu", "memory"];
const RESIZE_POLICIES: &[&str] = &["NotRequired", "RestartContainer"];

const RULES_NEED_POLICY: &str = "must specify restartPolicy when restart rules are used";

/// The policy of one container, and its rules about exit codes.
pub(super) fn validate_container_restart_policy(container: &Node<'_>, errors: &mut Errors) {
    let (policy, rules) = (container.at("restartPolicy"), container.at("restartPolicyRules"));
    if policy.is_set() {
        validate_choice(&policy, POLICIES, errors);
    } else if !rules.is_empty() {
        errors.required(&policy, RULES_NEED_POLICY);
    }
    if rules.len() > RULES_MAX {
        errors.too_many(&rules, rules.len(), RULES_MAX);
    }
    for rule in rules.items() {
        validate_rule(&rule, errors);
    }
}

/// The same for an init container, whose rules are not looked at without a policy.
pub(super) fn validate_init_container_restart_policy(container: &Node<'_>, errors: &mut Errors) {
    let policy = container.at("restartPolicy");
    if policy.is_set() {
        validate_container_restart_policy(container, errors);
    } else if !container.at("restartPolicyRules").is_empty() {
        errors.required(&policy, RULES_NEED_POLICY);
    }
}

/// What a change of resources does to a container. As upstream, most errors name the list.
pub(super) fn validate_resize_policy(
    policies: &Node<'_>,
    pod_restart_policy: &str,
    errors: &mut Errors,
) {
    let mut known = BTreeSet::new();
    for policy in policies.items() {
        let resource = policy.value().at("resourceName").str();
        if !known.insert(resource) {
            errors.duplicate_value(&policy, resource);
        }
        validate_choice_of_list(policies, resource, RESIZABLE, errors);
        let restart = policy.value().at("restartPolicy").str();
        validate_choice_of_list(policies, restart, RESIZE_POLICIES, errors);
        if pod_restart_policy == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid_value(policies, restart, detail);
        }
    }
}

/// A container that ends cannot start again for a change of its resources.
pub(super) fn validate_no_restart_for_resize(container: &Node<'_>, errors: &mut Errors) {
    for policy in container.at("resizePolicy").items() {
        let restart = policy.at("restartPolicy");
        if restart.str() == "RestartContainer" {
            let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            errors.invalid(&restart, detail);
        }
    }
}

fn validate_rule(rule: &Node<'_>, errors: &mut Errors) {
    let action = rule.at("action");
    if !ACTIONS.contains(&action.str()) {
        errors.not_supported(&action, ACTIONS);
    }
    let exit_codes = rule.at("exitCodes");
    if !exit_codes.is_set() {
        errors.required(&exit_codes, "must be specified");
        return;
    }
    let (operator, values) = (exit_codes.at("operator"), exit_codes.at("values"));
    if !OPERATORS.contains(&operator.str()) {
        errors.not_supported(&operator, OPERATORS);
    }
    if values.len() > EXIT_CODES_MAX {
        errors.too_many(&values, values.len(), EXIT_CODES_MAX);
    }
}

fn validate_choice_of_list(list: &Node<'_>, value: &str, allowed: &[&str], errors: &mut Errors) {
    if value.is_empty() {
        errors.required(list, "");
    } else if !allowed.contains(&value) {
        errors.not_supported_value(list, value, allowed);
    }
}

#[cfg(test)]
mod tests {
    use orlop_machinery::Value;
    use orlop_machinery::field::Path;

    use super::*;

    fn check(rules: usize, exit_codes: usize, expect: &str) {
        let exit_codes: Value = [
            ("operator", Value::from("In")),
            ("values", Value::List(vec![Value::Int(1); exit_codes])),
        ]
        .into();
        let rule: Value = [("action", Value::from("Restart")), ("exitCodes", exit_codes)].into();
        let container: Value = [
            ("restartPolicy", Value::from("Never")),
            ("restartPolicyRules", Value::List(vec![rule; rules])),
        ]
        .into();
        let mut errors = Errors::new();
        validate_container_restart_policy(&Node::new(&container, Path::root()), &mut errors);
        assert_eq!(errors.to_string().trim_end(), expect);
    }

    #[test]
    fn rules_and_exit_codes_are_not_too_many() {
        check(20, 1, "");
        check(21, 1, "restartPolicyRules: Too many: 21: must have at most 20 items");
        check(1, 255, "");
        let expect = "restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 \
                      items";
        check(1, 256, expect);
    }
}
