//! Which old value belongs to a new one.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/common/{equality,maplist}.go`. Fields belong
//! together by name, values of maps by key, items of a list with keys by their keys; items of other
//! lists belong to nothing.

use std::collections::HashMap;
use std::fmt::Write;

use super::{ListIdentity, Shape, Structural};
use crate::go_text;
use crate::value::{Str, Value};

/// A value, the old value that belongs to it, and the schema of both.
#[derive(Clone, Copy, Debug)]
pub struct Correlation<'a> {
    schema: &'a Structural,
    new: &'a Value,
    old: &'a Value,
}

/// The items of a list, and the old items that belong to them.
pub struct OldItems<'a> {
    items: &'a Structural,
    keys: &'a [Str],
    new: &'a [Value],
    /// Of several items with the same keys, the first.
    old: HashMap<String, &'a Value>,
}

impl<'a> Correlation<'a> {
    /// Of two objects.
    #[must_use]
    pub fn new(schema: &'a Structural, new: &'a Value, old: &'a Value) -> Correlation<'a> {
        Correlation { schema, new, old }
    }

    /// The schema of both.
    #[must_use]
    pub fn schema(&self) -> &'a Structural {
        self.schema
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &'a Value {
        self.new
    }

    /// The old value.
    #[must_use]
    pub fn old(&self) -> &'a Value {
        self.old
    }

    /// Of a field, if both have it and the schema knows it.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<Correlation<'a>> {
        let (new, old) = (self.new.get(name)?, self.old.get(name)?);
        Some(Correlation { schema: self.schema.field(name)?, new, old })
    }

    /// Of items. Looking them up costs no more for long lists.
    #[must_use]
    pub fn old_items(&self) -> OldItems<'a> {
        const NO_KEYS: &[Str] = &[];
        let (items, keys) = match self.schema.list_shape() {
            Some(Shape::Array { items, identity: ListIdentity::Map(keys) }) => {
                (&**items, keys.as_slice())
            }
            Some(Shape::Array { items, .. }) => (&**items, NO_KEYS),
            _ => (self.schema, NO_KEYS),
        };
        let (new, old) = (self.new.list(), self.old.list());
        let mut by_key = HashMap::new();
        if !keys.is_empty() && !new.is_empty() {
            for item in old {
                if let Some(key) = key_text(item, keys) {
                    by_key.entry(key).or_insert(item);
                }
            }
        }
        OldItems { items, keys, new, old: by_key }
    }

    /// Whether nothing changed. Items with keys may have changed their order; fields that the
    /// schema does not know count as changed, as upstream has it.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        match (self.new, self.old) {
            (Value::List(new), Value::List(old)) => {
                if new.len() != old.len() {
                    return false;
                }
                let items = self.old_items();
                if items.keys.is_empty() {
                    return new == old;
                }
                (0..new.len()).all(|at| items.correlate(at).is_some_and(|item| item.is_equal()))
            }
            (Value::Map(new), Value::Map(old)) => {
                new.len() == old.len()
                    && new.keys().all(|name| self.key(name).is_some_and(|field| field.is_equal()))
            }
            (new, old) => new == old,
        }
    }
}

impl<'a> OldItems<'a> {
    /// Of the item at a place, if an old one has its keys.
    #[must_use]
    pub fn correlate(&self, at: usize) -> Option<Correlation<'a>> {
        if self.keys.is_empty() {
            return None;
        }
        let new = self.new.get(at)?;
        let old = *self.old.get(&key_text(new, self.keys)?)?;
        Some(Correlation { schema: self.items, new, old })
    }
}

/// A text that only items with the same keys have; nothing when a key is missing or no scalar.
fn key_text(item: &Value, keys: &[Str]) -> Option<String> {
    let mut text = String::new();
    for key in keys {
        let value = item.get(key)?;
        let kind = match value {
            Value::Bool(_) => 'b',
            Value::Int(_) => 'i',
            Value::Float(_) => 'f',
            Value::String(_) => 's',
            Value::Null | Value::List(_) | Value::Map(_) => return None,
        };
        let shown = go_text::show(value);
        write!(text, "{kind}{}:{shown}", shown.len()).expect("a string grows");
    }
    Some(text)
}
