//! What apply sees of a schema: at every place of an object, whether a scalar, a list or a map
//! may stand there, and how its parts are told apart.
//!
//! Objects without a schema are *deduced*: maps change key by key, lists as a whole. The same is
//! true below every field that holds any JSON. Objects of any kind inside an object (`Raw`) change
//! as a whole.
//!
//! Behaviour after `kube-openapi/pkg/schemaconv` (what a type becomes) and
//! `structured-merge-diff/typed` (`helpers.go`: which of several types a value takes, and the path
//! elements of items). A list that does not say how its items are told apart follows its strategic
//! merge patch, as there.

use super::field_path::PathElement;
use crate::schema::{Field, Identity, List, MapOf, Omit, Schema, Struct, StructId, Type};
use crate::value::{Map, Str, Value};

/// What an object is made of.
#[derive(Clone, Copy, Debug)]
pub enum Typing<'s> {
    /// No schema is known.
    Deduced,
    /// A struct of a schema.
    Struct(&'s Schema, StructId),
}

/// What may stand at a place of an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'s> {
    Scalar(Scalar),
    Struct(&'s Schema, &'s Struct, Fields),
    Map(&'s Schema, &'s MapOf, Fields),
    List(&'s Schema, &'s List, Relation<'s>),
    /// Any JSON; maps change key by key, lists as a whole.
    Deduced,
    /// Any JSON; all of it changes as a whole.
    Untyped,
}

/// How the fields of a struct or the keys of a map belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// Whether they change as a whole.
    pub(super) is_atomic: bool,
    /// Whether fields that the schema does not know are fine: somebody above keeps them.
    pub(super) is_lenient: bool,
}

/// What a scalar may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Number,
    String,
    Bool,
    Any,
}

/// How the items of a list are told apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation<'s> {
    Atomic,
    Set,
    Keys(&'s [Str]),
}

/// Which of the things that may stand at a place does stand there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    Scalar,
    List,
    Map,
    /// Several may, and the value (null) does not tell. Treated as a map.
    Open,
}

impl<'s> Typing<'s> {
    pub(super) fn shape(self) -> Shape<'s> {
        match self {
            Typing::Deduced => Shape::Deduced,
            Typing::Struct(schema, id) => Shape::of_struct(schema, id, false),
        }
    }

    /// Whether objects of it have metadata.
    pub(super) fn has_metadata(self) -> bool {
        match self {
            Typing::Deduced => true,
            Typing::Struct(schema, id) => schema.get(id).field("metadata").is_some(),
        }
    }

    /// The object that nobody has set anything of: what Go makes of the type.
    pub(super) fn zero(self, api_version: &str, kind: &str) -> Value {
        let mut object = match self {
            Typing::Deduced => Value::Map(Map::new()),
            Typing::Struct(schema, id) => zero_struct(schema, id, 0),
        };
        object.set("apiVersion", api_version);
        object.set("kind", kind);
        object
    }
}

impl<'s> Shape<'s> {
    /// Which of the possible things a value is.
    pub(super) fn choose(&self, value: Option<&Value>) -> Choice {
        match self {
            Shape::Scalar(_) => Choice::Scalar,
            Shape::Struct(..) | Shape::Map(..) => Choice::Map,
            Shape::List(..) => Choice::List,
            Shape::Deduced | Shape::Untyped => match value {
                None | Some(Value::Null) => Choice::Open,
                Some(Value::Map(_)) => Choice::Map,
                Some(Value::List(_)) => Choice::List,
                Some(_) => Choice::Scalar,
            },
        }
    }

    /// What kind of scalar may stand here.
    pub(super) fn scalar(&self) -> Scalar {
        match self {
            Shape::Scalar(scalar) => *scalar,
            _ => Scalar::Any,
        }
    }

    /// Whether the map here changes as a whole.
    pub(super) fn is_map_atomic(&self) -> bool {
        match self {
            Shape::Struct(_, _, fields) | Shape::Map(_, _, fields) => fields.is_atomic,
            Shape::Untyped => true,
            _ => false,
        }
    }

