//! What JSON data is, declared by a schema: how values are read, and how large they can be.
//!
//! A [`DeclType`] is to a schema what upstream's type of the same name is
//! (`staging/src/k8s.io/apiserver/pkg/cel/types.go`): it says which [`Type`] an expression sees and
//! how borrowed JSON turns into [`crate::Value`]s. It is counted: clones share.
//!
//! Making one of a structural schema is not here; see the rules of custom resources.

use std::sync::{Arc, LazyLock};

use orlop_machinery::Str;

use crate::ty::Type;

/// The declared type of JSON data.
#[derive(Clone, Debug)]
pub struct DeclType {
    node: Arc<Node>,
}

#[derive(Debug)]
struct Node {
    shape: Shape,
    is_nullable: bool,
    elements_max: u64,
    serialized_size_min: u64,
    /// Dyn for an object: its type is the object, which would count itself for ever.
    ty: Type,
}

/// What data is.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Whatever it is. Whole numbers are int, others double.
    Dyn,
    /// Kept without being known: an expression can only compare it.
    Preserved,
    /// true or false
    Bool,
    /// A whole number.
    Int,
    /// Any number; whole ones become double too.
    Double,
    /// Text.
    String,
    /// Text that is base64 of bytes.
    Bytes,
    /// Text that is a span of time.
    Duration,
    /// Text that is a day.
    Date,
    /// Text that is a point in time.
    DateTime,
    /// A whole number or text; dyn to expressions.
    IntOrString,
    /// Items in order.
    List {
        /// What an item is.
        items: DeclType,
        /// How items are told apart.
        identity: ListIdentity,
    },
    /// Values by key.
    Map {
        /// What a value is.
        values: DeclType,
    },
    /// Fields by name.
    Object(ObjectType),
}

/// How the items of a list are told apart: `x-kubernetes-list-type`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListIdentity {
    /// Not at all.
    #[default]
    Atomic,
    /// By value.
    Set,
    /// By these fields, named as in JSON.
    Map(Vec<Str>),
}

/// An object with fields.
#[derive(Clone, Debug, Default)]
pub struct ObjectType {
    /// The type's name, such as `selfType123.spec`.
    pub name: Str,
    /// Sorted by name.
    fields: Vec<Field>,
    /// Places in `fields`, sorted by their name in JSON.
    by_json_name: Vec<u32>,
}

/// A field of an object.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in expressions: escaped.
    pub name: Str,
    /// Its name in JSON.
    pub json_name: Str,
    /// What it is. [`Shape::Preserved`] is not visible to expressions.
    pub ty: DeclType,
    /// Whether it must be there.
    pub is_required: bool,
}

static DYN: LazyLock<DeclType> = LazyLock::new(|| DeclType::new(Shape::Dyn));

impl DeclType {
    /// Data of this shape, of which nothing else is known.
    #[must_use]
    pub fn new(shape: Shape) -> DeclType {
        let ty = shape_type(&shape);
        let node =
            Node { shape, is_nullable: false, elements_max: u64::MAX, serialized_size_min: 0, ty };
        DeclType { node: Arc::new(node) }
    }

    /// Data of which nothing is known.
    #[must_use]
    pub fn dynamic() -> &'static DeclType {
        &DYN
    }

    /// An object with these fields.
    #[must_use]
    pub fn object(name: impl Into<Str>, fields: Vec<Field>) -> DeclType {
        DeclType::new(Shape::Object(ObjectType::new(name, fields)))
    }

    /// The same, where null is a value too.
    #[must_use]
    pub fn nullable(self) -> DeclType {
        self.with(|node| node.is_nullable = true)
    }

    /// The same, with at most so many characters, items or entries.
    #[must_use]
    pub fn with_elements_max(self, elements_max: u64) -> DeclType {
        self.with(|node| node.elements_max = elements_max)
    }

    /// The same, which takes at least so many bytes of JSON.
    #[must_use]
    pub fn with_serialized_size_min(self, size: u64) -> DeclType {
        self.with(|node| node.serialized_size_min = size)
    }

    fn with(self, change: impl FnOnce(&mut Node)) -> DeclType {
        let mut node = match Arc::try_unwrap(self.node) {
            Ok(node) => node,
            Err(shared) => Node {
                shape: shared.shape.clone(),
                is_nullable: shared.is_nullable,
                elements_max: shared.elements_max,
                serialized_size_min: shared.serialized_size_min,
                ty: shared.ty.clone(),
            },
        };
        change(&mut node);
        DeclType { node: Arc::new(node) }
    }

    /// What the data is.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.node.shape
    }

    /// Whether null is a value.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        self.node.is_nullable
    }

    /// The most characters, items or entries; the largest number where nothing is known.
    #[must_use]
    pub fn elements_max(&self) -> u64 {
        self.node.elements_max
    }

    /// The least bytes that it takes in JSON.
    #[must_use]
    pub fn serialized_size_min(&self) -> u64 {
        self.node.serialized_size_min
    }

    /// The type that the checker sees.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self.shape() {
            Shape::Object(_) => Type::Object(self.clone()),
            _ => self.node.ty.clone(),
        }
    }

    /// The name of the type.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.shape() {
            Shape::Object(object) => &object.name,
            _ => self.node.ty.name(),
        }
    }

    /// The object, if it is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&ObjectType> {
        match self.shape() {
            Shape::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether it is a map: values by key.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.shape(), Shape::Map { .. })
    }

    /// What the items of a list or the values of a map are.
    #[must_use]
    pub fn element(&self) -> Option<&DeclType> {
        match self.shape() {
            Shape::List { items, .. } => Some(items),
            Shape::Map { values } => Some(values),
            _ => None,
        }
    }
}

impl Field {
    /// Whether expressions can name it.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        !matches!(self.ty.shape(), Shape::Preserved)
    }
}

impl ObjectType {
    /// With these fields, in any order.
    #[must_use]
    pub fn new(name: impl Into<Str>, mut fields: Vec<Field>) -> ObjectType {
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        let count = u32::try_from(fields.len()).expect("an object has few fields");
        let mut by_json_name: Vec<u32> = (0..count).collect();
        by_json_name.sort_by_key(|at| &fields[*at as usize].json_name);
        ObjectType { name: name.into(), fields, by_json_name }
    }

    /// All fields, sorted by name.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field that expressions call so.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|field| field.name.as_str().cmp(name)).ok()?;
        Some(&self.fields[at])
    }

    /// The field that JSON calls so.
    #[must_use]
    pub fn json_field(&self, json_name: &str) -> Option<&Field> {
        let name_at = |at: &u32| self.fields[*at as usize].json_name.as_str();
        let at = self.by_json_name.binary_search_by(|at| name_at(at).cmp(json_name)).ok()?;
        Some(&self.fields[self.by_json_name[at] as usize])
    }
}

fn shape_type(shape: &Shape) -> Type {
    match shape {
        Shape::Dyn | Shape::Preserved | Shape::IntOrString | Shape::Object(_) => Type::Dyn,
        Shape::Bool => Type::Bool,
        Shape::Int => Type::Int,
        Shape::Double => Type::Double,
        Shape::String => Type::String,
        Shape::Bytes => Type::Bytes,
        Shape::Duration => Type::Duration,
        Shape::Date | Shape::DateTime => Type::Timestamp,
        Shape::List { items, .. } => Type::list(items.ty()),
        Shape::Map { values } => Type::map(Type::String, values.ty()),
    }
}
