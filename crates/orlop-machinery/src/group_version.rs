//! How kinds and resources are named: by group, version, and kind or resource.
//!
//! Printing and parsing after
//! `staging/src/k8s.io/apimachinery/pkg/runtime/schema/group_version.go`. The group of the oldest
//! kinds is the empty text. Which kinds exist is not known here, and which version is preferred is
//! said in [`version`](crate::version).

use std::fmt;

use crate::value::{Str, Value};

/// A group and a version of it. Prints as in `apiVersion`: `apps/v1`, and `v1` without group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersion {
    /// Such as `apps`; empty for the oldest kinds.
    pub group: Str,
    /// Such as `v1`.
    pub version: Str,
}

/// A kind in a version of a group. Prints as `apps/v1, Kind=Deployment`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// Such as `apps`; empty for the oldest kinds.
    pub group: Str,
    /// Such as `v1`.
    pub version: Str,
    /// Such as `Deployment`.
    pub kind: Str,
}

/// A resource in a version of a group. Prints as `apps/v1, Resource=deployments`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionResource {
    /// Such as `apps`; empty for the oldest resources.
    pub group: Str,
    /// Such as `v1`.
    pub version: Str,
    /// Such as `deployments`.
    pub resource: Str,
}

/// A kind of a group, in whichever version. Prints as `Deployment.apps`, and `Pod` without group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// Such as `apps`; empty for the oldest kinds.
    pub group: Str,
    /// Such as `Deployment`.
    pub kind: Str,
}

/// A resource of a group, in whichever version. Prints as `deployments.apps`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupResource {
    /// Such as `apps`; empty for the oldest resources.
    pub group: Str,
    /// Such as `deployments`.
    pub resource: Str,
}

/// Why a text is no group and version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected GroupVersion string: {0}")]
pub struct ParseError(pub String);

impl GroupVersion {
    /// From its parts.
    #[must_use]
    pub fn new(group: &str, version: &str) -> GroupVersion {
        GroupVersion { group: Str::new(group), version: Str::new(version) }
    }

    /// Reads an `apiVersion`.
    ///
    /// # Errors
    ///
    /// When there is more than one slash.
    pub fn parse(text: &str) -> Result<GroupVersion, ParseError> {
        match text.split_once('/') {
            None => Ok(GroupVersion::new("", text)),
            Some((_, version)) if version.contains('/') => Err(ParseError(text.to_owned())),
            Some((group, version)) => Ok(GroupVersion::new(group, version)),
        }
    }

    /// Whether neither is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.version.is_empty()
    }

    /// A kind of this version.
    #[must_use]
    pub fn with_kind(&self, kind: &str) -> GroupVersionKind {
        GroupVersionKind {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: Str::new(kind),
        }
    }

    /// A resource of this version.
    #[must_use]
    pub fn with_resource(&self, resource: &str) -> GroupVersionResource {
        GroupVersionResource {
            group: self.group.clone(),
            version: self.version.clone(),
            resource: Str::new(resource),
        }
    }
}

impl GroupVersionKind {
    /// From its parts.
    #[must_use]
    pub fn new(group: &str, version: &str, kind: &str) -> GroupVersionKind {
        GroupVersion::new(group, version).with_kind(kind)
    }

    /// From the fields of an object. An `apiVersion` that cannot be read counts as none.
    #[must_use]
    pub fn from_api_version_and_kind(api_version: &str, kind: &str) -> GroupVersionKind {
        GroupVersion::parse(api_version).unwrap_or_default().with_kind(kind)
    }

    /// What an object says it is.
    #[must_use]
    pub fn of(object: &Value) -> GroupVersionKind {
        let (api_version, kind) = (object.at("apiVersion").str(), object.at("kind").str());
        GroupVersionKind::from_api_version_and_kind(api_version, kind)
    }

    /// Both possible readings of `Kind.group` and `Kind.version.group`: with a version, when there
    /// are two dots, and without.
    #[must_use]
    pub fn parse_argument(text: &str) -> (Option<GroupVersionKind>, GroupKind) {
        let full = split_argument(text);
        let full = full.map(|[kind, version, group]| GroupVersionKind::new(group, version, kind));
        (full, GroupKind::parse(text))
    }

    /// Whether nothing is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.version.is_empty() && self.kind.is_empty()
    }

    /// Without the version.
    #[must_use]
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group.clone(), kind: self.kind.clone() }
    }

    /// Without the kind.
    #[must_use]
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion { group: self.group.clone(), version: self.version.clone() }
    }

    /// The `apiVersion` of its objects.
    #[must_use]
    pub fn api_version(&self) -> String {
        self.group_version().to_string()
    }
}

impl GroupVersionResource {
    /// From its parts.
    #[must_use]
    pub fn new(group: &str, version: &str, resource: &str) -> GroupVersionResource {
        GroupVersion::new(group, version).with_resource(resource)
    }

    /// Both possible readings of `resource.group` and `resource.version.group`.
    #[must_use]
    pub fn parse_argument(text: &str) -> (Option<GroupVersionResource>, GroupResource) {
        let full = split_argument(text)
            .map(|[resource, version, group]| GroupVersionResource::new(group, version, resource));
        (full, GroupResource::parse(text))
    }

