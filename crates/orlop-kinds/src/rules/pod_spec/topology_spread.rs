//! How evenly the pods of an application spread over nodes and zones.
//!
//! After `validateTopologySpreadConstraints` in `pkg/apis/core/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::field::{At, Errors};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::PodOptions;
use super::affinity::validate_match_and_mismatch_label_keys;
use crate::rules::scalar::{validate_choice, validate_positive, validate_text};

const ACTIONS: &[&str] = &["DoNotSchedule", "ScheduleAnyway"];
const NODE_POLICIES: &[&str] = &["Honor", "Ignore"];

/// The constraints of a pod.
pub(super) fn validate_constraints(
    constraints: &Node<'_>,
    options: &PodOptions,
    errors: &mut Errors,
) {
    let pair = |constraint: &Node<'_>| -> (String, String) {
        let (key, action) = (constraint.at("topologyKey"), constraint.at("whenUnsatisfiable"));
        (key.str().to_owned(), action.str().to_owned())
    };
    // How often each pair is still to come.
    let mut still_to_come: BTreeMap<(String, String), usize> = BTreeMap::new();
    for constraint in constraints.items() {
        *still_to_come.entry(pair(&constraint)).or_default() += 1;
    }
    for constraint in constraints.items() {
        validate_positive(&constraint.at("maxSkew"), errors);
        if constraint.at("topologyKey").is_empty() {
            errors.required(&constraint.at("topologyKey"), "can not be empty");
        }
        let action = constraint.at("whenUnsatisfiable");
        if !ACTIONS.contains(&action.str()) {
            errors.not_supported(&action, ACTIONS);
        }
        let (key, action) = pair(&constraint);
        let text = format!("{{{key}, {action}}}");
        let count = still_to_come.entry((key, action)).or_default();
        *count = count.saturating_sub(1);
        if *count > 0 {
            let at = constraint.path().child("{topologyKey, whenUnsatisfiable}");
            errors.duplicate_value(&at, text);
        }
        validate_min_domains(&constraint, errors);
        validate_choice(&constraint.at("nodeAffinityPolicy"), NODE_POLICIES, errors);
        validate_choice(&constraint.at("nodeTaintsPolicy"), NODE_POLICIES, errors);
        if options.use_legacy_rules_for_match_label_keys {
            validate_legacy_match_label_keys(&constraint, errors);
        } else {
            validate_match_label_keys(&constraint, errors);
        }
        if !options.allow_invalid_topology_spread_label_selector {
            let selector = constraint.at("labelSelector");
            meta::validate_label_selector(&selector, SelectorOptions::default(), errors);
        }
    }
}

/// The keys that a constraint matches.
pub(super) fn validate_match_label_keys(constraint: &Node<'_>, errors: &mut Errors) {
    validate_match_and_mismatch_label_keys(constraint, None, errors);
}

fn validate_min_domains(constraint: &Node<'_>, errors: &mut Errors) {
    let min_domains = constraint.at("minDomains");
    if !min_domains.is_set() {
        return;
    }
    validate_positive(&min_domains, errors);
    let action = constraint.at("whenUnsatisfiable");
    if action.str() != "DoNotSchedule" {
        let action = action.str();
        let detail =
            format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
        errors.invalid(&min_domains, detail);
    }
}

/// As it was before the server added requirements to the selector: no key may stand in it.
fn validate_legacy_match_label_keys(constraint: &Node<'_>, errors: &mut Errors) {
    let (keys, selector) = (constraint.at("matchLabelKeys"), constraint.at("labelSelector"));
    if keys.is_empty() {
        return;
    }
    if !selector.is_set() {
        errors.forbidden(&keys, "must not be specified when labelSelector is not set");
    }
    let labels = selector.value().at("matchLabels").map().keys();
    let expressions = selector.value().at("matchExpressions").list().iter();
    let expressions = expressions.map(|expression| expression.at("key").str());
    let in_selector: BTreeSet<&str> = labels.chain(expressions).collect();
    for key in keys.items() {
        validate_text(&key, names::label_key, errors);
        if in_selector.contains(key.str()) {
            errors.invalid(&key, "exists in both matchLabelKeys and labelSelector");
        }
    }
}
