//! What the objects of a kind are made of: the one table behind strict checking, protobuf,
//! strategic merge, apply, OpenAPI and pruning.
//!
//! A schema is an arena of structs that refer to each other by [`StructId`]. Built-in kinds come
//! from text that is made from facts about the API (see [`parse`] for its form); custom resources
//! come from their structural schemas. Nothing that reads a schema can tell the two apart.
//!
//! The fields of embedded structs stand in the struct that embeds them, as in JSON; only their
//! protobuf tags tell that they travel in a message of their own.

mod index;
mod parse;

use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use index::{Cursor, Indexes};
pub use parse::{ParseError, parse};

use crate::protobuf::Messages;
use crate::value::{Str, Value};

/// Every struct that the objects of some kinds are made of.
#[derive(Debug, Default)]
pub struct Schema {
    structs: Vec<Struct>,
    by_name: HashMap<Str, StructId>,
    /// Made when the first message is written or read.
    messages: OnceLock<Messages>,
    /// Made when the first one walks an object.
    indexes: OnceLock<Indexes>,
}

/// A struct of a [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(u32);

/// A struct: fields by name.
#[derive(Debug, Default)]
pub struct Struct {
    /// The name in OpenAPI documents, such as `io.k8s.api.core.v1.Pod`.
    pub name: Str,
    /// Sorted by name.
    pub fields: Vec<Field>,
    /// Positions in `fields` in the order of declaration, which is that of encoded JSON.
    pub order: Vec<u16>,
    /// Whether it changes as a whole: who sets one field owns all.
    pub is_atomic: bool,
    /// Whether fields that are not listed are kept.
    pub keeps_unknown: bool,
    /// Which of its fields exclude each other, where the API declares it.
    pub union: Option<Box<Union>>,
}

/// Fields of a struct that exclude each other. Only OpenAPI documents tell of it.
#[derive(Debug, PartialEq)]
pub struct Union {
    /// The field that says which one is set; empty when there is none.
    pub discriminator: Str,
    /// Those that exclude each other.
    pub fields: Vec<Str>,
}

/// A field of a struct.
#[derive(Debug)]
pub struct Field {
    /// Its name in JSON.
    pub name: Str,
    /// What it holds.
    pub ty: Type,
    /// Whether unset and zero are different: in Go, a pointer.
    pub is_pointer: bool,
    /// When it is left out of encoded JSON.
    pub omit: Omit,
    /// Whether OpenAPI lists it as required.
    pub is_required: bool,
    /// Whether the struct or map in it changes as a whole, whatever its own type says.
    pub is_atomic: bool,
    /// Whether the API declares that the struct or map in it does not change as a whole, whatever
    /// its own type says.
    pub is_granular: bool,
    /// Its place in protobuf; none for what does not travel there.
    pub tag: Option<Tag>,
    /// How a strategic merge patch treats it.
    pub patch: Patch,
    /// The key by which a strategic merge patch finds items; empty when there is none.
    pub merge_key: Str,
    /// What few fields have.
    pub extra: Option<Box<Extra>>,
}

/// What few fields have.
#[derive(Debug, Default)]
pub struct Extra {
    /// What a missing field means, where the API declares it.
    pub default: Option<Value>,
    /// The only values allowed, where OpenAPI lists them.
    pub choices: Vec<Str>,
    /// The name of its type in Go, where what it holds does not tell: `v1.PullPolicy`.
    pub type_name: Str,
    /// The names of the embedded structs that it stands in, joined with dots: `VolumeSource`.
    pub embedded: Str,
}

