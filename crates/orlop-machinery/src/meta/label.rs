//! Rules of labels, annotations and selectors.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go` and
//! `.../pkg/api/validation/objectmeta.go`. Errors about an entry of a map point at the map and
//! show the key or the value.

use crate::field::{At, Errors};
use crate::names::{label_key, label_value};
use crate::node::Node;
use crate::value::Map;

/// How much text all annotations of an object may have together: keys and values, in bytes.
pub const ANNOTATIONS_SIZE_MAX: usize = 256 << 10;

/// What a selector may have that is not right: for objects that already have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectorOptions {
    /// Values that no label can have.
    pub allows_invalid_values: bool,
    /// Operators that nobody knows.
    pub allows_unknown_operators: bool,
}

/// Labels are well-formed.
pub fn validate_labels(labels: &Node<'_>, errors: &mut Errors) {
    for (key, value) in labels.map().iter() {
        validate_label_name(labels, key, errors);
        for detail in label_value(value.str()) {
            errors.invalid_value(labels, value.str(), detail);
        }
    }
}

/// The key of a label is well-formed.
pub fn validate_label_name(at: &impl At, name: &str, errors: &mut Errors) {
    for detail in label_key(name) {
        errors.invalid_value(at, name, detail);
    }
}

/// Annotations are well-formed and not too large. Their keys may have upper case in the domain.
pub fn validate_annotations(annotations: &Node<'_>, errors: &mut Errors) {
    for key in annotations.map().keys() {
        for detail in label_key(&lower_case(key)) {
            errors.invalid_value(annotations, key, detail);
        }
    }
    if annotations_size(annotations.map()) > ANNOTATIONS_SIZE_MAX {
        errors.too_long(annotations, ANNOTATIONS_SIZE_MAX);
    }
}

/// How much text annotations have.
#[must_use]
pub fn annotations_size(annotations: &Map) -> usize {
    annotations.iter().map(|(key, value)| key.len() + value.str().len()).sum()
}

/// A label selector is well-formed. One that is not set is.
pub fn validate_label_selector(selector: &Node<'_>, options: SelectorOptions, errors: &mut Errors) {
    validate_labels(&selector.at("matchLabels"), errors);
    for requirement in selector.at("matchExpressions").items() {
        validate_label_selector_requirement(&requirement, options, errors);
    }
}

/// An item of `matchExpressions` is well-formed.
pub fn validate_label_selector_requirement(
    requirement: &Node<'_>,
    options: SelectorOptions,
    errors: &mut Errors,
) {
    validate_operator(requirement, options, errors);
    let key = requirement.at("key");
    validate_label_name(&key, key.str(), errors);
    if options.allows_invalid_values {
        return;
    }
    for value in requirement.at("values").items() {
        for detail in label_value(value.str()) {
            errors.invalid(&value, detail);
        }
    }
}

/// A requirement of a field selector is well-formed.
pub fn validate_field_selector_requirement(
    requirement: &Node<'_>,
    options: SelectorOptions,
    errors: &mut Errors,
) {
    let key = requirement.at("key");
    if key.is_empty() {
        errors.required(&key, "must be specified");
    }
    validate_operator(requirement, options, errors);
}

/// Whether a selector has a value that no label can have: such a selector keeps it on update.
#[must_use]
pub fn has_invalid_label_value(selector: &Node<'_>) -> bool {
    let expressions = selector.at("matchExpressions");
    expressions.list().iter().any(|expression| {
        expression.at("values").list().iter().any(|value| !label_value(value.str()).is_empty())
    })
}

