//! The way from an object to one of its fields.

use std::fmt;

use crate::equality;
use crate::schema::{Alternative, Schema, StructId, Type};
use crate::value::Value;

/// A path such as `spec.containers[0].env[name]`, as a chain of steps that live on the stack.
///
/// Making one costs nothing; text is made when an error needs it.
///
/// ```
/// use orlop_machinery::field::Path;
///
/// let spec = Path::field("spec");
/// let containers = spec.child("containers");
/// assert_eq!(containers.index(0).child("image").to_string(), "spec.containers[0].image");
/// assert_eq!(Path::root().to_string(), "");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    /// The object itself, and its struct where that is known.
    Root(Option<(&'a Schema, StructId)>),
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

/// What the schema says is at a path.
enum Place<'a> {
    Struct(&'a Schema, StructId),
    /// A value of a type, and whether it is a pointer.
    Of(&'a Schema, &'a Type, bool),
    /// No schema says what is here.
    Unknown,
    /// The schema says that there is no such thing.
    Wrong,
}

/// What an error can point at.
pub trait At {
    /// Its path.
    fn path(&self) -> &Path<'_>;
}

impl<'a> Path<'a> {
    /// The object itself.
    #[must_use]
    pub const fn root() -> Path<'a> {
        Path { parent: None, step: Step::Root(None) }
    }

    /// The object itself, which is of this struct.
    #[must_use]
    pub const fn root_of(schema: &'a Schema, id: StructId) -> Path<'a> {
        Path { parent: None, step: Step::Root(Some((schema, id))) }
    }

    /// A field of the object.
    #[must_use]
    pub const fn field(name: &'a str) -> Path<'a> {
        Path { parent: None, step: Step::Field(name) }
    }

    /// A field of what this path leads to.
    #[must_use]
    pub fn child<'b>(&'b self, name: &'b str) -> Path<'b> {
        Path { parent: Some(self), step: Step::Field(name) }
    }

    /// An entry of the map that this path leads to.
    #[must_use]
    pub fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        Path { parent: Some(self), step: Step::Key(key) }
    }

    /// An item of the list that this path leads to.
    #[must_use]
    pub fn index(&self, index: usize) -> Path<'_> {
        Path { parent: Some(self), step: Step::Index(index) }
    }

    /// Whether the schema has this path, or cannot tell.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.place(), Place::Wrong)
    }

    /// What is at the path when nothing was set; null when the schema cannot tell.
    pub(crate) fn zero(&self) -> Value {
        match self.place() {
            Place::Of(_, _, true) | Place::Wrong | Place::Unknown => Value::Null,
            Place::Of(_, ty, false) => ty.zero(),
            Place::Struct(..) => Value::Map(crate::value::Map::new()),
        }
    }

    /// Whether two values mean the same at this path: as the schema says, or as far as one can
    /// tell without.
    pub(crate) fn is_equal(&self, a: &Value, b: &Value) -> bool {
        match self.place() {
            Place::Struct(schema, id) => equality::semantically_equal(schema, id, a, b),
            Place::Of(_, _, true) if a.is_null() != b.is_null() => false,
            Place::Of(schema, ty, _) => equality::semantically_equal_type(schema, ty, a, b),
            Place::Unknown | Place::Wrong => equality::equal_without_schema(a, b),
        }
    }

    /// What the schema says is here.
    fn place(&self) -> Place<'a> {
        let Some(parent) = self.parent else {
            return match self.step {
                Step::Root(Some((schema, id))) => Place::Struct(schema, id),
                _ => Place::Unknown,
            };
        };
        let (schema, ty) = match parent.place() {
            Place::Struct(schema, id) => return self.field_of(schema, id),
            Place::Of(schema, ty, _) => (schema, ty),
            other => return other,
        };
        match (self.step, ty) {
            (Step::Field(_), Type::Struct(id) | Type::StructOr(id, _)) => {
                self.field_of(schema, *id)
            }
            (Step::Index(_), Type::StructOr(id, Alternative::List)) => Place::Struct(schema, *id),
            (Step::Index(_), Type::StructOr(_, Alternative::Strings)) => Place::Unknown,
            (Step::Key(_), Type::Map(map)) => Place::Of(schema, &map.value, false),
            (Step::Index(_), Type::List(list)) => {
                Place::Of(schema, &list.item, list.is_item_pointer)
            }
            (_, Type::Any | Type::Raw | Type::FieldSet) => Place::Unknown,
            _ => Place::Wrong,
        }
    }

    fn field_of(&self, schema: &'a Schema, id: StructId) -> Place<'a> {
        let Step::Field(name) = self.step else { return Place::Wrong };
        match schema.get(id).field(name) {
            Some(field) => Place::Of(schema, &field.ty, field.is_pointer),
            None if schema.get(id).keeps_unknown => Place::Unknown,
            None => Place::Wrong,
        }
    }

    fn is_root(&self) -> bool {
        matches!(self.step, Step::Root(_))
    }
}

impl At for Path<'_> {
    fn path(&self) -> &Path<'_> {
        self
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = self.parent.filter(|parent| !parent.is_root());
        if let Some(parent) = parent {
            write!(out, "{parent}")?;
        }
        match self.step {
            Step::Root(_) => Ok(()),
            Step::Field(name) if parent.is_some() => write!(out, ".{name}"),
            Step::Field(name) => out.write_str(name),
            Step::Key(key) => write!(out, "[{key}]"),
            Step::Index(index) => write!(out, "[{index}]"),
        }
    }
}
