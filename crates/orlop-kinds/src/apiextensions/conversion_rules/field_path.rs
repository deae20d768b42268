//! Paths of fields in rules: names with dots between, or a list of names.

use std::fmt;

use orlop_machinery::{Str, Value};

/// More steps than any schema has.
const STEPS_MAX: usize = 64;

/// The way to a field from the object, or from an item of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldPath(Vec<Str>);

impl FieldPath {
    /// Reads `spec.host`, or `[spec, "with.dot"]` for names that have dots.
    pub(super) fn read(value: &Value) -> Result<FieldPath, String> {
        let steps: Vec<Str> = match value {
            Value::String(text) => text.split('.').map(Str::new).collect(),
            Value::List(steps) if steps.iter().all(|step| step.as_str().is_some()) => {
                steps.iter().map(|step| Str::new(step.str())).collect()
            }
            _ => return Err("must be a path such as spec.host".to_owned()),
        };
        if steps.is_empty() || steps.len() > STEPS_MAX || steps.iter().any(Str::is_empty) {
            return Err("must be a path such as spec.host".to_owned());
        }
        Ok(FieldPath(steps))
    }

    pub(super) fn steps(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(Str::as_str)
    }

    pub(super) fn first(&self) -> &str {
        self.0.first().map_or("", Str::as_str)
    }

    /// Whether one path leads through the end of the other.
    pub(super) fn overlaps(&self, other: &FieldPath) -> bool {
        self.0.iter().zip(&other.0).all(|(left, right)| left == right)
    }

    pub(super) fn get<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.steps().try_fold(value, |value, step| value.get(step))
    }

    pub(super) fn get_mut<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value> {
        self.steps().try_fold(value, |value, step| value.get_mut(step))
    }

    /// Takes a field out, and objects around it that have nothing else.
    pub(super) fn take(&self, value: &mut Value) -> Option<Value> {
        take(value, &self.0)
    }

    /// Puts a field where nothing else is, with the objects around it.
    pub(super) fn put(&self, value: &mut Value, content: Value) -> Result<(), String> {
        let mut place = value;
        for step in self.steps() {
            if !matches!(place, Value::Map(_) | Value::Null) {
                return Err(format!("{self} cannot be set: what it should be in is no object"));
            }
            place = place.entry(step);
        }
        *place = content;
        Ok(())
    }
}

fn take(value: &mut Value, steps: &[Str]) -> Option<Value> {
    let (first, rest) = steps.split_first()?;
    if rest.is_empty() {
        return value.remove(first);
    }
    let inner = value.get_mut(first)?;
    let taken = take(inner, rest)?;
    if inner.map().is_empty() {
        value.remove(first);
    }
    Some(taken)
}

impl fmt::Display for FieldPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            let dot = if at == 0 { "" } else { "." };
            write!(out, "{dot}{step}")?;
        }
        Ok(())
    }
}
