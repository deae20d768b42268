//! Why something cannot be mapped.

use std::collections::BTreeSet;
use std::fmt;

use crate::group_version::{GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource};
use crate::text::quote;
use crate::value::Str;

/// Why something cannot be mapped. Texts are upstream's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapError {
    /// No resource was named at all.
    NothingNamed(GroupVersionResource),
    /// There is no such resource.
    NoResource(GroupVersionResource),
    /// There is no such kind.
    NoKind {
        /// The kind.
        kind: GroupKind,
        /// The versions in which it was looked for; none for all.
        versions: Vec<Str>,
    },
    /// The name of a resource can mean several.
    AmbiguousResource {
        /// What was named.
        partial: GroupVersionResource,
        /// What it can mean.
        resources: Vec<GroupVersionResource>,
        /// Of which kinds.
        kinds: Vec<GroupVersionKind>,
    },
    /// A resource has no singular.
    NoSingular(Str),
    /// A name has several singulars.
    SeveralSingulars {
        /// What the name can mean.
        resources: Vec<GroupVersionResource>,
        /// The name.
        name: Str,
    },
}

impl std::error::Error for MapError {}

impl fmt::Display for MapError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::NothingNamed(partial) => {
                write!(out, "a resource must be present, got: {partial}")
            }
            MapError::NoResource(partial) => write!(out, "no matches for {partial}"),
            MapError::NoKind { kind, versions } => write_no_kind(kind, versions, out),
            MapError::AmbiguousResource { partial, resources, kinds } => {
                write!(out, "{partial} matches multiple ")?;
                match (resources.as_slice(), kinds.as_slice()) {
                    ([], []) => out.write_str("resources or kinds"),
                    (resources, []) => write!(out, "resources {}", list(resources)),
                    ([], kinds) => write!(out, "kinds {}", list(kinds)),
                    (resources, kinds) => {
                        write!(out, "resources {} and kinds {}", list(resources), list(kinds))
                    }
                }
            }
            MapError::NoSingular(name) => {
                write!(out, "no singular of resource {name} has been defined")
            }
            MapError::SeveralSingulars { resources, name } => {
                let resources = list(resources);
                write!(out, "multiple possible singular resources ({resources}) found for {name}")
            }
        }
    }
}

fn write_no_kind(kind: &GroupKind, versions: &[Str], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let full = |version: &Str| GroupVersion::new(&kind.group, version).to_string();
    let versions: BTreeSet<String> = versions.iter().map(full).collect();
    let versions: Vec<String> = versions.iter().map(|version| quote(version)).collect();
    write!(out, "no matches for kind {} in ", quote(&kind.kind))?;
    match versions.as_slice() {
        [] => write!(out, "group {}", quote(&kind.group)),
        [only] => write!(out, "version {only}"),
        several => write!(out, "versions [{}]", several.join(" ")),
    }
}

/// As Go prints a list.
fn list(items: &[impl fmt::Display]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", items.join(" "))
}
