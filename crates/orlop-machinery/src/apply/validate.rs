//! Whether an object fits its schema: the check before any other walk.
//!
//! All other walks of apply run on objects that passed this one. It bounds their depth, and it
//! makes sure that every item of a list has something to be told apart by. Duplicates are refused
//! in what somebody applies and tolerated in what is stored.
//!
//! Behaviour and messages after `structured-merge-diff/typed` (`validate.go`, `helpers.go`).

use std::fmt;

use super::field_path::PathElement;
use super::typing::{Choice, Scalar, Shape, item_element};
use super::value_text;
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

/// Checks a value.
///
/// # Errors
///
/// With everything that is wrong, in the order of keys and items.
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
        for (key, value) in map.iter() {
            let before = self.misfits.len();
            let Some(field) = shape.at(key) else {
                self.add("field not declared in schema");
                self.prefix(before, || PathElement::field(key).to_string());
                return;
            };
            self.value(value, &field, depth + 1);
            self.prefix(before, || PathElement::field(key).to_string());
        }
    }

    fn list(&mut self, items: &[Value], shape: &Shape<'_>, depth: usize) {
        let item_shape = shape.item();
        if shape.is_list_atomic() {
            for (at, item) in items.iter().enumerate() {
                let before = self.misfits.len();
                self.value(item, &item_shape, depth + 1);
                self.prefix(before, || format!("[{at}]"));
            }
            return;
        }
        let mut elements = Vec::with_capacity(items.len());
        let mut stop = None;
        for (at, item) in items.iter().enumerate() {
            match item_element(shape, item) {
                Ok(element) => elements.push(element),
                Err(message) => {
                    stop = Some(format!("element {at}: {message}"));
                    break;
                }
            }
        }
        let repeated = match self.duplicates {
            Duplicates::Allowed => Vec::new(),
            Duplicates::Refused => find_repeated(&elements),
        };
        for (at, (element, item)) in elements.iter().zip(items).enumerate() {
            if repeated.binary_search(&at).is_ok() {
                self.add(format!("duplicate entries for key {element}"));
            }
            let before = self.misfits.len();
            self.value(item, &item_shape, depth + 1);
            self.prefix(before, || element.to_string());
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

/// The places of elements that were there before, ascending.
fn find_repeated(elements: &[PathElement]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..elements.len()).collect();
    // Stable, so that the first of several comes first.
    order.sort_by(|a, b| elements[*a].cmp(&elements[*b]));
    let is_repeated = |pair: &&[usize]| elements[pair[0]] == elements[pair[1]];
    let mut repeated: Vec<usize> =
        order.windows(2).filter(is_repeated).map(|pair| pair[1]).collect();
    repeated.sort_unstable();
    repeated
}
