//! From kinds to resources and back.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/api/meta/{restmapper,errors}.go`; short names and
//! categories as `client-go/restmapper` expands them. What there is to map comes as a list of
//! [`Mapping`]s; several matches are told in the order of preferred versions. Where upstream finds
//! one resource twice, because its singular is its plural, it counts once here.

mod error;

use std::collections::HashMap;

pub use error::MapError;

use crate::group_version::{
    GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource,
};
use crate::meta::Scope;
use crate::value::Str;

/// A kind and its resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The resource, by its plural name.
    pub resource: GroupVersionResource,
    /// The kind of its objects.
    pub kind: GroupVersionKind,
    /// The name of one, such as `pod`; may be empty.
    pub singular: Str,
    /// Where its objects live.
    pub scope: Scope,
    /// Names that take less typing, such as `po`.
    pub short_names: Vec<Str>,
    /// Names for several resources together, such as `all`.
    pub categories: Vec<Str>,
}

/// All mappings.
#[derive(Clone, Debug, Default)]
pub struct RestMapper {
    mappings: Vec<Mapping>,
    /// Where a version comes in the order of preference.
    preference: HashMap<GroupVersion, usize>,
    /// In that order.
    preferred: Vec<GroupVersion>,
    /// Positions in `mappings`.
    by_kind: HashMap<GroupVersionKind, usize>,
    /// Positions in `mappings`, by plural and by singular.
    by_name: HashMap<Str, Vec<usize>>,
}

impl RestMapper {
    /// Of these mappings; versions in the order in which they are preferred.
    #[must_use]
    pub fn new(mappings: Vec<Mapping>, preferred: Vec<GroupVersion>) -> RestMapper {
        let mut mapper = RestMapper { preferred, ..RestMapper::default() };
        let numbered = mapper.preferred.iter().cloned().zip(0..);
        mapper.preference = numbered.collect();
        for (at, mapping) in mappings.iter().enumerate() {
            mapper.by_kind.insert(mapping.kind.clone(), at);
            let plural = &mapping.resource.resource;
            mapper.by_name.entry(plural.clone()).or_default().push(at);
            if mapping.singular != *plural && !mapping.singular.is_empty() {
                mapper.by_name.entry(mapping.singular.clone()).or_default().push(at);
            }
        }
        mapper.mappings = mappings;
        mapper
    }

    /// All mappings, as they were given.
    #[must_use]
    pub fn all(&self) -> &[Mapping] {
        &self.mappings
    }

