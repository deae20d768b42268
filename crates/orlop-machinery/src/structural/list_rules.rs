//! Lists whose items are told apart: no two items are the same.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go`.
//! The second of several equal items is reported, and no further one.

use super::{ListIdentity, Shape, Structural};
use crate::field::{Errors, Path};
use crate::json;
use crate::value::{Map, Str, Value};

/// Up to here items are compared with each other; more are sorted.
const PAIRS_MAX: usize = 16;

impl Structural {
    /// Reports items that stand twice in a set, or have the same keys.
    pub fn validate_lists(&self, value: &Value, path: &Path<'_>, errors: &mut Errors) {
        match value {
            Value::Map(map) => match self.object_shape() {
                Some(Shape::Map { values, .. }) => {
                    for (key, value) in map.iter() {
                        values.validate_lists(value, &path.key(key), errors);
                    }
                }
                Some(Shape::Object { properties, .. }) => {
                    for (name, value) in map.iter() {
                        if let Some(property) = properties.get(name) {
                            property.validate_lists(value, &path.child(name), errors);
                        }
                    }
                }
                _ => {}
            },
            Value::List(list) => {
                let Some(Shape::Array { items, identity }) = self.list_shape() else { return };
                match identity {
                    ListIdentity::Atomic => {}
                    ListIdentity::Set => {
                        let all: Vec<Key<'_>> = list.iter().map(Key::Value).collect();
                        for at in find_repeated(&all) {
                            errors.duplicate_value(&path.index(at), list[at].clone());
                        }
                    }
                    ListIdentity::Map(keys) => validate_keys(keys, list, path, errors),
                }
                for (at, item) in list.iter().enumerate() {
                    items.validate_lists(item, &path.index(at), errors);
                }
            }
            _ => {}
        }
    }
}

fn validate_keys(keys: &[Str], list: &[Value], path: &Path<'_>, errors: &mut Errors) {
    let is_object = |item: &Value| matches!(item, Value::Map(_) | Value::Null);
    if let Some(at) = list.iter().position(|item| !is_object(item)) {
        let detail = "must be an object for an array of list-type map";
        errors.invalid_value(&path.index(at), list[at].clone(), detail);
        return;
    }
    if list.len() <= 1 {
        return;
    }
    let found: Vec<Key<'_>> = match keys {
        [key] => list.iter().map(|item| item.get(key).map_or(Key::Missing, Key::Value)).collect(),
        keys => list.iter().map(|item| Key::Parts(item, keys)).collect(),
    };
    for at in find_repeated(&found) {
        errors.duplicate_value(&path.index(at), keys_of(&list[at], keys));
    }
}

/// The keys that an item has.
fn keys_of(item: &Value, keys: &[Str]) -> Value {
    let found = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Map(found.collect::<Map>())
}

/// What an item is told apart by.
enum Key<'a> {
    Value(&'a Value),
    Missing,
    /// These fields of an item.
    Parts(&'a Value, &'a [Str]),
}

impl Key<'_> {
    fn is_same(&self, other: &Key<'_>) -> bool {
        match (self, other) {
            (Key::Value(a), Key::Value(b)) => match (a, b) {
                (Value::Map(_), Value::Map(_)) | (Value::List(_), Value::List(_)) => {
                    is_same_json(a, b)
                }
                (a, b) => a == b,
            },
            (Key::Missing, Key::Missing) => true,
            (Key::Parts(a, keys), Key::Parts(b, _)) => {
                keys.iter().all(|key| match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => is_same_json(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                })
            }
            _ => false,
        }
    }

    /// Two keys are the same when these texts are. As in Go, numbers of different types are
    /// different, but not inside of other values.
    fn text(&self) -> String {
        match self {
            Key::Value(Value::Float(number)) => format!("float {number}"),
            Key::Value(value) => json::to_string(value),
            Key::Missing => String::new(),
            Key::Parts(item, keys) => json::to_string(&keys_of(item, keys)),
        }
    }
}

/// Whether two values are the same as JSON, where 1 and 1.0 are.
fn is_same_json(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(_), Value::Float(_)) | (Value::Float(_), Value::Int(_)) => {
            json::to_string(a) == json::to_string(b)
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_json(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let is_same =
                |(a, b): ((&str, &Value), (&str, &Value))| a.0 == b.0 && is_same_json(a.1, b.1);
            a.len() == b.len() && a.iter().zip(b.iter()).all(is_same)
        }
        (a, b) => a == b,
    }
}

/// The places of the second of several same keys, ascending.
fn find_repeated(keys: &[Key<'_>]) -> Vec<usize> {
    if keys.len() <= PAIRS_MAX {
        let before = |at: usize| keys[..at].iter().filter(|key| key.is_same(&keys[at])).count();
        return (1..keys.len()).filter(|at| before(*at) == 1).collect();
    }
    let mut sorted: Vec<(String, usize)> =
        keys.iter().enumerate().map(|(at, key)| (key.text(), at)).collect();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a.0 == b.0);
    let mut repeated: Vec<usize> = runs.filter_map(|run| run.get(1).map(|(_, at)| *at)).collect();
    repeated.sort_unstable();
    repeated
}
