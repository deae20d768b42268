//! What a value was before: which part of the old object a part of the new one goes on from.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/common/{equality,maplist}.go`. Fields and entries
//! are told by their names, items of a list only where the schema says by which keys.

use std::cell::Cell;
use std::collections::HashMap;

use orlop_machinery::structural::{ListIdentity, Shape, Structural};
use orlop_machinery::{Str, Value};

/// A value, what it was before, and its schema. Whether both are the same is found out when it is
/// asked, and once.
pub(super) struct Correlated<'a> {
    schema: &'a Structural,
    new: &'a Value,
    old: &'a Value,
    is_unchanged: Cell<Option<bool>>,
}

/// Whether errors are forgiven because what they are about did not change.
#[derive(Clone, Copy, Default)]
pub(super) struct Ratchet<'c> {
    /// The value itself; none where it cannot be told what it was.
    current: Option<&'c Correlated<'c>>,
    /// The nearest value around it of which it can.
    nearest: Option<&'c Correlated<'c>>,
}

/// The items of the old list, by their keys.
pub(super) struct OldItems<'a> {
    keys: &'a [Str],
    /// Of several with the same key the first.
    items: HashMap<Vec<Scalar<'a>>, &'a Value>,
}

/// A value of a key field.
#[derive(PartialEq, Eq, Hash)]
enum Scalar<'a> {
    Bool(bool),
    Int(i64),
    Float(u64),
    String(&'a str),
}

impl<'a> Correlated<'a> {
    pub(super) fn new(schema: &'a Structural, new: &'a Value, old: &'a Value) -> Correlated<'a> {
        Correlated { schema, new, old, is_unchanged: Cell::new(None) }
    }

    /// The field or entry of a name; none unless both have it and the schema knows it.
    fn key(&self, name: &str) -> Option<Correlated<'a>> {
        let schema = match &self.schema.shape {
            Some(Shape::Object { properties, .. }) => properties.get(name)?,
            Some(Shape::Map { values, .. }) => values,
            _ => return None,
        };
        Some(Correlated::new(schema, self.new.get(name)?, self.old.get(name)?))
    }

    /// Whether the value is what it was before.
    fn is_unchanged(&self) -> bool {
        if let Some(known) = self.is_unchanged.get() {
            return known;
        }
        let is_unchanged = match (self.new, self.old) {
            (Value::List(new), Value::List(old)) => self.is_list_unchanged(new, old),
            (Value::Map(new), Value::Map(old)) => {
                let is_same = |name| self.key(name).is_some_and(|child| child.is_unchanged());
                new.len() == old.len() && new.keys().all(is_same)
            }
            (new, old) => new == old,
        };
        self.is_unchanged.set(Some(is_unchanged));
        is_unchanged
    }

    /// Items with keys may be in another order.
    fn is_list_unchanged(&self, new: &'a [Value], old: &'a [Value]) -> bool {
        if new.len() != old.len() {
            return false;
        }
        let Some(Shape::Array { items, .. }) = &self.schema.shape else { return new == old };
        let Some(before) = OldItems::new(self.schema, old) else { return new == old };
        new.iter().all(|item| {
            let found = before.get(item);
            found.is_some_and(|old| Correlated::new(items, item, old).is_unchanged())
        })
    }
}

impl<'c> Ratchet<'c> {
    /// For an object and what it was.
    pub(super) fn new(root: &'c Correlated<'c>) -> Ratchet<'c> {
        Ratchet { current: Some(root), nearest: None }
    }

    /// Whether errors about the value are forgiven.
    pub(super) fn forgives(&self) -> bool {
        self.current.or(self.nearest).is_some_and(Correlated::is_unchanged)
    }

    /// What the value has under a name, and what that was.
    pub(super) fn key(&self, name: &str) -> Option<Correlated<'c>> {
        self.current.filter(|_| !self.is_hidden(name))?.key(name)
    }

    /// For what the value has under a name; `child` is what [`Ratchet::key`] says of it.
    pub(super) fn inside_key<'d>(
        &self,
        name: &str,
        child: Option<&'d Correlated<'d>>,
    ) -> Ratchet<'d>
    where
        'c: 'd,
    {
        if self.is_hidden(name) { Ratchet::default() } else { self.inside(child) }
    }

    /// For something inside the value, of which `child` says what it was.
    pub(super) fn inside<'d>(&self, child: Option<&'d Correlated<'d>>) -> Ratchet<'d>
    where
        'c: 'd,
    {
        match self.current {
            None => *self,
            nearest => Ratchet { current: child, nearest },
        }
    }

    /// Both objects were converted to one version, so nobody can tell whether these changed.
    fn is_hidden(&self, name: &str) -> bool {
        let is_root = self.current.is_some() && self.nearest.is_none();
        is_root && matches!(name, "apiVersion" | "kind")
    }
}

impl<'a> OldItems<'a> {
    /// None where items have no keys.
    pub(super) fn new(schema: &'a Structural, old: &'a [Value]) -> Option<OldItems<'a>> {
        let Some(Shape::Array { identity: ListIdentity::Map(keys), .. }) = &schema.shape else {
            return None;
        };
        if keys.is_empty() || old.is_empty() {
            return None;
        }
        let mut items = HashMap::with_capacity(old.len());
        for item in old {
            if let Some(key) = key_of(keys, item) {
                items.entry(key).or_insert(item);
            }
        }
        Some(OldItems { keys, items })
    }

    /// The old item with the keys of this one.
    pub(super) fn get(&self, item: &'a Value) -> Option<&'a Value> {
        self.items.get(&key_of(self.keys, item)?).copied()
    }
}

fn key_of<'a>(keys: &[Str], item: &'a Value) -> Option<Vec<Scalar<'a>>> {
    let scalar = |key: &Str| match item.get(key)? {
        Value::Bool(truth) => Some(Scalar::Bool(*truth)),
        Value::Int(number) => Some(Scalar::Int(*number)),
        Value::Float(number) => Some(Scalar::Float(number.to_bits())),
        Value::String(text) => Some(Scalar::String(text)),
        _ => None,
    };
    keys.iter().map(scalar).collect()
}