    /// The resources that a partial name can mean: plural or singular, with or without group and
    /// version. The start of a group is enough if no group has the whole name.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn resources_for(
        &self,
        partial: &GroupVersionResource,
    ) -> Result<Vec<GroupVersionResource>, MapError> {
        let partial = coerced(partial)?;
        let found = self.find(&partial);
        if found.is_empty() {
            return Err(MapError::NoResource(partial));
        }
        Ok(found.iter().map(|mapping| mapping.resource.clone()).collect())
    }

    /// The one resource that a partial name means.
    ///
    /// # Errors
    ///
    /// When there is none, or more than one.
    pub fn resource_for(
        &self,
        partial: &GroupVersionResource,
    ) -> Result<GroupVersionResource, MapError> {
        let mut resources = self.resources_for(partial)?;
        match resources.len() {
            1 => Ok(resources.remove(0)),
            _ => Err(MapError::AmbiguousResource {
                partial: partial.clone(),
                resources,
                kinds: vec![],
            }),
        }
    }

    /// The kinds that a partial name of a resource can mean.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn kinds_for(
        &self,
        partial: &GroupVersionResource,
    ) -> Result<Vec<GroupVersionKind>, MapError> {
        let found = self.find(&coerced(partial)?);
        if found.is_empty() {
            return Err(MapError::NoResource(partial.clone()));
        }
        Ok(found.iter().map(|mapping| mapping.kind.clone()).collect())
    }

    /// The one kind that a partial name of a resource means.
    ///
    /// # Errors
    ///
    /// When there is none, or more than one.
    pub fn kind_for(&self, partial: &GroupVersionResource) -> Result<GroupVersionKind, MapError> {
        let mut kinds = self.kinds_for(partial)?;
        match kinds.len() {
            1 => Ok(kinds.remove(0)),
            _ => Err(MapError::AmbiguousResource {
                partial: partial.clone(),
                resources: vec![],
                kinds,
            }),
        }
    }

    /// The mapping of a kind in the first of these versions that has it; without versions, in the
    /// preferred one.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn mapping(&self, kind: &GroupKind, versions: &[&str]) -> Result<&Mapping, MapError> {
        let wanted: Vec<&str> =
            versions.iter().copied().filter(|version| is_given(version)).collect();
        if !wanted.is_empty() {
            let found = wanted.iter().find_map(|version| self.of_kind(kind, version));
            return found.ok_or_else(|| no_kind(kind, versions));
        }
        let mut preferred =
            self.preferred.iter().filter(|known| known.group == kind.group).peekable();
        if preferred.peek().is_none() {
            return Err(no_kind(kind, versions));
        }
        let found = preferred.find_map(|known| self.of_kind(kind, &known.version));
        found.ok_or_else(|| {
            MapError::NoResource(GroupVersionResource::new(&kind.group, "", &kind.kind))
        })
    }

    /// The singular of a resource: `pod` of `pods`.
    ///
    /// # Errors
    ///
    /// When there is no such resource, or it has none, or there are several.
    pub fn singular_for(&self, name: &str) -> Result<Str, MapError> {
        let partial = coerced(&GroupVersionResource::new("", "", name))?;
        let found = self.find(&partial);
        if found.is_empty() {
            return Err(MapError::NoResource(partial));
        }
        let mut singulars =
            found.iter().map(|mapping| &mapping.singular).filter(|name| !name.is_empty());
        let Some(first) = singulars.next() else {
            return Err(MapError::NoSingular(Str::new(name)));
        };
        if singulars.any(|other| other != first) {
            let resources = found.iter().map(|mapping| mapping.resource.clone()).collect();
            return Err(MapError::SeveralSingulars { resources, name: Str::new(name) });
        }
        Ok(first.clone())
    }

    /// A short name as the resource that it stands for; what is none stays as it is.
    #[must_use]
    pub fn expand_short_name(&self, partial: &GroupVersionResource) -> GroupVersionResource {
        let is_of_group =
            |mapping: &Mapping| partial.group.is_empty() || mapping.resource.group == partial.group;
        let positions = self.by_name.get(&partial.resource).map_or(&[][..], Vec::as_slice);
        if positions.iter().any(|at| is_of_group(&self.mappings[*at])) {
            return partial.clone();
        }
        let is_short = |mapping: &&Mapping| mapping.short_names.contains(&partial.resource);
        let starts_group = |mapping: &&Mapping| {
            !partial.group.is_empty() && mapping.resource.group.starts_with(partial.group.as_str())
        };
        let exact = self.mappings.iter().filter(is_short).find(|mapping| is_of_group(mapping));
        let found = exact.or_else(|| self.mappings.iter().filter(is_short).find(starts_group));
        found.map_or_else(
            || partial.clone(),
            |mapping| GroupVersionResource {
                group: mapping.resource.group.clone(),
                version: partial.version.clone(),
                resource: mapping.resource.resource.clone(),
            },
        )
    }

    /// The resources of a category, each once; none when nothing is in it.
    #[must_use]
    pub fn expand_category(&self, category: &str) -> Vec<GroupResource> {
        let mut resources: Vec<GroupResource> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for mapping in &self.mappings {
            let resource = mapping.resource.group_resource();
            if mapping.categories.iter().any(|name| name == category)
                && seen.insert(resource.clone())
            {
                resources.push(resource);
            }
        }
        resources
    }

    fn of_kind(&self, kind: &GroupKind, version: &str) -> Option<&Mapping> {
        self.by_kind.get(&kind.with_version(version)).map(|at| &self.mappings[*at])
    }

    /// All that a partial name can mean, in order of preference.
    fn find(&self, partial: &GroupVersionResource) -> Vec<&Mapping> {
        let positions = self.by_name.get(&partial.resource).map_or(&[][..], Vec::as_slice);
        let has_version = |mapping: &&Mapping| {
            partial.version.is_empty() || mapping.resource.version == partial.version
        };
        let by_group = |is_of_group: &dyn Fn(&str) -> bool| -> Vec<&Mapping> {
            let named = positions.iter().map(|at| &self.mappings[*at]).filter(has_version);
            named.filter(|mapping| is_of_group(&mapping.resource.group)).collect()
        };
        let group = partial.group.as_str();
        let mut found = match group {
            "" => by_group(&|_| true),
            group => by_group(&|known| known == group),
        };
        if found.is_empty() && partial.version.is_empty() {
            found = by_group(&|known| known.starts_with(group));
        }
        found.sort_by_key(|mapping| {
            let version = mapping.resource.group_version();
            let rank = self.preference.get(&version).copied().unwrap_or(usize::MAX);
            (rank, &mapping.resource)
        });
        found
    }
}

