//! The one form that every object has in memory: a tree of JSON values.
//!
//! Built-in kinds and custom resources are the same here; what tells them apart is the schema that
//! they are read with. Integers and floats are kept apart as Go's decoder keeps them. Maps are
//! sorted by key, so two equal objects are equal values, and walking two maps side by side is a
//! merge. The order in which fields are written comes from the schema, not from here.
//!
//! A missing field, and a field that is null, read as the zero value of what is asked for:
//! `value.at("spec").at("replicas").int()` is 0 when there is no spec.

mod map;
#[cfg(test)]
pub(crate) mod sample;

use compact_str::CompactString;

pub use map::Map;
pub(crate) use map::compare_keys;
pub(crate) use map::key_prefix;

/// A string of an object. Up to 24 bytes live inside it, without an allocation.
pub type Str = CompactString;

/// A JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Nothing is known: an explicit null, or a field that is not there.
    #[default]
    Null,
    /// true or false.
    Bool(bool),
    /// A number that was written without fraction and exponent and fits.
    Int(i64),
    /// Any other number. Never NaN or infinite: JSON has neither.
    Float(f64),
    /// Text. Bytes and times are text here too, as in JSON.
    String(Str),
    /// Values in order.
    List(Vec<Value>),
    /// Values by name.
    Map(Map),
}

/// What a missing field reads as.
pub static NULL: Value = Value::Null;
static EMPTY: Map = Map::new();

impl Value {
    /// The field of a map; null when there is none.
    #[must_use]
    pub fn at(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&NULL)
    }

    /// The field of a map, when it is one and has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(map) => map.get(key),
            _ => None,
        }
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match self {
            Value::Map(map) => map.get_mut(key),
            _ => None,
        }
    }

    /// The value at the end of a path of keys; null when a step is missing.
    #[must_use]
    pub fn path(&self, keys: &[&str]) -> &Value {
        keys.iter().fold(self, |value, key| value.at(key))
    }

    /// The same, to change it, when every step is there.
    pub fn path_mut(&mut self, keys: &[&str]) -> Option<&mut Value> {
        keys.iter().try_fold(self, |value, key| value.get_mut(key))
    }

    /// Sets a field. What is not a map becomes one.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.make_map().insert(key, value.into());
    }

    /// Sets a field that is missing or null: what a default does.
    pub fn set_default(&mut self, key: &str, value: impl Into<Value>) {
        let field = self.make_map().entry(key);
        if field.is_null() {
            *field = value.into();
        }
    }

    /// The field, made (as null) when it is missing. What is not a map becomes one.
    pub fn entry(&mut self, key: &str) -> &mut Value {
        self.make_map().entry(key)
    }

    /// Takes a field out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        match self {
            Value::Map(map) => map.remove(key),
            _ => None,
        }
    }

    /// Leaves null behind.
    pub fn take(&mut self) -> Value {
        std::mem::take(self)
    }

    /// This value as a map to change; what is not a map becomes an empty one.
    pub fn make_map(&mut self) -> &mut Map {
        if !matches!(self, Value::Map(_)) {
            *self = Value::Map(Map::new());
        }
        match self {
            Value::Map(map) => map,
            _ => unreachable!("it was made a map above"),
        }
    }

    /// This value as a list to change; what is not a list becomes an empty one.
    pub fn make_list(&mut self) -> &mut Vec<Value> {
        if !matches!(self, Value::List(_)) {
            *self = Value::List(Vec::new());
        }
        match self {
            Value::List(list) => list,
            _ => unreachable!("it was made a list above"),
        }
    }

    /// Text, or nothing at all.
    #[must_use]
    pub fn str(&self) -> &str {
        self.as_str().unwrap_or_default()
    }

    /// A whole number, or 0.
    #[must_use]
    pub fn int(&self) -> i64 {
        self.as_int().unwrap_or_default()
    }

    /// A truth, or false.
    #[must_use]
    pub fn bool(&self) -> bool {
        self.as_bool().unwrap_or_default()
    }

    /// The items of a list, or none.
    #[must_use]
    pub fn list(&self) -> &[Value] {
        self.as_list().unwrap_or_default()
    }

    /// The entries of a map, or none.
    #[must_use]
    pub fn map(&self) -> &Map {
        self.as_map().unwrap_or(&EMPTY)
    }

    /// Text, if it is.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// A whole number, if it is.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// Any number, if it is.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        match self {
            #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// A truth, if it is.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// A list, if it is.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// A map, if it is.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The items of a list, to change them.
    pub fn list_mut(&mut self) -> &mut [Value] {
        match self {
            Value::List(list) => list,
            _ => &mut [],
        }
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether Go's `omitempty` leaves it out of a field that is no pointer and no struct: null,
    /// false, 0, "", and a list or map without entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(truth) => !truth,
            Value::Int(number) => *number == 0,
            Value::Float(number) => *number == 0.0,
            Value::String(text) => text.is_empty(),
            Value::List(list) => list.is_empty(),
            Value::Map(map) => map.is_empty(),
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Value {
        Value::Int(number.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(Str::new(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(Str::from(text))
    }
}

impl From<Str> for Value {
    fn from(text: Str) -> Value {
        Value::String(text)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Value {
        Value::Map(map)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl<T: Into<Value>, const N: usize> From<[(&str, T); N]> for Value {
    fn from(entries: [(&str, T); N]) -> Value {
        Value::Map(entries.into_iter().map(|(key, value)| (Str::new(key), value.into())).collect())
    }
}
