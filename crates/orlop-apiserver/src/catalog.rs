//! Every resource that is served, and how to find one.
//!
//! Built-in kinds and custom resources meet here.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use orlop_kinds::catalog::Entry;
use orlop_machinery::Str;
use orlop_machinery::shared::Shared;

use crate::definition::{Definition, REGISTRY, Storage};
use crate::form::{AsShown, ByKind};

/// Every resource that is served, at one moment. A catalog never changes; another takes its place.
#[derive(Clone)]
pub struct Catalog {
    built_in: Arc<BuiltIn>,
    /// The versions of each custom resource, by the name of what defines it: plural, dot, group.
    custom: HashMap<Str, Arc<[Arc<Definition>]>>,
}

struct BuiltIn {
    /// In the order of groups and names.
    definitions: Vec<Arc<Definition>>,
    /// Group and version to plural to place in `definitions`.
    places: HashMap<(Str, Str), HashMap<Str, usize>>,
}

impl Catalog {
    /// The built-in kinds.
    #[must_use]
    pub fn built_in() -> Catalog {
        let built_in = orlop_kinds::catalog().iter().map(|entry| Arc::new(define(entry)));
        Catalog { built_in: Arc::new(BuiltIn::new(built_in.collect())), custom: HashMap::new() }
    }

    /// All of them; the built-in ones first, in the order of groups and names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Definition>> {
        let custom = self.custom.values().flat_map(|versions| versions.iter());
        self.built_in.definitions.iter().chain(custom)
    }

    /// A resource by group, version and plural.
    #[must_use]
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Definition>> {
        if let Some(found) = self.built_in.find(group, version, plural) {
            return Some(found);
        }
        if self.custom.is_empty() {
            return None;
        }
        let versions = self.custom.get(&Str::from(format!("{plural}.{group}")))?;
        versions.iter().find(|known| known.resource.version == version)
    }

    /// A resource by `apiVersion` and `kind`.
    #[must_use]
    pub fn find_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Definition>> {
        self.iter().find(|known| known.resource.kind == kind && known.api_version == api_version)
    }

    /// Another version of a resource: what shows the same objects.
    #[must_use]
    pub fn find_version(&self, of: &Definition, api_version: &str) -> Option<&Arc<Definition>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let found = self.find(group, version, &of.resource.plural)?;
        (found.storage.prefix == of.storage.prefix).then_some(found)
    }

    /// All versions of a resource: what shows the same objects.
    pub fn versions(&self, of: &Definition) -> impl Iterator<Item = &Arc<Definition>> {
        let name = format!("{}.{}", of.resource.plural, of.resource.group);
        let custom = self.custom(&name);
        let built_in: &[Arc<Definition>] =
            if custom.is_empty() { &self.built_in.definitions } else { &[] };
        let prefix = of.storage.prefix.clone();
        custom.iter().chain(built_in).filter(move |other| other.storage.prefix == prefix)
    }

    /// The versions of a custom resource, by the name of what defines it; none if it is not served.
    #[must_use]
    pub fn custom(&self, name: &str) -> &[Arc<Definition>] {
        self.custom.get(name).map_or(&[], |versions| versions)
    }

    /// A catalog with other versions of a custom resource; without it, if there are none.
    #[must_use]
    pub fn with_custom(mut self, name: &str, versions: Vec<Arc<Definition>>) -> Catalog {
        match versions.is_empty() {
            true => self.custom.remove(name),
            false => self.custom.insert(Str::new(name), versions.into()),
        };
        self
    }
}

impl BuiltIn {
    fn new(definitions: Vec<Arc<Definition>>) -> BuiltIn {
        let mut places: HashMap<(Str, Str), HashMap<Str, usize>> = HashMap::new();
        for (place, definition) in definitions.iter().enumerate() {
            let resource = &definition.resource;
            let version = (resource.group.clone(), resource.version.clone());
            places.entry(version).or_default().insert(resource.plural.clone(), place);
        }
        BuiltIn { definitions, places }
    }

    fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Definition>> {
        let version = self.places.get(&(Str::new(group), Str::new(version)))?;
        Some(&self.definitions[*version.get(plural)?])
    }
}

fn define(entry: &'static Entry) -> Definition {
    let catalog = orlop_kinds::catalog();
    let resource = entry.resource.clone();
    let api_version = resource.api_version();
    let stored = catalog.stored_as(entry);
    let storage = Storage {
        prefix: format!("{REGISTRY}{}/", entry.storage_path()),
        id: stored.id,
        api_version: stored.resource.api_version(),
    };
    Definition {
        kind: Shared::Static(entry.kind),
        schema: Shared::Static(orlop_kinds::schema()),
        id: entry.id,
        defaults: Shared::Static(catalog.defaults()),
        form: match std::ptr::eq(stored, entry) {
            true => Shared::Static(&AsShown),
            false => Shared::Static(&ByKind),
        },
        storage,
        api_version,
        resource,
        is_retired: AtomicBool::new(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Likeness;

    #[test]
    fn objects_are_stored_where_upstream_stores_them() {
        let catalog = Catalog::built_in();
        let check = |(group, version, plural): (&str, &str, &str), key: &str| {
            let found = catalog.find(group, version, plural).unwrap();
            assert_eq!(found.key("ns", "a"), key);
        };
        check(("", "v1", "pods"), "/registry/pods/ns/a");
        check(("", "v1", "nodes"), "/registry/minions/a");
        check(("", "v1", "services"), "/registry/services/specs/ns/a");
        check(("", "v1", "endpoints"), "/registry/services/endpoints/ns/a");
        check(("", "v1", "replicationcontrollers"), "/registry/controllers/ns/a");
        check(("apps", "v1", "deployments"), "/registry/deployments/ns/a");
        check(("events.k8s.io", "v1", "events"), "/registry/events/ns/a");
        check(("networking.k8s.io", "v1", "ingresses"), "/registry/ingress/ns/a");
        let definitions = ("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        check(definitions, "/registry/apiextensions.k8s.io/customresourcedefinitions/a");
        let services = ("apiregistration.k8s.io", "v1", "apiservices");
        check(services, "/registry/apiregistration.k8s.io/apiservices/a");
    }

    #[test]
    fn a_kind_of_two_groups_is_stored_in_one_form() {
        let catalog = Catalog::built_in();
        let check = |(group, version, plural): (&str, &str, &str), stored: &str| {
            let found = catalog.find(group, version, plural).unwrap();
            assert_eq!(found.storage.api_version, stored);
            assert_eq!(found.form.likeness() == Likeness::Same, found.api_version == stored);
        };
        check(("", "v1", "events"), "v1");
        check(("events.k8s.io", "v1", "events"), "v1");
        check(("autoscaling", "v1", "horizontalpodautoscalers"), "autoscaling/v2");
        check(("autoscaling", "v2", "horizontalpodautoscalers"), "autoscaling/v2");
    }
}
