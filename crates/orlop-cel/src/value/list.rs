//! Lists: borrowed JSON with its declared type, or items that were made.
//!
//! Adding to a list whose items are told apart (`x-kubernetes-list-type` set or map) merges, after
//! `valuesunstructured.go` of upstream. Unlike there, keys are found whatever their names are.

use std::collections::HashMap;
use std::sync::Arc;

use orlop_machinery::Str;

use crate::decl_type::{DeclType, ListIdentity, Shape};
use crate::error::EvalError;

use super::{Json, Map, Value, Work};

/// What one item of a list that is made takes.
const ITEM_BYTES: usize = size_of::<Value<'static>>();

/// A list.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// Of an object.
    Json {
        /// The items.
        items: &'a [Json],
        /// What the list is: a list, or dyn.
        decl: &'a DeclType,
    },
    /// Made while evaluating, or a literal.
    Owned(Arc<OwnedList<'a>>),
}

/// Items that were made.
#[derive(Clone, Debug, Default)]
pub struct OwnedList<'a> {
    /// The items.
    pub items: Vec<Value<'a>>,
    /// What the list is, when it was made of one whose items are told apart: a set added to a set
    /// is a set.
    pub decl: Option<&'a DeclType>,
}

impl<'a> List<'a> {
    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            List::Json { items, .. } => items.len(),
            List::Owned(list) => list.items.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An item; none past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Result<Value<'a>, EvalError>> {
        match self {
            List::Json { items, decl } => {
                Some(Value::from_json(items.get(index)?, decl.element().unwrap_or(decl)))
            }
            List::Owned(list) => Some(Ok(list.items.get(index)?.clone())),
        }
    }

    /// All items, in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<Value<'a>, EvalError>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    fn decl(&self) -> Option<&'a DeclType> {
        match self {
            List::Json { decl, .. } => Some(*decl),
            List::Owned(list) => list.decl,
        }
    }

    /// How items are told apart.
    #[must_use]
    pub fn identity(&self) -> &'a ListIdentity {
        match self.decl().map(DeclType::shape) {
            Some(Shape::List { identity, .. }) => identity,
            _ => &ListIdentity::Atomic,
        }
    }
}

impl<'a> List<'a> {
    /// Both lists, one after the other. Where the items of the first are told apart, those of the
    /// second that it has already replace them (by key) or are left out (of a set). A list that
    /// nobody else has grows in place.
    ///
    /// # Errors
    ///
    /// When an item is not what its schema declares, or the list becomes too large.
    pub fn concat(self, other: &List<'a>, work: &mut Work) -> Result<List<'a>, EvalError> {
        let decl = self.decl().filter(|_| *self.identity() != ListIdentity::Atomic);
        let mut owned = self.into_owned(other.len(), work)?;
        match Arc::get_mut(&mut owned) {
            Some(list) if decl.is_some() => list.merge(other, work)?,
            Some(list) => {
                work.make(other.len() * ITEM_BYTES)?;
                list.extend(other)?;
            }
            None => unreachable!("into_owned returns a list that nobody else has"),
        }
        Ok(List::Owned(owned))
    }

    /// As items that were made, which nobody else has, with room for more.
    fn into_owned(self, more: usize, work: &mut Work) -> Result<Arc<OwnedList<'a>>, EvalError> {
        let decl = self.decl();
        match self {
            List::Owned(list) if Arc::strong_count(&list) == 1 => Ok(list),
            list => {
                work.make(list.len() * ITEM_BYTES)?;
                work.look(list.len())?;
                let mut items = Vec::with_capacity(list.len() + more);
                for item in list.iter() {
                    items.push(item?);
                }
                Ok(Arc::new(OwnedList { items, decl }))
            }
        }
    }
}

impl<'a> OwnedList<'a> {
    fn extend(&mut self, other: &List<'a>) -> Result<(), EvalError> {
        self.items.reserve(other.len());
        for item in other.iter() {
            self.items.push(item?);
        }
        Ok(())
    }

    fn merge(&mut self, other: &List<'a>, work: &mut Work) -> Result<(), EvalError> {
        let identity = match self.decl.map(DeclType::shape) {
            Some(Shape::List { identity, .. }) => identity,
            _ => &ListIdentity::Atomic,
        };
        work.look(self.items.len() + other.len())?;
        work.make(other.len() * ITEM_BYTES)?;
        let mut by_key = HashMap::with_capacity(self.items.len());
        for (at, item) in self.items.iter().enumerate() {
            by_key.insert(Identity::of(item, identity), at);
        }
        for item in other.iter() {
            let item = item?;
            let key = Identity::of(&item, identity);
            match by_key.get(&key) {
                Some(at) if matches!(identity, ListIdentity::Map(_)) => self.items[*at] = item,
                Some(_) => {}
                None => {
                    by_key.insert(key, self.items.len());
                    self.items.push(item);
                }
            }
        }
        Ok(())
    }
}

/// What an item is told apart by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// Missing, or no scalar.
    Nothing,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(u64),
    String(Str),
}

impl Identity {
    /// Of an item of a list whose items are told apart so.
    pub(super) fn of(item: &Value<'_>, identity: &ListIdentity) -> Identity {
        let ListIdentity::Map(keys) = identity else { return Identity(vec![Part::of(item)]) };
        let Value::Map(map) = item else { return Identity(Vec::new()) };
        Identity(keys.iter().map(|key| Part::of(&json_field(map, key))).collect())
    }
}

impl Part {
    fn of(value: &Value<'_>) -> Part {
        match value {
            Value::Bool(truth) => Part::Bool(*truth),
            Value::Int(number) => Part::Int(*number),
            Value::Uint(number) => Part::Uint(*number),
            Value::Double(number) => Part::Double(number.to_bits()),
            Value::String(text) => Part::String(Str::new(&**text)),
            _ => Part::Nothing,
        }
    }
}

/// A field by its name in JSON; null where it is not there.
fn json_field<'a>(map: &Map<'a>, json_name: &str) -> Value<'a> {
    match map {
        Map::Json { entries, .. } => entries.get(json_name).map(Value::from).unwrap_or_default(),
        _ => map.get_str(json_name).ok().flatten().unwrap_or_default(),
    }
}

impl<'a> From<Vec<Value<'a>>> for List<'a> {
    fn from(items: Vec<Value<'a>>) -> List<'a> {
        List::Owned(Arc::new(OwnedList { items, decl: None }))
    }
}