/// What the resource of a kind is called if nobody knows better: `pods` and `pod` of `Pod`.
#[must_use]
pub fn guess_resource(kind: &GroupVersionKind) -> (GroupVersionResource, GroupVersionResource) {
    if kind.kind.is_empty() {
        return Default::default();
    }
    let singular = kind.kind.as_str().to_lowercase();
    let plural = match singular.as_bytes().last() {
        _ if singular.ends_with("endpoints") => singular.clone(),
        Some(b's') => format!("{singular}es"),
        Some(b'y') => format!("{}ies", &singular[..singular.len() - 1]),
        _ => format!("{singular}s"),
    };
    let version = kind.group_version();
    (version.with_resource(&plural), version.with_resource(&singular))
}

/// As names are compared: in lower case, and without the version that only Go programs have.
fn coerced(partial: &GroupVersionResource) -> Result<GroupVersionResource, MapError> {
    let version = if is_given(&partial.version) { partial.version.as_str() } else { "" };
    let resource = partial.resource.as_str().to_lowercase();
    let partial = GroupVersionResource::new(&partial.group, version, &resource);
    if resource.is_empty() { Err(MapError::NothingNamed(partial)) } else { Ok(partial) }
}

fn is_given(version: &str) -> bool {
    !matches!(version, "" | "__internal")
}

