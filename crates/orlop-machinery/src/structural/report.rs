//! What is wrong with a value, in upstream's words and order.
//!
//! After `kube-openapi/pkg/validation/{validate,errors}`, and
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/validation/{validation,ratcheting}.go`
//! for how results become errors of fields and which errors of a change are let through.
//!
//! Of several alternatives (`anyOf`, `oneOf`) that all fail, the errors of the one are told that
//! passed most checks; so checks are counted. Fields are looked at in the order of their names:
//! upstream has no order.

mod words;

use super::accept::Dialect;
use super::fault::{
    TextFault, check_type, has_choice, has_text_format, is_wrong_format, length_or_pattern_fault,
    type_names,
};
use super::number::number_faults;
use super::{Additional, Correlation, META_FIELDS, Shape, Structural, ValueRules};
use crate::field::{Errors, Path};
use crate::value::{Map, Value};
use words::{Fault, What};

/// Reports what is wrong with a value.
pub(super) fn report(
    (schema, dialect): (&Structural, Dialect),
    value: &Value,
    correlation: Option<Correlation<'_>>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mut reporter = Reporter { dialect, path: String::new() };
    let outcome = reporter.value(schema, value, correlation);
    let path = path.to_string();
    outcome.faults.into_iter().for_each(|fault| errors.push(fault.into_error(&path)));
}

/// What is wrong with a value, and how many checks were passed.
#[derive(Default)]
struct Outcome {
    faults: Vec<Fault>,
    matches: usize,
}

impl Outcome {
    /// Adds an error, if none says the same already.
    fn add(&mut self, fault: Fault) {
        if self.faults.iter().all(|known| known.message != fault.message) {
            self.faults.push(fault);
        }
    }

    fn merge(&mut self, other: Outcome) {
        self.matches += other.matches;
        other.faults.into_iter().for_each(|fault| self.add(fault));
    }

    fn is_valid(&self) -> bool {
        self.faults.is_empty()
    }
}

struct Reporter {
    dialect: Dialect,
    /// Of the value that is looked at.
    path: String,
}

impl Reporter {
    /// Reports about a value; errors about what did not change are let through.
    fn value(
        &mut self,
        schema: &Structural,
        value: &Value,
        correlation: Option<Correlation<'_>>,
    ) -> Outcome {
        let mut outcome = self.checks(schema, value, correlation);
        if !outcome.is_valid() && correlation.is_some_and(|correlation| correlation.is_equal()) {
            outcome.faults.clear();
        }
        outcome
    }

    /// Does all checks, in upstream's order.
    fn checks(
        &mut self,
        schema: &Structural,
        value: &Value,
        correlation: Option<Correlation<'_>>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let has_type = !type_names(schema, self.dialect).is_empty()
            || match self.dialect {
                Dialect::Object => schema.rules.known_format.is_some(),
                Dialect::Default => !schema.rules.format.is_empty(),
            };
        match check_type(schema, value, self.dialect) {
            Ok(()) => outcome.matches += usize::from(has_type || value.is_null()),
            Err(fault) => {
                let wanted = match fault.is_format {
                    true => schema.rules.format.to_string(),
                    false => type_names(schema, self.dialect).join(","),
                };
                outcome.add(Fault::wrong_type(&self.path, &wanted, fault.found));
            }
        }
        let rules = &schema.rules;
        if value.is_null() {
            self.choices(rules, value, &mut outcome);
            return outcome;
        }
        // One for the type, if it was looked at; then two for the junctors.
        outcome.matches += usize::from(has_type) + 2;
        self.junctors(rules, value, &mut outcome);
        match value {
            Value::String(text) => self.text(rules, text, &mut outcome),
            Value::Int(_) | Value::Float(_) => {
                let path = &self.path;
                number_faults(schema, rules, value, &mut |fault| {
                    outcome.add(Fault::wrong_number(path, schema, fault));
                });
                outcome.matches += 2;
            }
            Value::List(list) => self.list(schema, list, correlation, &mut outcome),
            _ => {}
        }
        self.choices(rules, value, &mut outcome);
        outcome.matches += 2;
        if let Value::Map(map) = value {
            self.fields(schema, map, correlation, &mut outcome);
            outcome.matches += 1;
        }
        outcome
    }

    fn choices(&self, rules: &ValueRules, value: &Value, outcome: &mut Outcome) {
        if !rules.choices.is_empty() && !has_choice(&rules.choices, value) {
            outcome.add(Fault::wrong_choice(&self.path, &rules.choices, value));
        }
    }

    fn junctors(&mut self, rules: &ValueRules, value: &Value, outcome: &mut Outcome) {
        self.any_of(rules, value, outcome);
        self.one_of(rules, value, outcome);
        let mut valid = 0;
        let mut inner = Outcome::default();
        for schema in &rules.all_of {
            let result = self.value(schema, value, None);
            valid += usize::from(result.is_valid());
            inner.merge(result);
        }
        outcome.merge(inner);
        if valid != rules.all_of.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            let words = format!("must validate all the schemas (allOf){none}");
            outcome.add(Fault::plain(&self.path, &words));
        }
        if let Some(not) = &rules.not
            && self.value(not, value, None).is_valid()
        {
            outcome.add(Fault::plain(&self.path, "must not validate the schema (not)"));
        }
    }

    fn any_of(&mut self, rules: &ValueRules, value: &Value, outcome: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        for schema in &rules.any_of {
            let result = self.value(schema, value, None);
            if result.is_valid() {
                outcome.merge(result);
                return;
            }
            if best.as_ref().is_none_or(|best| result.matches > best.matches) {
                best = Some(result);
            }
        }
        if let Some(best) = best {
            let words = "must validate at least one schema (anyOf)";
            outcome.add(Fault::plain(&self.path, words));
            outcome.merge(best);
        }
    }

    fn one_of(&mut self, rules: &ValueRules, value: &Value, outcome: &mut Outcome) {
        let (mut best, mut first_valid): (Option<Outcome>, Option<Outcome>) = (None, None);
        let mut valid = 0;
        for schema in &rules.one_of {
            let result = self.value(schema, value, None);
            if result.is_valid() {
                valid += 1;
                best = None;
                first_valid.get_or_insert(result);
            } else if valid == 0 && best.as_ref().is_none_or(|best| result.matches > best.matches) {
                best = Some(result);
            }
        }
        match (rules.one_of.len(), valid) {
            (0, _) => {}
            (_, 1) => first_valid.into_iter().for_each(|result| outcome.merge(result)),
            (_, valid) => {
                let found = match valid {
                    0 => "Found none valid".to_owned(),
                    valid => format!("Found {valid} valid alternatives"),
                };
                let words = format!("must validate one and only one schema (oneOf). {found}");
                outcome.add(Fault::plain(&self.path, &words));
                best.into_iter().for_each(|result| outcome.merge(result));
            }
        }
    }

    fn text(&self, rules: &ValueRules, text: &str, outcome: &mut Outcome) {
        if let Some(fault) = length_or_pattern_fault(rules, text) {
            outcome.add(Fault::wrong_text(&self.path, rules, (text, &fault)));
        }
        outcome.matches += 1;
        if is_wrong_format(rules, text, self.dialect) {
            outcome.add(Fault::wrong_text(&self.path, rules, (text, &TextFault::Format)));
        }
        outcome.matches += usize::from(has_text_format(rules, self.dialect));
    }

    fn list(
        &mut self,
        schema: &Structural,
        list: &[Value],
        correlation: Option<Correlation<'_>>,
        outcome: &mut Outcome,
    ) {
        let length = self.path.len();
        if let Some(items) = schema.items() {
            let old = correlation.map(|correlation| correlation.old_items());
            for (at, item) in list.iter().enumerate() {
                self.path.push_str(&format!("[{at}]"));
                let correlation = old.as_ref().and_then(|old| old.correlate(at));
                let result = self.value(items, item, correlation);
                self.path.truncate(length);
                outcome.merge(result);
            }
        }
        let (min, max) = schema.rules.items;
        let count = i64::try_from(list.len()).unwrap_or(i64::MAX);
        if let Some(min) = min.filter(|min| count < *min) {
            let words = format!("should have at least {min} items");
            outcome.add(Fault::new(&self.path, &words, What::Invalid(Value::Int(count))));
        }
        if let Some(max) = max.filter(|max| count > *max) {
            let words = format!("should have at most {max} items");
            outcome.add(Fault::new(&self.path, &words, What::TooMany(count, max)));
        }
        outcome.matches += 2;
    }

    fn fields(
        &mut self,
        schema: &Structural,
        map: &Map,
        correlation: Option<Correlation<'_>>,
        outcome: &mut Outcome,
    ) {
        let rules = &schema.rules;
        let (min, max) = rules.properties;
        let count = i64::try_from(map.len()).unwrap_or(i64::MAX);
        if let Some(min) = min.filter(|min| count < *min) {
            let words = format!("should have at least {min} properties");
            outcome.add(Fault::new(&self.path, &words, What::Invalid(Value::Int(count))));
        }
        if let Some(max) = max.filter(|max| count > *max) {
            let words = format!("should have at most {max} properties");
            outcome.add(Fault::new(&self.path, &words, What::TooMany(count, max)));
        }
        match schema.object_shape() {
            Some(Shape::Object { properties, additional, .. }) => {
                if *additional == Additional::Refused {
                    for name in map.keys().filter(|name| properties.get(name).is_none()) {
                        outcome.add(Fault::refused_field(&self.path, name));
                    }
                }
                for (name, property) in properties {
                    if let Some(value) = map.get(name) {
                        // Only values of maps have a dot before them at the root.
                        let dot = if self.path.is_empty() { "" } else { "." };
                        self.field((dot, name), (property, value), correlation, outcome);
                    }
                }
            }
            Some(Shape::Map { values, .. }) => {
                for (name, value) in map.iter() {
                    self.field((".", name), (values, value), correlation, outcome);
                }
            }
            _ => {}
        }
        for name in rules.required.iter().filter(|name| !map.contains_key(name)) {
            outcome.add(Fault::missing(&self.path, name));
        }
    }

    fn field(
        &mut self,
        (dot, name): (&str, &str),
        (schema, value): (&Structural, &Value),
        correlation: Option<Correlation<'_>>,
        outcome: &mut Outcome,
    ) {
        let length = self.path.len();
        // Kind and version of the object itself change unseen, by conversion.
        let is_hidden = length == 0 && META_FIELDS[..2].contains(&name);
        let correlation =
            correlation.filter(|_| !is_hidden).and_then(|correlation| correlation.key(name));
        self.path.push_str(dot);
        self.path.push_str(name);
        let result = self.value(schema, value, correlation);
        self.path.truncate(length);
        outcome.merge(result);
    }
}
