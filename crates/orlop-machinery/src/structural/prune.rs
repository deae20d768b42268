//! Removes the fields that a schema does not know.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning/algorithm.go` and
//! `defaulting/prunenulls.go`.

use super::{Additional, META_FIELDS, Position, Shape, Structural};
use crate::field::Path;
use crate::value::{Map, Value};

impl Structural {
    /// Removes unknown fields; their paths, such as `spec.items[0].name`, sorted.
    ///
    /// At the root, and in every embedded resource, `apiVersion`, `kind` and `metadata` are not
    /// looked at: see [`Structural::coerce_embedded`].
    pub fn prune(&self, value: &mut Value, position: Position) -> Vec<String> {
        let mut removed = Vec::new();
        let has_metadata = position == Position::Root || self.is_embedded_resource;
        Pruner { removed: &mut removed }.prune(value, Some((self, has_metadata)), &Path::root());
        removed.sort_unstable();
        removed
    }

    /// Removes null where it is no value and there is no default either.
    pub fn prune_nulls(&self, value: &mut Value) {
        match value {
            Value::Map(map) => {
                let Some(shape) = self.object_shape() else { return };
                map.retain(|name, value| match field_of(shape, name) {
                    Some(schema) if schema.is_needless_null(value) => false,
                    Some(schema) => {
                        schema.prune_nulls(value);
                        true
                    }
                    None => true,
                });
            }
            Value::List(list) => {
                let Some(items) = self.items() else { return };
                list.iter_mut().for_each(|item| items.prune_nulls(item));
            }
            _ => {}
        }
    }

    fn is_needless_null(&self, value: &Value) -> bool {
        value.is_null() && !self.is_nullable && self.default.is_none()
    }
}

fn field_of<'s>(shape: &'s Shape, name: &str) -> Option<&'s Structural> {
    match shape {
        Shape::Object { properties, .. } => properties.get(name),
        Shape::Map { values, .. } => Some(values),
        _ => None,
    }
}

struct Pruner<'r> {
    removed: &'r mut Vec<String>,
}

/// A schema, and whether the value has metadata.
type Known<'s> = Option<(&'s Structural, bool)>;

fn inside(schema: &Structural) -> Known<'_> {
    Some((schema, schema.is_embedded_resource))
}

impl Pruner<'_> {
    fn prune(&mut self, value: &mut Value, known: Known<'_>, path: &Path<'_>) {
        match value {
            Value::Map(map) => self.prune_map(map, known, path),
            Value::List(list) => {
                let keeps = known.is_some_and(|(schema, _)| schema.preserves_unknown_fields);
                let items = known.and_then(|(schema, _)| schema.items());
                if keeps && items.is_none() {
                    return;
                }
                for (at, item) in list.iter_mut().enumerate() {
                    match items {
                        // What keeps unknown fields keeps those of its items, too.
                        Some(items) if keeps => self.prune_known(item, items, &path.index(at)),
                        items => self.prune(item, items.and_then(inside), &path.index(at)),
                    }
                }
            }
            _ => {}
        }
    }

    fn prune_map(&mut self, map: &mut Map, known: Known<'_>, path: &Path<'_>) {
        let Some((schema, has_metadata)) = known else {
            map.retain(|name, _| self.remove(path, name));
            return;
        };
        let shape = schema.object_shape();
        map.retain(|name, value| {
            if has_metadata && META_FIELDS.contains(&name) {
                return true;
            }
            let child = path.child(name);
            match shape {
                Some(Shape::Object { properties, additional, .. }) => {
                    match (properties.get(name), additional) {
                        (Some(property), _) => self.prune(value, inside(property), &child),
                        (None, Additional::Allowed | Additional::Refused) => {
                            self.prune(value, None, &child);
                        }
                        (None, Additional::Undeclared) if schema.preserves_unknown_fields => {}
                        (None, Additional::Undeclared) => return self.remove(path, name),
                    }
                    true
                }
                Some(Shape::Map { values, .. }) => {
                    self.prune(value, inside(values), &child);
                    true
                }
                _ if schema.preserves_unknown_fields => true,
                _ => self.remove(path, name),
            }
        });
    }

    /// Prunes an item of a list that keeps unknown fields: the item keeps its own, too.
    fn prune_known(&mut self, value: &mut Value, schema: &Structural, path: &Path<'_>) {
        match value {
            Value::Map(map) => {
                let shape = schema.object_shape();
                for (name, value) in map.iter_mut() {
                    if schema.is_embedded_resource && META_FIELDS.contains(&name) {
                        continue;
                    }
                    let child = path.child(name);
                    match shape.and_then(|shape| field_of(shape, name)) {
                        Some(property) => self.prune(value, inside(property), &child),
                        None if has_additional(shape) => self.prune(value, None, &child),
                        None => {}
                    }
                }
            }
            Value::List(list) => {
                let Some(items) = schema.items() else { return };
                for (at, item) in list.iter_mut().enumerate() {
                    self.prune_known(item, items, &path.index(at));
                }
            }
            _ => {}
        }
    }

    /// Notes that a field goes.
    fn remove(&mut self, path: &Path<'_>, name: &str) -> bool {
        self.removed.push(path.child(name).to_string());
        false
    }
}

fn has_additional(shape: Option<&Shape>) -> bool {
    let Some(Shape::Object { additional, .. }) = shape else { return false };
    *additional != Additional::Undeclared
}
