//! Sets what is missing.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go`
//! and `prune.go` there. Defaults inside of an object that is missing are not set: only what is
//! there is filled.

use super::surroundings::Surroundings;
use super::{Malformed, Metadata, Position, Shape, Structural};
use crate::value::Value;

impl Structural {
    /// Sets the default of every field that is missing, or null where null is no value.
    pub fn set_defaults(&self, value: &mut Value) {
        match value {
            Value::Map(map) => match self.object_shape() {
                Some(Shape::Object { properties, .. }) => {
                    for (name, property) in properties {
                        if let Some(default) = &property.default
                            && map.get(name).is_none_or(|old| property.is_replaced(old))
                        {
                            map.insert(name.clone(), default.clone());
                        }
                        if let Some(value) = map.get_mut(name) {
                            property.set_defaults(value);
                        }
                    }
                }
                Some(Shape::Map { values, .. }) => {
                    map.iter_mut().for_each(|(_, value)| values.set_default_of_entry(value));
                }
                _ => {}
            },
            Value::List(list) => {
                let Some(items) = self.items() else { return };
                list.iter_mut().for_each(|item| items.set_default_of_entry(item));
            }
            _ => {}
        }
    }

    /// An entry of a map or list that is there is only replaced when it is null.
    fn set_default_of_entry(&self, value: &mut Value) {
        if self.is_replaced(value)
            && let Some(default) = &self.default
        {
            *value = default.clone();
        }
        self.set_defaults(value);
    }

    fn is_replaced(&self, value: &Value) -> bool {
        value.is_null() && !self.is_nullable
    }

    /// Removes from all defaults what the schema does not know: what is set is as if it had been
    /// sent. To be called once, on the schema of a whole object, before anything is served.
    pub fn prune_defaults(&mut self, metadata: Metadata<'_>) {
        let defaults = self.collect_pruned(metadata);
        let mut defaults = defaults.into_iter();
        self.replace_defaults(&mut defaults);
    }

    /// The pruned defaults in the order in which schemas are walked.
    fn collect_pruned(&self, metadata: Metadata<'_>) -> Vec<Option<Value>> {
        let mut pruned = Vec::new();
        Surroundings::of_object(self).walk(&mut |schema, around| {
            if let Some(default) = &schema.default {
                let mut object = around.surround(default.clone());
                // Malformed metadata goes, so there is no error.
                let _ = around.root().coerce(
                    &mut object,
                    (metadata, Malformed::Dropped),
                    Position::Root,
                );
                around.root().prune(&mut object, Position::Root);
                pruned.push(around.take(object).filter(|default| !default.is_null()));
            }
        });
        pruned
    }

    fn replace_defaults(&mut self, pruned: &mut impl Iterator<Item = Option<Value>>) {
        if self.default.is_some() {
            self.default = pruned.next().flatten();
        }
        for shape in self.shape.iter_mut().chain(&mut self.loose_shapes) {
            match shape {
                Shape::Object { properties, .. } => {
                    for (_, property) in properties.iter_mut() {
                        property.replace_defaults(pruned);
                    }
                }
                Shape::Map { values, .. } => values.replace_defaults(pruned),
                Shape::Array { items, .. } => items.replace_defaults(pruned),
                Shape::Boolean | Shape::Integer | Shape::Number | Shape::String => {}
            }
        }
    }
}