    /// How the items of the list here are told apart.
    pub(super) fn relation(&self) -> Relation<'s> {
        match self {
            Shape::List(_, _, relation) => *relation,
            _ => Relation::Atomic,
        }
    }

    /// Whether the list here changes as a whole.
    pub(super) fn is_list_atomic(&self) -> bool {
        matches!(self.relation(), Relation::Atomic)
    }

    /// Whether it is a map of which nothing is known.
    pub(super) fn is_open_map(&self) -> bool {
        match self {
            Shape::Deduced => true,
            Shape::Struct(_, of, _) => of.fields.is_empty(),
            _ => false,
        }
    }

    /// What is at a field or key; none when the schema has no such field.
    pub(super) fn at(&self, name: &str) -> Option<Shape<'s>> {
        match self {
            Shape::Struct(schema, of, fields) => match of.field(name) {
                Some(field) => Some(Shape::of_field(schema, field, fields.is_lenient)),
                None => is_open(of, *fields).then_some(Shape::Deduced),
            },
            Shape::Map(schema, map, fields) => {
                Some(Shape::of_type(schema, &map.value, fields.is_lenient))
            }
            Shape::Untyped => Some(Shape::Untyped),
            Shape::Deduced => Some(Shape::Deduced),
            Shape::Scalar(_) | Shape::List(..) => None,
        }
    }

    /// What is at a field or key of a value that fits the schema.
    pub(super) fn at_known(&self, name: &str) -> Shape<'s> {
        self.at(name).unwrap_or(Shape::Deduced)
    }

    /// Whether it is a struct that declares the field.
    pub(super) fn declares(&self, name: &str) -> bool {
        matches!(self, Shape::Struct(_, of, _) if of.field(name).is_some())
    }

    /// What an item of the list here is.
    pub(super) fn item(&self) -> Shape<'s> {
        match self {
            Shape::List(schema, list, _) => Shape::of_type(schema, &list.item, false),
            _ => Shape::Untyped,
        }
    }

    /// What is below an element of a set's path, as far as the schema says.
    pub(super) fn below(&self, element: &PathElement) -> Option<Shape<'s>> {
        match (element, self) {
            (PathElement::Field(name), _) => self.at(name),
            (_, Shape::List(..)) => Some(self.item()),
            _ => None,
        }
    }

    fn of_struct(schema: &'s Schema, id: StructId, is_lenient: bool) -> Shape<'s> {
        let of = schema.get(id);
        let fields = Fields { is_atomic: of.is_atomic, is_lenient: is_lenient || of.keeps_unknown };
        Shape::Struct(schema, of, fields)
    }

    fn of_type(schema: &'s Schema, ty: &'s Type, is_lenient: bool) -> Shape<'s> {
        match ty {
            Type::Bool => Shape::Scalar(Scalar::Bool),
            Type::Int32 | Type::Int64 | Type::Float64 => Shape::Scalar(Scalar::Number),
            Type::String | Type::Bytes | Type::Duration => Shape::Scalar(Scalar::String),
            Type::Time | Type::MicroTime | Type::Quantity => Shape::Scalar(Scalar::Any),
            Type::IntOrString | Type::Any | Type::FieldSet | Type::StructOr(..) => Shape::Deduced,
            Type::Raw => Shape::Untyped,
            Type::Struct(id) => Shape::of_struct(schema, *id, is_lenient),
            Type::Map(map) => {
                Shape::Map(schema, map, Fields { is_atomic: map.is_atomic, is_lenient })
            }
            Type::List(list) => Shape::List(schema, list, relation(list, None)),
        }
    }

    fn of_field(schema: &'s Schema, field: &'s Field, is_lenient: bool) -> Shape<'s> {
        let mut shape = Shape::of_type(schema, &field.ty, is_lenient);
        match &mut shape {
            Shape::Struct(_, _, fields) | Shape::Map(_, _, fields) => {
                fields.is_atomic = (fields.is_atomic || field.is_atomic) && !field.is_granular;
            }
            Shape::List(_, list, how) => *how = relation(list, Some(field)),
            _ => {}
        }
        shape
    }
}

/// Whether a struct takes fields that it does not declare. One without any is a free object.
fn is_open(of: &Struct, fields: Fields) -> bool {
    fields.is_lenient || of.fields.is_empty()
}

