//! The groups of a catalog in the order in which they are told, and their versions.

use std::sync::Arc;

use orlop_machinery::Str;
use orlop_machinery::version;

use crate::catalog::Catalog;
use crate::definition::Definition;

/// Where the built-in groups stand: the greater number comes first, and names decide between equal
/// ones. After `cmd/kube-apiserver/app/aggregator.go` and
/// `pkg/controlplane/apiserver/aggregator.go`; the group of the aggregation itself comes before
/// all others.
const PRIORITIES: &[(&str, u32)] = &[
    ("apiregistration.k8s.io", 20_000),
    ("", 18_000),
    ("apps", 17_800),
    ("events.k8s.io", 17_750),
    ("authentication.k8s.io", 17_700),
    ("authorization.k8s.io", 17_600),
    ("autoscaling", 17_500),
    ("batch", 17_400),
    ("certificates.k8s.io", 17_300),
    ("networking.k8s.io", 17_200),
    ("policy", 17_100),
    ("rbac.authorization.k8s.io", 17_000),
    ("storage.k8s.io", 16_800),
    ("admissionregistration.k8s.io", 16_700),
    ("apiextensions.k8s.io", 16_700),
    ("scheduling.k8s.io", 16_600),
    ("coordination.k8s.io", 16_500),
    ("node.k8s.io", 16_300),
    ("discovery.k8s.io", 16_200),
    ("resource.k8s.io", 16_200),
    ("flowcontrol.apiserver.k8s.io", 16_100),
];

/// Where the groups of custom resources stand.
const CUSTOM_PRIORITY: u32 = 1000;

/// The groups of a catalog.
pub(super) struct Groups(Vec<Group>);

/// One group.
pub(super) struct Group {
    /// Its name; empty for core.
    pub name: Str,
    /// Its versions, the preferred one first.
    pub versions: Vec<Version>,
}

/// One version of a group.
pub(super) struct Version {
    /// Such as `v1`.
    pub name: Str,
    /// Its resources, in the order of their names.
    pub definitions: Vec<Arc<Definition>>,
}

impl Groups {
    pub(super) fn new(catalog: &Catalog) -> Groups {
        let mut groups: Vec<Group> = Vec::new();
        let is_told = |known: &&Arc<Definition>| !known.resource.announced_verbs.is_empty();
        for definition in catalog.iter().filter(is_told) {
            let resource = &definition.resource;
            let group = entry(
                &mut groups,
                |group| group.name == resource.group,
                || Group { name: resource.group.clone(), versions: Vec::new() },
            );
            let version = entry(
                &mut group.versions,
                |version| version.name == resource.version,
                || Version { name: resource.version.clone(), definitions: Vec::new() },
            );
            version.definitions.push(definition.clone());
        }
        for group in &mut groups {
            group.versions.sort_by(|a, b| version::compare(&b.name, &a.name));
            for version in &mut group.versions {
                version.definitions.sort_by(|a, b| a.resource.plural.cmp(&b.resource.plural));
            }
        }
        groups.sort_by(|a, b| priority(&b.name).cmp(&priority(&a.name)).then(a.name.cmp(&b.name)));
        Groups(groups)
    }

    /// Those that are not core.
    pub(super) fn named(&self) -> impl Iterator<Item = &Group> {
        self.0.iter().filter(|group| !group.name.is_empty())
    }

    /// A group by its name; empty for core.
    pub(super) fn find(&self, name: &str) -> Option<&Group> {
        self.0.iter().find(|group| group.name == name)
    }

    /// Whether a group has a version.
    pub(super) fn has_version(&self, group: &str, version: &str) -> bool {
        let group = self.find(group);
        group.is_some_and(|group| group.versions.iter().any(|known| known.name == version))
    }

    /// Whether there is a group of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        !name.is_empty() && self.find(name).is_some()
    }

    /// Whether there is a group of this name that is not of custom resources.
    pub(super) fn has_built_in(&self, name: &str) -> bool {
        self.has(name) && priority(name) != CUSTOM_PRIORITY
    }

    /// The paths of all documents, sorted.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = vec!["/api".to_owned(), "/apis".to_owned(), "/apis/".to_owned()];
        for group in &self.0 {
            let root = match group.name.as_str() {
                "" => "/api".to_owned(),
                name => format!("/apis/{name}"),
            };
            paths.extend(group.versions.iter().map(|version| format!("{root}/{}", version.name)));
            paths.push(root);
        }
        paths.sort();
        paths.dedup();
        paths
    }
}

/// The first that is such a one, made if there is none.
fn entry<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl Fn() -> T) -> &mut T {
    let place = all.iter().position(is).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    });
    &mut all[place]
}

fn priority(group: &str) -> u32 {
    let known = PRIORITIES.iter().find(|(name, _)| *name == group);
    known.map_or(CUSTOM_PRIORITY, |(_, priority)| *priority)
}
