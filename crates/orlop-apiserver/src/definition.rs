//! A resource as it is served: what the catalog gives, built-in or custom.
//!
//! After the catalog no code asks which of the two it has. Nothing here knows a kind by name.

use std::fmt;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use orlop_machinery::apply::Typing;
use orlop_machinery::defaults::Defaults;
use orlop_machinery::group_version::{GroupKind, GroupResource};
use orlop_machinery::kind::{Kind, Resource, Rules, Scope, Subresource};
use orlop_machinery::node::Node;
use orlop_machinery::schema::{Schema, StructId};
use orlop_machinery::shared::Shared;
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value, decode, encode, json};
use orlop_storage::{Record, Revision};

use crate::form::{Form, Likeness, unreadable};
use crate::object::Object;

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
    /// How stored bytes become its objects.
    pub form: Shared<dyn Form>,
    /// `apps/v1`, or `v1` for core.
    pub api_version: Str,
    /// Whether it was served and is not any more; nothing new is begun with it.
    pub is_retired: AtomicBool,
}

/// How the objects of a resource are stored.
pub struct Storage {
    /// What all keys begin with, a slash at the end: `/registry/pods/`.
    pub prefix: String,
    /// The struct in which it is stored, of the same schema.
    pub id: StructId,
    /// The `apiVersion` of what is stored.
    pub api_version: Str,
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
        self.kind.set_defaults(object);
    }

    /// The bytes that show an object. They hold no resource version.
    #[must_use]
    pub fn encode(&self, object: &mut Value) -> Vec<u8> {
        let version = take_version(object);
        let bytes = encode::to_vec(&self.schema, self.id, object);
        put_version(object, version);
        bytes
    }

    /// The object that shown bytes hold, with defaults.
    ///
    /// # Errors
    ///
    /// When they are not such an object: somebody else wrote them.
    pub fn read(&self, shown: &[u8], revision: u64) -> Result<Value, Status> {
        let value = json::parse(shown).map_err(|error| unreadable(&error))?;
        let decoded = decode::decode(&self.schema, self.id, value);
        let mut object = decoded.map_err(|error| unreadable(&error))?.object;
        self.defaults.set(&self.schema, self.id, &mut object);
        // What was only tried out has no version.
        if let Some(metadata) = object.get_mut("metadata").filter(|_| revision > 0) {
            metadata.set("resourceVersion", revision.to_string());
        }
        Ok(object)
    }

    /// The bytes in which an object is stored. They hold no resource version.
    ///
    /// # Errors
    ///
    /// When it cannot be converted.
    pub async fn store(&self, object: &mut Value) -> Result<Bytes, Status> {
        let version = take_version(object);
        let stored = self.form.store(self, object).await;
        put_version(object, version);
        stored.map(Bytes::from)
    }

    /// Stored records, as this version shows them.
    ///
    /// # Errors
    ///
    /// When one cannot be read or converted.
    pub async fn show(&self, records: Vec<Record>) -> Result<Vec<Record>, Status> {
        match self.form.likeness() {
            Likeness::Same => Ok(records),
            _ => self.form.show(self, records).await,
        }
    }

    /// One record, as this version shows it.
    ///
    /// # Errors
    ///
    /// When it cannot be read or converted.
    pub async fn show_one(&self, record: Record) -> Result<Record, Status> {
        if self.form.likeness() == Likeness::Same {
            return Ok(record);
        }
        let shown = self.form.show(self, vec![record]).await?;
        shown.into_iter().next().ok_or_else(|| Status::internal_error("nothing is shown"))
    }

    /// What was stored just now by this version, as it shows it.
    ///
    /// # Errors
    ///
    /// When it cannot be converted back.
    pub(crate) async fn show_written(
        &self,
        key: &[u8],
        stored: &[u8],
        revision: Revision,
    ) -> Result<Object, Status> {
        let record = Record::new(key, stored, revision, revision, None);
        match self.form.likeness() {
            Likeness::Same | Likeness::SameWhenWritten => Ok(Object::new(record)),
            Likeness::Different => self.show_one(record).await.map(Object::new),
        }
    }

    /// What apply has to know of objects.
    #[must_use]
    pub fn typing(&self) -> Typing<'_> {
        self.kind.typing().unwrap_or(Typing::Struct(&self.schema, self.id))
    }
}

fn take_version(object: &mut Value) -> Option<Value> {
    object.get_mut("metadata").and_then(|meta| meta.remove("resourceVersion"))
}

fn put_version(object: &mut Value, version: Option<Value>) {
    if let (Some(version), Some(metadata)) = (version, object.get_mut("metadata")) {
        metadata.set("resourceVersion", version);
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.api_version, self.resource.plural)
    }
}
