//! Types as the checker knows them.
//!
//! Cheap to clone: what is nested is counted. Printed as cel-go prints types
//! (`FormatCELType`): `list(int)`, `map(string, dyn)`, `optional_type(string)`.

use std::fmt;
use std::sync::Arc;

use orlop_machinery::Str;

use crate::decl_type::DeclType;

/// The type of an expression.
#[derive(Clone, Debug)]
pub enum Type {
    /// Anything; decided when it is run.
    Dyn,
    /// An error stood here already; fits everything, so that nothing is reported twice.
    Error,
    /// null
    Null,
    /// true or false
    Bool,
    /// 64 bits with sign.
    Int,
    /// 64 bits without.
    Uint,
    /// A floating-point number.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A span of time.
    Duration,
    /// A point in time.
    Timestamp,
    /// Items of one type.
    List(Arc<Type>),
    /// Keys and values.
    Map(Arc<(Type, Type)>),
    /// Fields by a schema. Its shape is an object.
    Object(DeclType),
    /// A value or none.
    Optional(Arc<Type>),
    /// The type of a type.
    Type(Arc<Type>),
    /// A type of a library, such as `kubernetes.Quantity`.
    Opaque(Str),
    /// A type parameter of a function, such as `T`; inside the checker only.
    Parameter(Str),
}

impl Type {
    /// `list(item)`
    #[must_use]
    pub fn list(item: Type) -> Type {
        Type::List(Arc::new(item))
    }

    /// `map(key, value)`
    #[must_use]
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new((key, value)))
    }

    /// `optional_type(inner)`
    #[must_use]
    pub fn optional(inner: Type) -> Type {
        Type::Optional(Arc::new(inner))
    }

    /// `type(inner)`
    #[must_use]
    pub fn type_of(inner: Type) -> Type {
        Type::Type(Arc::new(inner))
    }

    /// Whether its values are known only when they are there.
    #[must_use]
    pub fn is_dyn(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error | Type::Parameter(_))
    }

    /// The name of the type without its parameters, as `type(x)` prints it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Type::Dyn => "dyn",
            Type::Error => "*error*",
            Type::Null => "null_type",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Duration => "google.protobuf.Duration",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::List(_) => "list",
            Type::Map(_) => "map",
            Type::Object(decl) => decl.name(),
            Type::Optional(_) => "optional_type",
            Type::Type(_) => "type",
            Type::Opaque(name) | Type::Parameter(name) => name,
        }
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::List(a), Type::List(b))
            | (Type::Optional(a), Type::Optional(b))
            | (Type::Type(a), Type::Type(b)) => a == b,
            (Type::Map(a), Type::Map(b)) => a == b,
            (Type::Object(a), Type::Object(b)) => a.name() == b.name(),
            (Type::Opaque(a), Type::Opaque(b)) | (Type::Parameter(a), Type::Parameter(b)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Null => f.write_str("null"),
            Type::Error => f.write_str("!error!"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::List(item) => write!(f, "list({item})"),
            Type::Map(of) => write!(f, "map({}, {})", of.0, of.1),
            Type::Optional(inner) => write!(f, "optional_type({inner})"),
            // The type of `type` has nothing in it.
            Type::Type(inner) if matches!(**inner, Type::Type(_)) => f.write_str("type(type)"),
            Type::Type(inner) => write!(f, "type({inner})"),
            _ => f.write_str(self.name()),
        }
    }
}