fn no_kind(kind: &GroupKind, versions: &[&str]) -> MapError {
    let versions = versions.iter().map(Str::new).collect();
    MapError::NoKind { kind: kind.clone(), versions }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `group/version plural singular Kind short,names categories`
    fn mapper(lines: &[&str], preferred: &[&str]) -> RestMapper {
        let split = |word: &str| {
            word.split(',').filter(|name| *name != "-").map(Str::new).collect::<Vec<_>>()
        };
        let parse = |line: &&str| {
            let words: Vec<&str> = line.split(' ').collect();
            let version = GroupVersion::parse(words[0]).unwrap();
            Mapping {
                resource: version.with_resource(words[1]),
                kind: version.with_kind(words[3]),
                singular: Str::new(words[2]),
                scope: Scope::Namespaced,
                short_names: split(words[4]),
                categories: split(words[5]),
            }
        };
        let preferred = preferred.iter().map(|text| GroupVersion::parse(text).unwrap()).collect();
        RestMapper::new(lines.iter().map(parse).collect(), preferred)
    }

    fn sample() -> RestMapper {
        let lines = [
            "v1 pods pod Pod po all",
            "v1 endpoints endpoints Endpoints ep -",
            "v1 events event Event ev -",
            "events.k8s.io/v1 events event Event ev -",
            "apps/v1 deployments deployment Deployment deploy all",
            "apps/v1beta1 deployments deployment Deployment deploy all",
            "storage.k8s.io/v1 storageclasses storageclass StorageClass sc -",
            "metrics.k8s.io/v1 pods pod PodMetrics - -",
        ];
        let preferred = [
            "v1",
            "events.k8s.io/v1",
            "apps/v1",
            "apps/v1beta1",
            "storage.k8s.io/v1",
            "metrics.k8s.io/v1",
            "empty/v1",
        ];
        mapper(&lines, &preferred)
    }

    /// Reads `resource`, `resource.group` and, with a colon before it, `resource.version.group`.
    fn name(text: &str) -> GroupVersionResource {
        match text.strip_prefix(':') {
            Some(text) => GroupVersionResource::parse_argument(text).0.unwrap(),
            None => GroupResource::parse(text).with_version(""),
        }
    }

    #[test]
    fn a_resource_is_found_by_any_part_of_its_name() {
        let mapper = sample();
        let check = |text: &str, expect: &str| {
            let resource = mapper.resource_for(&name(text)).map(|found| found.to_string());
            assert_eq!(resource.unwrap_or_else(|error| error.to_string()), expect);
        };
        check("endpoints", "/v1, Resource=endpoints");
        check("StorageClass", "storage.k8s.io/v1, Resource=storageclasses");
        check("storageclass.storage", "storage.k8s.io/v1, Resource=storageclasses");
        check("events.events.k8s.io", "events.k8s.io/v1, Resource=events");
        check(":deployment.v1.apps", "apps/v1, Resource=deployments");
        check(":deployments.v1beta1.apps", "apps/v1beta1, Resource=deployments");
        check(
            "deployments",
            "/, Resource=deployments matches multiple resources [apps/v1, Resource=deployments \
             apps/v1beta1, Resource=deployments]",
        );
        check("Nothing", "no matches for /, Resource=nothing");
        check("nothing.apps", "no matches for apps/, Resource=nothing");
        check(":storageclass.v1.storage", "no matches for storage/v1, Resource=storageclass");
        check("", "a resource must be present, got: /, Resource=");
    }

    #[test]
    fn a_kind_is_found_by_its_resource() {
        let mapper = sample();
        let check = |text: &str, expect: &str| {
            let kind = mapper.kind_for(&name(text)).map(|found| found.to_string());
            assert_eq!(kind.unwrap_or_else(|error| error.to_string()), expect);
        };
        check(":pods.__internal.metrics.k8s.io", "metrics.k8s.io/v1, Kind=PodMetrics");
        check(
            "pods",
            "/, Resource=pods matches multiple kinds [/v1, Kind=Pod metrics.k8s.io/v1, \
             Kind=PodMetrics]",
        );
        check("Nothing", "no matches for /, Resource=Nothing");
    }

    #[test]
    fn a_kind_has_a_resource_in_a_version() {
        let mapper = sample();
        let check = |kind: &str, versions: &[&str], expect: &str| {
            let found = mapper.mapping(&GroupKind::parse(kind), versions);
            let found = found.map(|mapping| mapping.resource.to_string());
            assert_eq!(found.unwrap_or_else(|error| error.to_string()), expect);
        };
        check("Deployment.apps", &[], "apps/v1, Resource=deployments");
        check("Deployment.apps", &["v9", "v1beta1", "v1"], "apps/v1beta1, Resource=deployments");
        check("Deployment.apps", &["", "__internal"], "apps/v1, Resource=deployments");
        check("Pod", &["v1"], "/v1, Resource=pods");
        check("X.none", &[], "no matches for kind \"X\" in group \"none\"");
        check("X.apps", &["v1"], "no matches for kind \"X\" in version \"apps/v1\"");
        check(
            "X.apps",
            &["v2", "v1", "v2"],
            "no matches for kind \"X\" in versions [\"apps/v1\" \"apps/v2\"]",
        );
        check("X", &["v2"], "no matches for kind \"X\" in version \"v2\"");
        check("X.empty", &[], "no matches for empty/, Resource=X");
    }

    #[test]
    fn a_resource_has_a_singular() {
        let lines = ["a/v1 things thing A - -", "b/v1 things stuff B - -", "c/v1 bare  C - -"];
        let mapper = mapper(&lines, &[]);
        let check = |text: &str, expect: &str| {
            let found = mapper.singular_for(text);
            assert_eq!(found.unwrap_or_else(|error| error.to_string().into()), expect);
        };
        check("stuff", "stuff");
        check("bare", "no singular of resource bare has been defined");
        check(
            "things",
            "multiple possible singular resources ([a/v1, Resource=things b/v1, Resource=things]) \
             found for things",
        );
        check("x", "no matches for /, Resource=x");
        assert_eq!(sample().singular_for("pods").unwrap(), "pod");
    }

    #[test]
    fn short_names_stand_for_resources() {
        let mapper = sample();
        let check = |text: &str, expect: &str| {
            assert_eq!(mapper.expand_short_name(&name(text)).to_string(), expect);
        };
        check("po", "/, Resource=pods");
        check("ev", "/, Resource=events");
        check("ev.events.k8s.io", "events.k8s.io/, Resource=events");
        check("ev.events", "events.k8s.io/, Resource=events");
        check(":deploy.v1beta1.apps", "apps/v1beta1, Resource=deployments");
        check("pods", "/, Resource=pods");
        check("x", "/, Resource=x");
        check("po.apps", "apps/, Resource=po");
    }

    #[test]
    fn a_category_is_several_resources() {
        let all: Vec<String> =
            sample().expand_category("all").iter().map(ToString::to_string).collect();
        assert_eq!(all, ["pods", "deployments.apps"]);
        assert!(sample().expand_category("none").is_empty());
    }

    #[test]
    fn a_plural_is_guessed_in_english() {
        let check = |kind: &str, plural: &str, singular: &str| {
            let (found_plural, found_singular) =
                guess_resource(&GroupVersionKind::new("g", "v", kind));
            assert_eq!(
                (found_plural.resource.as_str(), found_singular.resource.as_str()),
                (plural, singular)
            );
        };
        check("Pod", "pods", "pod");
        check("Ingress", "ingresses", "ingress");
        check("NetworkPolicy", "networkpolicies", "networkpolicy");
        check("Endpoints", "endpoints", "endpoints");
        check("MyEndpoints", "myendpoints", "myendpoints");
        let (plural, singular) = guess_resource(&GroupVersionKind::new("g", "v", ""));
        assert!(plural.is_empty() && singular.is_empty());
    }
}