fn validate_operator(requirement: &Node<'_>, options: SelectorOptions, errors: &mut Errors) {
    let (operator, values) = (requirement.at("operator"), requirement.at("values"));
    match operator.str() {
        "In" | "NotIn" if values.is_empty() => {
            errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.forbidden(&values, detail);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ if options.allows_unknown_operators => {}
        unknown => errors.invalid_value(&operator, unknown, "not a valid selector operator"),
    }
}

/// Letter by letter, as Go does it.
fn lower_case(text: &str) -> String {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Path;
    use crate::json;
    use crate::value::Value;

    type Rule = fn(&Node<'_>, &mut Errors);

    fn check(rule: Rule, text: &str, expect: &[&str]) {
        let value = json::parse(text.as_bytes()).unwrap();
        let mut errors = Errors::new();
        rule(&Node::new(&value, Path::field("f")), &mut errors);
        let seen = errors.to_string();
        let seen: Vec<&str> = seen.lines().map(|line| line.split(" (").next().unwrap()).collect();
        assert_eq!(seen, expect, "{text}");
    }

    const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and \
                        must start and end with an alphanumeric character";

    #[test]
    fn errors_about_labels_show_the_key_or_the_value() {
        check(validate_labels, r#"{"a": "b", "x.y/z": ""}"#, &[]);
        check(validate_labels, "null", &[]);
        let key = format!("f: Invalid value: \"-\": {NAME}");
        let value = "f: Invalid value: \"!\": a valid label must be an empty string or consist of \
                     alphanumeric characters, '-', '_' or '.', and must start and end with an \
                     alphanumeric character";
        check(validate_labels, r#"{"-": "!", "a": "!"}"#, &[&key, value, value]);
    }

    #[test]
    fn the_domain_of_an_annotation_may_be_in_upper_case() {
        check(validate_annotations, r#"{"A.B/C": "any !"}"#, &[]);
        check(
            validate_labels,
            r#"{"A.B/C": ""}"#,
            &["f: Invalid value: \"A.B/C\": prefix part a \
            lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
            or '.', and must start and end with an alphanumeric character"],
        );
        let key = format!("f: Invalid value: \"A_\": {NAME}");
        check(validate_annotations, r#"{"A_": ""}"#, &[&key]);
        assert_eq!(lower_case("\u{130}\u{212a}"), "ik");
    }

    #[test]
    fn annotations_are_limited_together() {
        let fill = "x".repeat(ANNOTATIONS_SIZE_MAX - 3);
        let text = json::to_string(&Value::from([("a", fill.as_str()), ("b", "1")]));
        check(validate_annotations, &text, &[]);
        let text = json::to_string(&Value::from([("a", fill.as_str()), ("b", "12")]));
        let expect = "f: Too long: may not be more than 262144 bytes";
        check(validate_annotations, &text, &[expect]);
    }

    #[test]
    fn operators_ask_for_values_or_for_none() {
        let rule: Rule = |node, errors| {
            validate_label_selector(node, SelectorOptions::default(), errors);
        };
        let check_one = |requirement: &str, expect: &[&str]| {
            check(rule, &format!(r#"{{"matchExpressions": [{requirement}]}}"#), expect);
        };
        check(rule, "null", &[]);
        check_one(r#"{"key": "a", "operator": "In", "values": ["b"]}"#, &[]);
        check_one(r#"{"key": "a", "operator": "DoesNotExist"}"#, &[]);
        let required = "f.matchExpressions[0].values: Required value: must be specified when \
                        `operator` is 'In' or 'NotIn'";
        check_one(r#"{"key": "a", "operator": "NotIn", "values": []}"#, &[required]);
        let forbidden = "f.matchExpressions[0].values: Forbidden: may not be specified when \
                         `operator` is 'Exists' or 'DoesNotExist'";
        check_one(r#"{"key": "a", "operator": "Exists", "values": ["b"]}"#, &[forbidden]);
        let unknown = "f.matchExpressions[0].operator: Invalid value: \"Is\": not a valid \
                       selector operator";
        check_one(r#"{"key": "a", "operator": "Is"}"#, &[unknown]);
        let unset = unknown.replace("Is\"", "\"");
        let key = format!("f.matchExpressions[0].key: Invalid value: \"-\": {NAME}");
        check_one(r#"{"key": "-"}"#, &[&unset, &key]);
        let value = "f.matchExpressions[0].values[1]: Invalid value: \"!\": a valid label must be \
                     an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                     must start and end with an alphanumeric character";
        check_one(r#"{"key": "a", "operator": "In", "values": ["b", "!"]}"#, &[value]);
        let labels = "f.matchLabels: Invalid value: \"a/\": name part must be non-empty";
        let name = format!("f.matchLabels: Invalid value: \"a/\": {NAME}");
        check(rule, r#"{"matchLabels": {"a/": "b"}}"#, &[labels, &name]);
    }

    #[test]
    fn what_an_object_already_has_may_stay() {
        let rule: Rule = |node, errors| {
            assert!(has_invalid_label_value(node));
            let allows =
                SelectorOptions { allows_invalid_values: true, allows_unknown_operators: true };
            validate_label_selector(node, allows, errors);
        };
        let text = r#"{"matchExpressions": [{"key": "a", "operator": "Is", "values": ["!"]}]}"#;
        check(rule, text, &[]);
    }

    #[test]
    fn a_field_selector_needs_a_key() {
        let rule: Rule = |node, errors| {
            validate_field_selector_requirement(node, SelectorOptions::default(), errors);
        };
        check(rule, r#"{"key": "metadata.name", "operator": "Exists"}"#, &[]);
        let key = "f.key: Required value: must be specified";
        let operator = "f.operator: Invalid value: \"\": not a valid selector operator";
        check(rule, "{}", &[key, operator]);
    }
}
