//! The object around a value: what a default value would be part of.
//!
//! After `surroundingobject.go` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting`. The object is the
//! innermost one with metadata: the custom resource or an embedded one.

use super::{META_FIELDS, Shape, Structural};
use crate::value::{Str, Value};

/// The way from an object with metadata to a value inside.
#[derive(Clone)]
pub(super) struct Surroundings<'s> {
    root: &'s Structural,
    steps: Vec<Step>,
    /// Whether the way goes through `metadata`, `kind` or `apiVersion`.
    is_inside_meta: bool,
}

#[derive(Clone)]
enum Step {
    Field(Str),
    Item,
}

impl<'s> Surroundings<'s> {
    /// Of the object itself.
    pub(super) fn of_object(root: &'s Structural) -> Surroundings<'s> {
        Surroundings { root, steps: Vec::new(), is_inside_meta: false }
    }

    /// The schema of the object.
    pub(super) fn root(&self) -> &'s Structural {
        self.root
    }

    /// Whether this is of the object itself.
    pub(super) fn is_of_object(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether this is of something in `metadata`, `kind` or `apiVersion`.
    pub(super) fn is_inside_meta(&self) -> bool {
        self.is_inside_meta
    }

    /// Of the object at this place, if it has metadata of its own; else these.
    pub(super) fn enter(self, schema: &'s Structural) -> Surroundings<'s> {
        if schema.is_embedded_resource { Surroundings::of_object(schema) } else { self }
    }

    /// Of a field.
    pub(super) fn field(&self, name: &str) -> Surroundings<'s> {
        let mut inner = self.clone();
        inner.is_inside_meta |= self.steps.is_empty() && META_FIELDS.contains(&name);
        inner.steps.push(Step::Field(Str::new(name)));
        inner
    }

    /// Of an item.
    pub(super) fn item(&self) -> Surroundings<'s> {
        let mut inner = self.clone();
        inner.steps.push(Step::Item);
        inner
    }

    /// The object with the value at its place.
    pub(super) fn surround(&self, value: Value) -> Value {
        self.steps.iter().rev().fold(value, |value, step| match step {
            Step::Field(name) => Value::from([(name.as_str(), value)]),
            Step::Item => Value::List(vec![value]),
        })
    }

    /// The value at its place in the object.
    pub(super) fn take(&self, object: Value) -> Option<Value> {
        self.steps.iter().try_fold(object, |mut value, step| match (step, &mut value) {
            (Step::Field(name), Value::Map(map)) => map.remove(name),
            (Step::Item, Value::List(list)) if !list.is_empty() => Some(list.swap_remove(0)),
            _ => None,
        })
    }

    /// Visits a schema and all inside, outer before inner.
    pub(super) fn walk(self, visit: &mut dyn FnMut(&'s Structural, &Surroundings<'s>)) {
        let root = self.root;
        self.walk_from(root, visit);
    }

    fn walk_from(
        self,
        schema: &'s Structural,
        visit: &mut dyn FnMut(&'s Structural, &Surroundings<'s>),
    ) {
        visit(schema, &self);
        let inner = self.enter(schema);
        for shape in schema.shape.iter().chain(&schema.loose_shapes) {
            match shape {
                Shape::Object { properties, .. } => {
                    for (name, property) in properties {
                        inner.field(name).walk_from(property, visit);
                    }
                }
                Shape::Map { values, .. } => inner.field("*").walk_from(values, visit),
                Shape::Array { items, .. } => inner.item().walk_from(items, visit),
                Shape::Boolean | Shape::Integer | Shape::Number | Shape::String => {}
            }
        }
    }
}
