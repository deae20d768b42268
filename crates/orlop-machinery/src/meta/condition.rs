//! Conditions: what is true about an object, each by its type.
//!
//! The rules after `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go`, how
//! conditions are found and set after `.../pkg/api/meta/conditions.go`.

use std::collections::HashSet;

use super::validate_label_name;
use crate::field::Errors;
use crate::names::regex_error;
use crate::node::Node;
use crate::value::Value;

const REASON_MAX: usize = 1 << 10;
const MESSAGE_MAX: usize = 32 << 10;
const REASON_FORMAT: &str = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const REASON_MESSAGE: &str = "a condition reason must start with alphabetic character, optionally \
                              followed by a string of alphanumeric characters or '_,:', and must \
                              end with an alphanumeric character or '_'";
const REASON_EXAMPLES: [&str; 5] =
    ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];

/// Conditions (`metav1.Condition`) are well-formed and each type stands once.
pub fn validate_conditions(conditions: &Node<'_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for condition in conditions.items() {
        let kind = condition.at("type");
        if !seen.insert(condition.value().at("type").str()) {
            errors.duplicate_value(&kind, kind.str());
        }
        validate_condition(&condition, errors);
    }
}

/// A condition is well-formed.
pub fn validate_condition(condition: &Node<'_>, errors: &mut Errors) {
    let kind = condition.at("type");
    validate_label_name(&kind, kind.str(), errors);
    let status = condition.at("status");
    if !matches!(status.str(), "True" | "False" | "Unknown") {
        errors.not_supported_value(&status, status.str(), &["False", "True", "Unknown"]);
    }
    let generation = condition.at("observedGeneration");
    if generation.int() < 0 {
        errors.invalid(&generation, "must be greater than or equal to zero");
    }
    let time = condition.at("lastTransitionTime");
    if time.is_empty() {
        errors.required(&time, "");
    }
    validate_reason(&condition.at("reason"), errors);
    let message = condition.at("message");
    if message.str().len() > MESSAGE_MAX {
        errors.too_long(&message, MESSAGE_MAX);
    }
}

/// The condition of a type.
#[must_use]
pub fn find_condition<'a>(conditions: &'a Value, kind: &str) -> Option<&'a Value> {
    conditions.list().iter().find(|condition| condition.at("type").str() == kind)
}

/// Whether the condition of a type is there and has this status.
#[must_use]
pub fn is_condition(conditions: &Value, kind: &str, status: &str) -> bool {
    let found = find_condition(conditions, kind);
    found.is_some_and(|condition| condition.at("status").str() == status)
}

/// Sets a condition; returns whether that changed anything.
///
/// The time of transition changes with the status only: to that of the new condition, or to `now`
/// if it has none.
pub fn set_condition(conditions: &mut Value, mut new: Value, now: &str) -> bool {
    if new.at("lastTransitionTime").is_empty() {
        new.set("lastTransitionTime", now);
    }
    let list = conditions.make_list();
    let Some(old) = list.iter_mut().find(|old| old.at("type").str() == new.at("type").str()) else {
        list.push(new);
        return true;
    };
    let mut changed = false;
    if old.at("status") != new.at("status") {
        old.set("status", new.at("status").clone());
        old.set("lastTransitionTime", new.at("lastTransitionTime").clone());
        changed = true;
    }
    for (field, is_always_there) in
        [("reason", true), ("message", true), ("observedGeneration", false)]
    {
        changed |= copy_field(old, &new, field, is_always_there);
    }
    changed
}

/// Takes the condition of a type out; returns whether it was there.
pub fn remove_condition(conditions: &mut Value, kind: &str) -> bool {
    let Value::List(list) = conditions else { return false };
    let before = list.len();
    list.retain(|condition| condition.at("type").str() != kind);
    list.len() != before
}

/// In normal form a field that is left out when empty is not there when it is.
fn copy_field(old: &mut Value, new: &Value, field: &str, is_always_there: bool) -> bool {
    let value = new.at(field);
    let is_same = old.at(field) == value || (old.at(field).is_empty() && value.is_empty());
    if is_same {
        return false;
    }
    if value.is_empty() && !is_always_there {
        old.remove(field);
    } else {
        old.set(field, value.clone());
    }
    true
}

fn validate_reason(reason: &Node<'_>, errors: &mut Errors) {
    if reason.is_empty() {
        return errors.required(reason, "");
    }
    if !is_reason(reason.str()) {
        errors.invalid(reason, regex_error(REASON_MESSAGE, REASON_FORMAT, &REASON_EXAMPLES));
    }
    if reason.str().len() > REASON_MAX {
        errors.too_long(reason, REASON_MAX);
    }
}

