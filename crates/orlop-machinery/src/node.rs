//! A place in an object: a value, and how one came to it.
//!
//! Rules read objects through nodes, so an error can name its field without anybody having kept
//! track of it. A node is a view: it borrows the value and the node that it came from.
//!
//! A missing field reads as zero: its node holds null. In debug builds a field name that the
//! schema does not have is a panic, so a misspelt rule cannot pass its tests.

use crate::field::{At, Path};
use crate::schema::{Schema, StructId};
use crate::value::{Map, Value};

/// A value of an object and its path.
///
/// ```
/// use orlop_machinery::{field::Errors, node::Node, json};
///
/// let pod = json::parse(br#"{"spec": {"containers": [{"name": "a"}, {"image": "b"}]}}"#).unwrap();
/// let pod = Node::root(&pod);
/// let mut errors = Errors::new();
/// for container in pod.at("spec").at("containers").items() {
///     let name = container.at("name");
///     if name.str().is_empty() {
///         errors.required(&name, "");
///     }
/// }
/// assert_eq!(errors.to_string(), "spec.containers[1].name: Required value\n");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    value: &'a Value,
    path: Path<'a>,
}

impl<'a> Node<'a> {
    /// An object of which no schema is known.
    #[must_use]
    pub fn root(object: &'a Value) -> Node<'a> {
        Node { value: object, path: Path::root() }
    }

    /// An object of a struct.
    #[must_use]
    pub fn of(object: &'a Value, schema: &'a Schema, id: StructId) -> Node<'a> {
        Node { value: object, path: Path::root_of(schema, id) }
    }

    /// A value that stands elsewhere, as if it were at this path.
    #[must_use]
    pub fn new(value: &'a Value, path: Path<'a>) -> Node<'a> {
        Node { value, path }
    }

    /// A field of this struct.
    ///
    /// # Panics
    ///
    /// In debug builds, when the schema has no such field.
    #[must_use]
    pub fn at<'b>(&'b self, name: &'b str) -> Node<'b> {
        let path = self.path.child(name);
        debug_assert!(path.is_known(), "the schema has no field {path}");
        Node { value: self.value.at(name), path }
    }

    /// An entry of this map.
    #[must_use]
    pub fn key<'b>(&'b self, key: &'b str) -> Node<'b> {
        Node { value: self.value.at(key), path: self.path.key(key) }
    }

    /// The items of this list.
    pub fn items(&self) -> impl ExactSizeIterator<Item = Node<'_>> {
        let items = self.value.list().iter().enumerate();
        items.map(|(at, value)| Node { value, path: self.path.index(at) })
    }

    /// The entries of this map.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&'_ str, Node<'_>)> {
        let entries = self.value.map().iter();
        entries.map(|(key, value)| (key, Node { value, path: self.path.key(key) }))
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// What an error shows: the value, or what the field holds when it is not set.
    #[must_use]
    pub fn shown(&self) -> Value {
        match self.value {
            Value::Null => self.path.zero(),
            value => value.clone(),
        }
    }

    /// Whether another value means the same here: quantities are compared as numbers, and a list
    /// without items is the same as none. Both are to be at one place of objects of one kind.
    #[must_use]
    pub fn means_same_as(&self, other: &Node<'_>) -> bool {
        self.path.is_equal(self.value, other.value)
    }

    /// Whether the field is there.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether the field is missing, or zero, or has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// How many items or entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.value {
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            _ => 0,
        }
    }

    /// Text, or nothing at all.
    #[must_use]
    pub fn str(&self) -> &'a str {
        self.value.str()
    }

    /// A whole number, or 0.
    #[must_use]
    pub fn int(&self) -> i64 {
        self.value.int()
    }

    /// A truth, or false.
    #[must_use]
    pub fn bool(&self) -> bool {
        self.value.bool()
    }

    /// The items of a list, or none.
    #[must_use]
    pub fn list(&self) -> &'a [Value] {
        self.value.list()
    }

    /// The entries of a map, or none.
    #[must_use]
    pub fn map(&self) -> &'a Map {
        self.value.map()
    }
}

impl At for Node<'_> {
    fn path(&self) -> &Path<'_> {
        &self.path
    }
}
