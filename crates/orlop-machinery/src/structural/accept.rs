//! Whether a value fits a schema: yes or no, without an allocation.
//!
//! After `kube-openapi/pkg/validation/validate`, as `pkg/apiserver/validation/validation.go` of
//! apiextensions uses it. Nearly all values fit; what is wrong with the others, [`super::report`]
//! tells, by the same checks.

use super::fault::{check_type, has_choice, text_fault};
use super::number::has_number_fault;
use super::report::report;
use super::{Additional, Correlation, Shape, Structural, ValueRules};
use crate::field::{Errors, Path};
use crate::value::{Map, Value};

/// Which of the two OpenAPI schemas that upstream makes of one is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// That for objects.
    Object,
    /// That for default values: formats that nobody knows count, and what may be a number or a text
    /// may be anything.
    Default,
}

impl Structural {
    /// Reports what is wrong with a value, by all but embedded resources, lists with identities and
    /// rules in CEL. The path is that of the value: the root for an object.
    pub fn validate(&self, value: &Value, path: &Path<'_>, errors: &mut Errors) {
        self.validate_as(value, Dialect::Object, path, errors);
    }

    /// The same for a change: what was wrong before and did not change is let through.
    pub fn validate_update(&self, new: &Value, old: &Value, path: &Path<'_>, errors: &mut Errors) {
        if !accepts(self, new, Dialect::Object) {
            let correlation = Correlation::new(self, new, old);
            report((self, Dialect::Object), new, Some(correlation), path, errors);
        }
    }

    pub(super) fn validate_as(
        &self,
        value: &Value,
        dialect: Dialect,
        path: &Path<'_>,
        errors: &mut Errors,
    ) {
        if !accepts(self, value, dialect) {
            let before = errors.len();
            report((self, dialect), value, None, path, errors);
            debug_assert!(errors.len() > before, "what is not accepted is reported");
        }
    }
}

/// Whether a value fits.
pub(super) fn accepts(schema: &Structural, value: &Value, dialect: Dialect) -> bool {
    if check_type(schema, value, dialect).is_err() {
        return false;
    }
    if let Some(rules) = schema.rules.get()
        && !accepts_rules(schema, rules, value, dialect)
    {
        return false;
    }
    match value {
        Value::Map(map) => accepts_fields(schema, map, dialect),
        Value::List(list) => match schema.items() {
            Some(items) => list.iter().all(|item| accepts(items, item, dialect)),
            None => true,
        },
        _ => true,
    }
}

fn accepts_rules(schema: &Structural, rules: &ValueRules, value: &Value, dialect: Dialect) -> bool {
    if !rules.choices.is_empty() && !has_choice(&rules.choices, value) {
        return false;
    }
    let fits = match value {
        // Nothing else is asked of null.
        Value::Null => return true,
        Value::Bool(_) => true,
        Value::Int(_) | Value::Float(_) => !has_number_fault(schema, rules, value),
        Value::String(text) => text_fault(rules, text, dialect).is_none(),
        Value::List(list) => is_within(list.len(), rules.items),
        Value::Map(map) => {
            is_within(map.len(), rules.properties)
                && rules.required.iter().all(|name| map.contains_key(name))
        }
    };
    fits && accepts_junctors(rules, value, dialect)
}

fn accepts_junctors(rules: &ValueRules, value: &Value, dialect: Dialect) -> bool {
    let fits = |schema: &Structural| accepts(schema, value, dialect);
    let all = rules.all_of.iter().all(fits);
    all && (rules.any_of.is_empty() || rules.any_of.iter().any(fits))
        && (rules.one_of.is_empty()
            || rules.one_of.iter().filter(|schema| fits(schema)).take(2).count() == 1)
        && !rules.not.as_deref().is_some_and(fits)
}

fn is_within(count: usize, (min, max): (Option<i64>, Option<i64>)) -> bool {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
}

/// Both the entries and the properties are sorted by name: they are merged.
fn accepts_fields(schema: &Structural, map: &Map, dialect: Dialect) -> bool {
    match schema.object_shape() {
        Some(Shape::Object { properties, additional, .. }) => {
            let mut left = properties.entries();
            map.iter().all(|(name, value)| {
                while let [(known, property), rest @ ..] = left {
                    match known.as_str().cmp(name) {
                        std::cmp::Ordering::Less => left = rest,
                        std::cmp::Ordering::Equal => return accepts(property, value, dialect),
                        std::cmp::Ordering::Greater => break,
                    }
                }
                *additional != Additional::Refused
            })
        }
        Some(Shape::Map { values, .. }) => {
            map.values().all(|value| accepts(values, value, dialect))
        }
        _ => true,
    }
}
