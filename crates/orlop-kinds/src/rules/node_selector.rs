//! Choosing nodes, and topologies, by their labels and fields.
//!
//! After `ValidateNodeSelector`, `ValidatePreferredSchedulingTerms` and
//! `ValidateTopologySelectorTerm` in `pkg/apis/core/validation/validation.go`. Matching is not
//! here: only rules.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::scalar::validate_text;

/// A NodeSelector. Bad label values are let through for objects that already have some.
pub(crate) fn validate_node_selector(
    selector: &Node<'_>,
    allow_invalid_label_values: bool,
    errors: &mut Errors,
) {
    let terms = selector.at("nodeSelectorTerms");
    if terms.is_empty() {
        errors.required(&terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        validate_node_selector_term(&term, allow_invalid_label_values, errors);
    }
}

/// A NodeSelectorTerm.
pub(crate) fn validate_node_selector_term(
    term: &Node<'_>,
    allow_invalid_label_values: bool,
    errors: &mut Errors,
) {
    for requirement in term.at("matchExpressions").items() {
        validate_node_selector_requirement(&requirement, allow_invalid_label_values, errors);
    }
    for requirement in term.at("matchFields").items() {
        validate_node_field_requirement(&requirement, errors);
    }
}

/// A NodeSelectorRequirement about a label.
pub(crate) fn validate_node_selector_requirement(
    requirement: &Node<'_>,
    allow_invalid_label_values: bool,
    errors: &mut Errors,
) {
    let (operator, values) = (requirement.at("operator"), requirement.at("values"));
    match operator.str() {
        "In" | "NotIn" => {
            if values.is_empty() {
                errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
            }
        }
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(&values, detail);
            }
        }
        "Gt" | "Lt" => {
            if values.len() != 1 {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.required(&values, detail);
            }
        }
        _ => errors.invalid(&operator, "not a valid selector operator"),
    }
    validate_text(&requirement.at("key"), names::label_key, errors);
    if allow_invalid_label_values {
        return;
    }
    for value in values.items() {
        validate_text(&value, names::label_value, errors);
    }
}

/// Terms that nodes should rather match, each with its weight.
pub(crate) fn validate_preferred_scheduling_terms(terms: &Node<'_>, errors: &mut Errors) {
    for term in terms.items() {
        validate_weight(&term.at("weight"), errors);
        // What is only preferred may have bad label values: no node has them, and that is fine.
        validate_node_selector_term(&term.at("preference"), true, errors);
    }
}

/// The weight of something preferred.
pub(crate) fn validate_weight(weight: &Node<'_>, errors: &mut Errors) {
    if !(1..=100).contains(&weight.int()) {
        errors.invalid(weight, "must be in the range 1-100");
    }
}

/// Whether a label value in some term is one that labels cannot have.
pub(crate) fn has_invalid_label_value(terms: &Value) -> bool {
    let expressions = terms.list().iter().flat_map(|term| term.at("matchExpressions").list());
    let mut values = expressions.flat_map(|expression| expression.at("values").list());
    values.any(|value| !names::label_value(value.str()).is_empty())
}

/// A TopologySelectorTerm; its values by key, to compare it with others.
pub(crate) fn validate_topology_selector_term<'a>(
    term: &Node<'a>,
    errors: &mut Errors,
) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut values_by_key = BTreeMap::new();
    let raw = term.value().at("matchLabelExpressions").list();
    for (raw, requirement) in raw.iter().zip(term.at("matchLabelExpressions").items()) {
        let values = requirement.at("values");
        if values.is_empty() {
            errors.required(&values, "");
        }
        let mut known = BTreeSet::new();
        for (raw, value) in raw.at("values").list().iter().zip(values.items()) {
            if !known.insert(raw.str()) {
                errors.duplicate(&value);
            }
        }
        let key = requirement.at("key");
        validate_text(&key, names::label_key, errors);
        if values_by_key.insert(raw.at("key").str(), known).is_some() {
            errors.duplicate(&key);
        }
    }
    values_by_key
}

fn validate_node_field_requirement(requirement: &Node<'_>, errors: &mut Errors) {
    let (operator, values) = (requirement.at("operator"), requirement.at("values"));
    match operator.str() {
        "In" | "NotIn" => {
            if values.len() != 1 {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node \
                              field selector";
                errors.required(&values, detail);
            }
        }
        _ => errors.invalid(&operator, "not a valid selector operator"),
    }
    let key = requirement.at("key");
    if key.str() != "metadata.name" {
        errors.invalid(&key, "not a valid field selector key");
        return;
    }
    for value in values.items() {
        validate_text(&value, names::dns_subdomain, errors);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;

    #[test]
    fn a_topology_has_each_key_and_each_value_once() {
        let check = |text: &str, expect: &str| {
            let term = json::parse(text.as_bytes()).unwrap();
            let mut errors = Errors::new();
            let values = validate_topology_selector_term(&Node::root(&term), &mut errors);
            assert_eq!(errors.to_string().trim_end(), expect);
            values.len()
        };
        let fine = r#"{"matchLabelExpressions":[{"key":"a","values":["1","2"]},
            {"key":"b","values":["1"]}]}"#;
        assert_eq!(check(fine, ""), 2);
        let twice = r#"{"matchLabelExpressions":[{"key":"a","values":["1","1"]},
            {"key":"a","values":[]}]}"#;
        let expect = "matchLabelExpressions[0].values[1]: Duplicate value: \"1\"\n\
                      matchLabelExpressions[1].values: Required value\n\
                      matchLabelExpressions[1].key: Duplicate value: \"a\"";
        assert_eq!(check(twice, expect), 1);
    }
}
