//! The error about an object that breaks rules.
//!
//! After `NewInvalid` in `staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go` and the
//! aggregate in `.../pkg/util/errors/errors.go`.

use std::collections::HashSet;

use super::{Cause, Reason, Status};
use crate::field::Errors;
use crate::group_version::GroupKind;
use crate::text::quote;
use crate::value::Str;

impl Status {
    /// The object breaks these rules. Every error is a cause; the message says each text once.
    #[must_use]
    pub fn invalid(kind: &GroupKind, name: &str, errors: &Errors) -> Status {
        let mut message = format!("{kind} {} is invalid", quote(name));
        if !errors.is_empty() {
            message += ": ";
            message += &aggregate(errors.list().iter().map(ToString::to_string));
        }
        let mut status = Status::failure(422, Reason::Invalid, message);
        let details = status.details_mut();
        details.group = kind.group.clone();
        details.kind = kind.kind.clone();
        details.name = Str::new(name);
        details.causes = errors.list().iter().map(Cause::from).collect();
        status
    }
}

/// Several messages as one: each once, and in brackets if there is more than one.
#[must_use]
pub fn aggregate(messages: impl IntoIterator<Item = String>) -> String {
    let mut seen = HashSet::new();
    let mut list: Vec<String> = Vec::new();
    for message in messages {
        if seen.insert(message.clone()) {
            list.push(message);
        }
    }
    match list.as_slice() {
        [only] => only.clone(),
        [] => String::new(),
        list => format!("[{}]", list.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Path;
    use crate::json;

    fn check(add: impl FnOnce(&mut Errors), message: &str, causes: &str) {
        let mut errors = Errors::new();
        add(&mut errors);
        let status = Status::invalid(&GroupKind::new("apps", "Deployment"), "web", &errors);
        assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
        assert_eq!(status.message, message);
        let value = status.to_value();
        let details = value.at("details");
        assert_eq!(details.at("group").str(), "apps");
        assert_eq!(details.at("kind").str(), "Deployment");
        assert_eq!(details.at("name").str(), "web");
        assert_eq!(*details.at("causes"), json::parse(causes.as_bytes()).unwrap());
    }

    #[test]
    fn no_error_is_still_invalid() {
        check(|_| {}, "Deployment.apps \"web\" is invalid", "null");
    }

    #[test]
    fn one_error_stands_without_brackets() {
        check(
            |errors| errors.required(&Path::field("a"), ""),
            "Deployment.apps \"web\" is invalid: a: Required value",
            r#"[{"field":"a","message":"Required value","reason":"FieldValueRequired"}]"#,
        );
    }

    #[test]
    fn the_message_says_the_same_once_and_the_causes_say_all() {
        let twice = |errors: &mut Errors| {
            errors.required(&Path::field("a"), "x");
            errors.required(&Path::field("a"), "x");
        };
        let one = r#"{"field":"a","message":"Required value: x","reason":"FieldValueRequired"}"#;
        let text = "Deployment.apps \"web\" is invalid: a: Required value: x";
        check(twice, text, &format!("[{one},{one}]"));
        check(
            |errors| {
                twice(errors);
                errors.invalid_value(&Path::field("b"), -1i64, "y");
            },
            "Deployment.apps \"web\" is invalid: [a: Required value: x, b: Invalid value: -1: y]",
            &format!(
                r#"[{one},{one},{{"field":"b","message":"Invalid value: -1: y",
                    "reason":"FieldValueInvalid"}}]"#
            ),
        );
    }
}
