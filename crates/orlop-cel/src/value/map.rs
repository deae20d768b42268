//! Maps and objects: borrowed JSON with its declared type, or entries that were made.
//!
//! Reading a field of a borrowed object allocates nothing. Entries keep the order in which they
//! were made; upstream's have none.

use std::collections::HashMap;
use std::sync::Arc;

use orlop_machinery::{Map as JsonMap, Str};

use crate::decl_type::{DeclType, ObjectType, Shape};
use crate::error::EvalError;

use super::{Json, Text, Value};

/// From here on entries that were made are found by an index.
const LINEAR_MAX: usize = 8;

/// A map, or an object.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// Of an object.
    Json {
        /// The entries.
        entries: &'a JsonMap,
        /// What it is: a map, an object, or dyn.
        decl: &'a DeclType,
    },
    /// Made while evaluating.
    Owned(Arc<OwnedMap<'a>>),
    /// An object that was made, such as `JSONPatch{op: "add"}`.
    Object(Arc<OwnedObject<'a>>),
}

/// Entries that were made.
#[derive(Clone, Debug, Default)]
pub struct OwnedMap<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    /// Where each key is in `entries`; empty while there are few.
    index: HashMap<Key, usize>,
}

/// A key of a map: numbers that are equal are one key, whatever their type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// true or false
    Bool(bool),
    /// A number that fits.
    Int(i64),
    /// A number that is larger.
    Uint(u64),
    /// Text.
    String(Str),
}

/// An object that was made.
#[derive(Clone, Debug)]
pub struct OwnedObject<'a> {
    /// Its type: an object.
    pub decl: DeclType,
    /// The fields that are set, in the order in which they were.
    pub fields: Vec<(Str, Value<'a>)>,
}

impl<'a> Map<'a> {
    /// How many entries or fields there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Map::Json { entries, .. } => entries.len(),
            Map::Owned(map) => map.entries.len(),
            Map::Object(object) => object.fields.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key or field that is text; `name` is as expressions write it: escaped.
    ///
    /// # Errors
    ///
    /// When the value is not what its schema declares.
    pub fn get_str(&self, name: &str) -> Result<Option<Value<'a>>, EvalError> {
        match self {
            Map::Json { entries, decl } => get_json(entries, decl, name).transpose(),
            Map::Owned(map) => Ok(map.get_str(name).cloned()),
            Map::Object(object) => {
                let field = object.fields.iter().find(|(field, _)| field == name);
                Ok(field.map(|(_, value)| value.clone()))
            }
        }
    }

    /// The value of a key of any type.
    ///
    /// # Errors
    ///
    /// When no key can be of that type, or the value is not what its schema declares.
    pub fn get(&self, key: &Value<'_>) -> Result<Option<Value<'a>>, EvalError> {
        match (self, key) {
            (_, Value::String(name)) => self.get_str(name),
            (Map::Owned(map), _) => Ok(map.get(key).cloned()),
            _ => Err(EvalError::NoSuchOverload),
        }
    }

    /// All keys, or names of fields, in order.
    pub fn keys(&self) -> impl Iterator<Item = Value<'a>> {
        (0..self.len()).filter_map(|at| self.key_at(at))
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Value<'a>, Result<Value<'a>, EvalError>)> {
        (0..self.len()).filter_map(|at| Some((self.key_at(at)?, self.value_at(at)?)))
    }

    /// The key of an entry; none past the end, and for fields that expressions do not see.
    #[must_use]
    pub fn key_at(&self, at: usize) -> Option<Value<'a>> {
        match self {
            Map::Json { entries, decl } => {
                let (name, _) = entries.entries().get(at)?;
                match decl.as_object() {
                    None => Some(Value::str(name)),
                    Some(object) => Some(Value::str(&object.json_field(name)?.name)),
                }
            }
            Map::Owned(map) => map.entries.get(at).map(|(key, _)| key.clone()),
            Map::Object(object) => {
                object.fields.get(at).map(|(name, _)| Value::string(name.as_str()))
            }
        }
    }

    /// The value of an entry; none where there is no key.
    #[must_use]
    pub fn value_at(&self, at: usize) -> Option<Result<Value<'a>, EvalError>> {
        match self {
            Map::Json { entries, decl } => {
                let (name, value) = entries.entries().get(at)?;
                match decl.shape() {
                    Shape::Object(object) => {
                        Some(Value::from_json(value, &object.json_field(name)?.ty))
                    }
                    _ => Some(Value::from_json(value, decl.element().unwrap_or(decl))),
                }
            }
            Map::Owned(map) => map.entries.get(at).map(|(_, value)| Ok(value.clone())),
            Map::Object(object) => object.fields.get(at).map(|(_, value)| Ok(value.clone())),
        }
    }
}

fn get_json<'a>(
    entries: &'a JsonMap,
    decl: &'a DeclType,
    name: &str,
) -> Option<Result<Value<'a>, EvalError>> {
    match decl.shape() {
        Shape::Object(object) => get_field(entries, object, name),
        _ => Some(Value::from_json(entries.get(name)?, decl.element().unwrap_or(decl))),
    }
}