fn relation<'s>(list: &'s List, field: Option<&'s Field>) -> Relation<'s> {
    match (&list.identity, field) {
        (Identity::Set, _) => Relation::Set,
        (Identity::Keys(keys), _) => Relation::Keys(keys),
        (Identity::Atomic { is_declared: false }, Some(field)) if field.patch.merges => {
            match field.merge_key.is_empty() {
                true => Relation::Set,
                false => Relation::Keys(std::slice::from_ref(&field.merge_key)),
            }
        }
        (Identity::Atomic { .. }, _) => Relation::Atomic,
    }
}

/// What identifies an item of a list.
///
/// # Errors
///
/// In upstream's words, when it cannot be told from others.
pub(super) fn item_element(shape: &Shape<'_>, item: &Value) -> Result<PathElement, String> {
    match shape.relation() {
        Relation::Atomic => Err("invalid indexing of non-associative list".into()),
        Relation::Keys(keys) => keyed_item_element(shape, keys, item),
        Relation::Set => match item {
            Value::Map(_) => Err("associative list without keys has an element that's a map type"),
            Value::List(_) => Err("not supported: associative list with lists as elements"),
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null")
            }
            scalar => return Ok(PathElement::Value(scalar.clone())),
        }
        .map_err(str::to_owned),
    }
}

fn keyed_item_element(
    shape: &Shape<'_>,
    keys: &[Str],
    item: &Value,
) -> Result<PathElement, String> {
    let map = match item {
        Value::Map(map) => map,
        Value::Null => {
            return Err("associative list with keys may not have a null element".into());
        }
        _ => return Err("associative list with keys may not have non-map elements".into()),
    };
    let mut found = Map::with_capacity(keys.len());
    for key in keys {
        if let Some(value) = map.get(key) {
            found.insert(key.clone(), value.clone());
        } else if let Some(default) = key_default(&shape.item(), key) {
            found.insert(key.clone(), default);
        }
    }
    if found.is_empty() && !keys.is_empty() {
        let quoted: Vec<String> = keys.iter().map(|key| crate::text::quote(key)).collect();
        let keys = quoted.join(" ");
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{keys}] (and doesn't have default values for any key fields)"
        ));
    }
    Ok(PathElement::Key(found))
}

/// What a missing key field means: its declared default, or zero for a field that Go always
/// writes.
fn key_default(item: &Shape<'_>, key: &str) -> Option<Value> {
    let Shape::Struct(_, of, _) = item else { return None };
    let field = of.field(key)?;
    if let Some(default) = field.default() {
        return Some(default.clone());
    }
    let is_always_written = field.omit == Omit::Never && !field.is_pointer;
    match field.ty {
        Type::Bool | Type::Int32 | Type::Int64 | Type::Float64 | Type::String => {
            is_always_written.then(|| field.ty.zero())
        }
        _ => None,
    }
}

/// Deeper nesting of structs that are no pointers is not followed: in Go there is none.
const ZERO_DEPTH_MAX: usize = 32;

fn zero_struct(schema: &Schema, id: StructId, depth: usize) -> Value {
    let mut map = Map::new();
    if depth > ZERO_DEPTH_MAX {
        return Value::Map(map);
    }
    for field in &schema.get(id).fields {
        let value = match &field.ty {
            Type::Struct(id) if !field.is_pointer => zero_struct(schema, *id, depth + 1),
            _ => field.zero(),
        };
        let is_omitted = match field.omit {
            Omit::Never => false,
            Omit::Empty => field.is_pointer || !is_struct_in_go(&field.ty),
            Omit::Zero => true,
        };
        if !is_omitted {
            map.insert(field.name.clone(), value);
        }
    }
    Value::Map(map)
}

/// Whether Go holds it as a struct, which `omitempty` never leaves out.
fn is_struct_in_go(ty: &Type) -> bool {
    match ty {
        Type::Struct(_)
        | Type::StructOr(..)
        | Type::Time
        | Type::MicroTime
        | Type::Duration
        | Type::Quantity
        | Type::IntOrString
        | Type::Any
        | Type::Raw
        | Type::FieldSet => true,
        Type::Bool
        | Type::Int32
        | Type::Int64
        | Type::Float64
        | Type::String
        | Type::Bytes
        | Type::List(_)
        | Type::Map(_) => false,
    }
}
