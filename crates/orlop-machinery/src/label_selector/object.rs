//! Selectors as they stand in objects: `matchLabels` and `matchExpressions`.

use super::{LabelSelector, LabelSelectorError, Operator, Requirement};
use crate::value::{Str, Value};

impl LabelSelector {
    /// The selector of an object's field. A field that is not set selects nothing, an empty
    /// selector everything.
    ///
    /// ```
    /// use orlop_machinery::{json, label_selector::LabelSelector};
    ///
    /// let field = json::parse(br#"{"matchLabels": {"app": "web"}}"#).unwrap();
    /// assert_eq!(LabelSelector::from_value(&field).unwrap().to_string(), "app=web");
    /// ```
    ///
    /// # Errors
    ///
    /// At the first requirement that is not valid.
    pub fn from_value(value: &Value) -> Result<LabelSelector, LabelSelectorError> {
        if value.is_null() {
            return Ok(LabelSelector::nothing());
        }
        let labels = value.at("matchLabels").map();
        let expressions = value.at("matchExpressions").list();
        let mut requirements = Vec::with_capacity(labels.len() + expressions.len());
        for (key, value) in labels.iter() {
            let values = vec![Str::new(value.str())];
            requirements.push(Requirement::new(key, Operator::Equals, values)?);
        }
        for expression in expressions {
            requirements.push(read_expression(expression)?);
        }
        Ok(LabelSelector::new(requirements))
    }
}

fn read_expression(expression: &Value) -> Result<Requirement, LabelSelectorError> {
    let operator = match expression.at("operator").str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => return Err(LabelSelectorError::UnknownOperator(Str::new(other))),
    };
    let values = expression.at("values").list().iter().map(|value| Str::new(value.str()));
    Requirement::new(expression.at("key").str(), operator, values.collect())
}

/// The selector of an object's field as tables show it: `<none>` when there is nothing to show,
/// `<error>` when it is not valid.
#[must_use]
pub fn format_value(value: &Value) -> String {
    match LabelSelector::from_value(value).map(|selector| selector.to_string()) {
        Err(_) => "<error>".to_owned(),
        Ok(text) if text.is_empty() => "<none>".to_owned(),
        Ok(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn check(text: &str, expect: &str) {
        let value = json::parse(text.as_bytes()).unwrap();
        let seen = match LabelSelector::from_value(&value) {
            Ok(selector) if selector.is_nothing() => "nothing".to_owned(),
            Ok(selector) => selector.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expect, "{text}");
    }

    #[test]
    fn objects_become_selectors() {
        check("null", "nothing");
        check("{}", "");
        check(r#"{"matchLabels": {"b": "2", "a": "1"}}"#, "a=1,b=2");
        check(
            r#"{"matchLabels": {"b": "2"}, "matchExpressions": [
                {"key": "c", "operator": "In", "values": ["y", "x"]},
                {"key": "b", "operator": "Exists"},
                {"key": "a", "operator": "DoesNotExist"},
                {"key": "d", "operator": "NotIn", "values": [""]}]}"#,
            "!a,b=2,b,c in (x,y),d notin ()",
        );
    }

    #[test]
    fn what_is_not_valid_says_so_in_upstreams_words() {
        let expression =
            |rest: &str| format!(r#"{{"matchExpressions": [{{"key": "a", {rest}}}]}}"#);
        check(
            &expression(r#""operator": "Gt", "values": ["1"]"#),
            "\"Gt\" is not a valid label selector operator",
        );
        check(
            &expression(r#""operator": "In""#),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        );
        check(
            &expression(r#""operator": "Exists", "values": ["1"]"#),
            "values: Invalid value: [\"1\"]: values set must be empty for exists and does not \
             exist",
        );
        check(
            r#"{"matchExpressions": [{"key": "", "operator": "In"}]}"#,
            "[key: Invalid value: \"\": name part must be non-empty; name part must consist of \
             alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
             validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), values: Invalid value: \
             null: for 'in', 'notin' operators, values set can't be empty]",
        );
    }

    #[test]
    fn tables_show_a_word_for_nothing() {
        assert_eq!(format_value(&Value::Null), "<none>");
        assert_eq!(format_value(&Value::from([("matchLabels", Value::from([("a", "b")]))])), "a=b");
        assert_eq!(
            format_value(&Value::from([("matchLabels", Value::from([("-", "b")]))])),
            "<error>"
        );
    }
}
