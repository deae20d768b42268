//! What items of lists are told apart by, and where an item is.

use std::collections::HashMap;

use super::PatchError;
use crate::value::{Map, Str, Value};

/// A scalar: the value of a merge key, or an item of a list of scalars. Whole numbers and floats
/// are different, as in Go.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    Null,
    Bool(bool),
    Int(i64),
    /// The bits of a float.
    Float(u64),
    Text(Str),
}

impl Key {
    /// The key that a value is.
    pub(super) fn of(value: &Value) -> Result<Key, PatchError> {
        Ok(match value {
            Value::Null => Key::Null,
            Value::Bool(truth) => Key::Bool(*truth),
            Value::Int(number) => Key::Int(*number),
            // Adding 0 makes the two zeros one.
            Value::Float(number) => Key::Float((*number + 0.0).to_bits()),
            Value::String(text) => Key::Text(text.clone()),
            // Upstream panics.
            Value::List(_) | Value::Map(_) => {
                let found = crate::go_text::type_name(value);
                return Err(PatchError::Content(format!("comparing uncomparable type {found}")));
            }
        })
    }

    /// The merge key of an item.
    pub(super) fn of_item(item: &Map, merge_key: &str) -> Result<Key, PatchError> {
        match item.get(merge_key) {
            Some(value) => Key::of(value),
            None => Err(PatchError::no_merge_key(item, merge_key)),
        }
    }
}

/// Up to here keys are looked at one by one.
const LINEAR_MAX: usize = 16;

/// Keys in order, and where each one is first.
#[derive(Debug, Default)]
pub(super) struct KeyIndex {
    keys: Vec<Option<Key>>,
    /// Only when there are many.
    first: Option<HashMap<Key, usize>>,
}

impl KeyIndex {
    /// Of lists where some items have no key.
    pub(super) fn new(keys: Vec<Option<Key>>) -> KeyIndex {
        let mut index = KeyIndex { keys, first: None };
        index.use_hash();
        index
    }

    /// Where the key is first.
    pub(super) fn find(&self, key: &Key) -> Option<usize> {
        match &self.first {
            Some(first) => first.get(key).copied(),
            None => self.keys.iter().position(|known| known.as_ref() == Some(key)),
        }
    }

    pub(super) fn push(&mut self, key: Key) {
        if let Some(first) = &mut self.first {
            first.entry(key.clone()).or_insert(self.keys.len());
        }
        self.keys.push(Some(key));
        self.use_hash();
    }

    /// Forgets all but the first few.
    pub(super) fn truncate(&mut self, len: usize) {
        self.keys.truncate(len);
        if let Some(first) = &mut self.first {
            first.retain(|_, at| *at < len);
        }
    }

    fn use_hash(&mut self) {
        if self.first.is_some() || self.keys.len() <= LINEAR_MAX {
            return;
        }
        let mut first = HashMap::with_capacity(self.keys.len());
        for (at, key) in self.keys.iter().enumerate() {
            if let Some(key) = key {
                first.entry(key.clone()).or_insert(at);
            }
        }
        self.first = Some(first);
    }
}

impl FromIterator<Key> for KeyIndex {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> KeyIndex {
        KeyIndex::new(keys.into_iter().map(Some).collect())
    }
}