fn is_reason(text: &str) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"_,:".contains(byte);
    let is_last = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match text.as_bytes() {
        [only] => only.is_ascii_alphabetic(),
        [first, inner @ .., last] => {
            first.is_ascii_alphabetic() && is_last(last) && inner.iter().all(is_inner)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Path;
    use crate::json;

    fn check(text: &str, expect: &[&str]) {
        let value = json::parse(text.as_bytes()).unwrap();
        let mut errors = Errors::new();
        validate_conditions(&Node::new(&value, Path::field("f")), &mut errors);
        let seen = errors.to_string();
        let seen: Vec<&str> = seen.lines().map(|line| line.split(" (").next().unwrap()).collect();
        assert_eq!(seen, expect, "{text}");
    }

    fn condition(reason: &str) -> String {
        format!(
            r#"{{"type": "Ready", "status": "True", "reason": "{reason}",
                "lastTransitionTime": "2026-01-01T00:00:00Z"}}"#
        )
    }

    #[test]
    fn a_condition_says_what_since_when_and_why() {
        check(&format!("[{}]", condition("A")), &[]);
        let name = "f[0].type: Invalid value: \"\": name part must";
        let expect = [
            &format!("{name} be non-empty"),
            &format!(
                "{name} consist of alphanumeric characters, '-', '_' or '.', and must start and \
                 end with an alphanumeric character"
            ),
            "f[0].status: Unsupported value: \"\": supported values: \"False\", \"True\", \
             \"Unknown\"",
            "f[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
            "f[0].lastTransitionTime: Required value",
            "f[0].reason: Required value",
        ];
        check(r#"[{"observedGeneration": -1}]"#, &expect);
    }

    #[test]
    fn a_type_stands_once() {
        let text = format!("[{0},{0},{0}]", condition("A"));
        let expect =
            ["f[1].type: Duplicate value: \"Ready\"", "f[2].type: Duplicate value: \"Ready\""];
        check(&text, &expect);
    }

    #[test]
    fn a_reason_is_one_word() {
        for reason in ["A", "a_b", "A1", "ReasonA,ReasonB", "A:b", "A_", "A__"] {
            check(&format!("[{}]", condition(reason)), &[]);
        }
        for reason in ["1", "_a", "a b", "a,", "a:", "a-b", "\u{e4}"] {
            let expect = format!("f[0].reason: Invalid value: \"{reason}\": {REASON_MESSAGE}");
            check(&format!("[{}]", condition(reason)), &[&expect]);
        }
        let long = condition(&"a".repeat(1025));
        let expect = "f[0].reason: Too long: may not be more than 1024 bytes";
        check(&format!("[{long}]"), &[expect]);
    }

    #[test]
    fn the_time_changes_with_the_status() {
        let mut conditions = Value::Null;
        let mut set = |text: &str, now: &str, expect: bool| {
            let new = json::parse(text.as_bytes()).unwrap();
            assert_eq!(set_condition(&mut conditions, new, now), expect);
            json::to_string(&conditions)
        };
        let seen = set(r#"{"type": "A", "status": "True", "reason": "r"}"#, "t1", true);
        let first = r#"[{"lastTransitionTime":"t1","reason":"r","status":"True","type":"A"}]"#;
        assert_eq!(seen, first);
        let seen = set(r#"{"type": "A", "status": "True", "reason": "r"}"#, "t2", false);
        assert_eq!(seen, first);
        let seen = set(r#"{"type": "A", "status": "True", "reason": "s"}"#, "t3", true);
        assert_eq!(seen, first.replace("\"r\"", "\"s\""));
        let seen = set(r#"{"type": "A", "status": "False", "reason": "s"}"#, "t4", true);
        let expect = r#"[{"lastTransitionTime":"t4","reason":"s","status":"False","type":"A"}]"#;
        assert_eq!(seen, expect);
        let text = r#"{"type": "A", "status": "True", "reason": "s", "lastTransitionTime": "t9",
            "observedGeneration": 2}"#;
        set(text, "t5", true);
        assert!(is_condition(&conditions, "A", "True") && !is_condition(&conditions, "B", "True"));
        let found = find_condition(&conditions, "A").unwrap();
        assert_eq!(found.at("lastTransitionTime").str(), "t9");
        assert!(remove_condition(&mut conditions, "A"));
        assert!(!remove_condition(&mut conditions, "A"));
    }
}