/// What a value may be.
#[derive(Debug, PartialEq)]
pub enum Type {
    /// true or false
    Bool,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// Any number.
    Float64,
    /// Text.
    String,
    /// Bytes; base64 in JSON.
    Bytes,
    /// A moment to the second, as RFC 3339.
    Time,
    /// A moment to the microsecond.
    MicroTime,
    /// A span, such as `1m30s`.
    Duration,
    /// An exact number with a suffix.
    Quantity,
    /// A whole number of 32 bits, or text.
    IntOrString,
    /// Any JSON. In protobuf, a message whose first field is JSON text.
    Any,
    /// An object of any kind (`RawExtension`). In protobuf as [`Type::Any`].
    Raw,
    /// A set of fields (`FieldsV1`). In protobuf as [`Type::Any`].
    FieldSet,
    /// Items in order.
    List(Box<List>),
    /// Values by key.
    Map(Box<MapOf>),
    /// A struct.
    Struct(StructId),
    /// A struct or something else, told apart by what the JSON value is. In protobuf, a message
    /// with a field for each; see [`Alternative`].
    StructOr(StructId, Alternative),
}

/// What a value is that may also be a struct. The behaviour is that of upstream's
/// `apiextensions/v1/marshal.go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// true or false (`JSONSchemaPropsOrBool`). Protobuf has the truth as field 1 and the struct as
    /// field 2; a struct also sets the truth. Anything else, null included, cannot be decoded:
    /// "boolean or JSON schema expected".
    Bool,
    /// A list of such structs (`JSONSchemaPropsOrArray`). Protobuf has the struct as field 1 and
    /// the list as field 2. Anything else reads as null, an empty list too.
    List,
    /// A list of text (`JSONSchemaPropsOrStringArray`), otherwise as [`Alternative::List`].
    Strings,
}

/// Items in order.
#[derive(Debug, PartialEq)]
pub struct List {
    /// What an item is.
    pub item: Type,
    /// Whether an item may be null.
    pub is_item_pointer: bool,
    /// How items are told apart.
    pub identity: Identity,
    /// Whether protobuf wraps the items in a message of their own.
    pub is_wrapped: bool,
}

/// How the items of a list are told apart when two writers meet.
#[derive(Debug, PartialEq)]
pub enum Identity {
    /// Not at all: the list changes as a whole. What is not said is this too.
    Atomic {
        /// Whether the API says so.
        is_declared: bool,
    },
    /// By value.
    Set,
    /// By these fields of an item.
    Keys(Vec<Str>),
}

/// Values by key.
#[derive(Debug, PartialEq)]
pub struct MapOf {
    /// What a value is.
    pub value: Type,
    /// Whether it changes as a whole.
    pub is_atomic: bool,
}

/// When a field is left out of encoded JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// Never.
    Never,
    /// When it is empty as Go's `omitempty` means it: a struct never is.
    Empty,
    /// When it is zero as Go's `omitzero` means it: a struct without values is.
    Zero,
}

/// Where a field is in a protobuf message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The number of the field.
    pub number: u16,
    /// The number of the embedded message that it travels in.
    pub inside: Option<u16>,
    /// The number of the embedded message that the message `inside` travels in.
    pub outside: Option<u16>,
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// Lists are merged item by item instead of replaced.
    pub merges: bool,
    /// The patch may say which fields stay.
    pub retains_keys: bool,
    /// A struct or map is replaced instead of merged key by key.
    pub replaces: bool,
}

impl Schema {
    /// A struct by its name in OpenAPI documents.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<StructId> {
        self.by_name.get(name).copied()
    }

    /// The struct.
    #[must_use]
    pub fn get(&self, id: StructId) -> &Struct {
        &self.structs[id.0 as usize]
    }

    /// All structs with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (StructId, &Struct)> {
        (0..).map(StructId).zip(&self.structs)
    }

    /// How many structs there are. Ids are below it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.structs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.structs.is_empty()
    }

    /// Without structs, with room for some.
    fn with_capacity(capacity: usize) -> Schema {
        Schema {
            structs: Vec::with_capacity(capacity),
            by_name: HashMap::with_capacity(capacity),
            ..Schema::default()
        }
    }

    /// Adds a struct; of two with one name the later one is found.
    ///
    /// # Panics
    ///
    /// With more than four thousand million structs.
    pub fn add(&mut self, new: Struct) -> StructId {
        let id = StructId(u32::try_from(self.structs.len()).expect("few structs"));
        self.by_name.insert(new.name.clone(), id);
        self.structs.push(new);
        self.messages.take();
        self.indexes.take();
        id
    }

    /// The tables for walking objects.
    pub(crate) fn indexes(&self) -> &Indexes {
        self.indexes.get_or_init(|| Indexes::new(self))
    }

    /// The protobuf messages of all structs.
    pub(crate) fn messages(&self) -> &Messages {
        self.messages.get_or_init(|| Messages::new(self))
    }
}

