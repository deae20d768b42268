//! Webhooks: what is asked over the network, by whichever of the two kinds of configuration.
//!
//! After `pkg/apis/admissionregistration/validation/validation.go` and
//! `pkg/apis/admissionregistration/v1/defaults.go`. Rules that came later than objects hold only
//! for objects that kept them before: see [`WebhookOptions::of_update`].

use std::collections::HashSet;

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Row};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Value};

use super::match_conditions::validate_match_conditions;
use super::rule::validate_rule;
use super::{FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES};
use crate::rules::scalar::validate_choice;
use crate::rules::webhook_client_config::validate_webhook_client_config;

/// What is asked of a webhook.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To change a request.
    Mutating,
    /// To let a request pass.
    Validating,
}

/// What an object may keep.
struct WebhookOptions {
    checks_match_conditions: bool,
    requires_no_side_effects: bool,
    requires_known_review_version: bool,
    requires_unique_names: bool,
    selector: SelectorOptions,
}

const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
const SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun", "Some", "Unknown"];
const NO_SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun"];
const TIMEOUT_SECONDS_MAX: i64 = 30;

/// What both kinds of webhooks are when nothing is said.
pub(super) fn set_webhook_defaults(hook: &mut Value) {
    hook.set_default("failurePolicy", "Fail");
    hook.set_default("matchPolicy", "Equivalent");
    hook.set_default("namespaceSelector", Map::new());
    hook.set_default("objectSelector", Map::new());
    hook.set_default("timeoutSeconds", 10);
}

/// What `kubectl get` shows of both kinds of configurations.
pub(super) const COLUMNS: &[Column] = &[Column::NAME, Column::integer("Webhooks"), Column::AGE];

/// The cells of one of them.
pub(super) fn row(context: &Context<'_>, object: &Value) -> Row {
    let count = i64::try_from(object.at("webhooks").list().len()).unwrap_or(i64::MAX);
    Row::new(vec![
        object.path(&["metadata", "name"]).clone(),
        count.into(),
        context.age(object).into(),
    ])
}

/// The webhooks of a new configuration.
pub(super) fn validate_webhooks(object: &Node<'_>, purpose: Purpose, errors: &mut Errors) {
    validate(&object.at("webhooks"), purpose, &WebhookOptions::OF_CREATION, errors);
}

/// The webhooks of a configuration that changed.
pub(super) fn validate_webhooks_update(
    new: &Node<'_>,
    old: &Node<'_>,
    purpose: Purpose,
    errors: &mut Errors,
) {
    let webhooks = new.at("webhooks");
    let options = WebhookOptions::of_update(&webhooks, &old.at("webhooks"));
    validate(&webhooks, purpose, &options, errors);
}

impl WebhookOptions {
    /// A new object follows every rule.
    const OF_CREATION: WebhookOptions = WebhookOptions {
        checks_match_conditions: true,
        requires_no_side_effects: true,
        requires_known_review_version: true,
        requires_unique_names: true,
        selector: SelectorOptions { allows_invalid_values: false, allows_unknown_operators: false },
    };

    /// An old one may go on as it was.
    fn of_update(new: &Node<'_>, old: &Node<'_>) -> WebhookOptions {
        let hooks = old.list();
        let mut names = HashSet::new();
        let allows_invalid_values = has_wrong_selector(old);
        WebhookOptions {
            checks_match_conditions: !has_same_match_conditions(new.list(), hooks),
            requires_no_side_effects: hooks
                .iter()
                .all(|hook| NO_SIDE_EFFECTS.contains(&hook.at("sideEffects").str())),
            requires_known_review_version: hooks.iter().all(has_known_review_version_or_none),
            requires_unique_names: hooks.iter().all(|hook| names.insert(hook.at("name").str())),
            selector: SelectorOptions { allows_invalid_values, allows_unknown_operators: false },
        }
    }
}

fn has_wrong_selector(hooks: &Node<'_>) -> bool {
    let mut wrong = Errors::new();
    for hook in hooks.items() {
        for field in ["namespaceSelector", "objectSelector"] {
            let selector = hook.at(field);
            meta::validate_label_selector(&selector, SelectorOptions::default(), &mut wrong);
        }
    }
    !wrong.is_empty()
}

fn has_same_match_conditions(new: &[Value], old: &[Value]) -> bool {
    let is_same =
        |(new, old): (&Value, &Value)| new.at("matchConditions") == old.at("matchConditions");
    new.len() == old.len() && new.iter().zip(old).all(is_same)
}

fn has_known_review_version_or_none(hook: &Value) -> bool {
    let versions = hook.at("admissionReviewVersions").list();
    versions.is_empty() || versions.iter().any(|version| REVIEW_VERSIONS.contains(&version.str()))
}

fn validate(webhooks: &Node<'_>, purpose: Purpose, options: &WebhookOptions, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for hook in webhooks.items() {
        validate_webhook(&hook, purpose, options, errors);
        validate_review_versions(&hook.at("admissionReviewVersions"), options, errors);
        let name = hook.at("name");
        if options.requires_unique_names
            && !name.is_empty()
            && !seen.insert(hook.value().at("name").str())
        {
            errors.duplicate(&name);
        }
    }
}

fn validate_webhook(
    hook: &Node<'_>,
    purpose: Purpose,
    options: &WebhookOptions,
    errors: &mut Errors,
) {
    let name = hook.at("name");
    names::fully_qualified_name(&name, name.str(), errors);
    for rule in hook.at("rules").items() {
        validate_rule(&rule, errors);
    }
    validate_choice(&hook.at("failurePolicy"), FAILURE_POLICIES, errors);
    validate_choice(&hook.at("matchPolicy"), MATCH_POLICIES, errors);
    validate_side_effects(&hook.at("sideEffects"), options, errors);
    let timeout = hook.at("timeoutSeconds");
    if timeout.is_set() && !(1..=TIMEOUT_SECONDS_MAX).contains(&timeout.int()) {
        errors.invalid(&timeout, "the timeout value must be between 1 and 30 seconds");
    }
    for field in ["namespaceSelector", "objectSelector"] {
        meta::validate_label_selector(&hook.at(field), options.selector, errors);
    }
    if purpose == Purpose::Mutating {
        validate_choice(&hook.at("reinvocationPolicy"), REINVOCATION_POLICIES, errors);
    }
    validate_webhook_client_config(&hook.at("clientConfig"), errors);
    if options.checks_match_conditions {
        validate_match_conditions(&hook.at("matchConditions"), errors);
    }
}

fn validate_side_effects(node: &Node<'_>, options: &WebhookOptions, errors: &mut Errors) {
    let allowed = if options.requires_no_side_effects { NO_SIDE_EFFECTS } else { SIDE_EFFECTS };
    if !node.is_set() {
        errors.required(node, format!("must specify one of {}", allowed.join(", ")));
    }
    validate_choice(node, allowed, errors);
}

fn validate_review_versions(versions: &Node<'_>, options: &WebhookOptions, errors: &mut Errors) {
    let known = REVIEW_VERSIONS.join(", ");
    if versions.is_empty() {
        return errors.required(versions, format!("must specify one of {known}"));
    }
    let mut seen = HashSet::new();
    for version in versions.items() {
        if !seen.insert(version.str()) {
            errors.invalid(&version, "duplicate version");
            continue;
        }
        for message in names::dns1035_label(version.str()) {
            errors.invalid(&version, message);
        }
    }
    let has_known = REVIEW_VERSIONS.iter().any(|version| seen.contains(version));
    if options.requires_known_review_version && !has_known {
        errors.invalid(versions, format!("must include at least one of {known}"));
    }
}