    /// Whether nothing is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.version.is_empty() && self.resource.is_empty()
    }

    /// Without the version.
    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.group.clone(), resource: self.resource.clone() }
    }

    /// Without the resource.
    #[must_use]
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion { group: self.group.clone(), version: self.version.clone() }
    }
}

impl GroupKind {
    /// From its parts.
    #[must_use]
    pub fn new(group: &str, kind: &str) -> GroupKind {
        GroupKind { group: Str::new(group), kind: Str::new(kind) }
    }

    /// Reads `Kind.group`.
    #[must_use]
    pub fn parse(text: &str) -> GroupKind {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        GroupKind::new(group, kind)
    }

    /// Whether nothing is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.kind.is_empty()
    }

    /// In a version.
    #[must_use]
    pub fn with_version(&self, version: &str) -> GroupVersionKind {
        GroupVersionKind::new(&self.group, version, &self.kind)
    }
}

impl GroupResource {
    /// From its parts.
    #[must_use]
    pub fn new(group: &str, resource: &str) -> GroupResource {
        GroupResource { group: Str::new(group), resource: Str::new(resource) }
    }

    /// Reads `resource.group`.
    #[must_use]
    pub fn parse(text: &str) -> GroupResource {
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        GroupResource::new(group, resource)
    }

    /// Whether nothing is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.resource.is_empty()
    }

    /// In a version.
    #[must_use]
    pub fn with_version(&self, version: &str) -> GroupVersionResource {
        GroupVersionResource::new(&self.group, version, &self.resource)
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.group.is_empty() {
            write!(out, "{}/", self.group)?;
        }
        out.write_str(&self.version)
    }
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

impl fmt::Display for GroupVersionResource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}, Resource={}", self.group, self.version, self.resource)
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_qualified(&self.kind, &self.group, out)
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_qualified(&self.resource, &self.group, out)
    }
}

fn split_argument(text: &str) -> Option<[&str; 3]> {
    let (name, rest) = text.split_once('.')?;
    let (version, group) = rest.split_once('.')?;
    Some([name, version, group])
}

fn write_qualified(name: &str, group: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_str(name)?;
    if !group.is_empty() {
        write!(out, ".{group}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_version_has_at_most_one_slash() {
        let check = |text: &str, expect: Result<(&str, &str), &str>| {
            let seen = GroupVersion::parse(text);
            let expect = expect.map(|(group, version)| GroupVersion::new(group, version));
            assert_eq!(seen.map_err(|error| error.to_string()), expect.map_err(str::to_owned));
        };
        check("", Ok(("", "")));
        check("/", Ok(("", "")));
        check("v1", Ok(("", "v1")));
        check("apps/v1", Ok(("apps", "v1")));
        check("/v1", Ok(("", "v1")));
        check("apps/", Ok(("apps", "")));
        check("a/b/c", Err("unexpected GroupVersion string: a/b/c"));
    }

    #[test]
    fn names_print_as_upstream_prints_them() {
        let apps = GroupVersion::new("apps", "v1");
        let core = GroupVersion::new("", "v1");
        let check = |seen: &dyn fmt::Display, expect: &str| assert_eq!(seen.to_string(), expect);
        check(&apps, "apps/v1");
        check(&core, "v1");
        check(&apps.with_kind("Deployment"), "apps/v1, Kind=Deployment");
        check(&core.with_kind("Pod"), "/v1, Kind=Pod");
        check(&core.with_resource("pods"), "/v1, Resource=pods");
        check(&apps.with_kind("Deployment").group_kind(), "Deployment.apps");
        check(&core.with_kind("Pod").group_kind(), "Pod");
        check(&apps.with_resource("deployments").group_resource(), "deployments.apps");
        check(&core.with_resource("pods").group_resource(), "pods");
        check(&apps.with_kind("Deployment").api_version(), "apps/v1");
    }

    #[test]
    fn an_argument_with_two_dots_may_name_a_version() {
        let check = |text: &str, full: Option<[&str; 3]>, short: [&str; 2]| {
            let kind =
                full.map(|[group, version, kind]| GroupVersionKind::new(group, version, kind));
            let seen = GroupVersionKind::parse_argument(text);
            assert_eq!(seen, (kind, GroupKind::new(short[0], short[1])));
            let resource = full.map(|[group, version, resource]| {
                GroupVersionResource::new(group, version, resource)
            });
            let seen = GroupVersionResource::parse_argument(text);
            assert_eq!(seen, (resource, GroupResource::new(short[0], short[1])));
        };
        check("x", None, ["", "x"]);
        check("x.apps", None, ["apps", "x"]);
        check("x.v1.apps", Some(["apps", "v1", "x"]), ["v1.apps", "x"]);
        check("x.v1.a.b", Some(["a.b", "v1", "x"]), ["v1.a.b", "x"]);
        check("", None, ["", ""]);
    }

    #[test]
    fn what_an_object_is_comes_from_its_two_fields() {
        let object = Value::from([("apiVersion", "apps/v1"), ("kind", "Deployment")]);
        let expect = GroupVersionKind::new("apps", "v1", "Deployment");
        assert_eq!(GroupVersionKind::of(&object), expect);
        let bad = GroupVersionKind::from_api_version_and_kind("a/b/c", "X");
        assert_eq!(bad, GroupVersionKind::new("", "", "X"));
    }
}
