//! What apply sees of a schema: at every place of an object, whether a scalar, a list or a map
//! may stand there, and how its parts are told apart.
//!
//! Objects without a schema are *deduced*: maps change key by key, lists as a whole. The same is
//! true below every field that holds any JSON. Objects of any kind inside an object (`Raw`) change
//! as a whole.
//!
//! Behaviour after `kube-openapi/pkg/schemaconv` (what a type becomes) and
//! `structured-merge-diff/typed` (`helpers.go`: which of several types a value takes). A list that
//! does not say how its items are told apart follows its strategic merge patch, as there.

use std::cmp::Ordering;

use super::field_path::PathElement;
use crate::schema::{Field, Identity, List, MapOf, Schema, Struct, StructId, Type};
use crate::value::{Str, Value, compare_keys};

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
    List(&'s Schema, &'s List, Items<'s>),
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

/// How the items of a list belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items<'s> {
    pub(super) relation: Relation<'s>,
    /// As [`Fields::is_lenient`].
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

/// Looks up fields of a struct, or keys of a map, in the order of their names: cheaper than to
/// search for each of them, for both sides are sorted.
pub(super) struct Cursor<'s> {
    shape: Shape<'s>,
    /// Those that come after the last one asked for.
    fields: &'s [Field],
}

/// What is at a field or key.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    pub(super) shape: Shape<'s>,
    /// Whether it is a field that a struct declares.
    pub(super) is_declared: bool,
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
            Shape::List(_, _, items) => items.relation,
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

    /// Looks up one field after the other, in the order of their names.
    pub(super) fn cursor(&self) -> Cursor<'s> {
        let fields: &[Field] = match self {
            Shape::Struct(_, of, _) => &of.fields,
            _ => &[],
        };
        Cursor { shape: *self, fields }
    }

    /// What an item of the list here is.
    pub(super) fn item(&self) -> Shape<'s> {
        match self {
            Shape::List(schema, list, items) => {
                Shape::of_type(schema, &list.item, items.is_lenient)
            }
            _ => Shape::Untyped,
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
            Type::List(list) => {
                Shape::List(schema, list, Items { relation: relation(list, None), is_lenient })
            }
        }
    }

    fn of_field(schema: &'s Schema, field: &'s Field, is_lenient: bool) -> Shape<'s> {
        let mut shape = Shape::of_type(schema, &field.ty, is_lenient);
        match &mut shape {
            Shape::Struct(_, _, fields) | Shape::Map(_, _, fields) => {
                fields.is_atomic = (fields.is_atomic || field.is_atomic) && !field.is_granular;
            }
            Shape::List(_, list, items) => items.relation = relation(list, Some(field)),
            _ => {}
        }
        shape
    }
}

impl<'s> Cursor<'s> {
    /// The field of a name that comes after those asked for before, if a struct declares it.
    pub(super) fn declared(&mut self, name: &str) -> Option<&'s Field> {
        while let Some((field, rest)) = self.fields.split_first() {
            match compare_keys(&field.name, name) {
                Ordering::Less => self.fields = rest,
                Ordering::Greater => return None,
                Ordering::Equal => return Some(field),
            }
        }
        None
    }

    /// What is at a field or key that comes after those asked for before; none when the schema
    /// has no such field.
    pub(super) fn at(&mut self, name: &str) -> Option<Place<'s>> {
        if let Some(field) = self.declared(name)
            && let Shape::Struct(schema, _, fields) = self.shape
        {
            let shape = Shape::of_field(schema, field, fields.is_lenient);
            return Some(Place { shape, is_declared: true });
        }
        let shape = match self.shape {
            Shape::Struct(_, of, fields) => is_open(of, fields).then_some(Shape::Deduced),
            other => other.at(name),
        };
        shape.map(|shape| Place { shape, is_declared: false })
    }

    /// What is below an element of a set, as far as the schema says.
    pub(super) fn below(&mut self, element: &PathElement) -> Option<Place<'s>> {
        match (element, &self.shape) {
            (PathElement::Field(name), _) => self.at(name),
            (_, Shape::List(..)) => Some(Place { shape: self.shape.item(), is_declared: false }),
            _ => None,
        }
    }

    /// What is at a field or key of a value that fits the schema.
    pub(super) fn at_known(&mut self, name: &str) -> Place<'s> {
        self.at(name).unwrap_or(Place { shape: Shape::Deduced, is_declared: false })
    }
}

/// Whether a value is a scalar, or nothing at all: it has no parts, whatever the schema says.
pub(super) fn is_without_parts(value: &Value) -> bool {
    !matches!(value, Value::Map(_) | Value::List(_))
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::schema::parse;

    #[test]
    fn a_cursor_finds_what_a_search_finds() {
        let text =
            "package p\nSpec\n text string 1\n list [string] 2\n count int32 3\n parts any 4\n";
        let schema = parse(&[text]).unwrap();
        let spec = Typing::Struct(&schema, schema.find("p.Spec").unwrap()).shape();
        let mut cursor = spec.cursor();
        for name in ["a", "count", "countx", "list", "parts", "tex", "text", "z"] {
            assert_eq!(cursor.at(name).is_some(), spec.at(name).is_some(), "{name}");
        }
    }
}
