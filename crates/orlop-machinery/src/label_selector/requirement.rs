//! One requirement on one label.

use std::fmt;

use super::LabelSelectorError;
use crate::field::{Errors, Path};
use crate::names;
use crate::value::{Str, Value};

/// What a label has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: Str,
    operator: Operator,
    /// As many as the operator wants.
    values: Vec<Str>,
    /// The number to compare with, where the operator compares numbers.
    bound: i64,
}

/// How a label relates to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It is one of the values.
    In,
    /// It is none of the values, or not there.
    NotIn,
    /// It is the value. Written `=`.
    Equals,
    /// The same, written `==`.
    DoubleEquals,
    /// It is not the value, or not there.
    NotEquals,
    /// It is there.
    Exists,
    /// It is not there.
    DoesNotExist,
    /// It is a larger number.
    GreaterThan,
    /// It is a smaller number.
    LessThan,
}

impl Requirement {
    /// A requirement, if key and values are valid and as many as the operator wants.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn new(
        key: &str,
        operator: Operator,
        values: Vec<Str>,
    ) -> Result<Requirement, LabelSelectorError> {
        Requirement::new_at(&Path::root(), key, operator, values)
    }

    /// The same, with errors that name the place in an object.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn new_at(
        path: &Path<'_>,
        key: &str,
        operator: Operator,
        values: Vec<Str>,
    ) -> Result<Requirement, LabelSelectorError> {
        let mut errors = Errors::new();
        let wrong = names::label_key(key);
        if !wrong.is_empty() {
            errors.invalid_value(&path.child("key"), key, wrong.join("; "));
        }
        let at = path.child("values");
        let bound = check_values(&at, operator, &values, &mut errors);
        for (index, value) in values.iter().enumerate() {
            let wrong = names::label_value(value);
            if !wrong.is_empty() {
                errors.invalid_value(&at.index(index).key(key), value.clone(), wrong.join("; "));
            }
        }
        if errors.is_empty() {
            Ok(Requirement { key: Str::new(key), operator, values, bound })
        } else {
            Err(LabelSelectorError::Invalid(errors))
        }
    }

    /// That a label has a value, both known to be valid.
    #[must_use]
    pub fn equals(key: &str, value: &str) -> Requirement {
        let values = vec![Str::new(value)];
        Requirement { key: Str::new(key), operator: Operator::Equals, values, bound: 0 }
    }

    /// The label.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How it relates to the values.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values, as they were given.
    #[must_use]
    pub fn values(&self) -> &[Str] {
        &self.values
    }

    /// Whether the label, if there is one, is as required.
    #[must_use]
    pub fn matches(&self, label: Option<&str>) -> bool {
        let has_value = |label: &str| self.values.iter().any(|value| value == label);
        let number = || label.and_then(|label| label.parse::<i64>().ok());
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => {
                label.is_some_and(has_value)
            }
            Operator::NotIn | Operator::NotEquals => !label.is_some_and(has_value),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::GreaterThan => number().is_some_and(|number| number > self.bound),
            Operator::LessThan => number().is_some_and(|number| number < self.bound),
        }
    }

    /// The one value that is allowed.
    pub(super) fn only_value(&self) -> Option<&str> {
        match (self.operator, self.values.as_slice()) {
            (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => Some(value),
            _ => None,
        }
    }
}

/// Checks that there are as many values as the operator wants; the number among them.
fn check_values(at: &Path<'_>, operator: Operator, values: &[Str], errors: &mut Errors) -> i64 {
    let (is_right, detail) = match operator {
        Operator::In | Operator::NotIn => {
            (!values.is_empty(), "for 'in', 'notin' operators, values set can't be empty")
        }
        Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => {
            (values.len() == 1, "exact-match compatibility requires one single value")
        }
        Operator::Exists | Operator::DoesNotExist => {
            (values.is_empty(), "values set must be empty for exists and does not exist")
        }
        Operator::GreaterThan | Operator::LessThan => {
            (values.len() == 1, "for 'Gt', 'Lt' operators, exactly one value is required")
        }
    };
    if !is_right {
        // In Go a list without values is nil here.
        let shown = if values.is_empty() { Value::Null } else { Value::from(values.to_vec()) };
        errors.invalid_value(at, shown, detail);
    }
    let mut bound = 0;
    if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
        for (index, value) in values.iter().enumerate() {
            let Ok(number) = value.parse() else {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.invalid_value(&at.index(index), value.clone(), detail);
                continue;
            };
            bound = number;
        }
    }
    bound
}

/// Whether some label, or none, is as all requirements on it say.
pub(super) fn can_all_hold(terms: &[&Requirement]) -> bool {
    let holds = |label: Option<&str>| terms.iter().all(|term| term.matches(label));
    if holds(None) {
        return true;
    }
    if terms.iter().any(|term| term.operator == Operator::DoesNotExist) {
        return false;
    }
    let is_list =
        |operator| matches!(operator, Operator::In | Operator::Equals | Operator::DoubleEquals);
    if let Some(list) = terms.iter().find(|term| is_list(term.operator)) {
        return list.values.iter().any(|value| holds(Some(value)));
    }
    // All other values are excluded one by one, which leaves enough: a number can be written with
    // any number of zeros in front. Labels have no sign, so numbers start at 0.
    let bounds = |operator| {
        terms.iter().filter(move |term| term.operator == operator).map(|term| term.bound)
    };
    let low = bounds(Operator::GreaterThan).max().map_or(0, |bound| bound.saturating_add(1).max(0));
    let high = bounds(Operator::LessThan).min();
    match high {
        Some(high) => low < high,
        None => !bounds(Operator::GreaterThan).any(|bound| bound == i64::MAX),
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = match self.operator {
            Operator::In => (" in (", ")"),
            Operator::NotIn => (" notin (", ")"),
            Operator::Equals => ("=", ""),
            Operator::DoubleEquals => ("==", ""),
            Operator::NotEquals => ("!=", ""),
            Operator::GreaterThan => (">", ""),
            Operator::LessThan => ("<", ""),
            Operator::Exists => return out.write_str(&self.key),
            Operator::DoesNotExist => return write!(out, "!{}", self.key),
        };
        write!(out, "{}{before}", self.key)?;
        if self.values.is_sorted() {
            write_joined(self.values.iter(), out)?;
        } else {
            let mut sorted: Vec<&Str> = self.values.iter().collect();
            sorted.sort();
            write_joined(sorted.into_iter(), out)?;
        }
        out.write_str(after)
    }
}

fn write_joined<'a>(
    values: impl Iterator<Item = &'a Str>,
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (at, value) in values.enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}{value}")?;
    }
    Ok(())
}
