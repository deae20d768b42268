//! Labels of nodes that have better ones now: what a client is told who asks for them.
//!
//! After `pkg/api/node/util.go`.

use orlop_machinery::field::At;
use orlop_machinery::names;
use orlop_machinery::node::Node;

const LABELS: &[(&str, &str)] = &[
    ("beta.kubernetes.io/arch", r#"deprecated since v1.14; use "kubernetes.io/arch" instead"#),
    ("beta.kubernetes.io/os", r#"deprecated since v1.14; use "kubernetes.io/os" instead"#),
    (
        "failure-domain.beta.kubernetes.io/region",
        r#"deprecated since v1.17; use "topology.kubernetes.io/region" instead"#,
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        r#"deprecated since v1.17; use "topology.kubernetes.io/zone" instead"#,
    ),
    (
        "beta.kubernetes.io/instance-type",
        r#"deprecated since v1.17; use "node.kubernetes.io/instance-type" instead"#,
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    ("node-role.kubernetes.io/master", r#"use "node-role.kubernetes.io/control-plane" instead"#),
];

/// What is said about a label of nodes that should not be used any more.
pub(crate) fn message(label: &str) -> Option<&'static str> {
    LABELS.iter().find(|(known, _)| *known == label).map(|(_, message)| *message)
}

/// Warns about the labels in a NodeSelectorTerm, and about values that no label can have where
/// those are not refused.
pub(crate) fn warn_of_node_selector_term(
    term: &Node<'_>,
    checks_values: bool,
    warnings: &mut Vec<String>,
) {
    for expression in term.at("matchExpressions").items() {
        warn_of_expression(&expression, warnings);
        if !checks_values {
            continue;
        }
        for value in expression.at("values").items() {
            for message in names::label_value(value.str()) {
                warnings.push(format!("{}: {} is invalid, {message}", value.path(), value.str()));
            }
        }
    }
}

/// Warns about the labels in a LabelSelector of nodes.
pub(crate) fn warn_of_label_selector(selector: &Node<'_>, warnings: &mut Vec<String>) {
    for expression in selector.at("matchExpressions").items() {
        warn_of_expression(&expression, warnings);
    }
    let labels = selector.at("matchLabels");
    for label in labels.map().keys() {
        if let Some(message) = message(label) {
            warnings.push(format!("{}: {message}", labels.path().child(label)));
        }
    }
}

fn warn_of_expression(expression: &Node<'_>, warnings: &mut Vec<String>) {
    let key = expression.at("key");
    if let Some(message) = message(key.str()) {
        warnings.push(format!("{}: {} is {message}", key.path(), key.str()));
    }
}
