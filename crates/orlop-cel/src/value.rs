//! Values while an expression is evaluated.
//!
//! What comes from an object is borrowed: a list or map of it is a reference and the type that its
//! schema declares, and items are read when they are asked for. What an expression makes is
//! counted, so a clone never copies. All clones are cheap.
//!
//! How JSON reads by its declared type is in `value/json.rs`, equality in `value/equality.rs`,
//! order in `value/order.rs`.

mod equality;
mod json;
mod list;
mod map;
mod order;
mod show;
mod text;
mod work;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use orlop_machinery::duration::Duration;

pub use list::{List, OwnedList};
pub use map::{Key, Map, OwnedMap, OwnedObject};
pub use text::{Bytes, Text};
pub use work::Work;

pub(crate) use show::double_text;

use crate::timestamp::Timestamp;
use crate::ty::Type;

/// The JSON that values are read from.
pub type Json = orlop_machinery::Value;

/// A value.
#[derive(Clone, Debug, Default)]
pub enum Value<'a> {
    /// null
    #[default]
    Null,
    /// true or false
    Bool(bool),
    /// 64 bits with sign.
    Int(i64),
    /// 64 bits without.
    Uint(u64),
    /// A floating-point number.
    Double(f64),
    /// Text.
    String(Text<'a>),
    /// Bytes.
    Bytes(Bytes<'a>),
    /// A span of time.
    Duration(Duration),
    /// A point in time.
    Timestamp(Timestamp),
    /// Items in order.
    List(List<'a>),
    /// Values by key, or by field.
    Map(Map<'a>),
    /// A value or none.
    Optional(Option<Arc<Value<'a>>>),
    /// A type.
    Type(Arc<Type>),
    /// A value of a library's own type, such as a quantity.
    Opaque(Arc<dyn Opaque>),
    /// JSON of which the schema says nothing but that it is kept. Can only be compared.
    Preserved(&'a Json),
}

/// A value of a library's own type.
pub trait Opaque: Any + fmt::Debug + Send + Sync {
    /// The name of the type, such as `kubernetes.Quantity`.
    fn type_name(&self) -> &'static str;
    /// Whether both are the same; none when they cannot be compared. The other is of any type.
    fn equals(&self, other: &dyn Opaque) -> Option<bool>;
    /// To get at the value itself.
    fn as_any(&self) -> &dyn Any;
    /// How large it is where a cost depends on it.
    fn size(&self) -> u64 {
        1
    }
}

impl<'a> Value<'a> {
    /// Borrowed text.
    #[must_use]
    pub fn str(text: &'a str) -> Value<'a> {
        Value::String(Text::Borrowed(text))
    }

    /// Text that was made.
    #[must_use]
    pub fn string(text: impl Into<Arc<str>>) -> Value<'a> {
        Value::String(Text::Counted(text.into()))
    }

    /// Bytes that were made.
    #[must_use]
    pub fn bytes(bytes: impl Into<Arc<[u8]>>) -> Value<'a> {
        Value::Bytes(Bytes::Counted(bytes.into()))
    }

    /// A list that was made.
    #[must_use]
    pub fn list(items: Vec<Value<'a>>) -> Value<'a> {
        Value::List(List::from(items))
    }

    /// An optional with a value.
    #[must_use]
    pub fn some(value: Value<'a>) -> Value<'a> {
        Value::Optional(Some(Arc::new(value)))
    }

    /// An optional without.
    #[must_use]
    pub fn none() -> Value<'a> {
        Value::Optional(None)
    }

    /// A library's own value.
    #[must_use]
    pub fn opaque(value: impl Opaque) -> Value<'a> {
        Value::Opaque(Arc::new(value))
    }

    /// Text, if it is.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A library's own value, if it is of this type.
    #[must_use]
    pub fn as_opaque<T: Opaque>(&self) -> Option<&T> {
        match self {
            Value::Opaque(value) => value.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// Its type. Items and fields are not looked at: a list is `list(dyn)`.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Double(_) => Type::Double,
            Value::String(_) => Type::String,
            Value::Bytes(_) => Type::Bytes,
            Value::Duration(_) => Type::Duration,
            Value::Timestamp(_) => Type::Timestamp,
            Value::List(_) => Type::list(Type::Dyn),
            Value::Map(Map::Object(object)) => object.decl.ty(),
            Value::Map(_) => Type::map(Type::Dyn, Type::Dyn),
            Value::Optional(_) => Type::optional(Type::Dyn),
            Value::Type(_) => Type::type_of(Type::Dyn),
            Value::Opaque(value) => Type::Opaque(value.type_name().into()),
            Value::Preserved(_) => Type::Dyn,
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Value::Bool(truth)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Value::Uint(number)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Double(number)
    }
}
