//! Whether an object fits its schema: the check before any other walk.
//!
//! All other walks of apply run on objects that passed this one. It bounds their depth, and it
//! makes sure that every item of a list has something to be told apart by. Duplicates are refused
//! in what somebody applies and tolerated in what is stored.
//!
//! Behaviour and messages after `structured-merge-diff/typed` (`validate.go`, `helpers.go`).

use std::fmt;

use super::field_path::PathElement;
use super::items::{check_item, item_element};
use super::typing::{Choice, Scalar, Shape};
use super::value_order::with_floats;
use super::value_text;
use crate::schema::Type;
use crate::value::{Map, Value};

/// What to do about items of a list that cannot be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicates {
    Allowed,
    Refused,
}

/// Why an object does not fit its schema.
///
/// Prints as `.spec.replicas: expected numeric (int or float), got string`, or as one line each
/// when there are several.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Misfits {
    /// Path and message.
    list: Vec<(String, String)>,
}

/// Deeper nesting is refused.
const DEPTH_MAX: usize = 512;

/// More misfits are not looked for.
const MISFITS_MAX: usize = 256;

/// Checks a value.
///
/// # Errors
///
/// With what is wrong, in the order of keys and items; the first few hundred.
pub(super) fn validate(
    value: &Value,
    shape: &Shape<'_>,
    duplicates: Duplicates,
) -> Result<(), Misfits> {
    let mut walk = Walk { duplicates, misfits: Vec::new() };
    walk.value(value, shape, 0);
    match walk.misfits.as_slice() {
        [] => Ok(()),
        _ => Err(Misfits { list: walk.misfits }),
    }
}

impl fmt::Display for Misfits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |out: &mut fmt::Formatter<'_>, (path, message): &(String, String)| match path
            .as_str()
        {
            "" => out.write_str(message),
            path => write!(out, "{path}: {message}"),
        };
        if let [only] = self.list.as_slice() {
            return line(out, only);
        }
        out.write_str("errors:")?;
        for misfit in &self.list {
            out.write_str("\n  ")?;
            line(out, misfit)?;
        }
        Ok(())
    }
}

struct Walk {
    duplicates: Duplicates,
    /// Paths grow from their end while the walk goes back up.
    misfits: Vec<(String, String)>,
}