/// A field that is null reads as one that is not there. Who does not go by the schema may also name
/// it as JSON does.
fn get_field<'a>(
    entries: &'a JsonMap,
    object: &'a ObjectType,
    name: &str,
) -> Option<Result<Value<'a>, EvalError>> {
    let field = object.field(name).or_else(|| object.json_field(name))?;
    let value = entries.get(&field.json_name).filter(|value| !value.is_null())?;
    Some(Value::from_json(value, &field.ty))
}

impl<'a> OwnedMap<'a> {
    /// Without entries, with room for some.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> OwnedMap<'a> {
        OwnedMap { entries: Vec::with_capacity(capacity), index: HashMap::new() }
    }

    /// All entries, in the order in which they were made.
    #[must_use]
    pub fn entries(&self) -> &[(Value<'a>, Value<'a>)] {
        &self.entries
    }

    /// Adds an entry. False when the key is there already, which then stays as it is.
    ///
    /// # Errors
    ///
    /// When the key is of a type that keys cannot have.
    pub fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> Result<bool, EvalError> {
        let hashed = Key::new(&key)?;
        let is_new = self.position(&hashed).is_none();
        if is_new {
            self.push(hashed, key, value);
        }
        Ok(is_new)
    }

    /// Adds an entry, in place of one with the same key.
    ///
    /// # Errors
    ///
    /// When the key is of a type that keys cannot have.
    pub fn set(&mut self, key: Value<'a>, value: Value<'a>) -> Result<(), EvalError> {
        let hashed = Key::new(&key)?;
        match self.position(&hashed) {
            Some(at) => self.entries[at].1 = value,
            None => self.push(hashed, key, value),
        }
        Ok(())
    }

    fn push(&mut self, hashed: Key, key: Value<'a>, value: Value<'a>) {
        let at = self.entries.len();
        if at == LINEAR_MAX {
            let known = self.entries.iter().enumerate();
            self.index =
                known.filter_map(|(at, (key, _))| Some((Key::new(key).ok()?, at))).collect();
        }
        if at >= LINEAR_MAX {
            self.index.insert(hashed, at);
        }
        self.entries.push((key, value));
    }

    /// The value of a key; none for what cannot be a key.
    #[must_use]
    pub fn get(&self, key: &Value<'_>) -> Option<&Value<'a>> {
        Some(&self.entries[self.position(&Key::new(key).ok()?)?].1)
    }

    fn get_str(&self, name: &str) -> Option<&Value<'a>> {
        if self.index.is_empty() {
            return self.entries.iter().find(|(key, _)| key.as_str() == Some(name)).map(|e| &e.1);
        }
        self.index.get(&Key::String(name.into())).map(|at| &self.entries[*at].1)
    }

    fn position(&self, key: &Key) -> Option<usize> {
        if !self.index.is_empty() {
            return self.index.get(key).copied();
        }
        self.entries.iter().position(|(other, _)| Key::new(other).is_ok_and(|other| other == *key))
    }
}

impl Key {
    /// The key that a value is. A double is one when it is a whole number.
    ///
    /// # Errors
    ///
    /// When keys cannot be of its type.
    pub fn new(value: &Value<'_>) -> Result<Key, EvalError> {
        match value {
            Value::Bool(truth) => Ok(Key::Bool(*truth)),
            Value::Int(number) => Ok(Key::Int(*number)),
            Value::Uint(number) => Ok(match i64::try_from(*number) {
                Ok(number) => Key::Int(number),
                Err(_) => Key::Uint(*number),
            }),
            Value::Double(number) => whole(*number).ok_or_else(|| unsupported(value)),
            Value::String(text) => Ok(Key::String(Str::new(&**text))),
            _ => Err(unsupported(value)),
        }
    }
}

fn unsupported(key: &Value<'_>) -> EvalError {
    EvalError::new(format!("unsupported key type: {}", key.ty().name()))
}

/// A double as a key, when it is a whole number.
fn whole(number: f64) -> Option<Key> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() != 0.0 || !(-LIMIT..2.0 * LIMIT).contains(&number) {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above")]
    Some(if number < LIMIT { Key::Int(number as i64) } else { Key::Uint(number as u64) })
}

impl<'a> From<OwnedMap<'a>> for Value<'a> {
    fn from(map: OwnedMap<'a>) -> Value<'a> {
        Value::Map(Map::Owned(Arc::new(map)))
    }
}

impl<'a> From<Text<'a>> for Value<'a> {
    fn from(text: Text<'a>) -> Value<'a> {
        Value::String(text)
    }
}

impl<'a> From<&'a Json> for Value<'a> {
    /// JSON of which no schema says what it is.
    fn from(json: &'a Json) -> Value<'a> {
        Value::from_json(json, DeclType::dynamic()).unwrap_or_default()
    }
}
