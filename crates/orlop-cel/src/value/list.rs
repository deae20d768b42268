//! Lists: borrowed JSON with its declared type, or items that were made.

use std::sync::Arc;

use crate::decl_type::{DeclType, ListIdentity, Shape};
use crate::error::EvalError;

use super::{Json, Value};

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

    /// How items are told apart.
    #[must_use]
    pub fn identity(&self) -> &'a ListIdentity {
        let decl = match self {
            List::Json { decl, .. } => Some(*decl),
            List::Owned(list) => list.decl,
        };
        match decl.map(DeclType::shape) {
            Some(Shape::List { identity, .. }) => identity,
            _ => &ListIdentity::Atomic,
        }
    }
}

impl<'a> From<Vec<Value<'a>>> for List<'a> {
    fn from(items: Vec<Value<'a>>) -> List<'a> {
        List::Owned(Arc::new(OwnedList { items, decl: None }))
    }
}
