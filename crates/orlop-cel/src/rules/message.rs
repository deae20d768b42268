//! What is said when a rule is not kept.
//!
//! After `evalMessageExpression` and `ruleMessageOrDefault` in
//! `pkg/apiserver/schema/cel/validation.go`. A message that cannot be made is not the user's fault:
//! the rule's own text takes its place.

use orlop_machinery::Value as Json;
use orlop_machinery::text::quote;

use crate::error::EvalError;
use crate::value::Value;

/// The longest message that an expression may make.
const MESSAGE_SIZE_MAX: usize = 5 * 1024;

/// Why there is no message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MessageError {
    /// Another one takes its place.
    Ignored,
    /// It costs too much; this is said instead, and nothing else is evaluated.
    Final(String),
}

/// The message that came out of the rule's expression for it.
pub(super) fn read_message(
    result: Result<Value<'_>, EvalError>,
    rule: &Json,
    is_affordable: bool,
) -> Result<String, MessageError> {
    if !is_affordable {
        let detail = "messageExpression evaluation failed due to running out of cost budget, no \
                      further validation rules will be run";
        return Err(MessageError::Final(detail.to_owned()));
    }
    match result {
        Ok(Value::String(text)) => {
            let text = text.trim();
            let is_fine =
                !text.is_empty() && text.len() <= MESSAGE_SIZE_MAX && !text.contains('\n');
            if is_fine { Ok(text.to_owned()) } else { Err(MessageError::Ignored) }
        }
        Err(EvalError::CostLimitExceeded | EvalError::ValueTooLarge) => {
            let expression = quote(rule.at("messageExpression").str());
            Err(MessageError::Final(format!(
                "no further validation rules will be run due to call cost exceeds limit for \
                 messageExpression: {expression}"
            )))
        }
        _ => Err(MessageError::Ignored),
    }
}

/// What is said without an expression for it.
pub(super) fn default_message(rule: &Json) -> String {
    match rule.at("message").str() {
        "" => format!("failed rule: {}", shown_rule(rule)),
        message => message.trim().to_owned(),
    }
}

/// How a rule is named in errors about it.
pub(super) fn shown_rule(rule: &Json) -> &str {
    match rule.at("message").str() {
        "" => rule.at("rule").str().trim(),
        message => message.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Result<Value<'_>, EvalError>, expect: Result<&str, MessageError>) {
        let found = read_message(result, &Json::Null, true);
        assert_eq!(found, expect.map(str::to_owned));
    }

    #[test]
    fn a_message_is_one_line() {
        check(Ok(Value::str(" too many ")), Ok("too many"));
        check(Ok(Value::str(" ")), Err(MessageError::Ignored));
        check(Ok(Value::str("a\nb")), Err(MessageError::Ignored));
        check(Ok(Value::string("x".repeat(MESSAGE_SIZE_MAX + 1))), Err(MessageError::Ignored));
        check(Ok(Value::Int(1)), Err(MessageError::Ignored));
        check(Err(EvalError::fixed("division by zero")), Err(MessageError::Ignored));
    }

    #[test]
    fn a_message_that_costs_too_much_ends_it_all() {
        let found = read_message(Err(EvalError::CostLimitExceeded), &Json::Null, true);
        assert!(matches!(found, Err(MessageError::Final(_))));
        let found = read_message(Ok(Value::str("a")), &Json::Null, false);
        assert!(matches!(found, Err(MessageError::Final(_))));
    }
}
