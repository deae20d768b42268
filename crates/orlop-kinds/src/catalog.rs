//! All built-in kinds, and how to find one.

use std::sync::LazyLock;

use orlop_machinery::Value;
use orlop_machinery::defaults::Defaults;
use orlop_machinery::kind::{Kind, Resource};
use orlop_machinery::node::Node;
use orlop_machinery::schema::StructId;

use crate::rules::volume;
use crate::schema;

/// Every group's kinds.
static GROUPS: &[&[&dyn Kind]] = &[
    crate::core::KINDS,
    crate::apiextensions::KINDS,
    crate::admissionregistration::KINDS,
    crate::apiregistration::KINDS,
    crate::apps::KINDS,
    crate::authentication::KINDS,
    crate::authorization::KINDS,
    crate::autoscaling::KINDS,
    crate::certificates::KINDS,
    crate::batch::KINDS,
    crate::coordination::KINDS,
    crate::discovery::KINDS,
    crate::events::KINDS,
    crate::flowcontrol::KINDS,
    crate::networking::KINDS,
    crate::node::KINDS,
    crate::policy::KINDS,
    crate::rbac::KINDS,
    crate::resource::KINDS,
    crate::scheduling::KINDS,
    crate::storage::KINDS,
];

/// Where objects are stored that are not stored under the plural of their resource.
///
/// After the storage of each resource in `pkg/registry`, and the API groups that are servers of
/// their own.
const STORAGE_PATHS: &[((&str, &str), &str)] = &[
    (("", "endpoints"), "services/endpoints"),
    (("", "nodes"), "minions"),
    (("", "replicationcontrollers"), "controllers"),
    (("", "services"), "services/specs"),
    (
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        "apiextensions.k8s.io/customresourcedefinitions",
    ),
    (("apiregistration.k8s.io", "apiservices"), "apiregistration.k8s.io/apiservices"),
    (("networking.k8s.io", "ingresses"), "ingress"),
];

/// The group and version in which objects are stored, where it is not the one of the resource.
///
/// After `pkg/kubeapiserver/default_storage_factory_builder.go`.
const STORED_AS: &[[&str; 5]] = &[
    ["autoscaling", "v1", "horizontalpodautoscalers", "autoscaling", "v2"],
    ["events.k8s.io", "v1", "events", "", "v1"],
];

/// All built-in kinds.
pub struct Catalog {
    entries: Vec<Entry>,
    defaults: Defaults,
}

/// A built-in kind with its names and its struct.
pub struct Entry {
    /// Its names, verbs and subresources.
    pub resource: Resource,
    /// Its behaviour.
    pub kind: &'static dyn Kind,
    /// Its struct in [`schema()`].
    pub id: StructId,
}

/// All built-in kinds.
pub fn catalog() -> &'static Catalog {
    static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::new);
    &CATALOG
}

impl Catalog {
    fn new() -> Catalog {
        let kinds = GROUPS.iter().flat_map(|group| group.iter().copied());
        let entries: Vec<Entry> = kinds.clone().map(Entry::new).collect();
        let own = kinds.flat_map(|kind| kind.defaulters().iter().copied());
        // Volumes are in pods, in templates of all sorts and in claims: they belong to no kind.
        let shared = volume::DEFAULTERS.iter().copied();
        let defaults = Defaults::new(schema(), own.chain(shared));
        Catalog { entries, defaults }
    }

    /// Every kind, in the order of groups and names.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// A kind by `apiVersion` and `kind`.
    pub fn find_kind(&self, api_version: &str, kind: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            entry.resource.kind == kind && entry.resource.api_version() == api_version
        })
    }

    /// A kind by group, version and plural.
    pub fn find_resource(&self, group: &str, version: &str, plural: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            let known = &entry.resource;
            known.plural == plural && known.group == group && known.version == version
        })
    }

    /// The form in which objects of a kind are stored: the kind itself, but for those that are
    /// served in several versions.
    pub fn stored_as<'a>(&'a self, entry: &'a Entry) -> &'a Entry {
        let resource = &entry.resource;
        let served = [&*resource.group, &*resource.version, &*resource.plural];
        let stored = STORED_AS.iter().find(|known| known[..3] == served);
        let Some([.., group, version]) = stored else { return entry };
        self.find_resource(group, version, &resource.plural).unwrap_or(entry)
    }

    /// The defaults of all structs of built-in kinds.
    pub fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// Sets the defaults of an object of a kind.
    pub fn set_defaults(&self, entry: &Entry, object: &mut Value) {
        self.defaults.set(schema(), entry.id, object);
    }
}

impl Entry {
    fn new(kind: &'static dyn Kind) -> Entry {
        let resource = kind.resource();
        let name = &resource.schema_name;
        let Some(id) = schema().find(name) else { panic!("no struct {name} in the schema") };
        Entry { resource, kind, id }
    }

    /// Where objects are stored: what follows `/registry/`.
    pub fn storage_path(&self) -> &str {
        let here = (self.resource.group.as_str(), self.resource.plural.as_str());
        let known = STORAGE_PATHS.iter().find(|(resource, _)| *resource == here);
        known.map_or(&self.resource.plural, |(_, path)| path)
    }

    /// An object of this kind, for rules to read.
    pub fn node<'a>(&self, object: &'a Value) -> Node<'a> {
        Node::of(object, schema(), self.id)
    }
}