impl Walk {
    fn value(&mut self, value: &Value, shape: &Shape<'_>, depth: usize) {
        if depth > DEPTH_MAX {
            self.add("exceeded max depth");
            return;
        }
        if self.misfits.len() >= MISFITS_MAX {
            return;
        }
        match (shape.choose(Some(value)), value) {
            (_, Value::Null) => {}
            (Choice::Scalar, value) => self.scalar(shape.scalar(), value),
            (Choice::List, Value::List(items)) => self.list(items, shape, depth),
            (Choice::Map | Choice::Open, Value::Map(map)) => self.map(map, shape, depth),
            (Choice::List, value) => {
                self.add(format!("expected list, got {}", value_text::plain(value)));
            }
            (Choice::Map | Choice::Open, value) => {
                self.add(format!("expected map, got {}", value_text::plain(value)));
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar, value: &Value) {
        let is_scalar = !matches!(value, Value::List(_) | Value::Map(_));
        match scalar {
            Scalar::Number if !matches!(value, Value::Int(_) | Value::Float(_)) => {
                let got = value_text::type_name(value);
                self.add(format!("expected numeric (int or float), got {got}"));
            }
            Scalar::String if !matches!(value, Value::String(_)) => {
                self.add(format!("expected string, got {}", value_text::syntax(value)));
            }
            Scalar::Bool if !matches!(value, Value::Bool(_)) => {
                self.add(format!("expected boolean, got {}", value_text::plain(value)));
            }
            Scalar::Any if !is_scalar => {
                self.add(format!("expected any scalar, got {}", value_text::plain(value)));
            }
            _ => {}
        }
    }

    fn map(&mut self, map: &Map, shape: &Shape<'_>, depth: usize) {
        let mut cursor = shape.cursor();
        for (key, value) in map.iter() {
            if cursor.declared(key).is_some_and(|field| is_plain_fit(&field.ty, value)) {
                continue;
            }
            let before = self.misfits.len();
            let place = cursor.at(key);
            match place {
                Some(place) => self.value(value, &place.shape, depth + 1),
                None => self.add("field not declared in schema"),
            }
            self.prefix(before, || PathElement::field(key).to_string());
            if place.is_none() {
                return;
            }
        }
    }

    fn list(&mut self, items: &[Value], shape: &Shape<'_>, depth: usize) {
        let item_shape = shape.item();
        let is_atomic = shape.is_list_atomic();
        // Those from the first on that nothing identifies are not looked at.
        let (items, stop) = match is_atomic {
            true => (items, None),
            false => identified(items, shape),
        };
        let repeated = match self.duplicates {
            Duplicates::Refused if !is_atomic => find_repeated(items, shape),
            _ => Vec::new(),
        };
        let element = |at: usize| match is_atomic {
            true => format!("[{at}]"),
            false => as_applied(&items[at], shape),
        };
        for (at, item) in items.iter().enumerate() {
            if repeated.binary_search(&at).is_ok() {
                self.add(format!("duplicate entries for key {}", element(at)));
            }
            let before = self.misfits.len();
            self.value(item, &item_shape, depth + 1);
            self.prefix(before, || element(at));
        }
        if let Some(message) = stop {
            self.add(message);
        }
    }

    fn add(&mut self, message: impl Into<String>) {
        self.misfits.push((String::new(), message.into()));
    }

    fn prefix(&mut self, from: usize, prefix: impl Fn() -> String) {
        for (path, _) in &mut self.misfits[from..] {
            path.insert_str(0, &prefix());
        }
    }
}

/// Whether a value is a scalar of the type: what most values are, and quickly seen.
fn is_plain_fit(ty: &Type, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(_) => matches!(ty, Type::String | Type::Quantity | Type::Time),
        Value::Int(_) => matches!(ty, Type::Int32 | Type::Int64 | Type::IntOrString),
        Value::Bool(_) => matches!(ty, Type::Bool),
        _ => false,
    }
}

/// The items before the first one that nothing identifies, and what to say about that one.
fn identified<'a>(items: &'a [Value], shape: &Shape<'_>) -> (&'a [Value], Option<String>) {
    for (at, item) in items.iter().enumerate() {
        if let Err(message) = check_item(shape, item) {
            return (&items[..at], Some(format!("element {at}: {message}")));
        }
    }
    (items, None)
}

/// What identifies an item of an applied object: in decoded YAML every number is a float.
fn as_applied(item: &Value, shape: &Shape<'_>) -> String {
    match item_element(shape, item) {
        Ok(PathElement::Key(key)) => {
            let with_floats = |(name, value)| (name, with_floats(value));
            PathElement::Key(key.into_iter().map(with_floats).collect()).to_string()
        }
        Ok(PathElement::Value(value)) => PathElement::Value(with_floats(value)).to_string(),
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// The places of items whose element was there before, ascending.
fn find_repeated(items: &[Value], shape: &Shape<'_>) -> Vec<usize> {
    let mut elements: Vec<(PathElement, usize)> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        if let Ok(element) = item_element(shape, item) {
            elements.push((element, at));
        }
    }
    elements.sort();
    let is_repeated = |pair: &&[(PathElement, usize)]| pair[0].0 == pair[1].0;
    let mut repeated: Vec<usize> =
        elements.windows(2).filter(is_repeated).map(|pair| pair[1].1).collect();
    repeated.sort_unstable();
    repeated
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::super::typing::Typing;
    use super::*;

    #[test]
    fn nesting_is_bounded() {
        let deep = |depth: usize| {
            let mut value = Value::Null;
            for _ in 0..depth {
                value = Value::from([("a", value)]);
            }
            value
        };
        let shape = Typing::Deduced.shape();
        assert!(validate(&deep(DEPTH_MAX), &shape, Duplicates::Refused).is_ok());
        let misfits = validate(&deep(DEPTH_MAX + 2), &shape, Duplicates::Refused).unwrap_err();
        assert!(misfits.to_string().ends_with(".a: exceeded max depth"));
    }
}
