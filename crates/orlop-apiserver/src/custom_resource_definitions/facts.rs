//! What decisions need to know of one definition. It is small, whatever its schemas are: there may
//! be thousands.

use std::hash::{DefaultHasher, Hash, Hasher};

use orlop_kinds::custom_resource_definition_conditions::{
    Condition, api_approval, has_valid_ca_bundle, non_structural_schema,
};
use orlop_machinery::meta::Meta;
use orlop_machinery::node::Node;
use orlop_machinery::{Str, json};

use super::names::Names;
use super::terminating;

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub uid: Str,
    /// The revision that wrote this version of it.
    pub revision: u64,
    /// Which version of its spec and annotations it is.
    pub edition: Edition,
    pub group: Str,
    /// The names that it asks for.
    pub requested: Names,
    /// The names that its status says it has.
    pub accepted: Names,
    /// The conditions of its status.
    pub conditions: Vec<Condition>,
    /// The conditions that it should have whatever others there are.
    pub own_conditions: Vec<Condition>,
    pub has_valid_ca_bundle: bool,
    /// Whether it is being deleted.
    pub is_deleting: bool,
    /// Whether it is being deleted and waits for its objects to go.
    pub is_ending: bool,
}

/// What changes whenever the spec or the annotations do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Edition {
    generation: i64,
    /// A digest: there is no number that counts changes of annotations.
    annotations: u64,
}

impl Facts {
    /// The facts of an object that a revision wrote.
    pub(super) fn read(object: &Node<'_>, revision: u64) -> Facts {
        let value = object.value();
        let meta = Meta::of(value);
        let spec = value.at("spec");
        let mut own_conditions: Vec<Condition> = Vec::new();
        own_conditions.extend(api_approval(value));
        own_conditions.extend(non_structural_schema(object));
        Facts {
            uid: Str::new(meta.uid()),
            revision,
            edition: Edition {
                generation: meta.generation(),
                annotations: digest(value.path(&["metadata", "annotations"])),
            },
            group: Str::new(spec.at("group").str()),
            requested: Names::read(spec.at("names")),
            accepted: Names::read(value.path(&["status", "acceptedNames"])),
            conditions: Condition::all(value),
            own_conditions,
            has_valid_ca_bundle: has_valid_ca_bundle(value),
            is_deleting: meta.deletion_timestamp().is_some(),
            is_ending: terminating::is_ending(value),
        }
    }
}

fn digest(value: &orlop_machinery::Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    json::to_string(value).hash(&mut hasher);
    hasher.finish()
}