impl StructId {
    /// A small number, for tables beside the schema.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Struct {
    /// A field by its name in JSON.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.field_position(name).map(|at| &self.fields[at])
    }

    /// Where in `fields` the field is.
    #[must_use]
    pub fn field_position(&self, name: &str) -> Option<usize> {
        self.fields.binary_search_by(|field| field.name.as_str().cmp(name)).ok()
    }

    /// The fields in the order of declaration.
    pub fn in_order(&self) -> impl Iterator<Item = &Field> {
        self.order.iter().map(|&at| &self.fields[usize::from(at)])
    }
}

impl Field {
    /// What a missing field means, where the API declares it.
    #[must_use]
    pub fn default(&self) -> Option<&Value> {
        self.extra.as_ref()?.default.as_ref()
    }

    /// The name of its type in Go, where what it holds does not tell; else empty.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.extra.as_ref().map_or("", |extra| extra.type_name.as_str())
    }

    /// The embedded structs that it stands in, joined with dots; empty when there is none.
    #[must_use]
    pub fn embedded(&self) -> &str {
        self.extra.as_ref().map_or("", |extra| extra.embedded.as_str())
    }

    /// Whether Go encodes the field even when it is not set.
    #[must_use]
    pub fn is_always_encoded(&self) -> bool {
        match self.omit {
            Omit::Never => true,
            Omit::Empty => !self.is_pointer && self.ty.is_struct_in_go(),
            Omit::Zero => false,
        }
    }

    /// What the field holds in Go when it is not set: null for pointers, lists, maps.
    #[must_use]
    pub fn zero(&self) -> Value {
        if self.is_pointer { Value::Null } else { self.ty.zero() }
    }
}

impl Type {
    /// Whether Go has a struct for it, which `omitempty` never leaves out.
    #[must_use]
    pub fn is_struct_in_go(&self) -> bool {
        match self {
            Type::Bool
            | Type::Int32
            | Type::Int64
            | Type::Float64
            | Type::String
            | Type::Bytes
            | Type::List(_)
            | Type::Map(_) => false,
            Type::Time
            | Type::MicroTime
            | Type::Duration
            | Type::Quantity
            | Type::IntOrString
            | Type::Any
            | Type::Raw
            | Type::FieldSet
            | Type::Struct(_)
            | Type::StructOr(..) => true,
        }
    }

    /// The zero value as JSON: what Go encodes when nothing was set.
    #[must_use]
    pub fn zero(&self) -> Value {
        match self {
            Type::Bool | Type::StructOr(_, Alternative::Bool) => Value::Bool(false),
            Type::Int32 | Type::Int64 | Type::Float64 | Type::IntOrString => Value::Int(0),
            Type::String => Value::String(Str::const_new("")),
            Type::Duration => Value::String(Str::const_new("0s")),
            Type::Quantity => Value::String(Str::const_new("0")),
            Type::Struct(_) => Value::Map(crate::value::Map::new()),
            Type::Bytes
            | Type::Time
            | Type::MicroTime
            | Type::Any
            | Type::Raw
            | Type::FieldSet
            | Type::List(_)
            | Type::Map(_)
            | Type::StructOr(_, Alternative::List | Alternative::Strings) => Value::Null,
        }
    }
}
