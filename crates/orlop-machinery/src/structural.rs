//! Structural schemas: how a custom resource says what its objects are made of.
//!
//! A [`Structural`] is an OpenAPI v3 schema in which every value has one known shape: the shape is
//! in the nodes, and what values may be is in [`ValueRules`]. After
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/{schema,validation}`.
//!
//! What happens to an object of a custom resource, in upstream's order:
//! - read from a request: [`coerce_metadata`], [`Structural::prune`], [`Structural::prune_nulls`],
//!   [`Structural::coerce_embedded`]; then [`Structural::set_defaults`];
//! - read from the store: the same, with [`Malformed::Dropped`];
//! - validated: [`Structural::validate`] or [`Structural::validate_update`], then
//!   [`Structural::validate_embedded`], then [`Structural::validate_lists`] (on update only if the
//!   old object passes it).
//!
//! [`Structural::compile`] makes the struct of a [`Schema`] of it, so that patches, apply and
//! OpenAPI treat objects of custom resources as those of built-in kinds.
//!
//! Every walk follows the schema, whose depth is bounded when it is read, or lists in lists, whose
//! depth the JSON parser bounds.
//!
//! Not here: rules in CEL, which are kept as they were written; titles, descriptions and examples,
//! which only documents need. The rules that a schema itself must keep stand with the kind that
//! carries schemas, but for those about default values, which need all of this.

mod accept;
mod compile;
mod correlation;
mod default;
mod default_rules;
mod embedded;
mod fault;
mod format;
mod list_rules;
mod number;
mod properties;
mod prune;
mod read;
mod report;
mod surroundings;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests;
mod value_rules;

pub use correlation::{Correlation, OldItems};
pub use default_rules::{DefaultRules, RuleCheck};
pub use embedded::{Malformed, Metadata, coerce_metadata};
pub use properties::Properties;
pub use value_rules::{Pattern, Rules, ValueRules};

use crate::schema::{Schema, Struct, StructId, Type};
use crate::value::{Str, Value};
use compile::{Compiler, new_struct};

/// A schema of one value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structural {
    /// What the value is; none where only an extension tells.
    pub shape: Option<Shape>,
    /// Where no type is declared: what the value must look like if it is an object or a list. At
    /// most one of each; empty where there is a shape.
    pub loose_shapes: Vec<Shape>,
    /// Whether null is a value.
    pub is_nullable: bool,
    /// What a missing value is. Never null.
    pub default: Option<Value>,
    /// Whether fields that are not listed stay.
    pub preserves_unknown_fields: bool,
    /// Whether the value is an object with kind and metadata of its own.
    pub is_embedded_resource: bool,
    /// Whether the value is a whole number or text.
    pub is_int_or_string: bool,
    /// What the value may be, beside its shape.
    pub rules: Rules,
    /// `x-kubernetes-validations`, as they were written.
    pub validations: Vec<Value>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// true or false
    Boolean,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Text.
    String,
    /// Fields by name.
    Object {
        /// Those that are listed.
        properties: Properties,
        /// What is said about others.
        additional: Additional,
        /// Whether the object changes as a whole.
        is_atomic: bool,
    },
    /// Values by key.
    Map {
        /// What a value is.
        values: Box<Structural>,
        /// Whether the map changes as a whole.
        is_atomic: bool,
    },
    /// Items in order.
    Array {
        /// What an item is.
        items: Box<Structural>,
        /// How items are told apart.
        identity: ListIdentity,
    },
}

/// What a schema says about fields that it does not list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Additional {
    /// Nothing: they are pruned.
    #[default]
    Undeclared,
    /// `additionalProperties: true`: they stay, but nothing inside of them does.
    Allowed,
    /// `additionalProperties: false`: they stay and are refused.
    Refused,
}

/// How the items of a list are told apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ListIdentity {
    /// Not at all.
    #[default]
    Atomic,
    /// By value.
    Set,
    /// By these fields.
    Map(Vec<Str>),
}

/// Where a schema stands: objects with metadata have some fields whatever the schema says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The schema of an object with kind and metadata.
    Root,
    /// The schema of a value inside of one.
    Inside,
}

/// Why a schema cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct StructuralError {
    /// The path of the schema.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// The fields of every object with metadata.
pub(crate) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Structural {
    /// Reads an OpenAPI v3 schema (`JSONSchemaProps`).
    ///
    /// # Errors
    ///
    /// When a type is unknown, when an object has both properties and additional ones, or when the
    /// schema is nested too deeply.
    pub fn read(schema: &Value) -> Result<Structural, StructuralError> {
        read::read(schema, &mut Vec::new())
    }

    /// Adds the struct of a custom resource to a schema that has the struct of metadata.
    #[must_use]
    pub fn compile(&self, schema: &mut Schema, name: &str, metadata: StructId) -> StructId {
        let root = (self, self.preserves_unknown_fields);
        let root = Compiler { metadata }.structure(schema, root, name, Position::Root);
        match root {
            Type::Struct(id) => id,
            _ => schema.add(Struct { keeps_unknown: true, ..new_struct(name, Vec::new()) }),
        }
    }

    /// The schema of a field: a listed one, or that of all values of a map.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Structural> {
        match self.object_shape()? {
            Shape::Object { properties, .. } => properties.get(name),
            Shape::Map { values, .. } => Some(values),
            _ => None,
        }
    }

    /// The schema of the items of a list.
    #[must_use]
    pub fn items(&self) -> Option<&Structural> {
        match self.list_shape()? {
            Shape::Array { items, .. } => Some(items),
            _ => None,
        }
    }

    /// What an object looks like: [`Shape::Object`] or [`Shape::Map`].
    pub(crate) fn object_shape(&self) -> Option<&Shape> {
        let is_object = |shape: &&Shape| matches!(shape, Shape::Object { .. } | Shape::Map { .. });
        self.shapes().find(is_object)
    }

    /// What a list looks like: [`Shape::Array`].
    pub(crate) fn list_shape(&self) -> Option<&Shape> {
        self.shapes().find(|shape| matches!(shape, Shape::Array { .. }))
    }

    fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.shape.iter().chain(&self.loose_shapes)
    }
}
