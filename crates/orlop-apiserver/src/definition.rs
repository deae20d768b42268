//! A resource as it is served: what the catalog gives, built-in or custom.
//!
//! After the catalog no code asks which of the two it has. Nothing here knows a kind by name.

use std::fmt;

use orlop_machinery::defaults::Defaults;
use orlop_machinery::group_version::{GroupKind, GroupResource};
use orlop_machinery::kind::{Kind, Resource, Rules, Scope, Subresource};
use orlop_machinery::node::Node;
use orlop_machinery::schema::{Schema, StructId};
use orlop_machinery::shared::Shared;
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value, decode, encode, json};

/// Everything under this in the store belongs to objects.
pub(crate) const REGISTRY: &str = "/registry/";

/// A resource in one version of its group.
pub struct Definition {
    /// Its names, verbs and subresources.
    pub resource: Resource,
    /// Its behaviour.
    pub kind: Shared<dyn Kind>,
    /// The schema that has its struct.
    pub schema: Shared<Schema>,
    /// Its struct.
    pub id: StructId,
    /// The defaults of its structs.
    pub defaults: Shared<Defaults>,
    /// How it is stored.
    pub storage: Storage,
    /// `apps/v1`, or `v1` for core.
    pub api_version: Str,
}

/// How the objects of a resource are stored.
pub struct Storage {
    /// What all keys begin with, a slash at the end: `/registry/pods/`.
    pub prefix: String,
    /// The struct in which it is stored, of the same schema.
    pub id: StructId,
    /// The `apiVersion` of what is stored.
    pub api_version: Str,
    /// Whether this version differs from the stored one, so that bytes cannot go out as they are.
    pub is_converted: bool,
}

impl Definition {
    /// The group and the resource, as errors name it.
    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.resource.group.clone(), resource: self.resource.plural.clone() }
    }

    /// The group and the kind, as errors of validation name it.
    #[must_use]
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.resource.group.clone(), kind: self.resource.kind.clone() }
    }

    /// The kind that rules name which are the same for all groups that serve it.
    #[must_use]
    pub fn stored_group_kind(&self) -> GroupKind {
        let group = self.storage.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        GroupKind::new(group, &self.resource.kind)
    }

    /// Whether objects live in namespaces.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.resource.scope == Scope::Namespaced
    }

    /// The key of one object.
    #[must_use]
    pub fn key(&self, namespace: &str, name: &str) -> String {
        let mut key = self.prefix(namespace);
        key.push_str(name);
        key
    }

    /// What the keys of a namespace begin with; of all objects without one.
    #[must_use]
    pub fn prefix(&self, namespace: &str) -> String {
        let mut prefix = self.storage.prefix.clone();
        if self.is_namespaced() && !namespace.is_empty() {
            prefix.push_str(namespace);
            prefix.push('/');
        }
        prefix
    }

    /// A subresource by its name.
    #[must_use]
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.resource.subresources.iter().find(|known| known.name == name)
    }

    /// What happens to objects written at the resource itself.
    #[must_use]
    pub fn rules(&self) -> &dyn Rules {
        &*self.kind
    }

    /// An object, for rules to read.
    #[must_use]
    pub fn node<'a>(&'a self, object: &'a Value) -> Node<'a> {
        Node::of(object, &self.schema, self.id)
    }

    /// Sets the defaults of an object in normal form.
    pub fn set_defaults(&self, object: &mut Value) {
        self.defaults.set(&self.schema, self.id, object);
    }

    /// The bytes in which an object of this version is stored. They hold no resource version.
    #[must_use]
    pub fn to_stored(&self, object: &mut Value) -> Vec<u8> {
        let version = object.get_mut("metadata").and_then(|meta| meta.remove("resourceVersion"));
        let bytes = if self.storage.is_converted {
            let mut stored = object.clone();
            self.kind.to_storage(&mut stored);
            encode::to_vec(&self.schema, self.storage.id, &stored)
        } else {
            encode::to_vec(&self.schema, self.storage.id, object)
        };
        if let (Some(version), Some(metadata)) = (version, object.get_mut("metadata")) {
            metadata.set("resourceVersion", version);
        }
        bytes
    }

    /// The object that stored bytes hold, in this version and with defaults.
    ///
    /// # Errors
    ///
    /// When they are not such an object: somebody else wrote them.
    pub fn from_stored(&self, bytes: &[u8], revision: u64) -> Result<Value, Status> {
        let wrong = |why: &dyn fmt::Display| {
            Status::internal_error(format!("unable to decode the stored object: {why}"))
        };
        let value = json::parse(bytes).map_err(|error| wrong(&error))?;
        let decoded = decode::decode(&self.schema, self.storage.id, value);
        let mut object = decoded.map_err(|error| wrong(&error))?.object;
        self.kind.from_storage(&mut object);
        self.set_defaults(&mut object);
        // What was only tried out has no version.
        if let Some(metadata) = object.get_mut("metadata").filter(|_| revision > 0) {
            metadata.set("resourceVersion", revision.to_string());
        }
        Ok(object)
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.api_version, self.resource.plural)
    }
}
