//! The names of a kind and what can be done with it: what discovery tells.

use crate::meta::Scope;
use crate::shared::Shared;
use crate::value::Str;

use super::Rules;

/// What a client can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Make one.
    Create,
    /// Delete one.
    Delete,
    /// Delete many.
    DeleteCollection,
    /// Read one.
    Get,
    /// Read many.
    List,
    /// Change some fields of one.
    Patch,
    /// Replace one.
    Update,
    /// Follow changes.
    Watch,
}

/// A resource: a kind as it is served.
#[derive(Clone)]
pub struct Resource {
    /// The API group; empty for core.
    pub group: Str,
    /// The version.
    pub version: Str,
    /// The kind, such as `Deployment`.
    pub kind: Str,
    /// The kind of lists of it, such as `DeploymentList`.
    pub list_kind: Str,
    /// The name in paths, such as `deployments`.
    pub plural: Str,
    /// The lower-case kind.
    pub singular: Str,
    /// Such as `deploy`.
    pub short_names: Vec<Str>,
    /// Such as `all`.
    pub categories: Vec<Str>,
    /// Where its objects live.
    pub scope: Scope,
    /// What can be done with it, sorted.
    pub verbs: Vec<Verb>,
    /// Those that discovery tells of; none if it does not tell of the resource at all.
    pub announced_verbs: Vec<Verb>,
    /// The name of its struct in the schema.
    pub schema_name: Str,
    /// Whether a deletion answers with the object instead of a status.
    pub returns_deleted: bool,
    /// What else can be done with one object, sorted by name.
    pub subresources: Vec<Subresource>,
}

/// Something that can be done with one object, under a name of its own.
#[derive(Clone)]
pub struct Subresource {
    /// Such as `status`.
    pub name: &'static str,
    /// Group, version and kind of what is read and written there, when it is not the object.
    pub kind: Option<(&'static str, &'static str, &'static str)>,
    /// What can be done with it, sorted.
    pub verbs: &'static [Verb],
    /// What happens to an object that is written there; none where it is not a change of the
    /// object itself (a log, a shell, a token).
    pub rules: Option<Shared<dyn Rules>>,
}

impl Verb {
    /// All of them: what most resources can do.
    pub const ALL: [Verb; 8] = [
        Verb::Create,
        Verb::Delete,
        Verb::DeleteCollection,
        Verb::Get,
        Verb::List,
        Verb::Patch,
        Verb::Update,
        Verb::Watch,
    ];

    /// The verb as discovery and access rules spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Patch => "patch",
            Verb::Update => "update",
            Verb::Watch => "watch",
        }
    }
}

impl Resource {
    /// A resource whose objects live in namespaces, with all verbs. `package` is the package of
    /// its struct in the schema, such as `io.k8s.api.apps.v1`.
    #[must_use]
    pub fn namespaced(
        (group, version): (&'static str, &'static str),
        kind: &'static str,
        plural: &'static str,
        package: &str,
    ) -> Resource {
        Resource {
            group: Str::const_new(group),
            version: Str::const_new(version),
            kind: Str::const_new(kind),
            list_kind: Str::from(format!("{kind}List")),
            plural: Str::const_new(plural),
            singular: Str::new(kind.to_ascii_lowercase()),
            short_names: Vec::new(),
            categories: Vec::new(),
            scope: Scope::Namespaced,
            verbs: Verb::ALL.to_vec(),
            announced_verbs: Verb::ALL.to_vec(),
            schema_name: Str::new(format!("{package}.{kind}")),
            returns_deleted: false,
            subresources: Vec::new(),
        }
    }

    /// The same for the cluster as a whole.
    #[must_use]
    pub fn cluster(
        group_version: (&'static str, &'static str),
        kind: &'static str,
        plural: &'static str,
        package: &str,
    ) -> Resource {
        let resource = Resource::namespaced(group_version, kind, plural, package);
        Resource { scope: Scope::Cluster, ..resource }
    }

    /// With short names.
    #[must_use]
    pub fn short(mut self, names: &[&'static str]) -> Resource {
        self.short_names = names.iter().map(|name| Str::const_new(name)).collect();
        self
    }

    /// With categories.
    #[must_use]
    pub fn categories(mut self, names: &[&'static str]) -> Resource {
        self.categories = names.iter().map(|name| Str::const_new(name)).collect();
        self
    }

    /// With only these verbs, sorted.
    #[must_use]
    pub fn verbs(mut self, verbs: &[Verb]) -> Resource {
        self.verbs = verbs.to_vec();
        self.announced_verbs = verbs.to_vec();
        self
    }

    /// With deletions that answer with the object.
    #[must_use]
    pub fn returns_deleted(mut self) -> Resource {
        self.returns_deleted = true;
        self
    }

    /// With a subresource.
    #[must_use]
    pub fn subresource(mut self, new: Subresource) -> Resource {
        self.subresources.push(new);
        self.subresources.sort_by_key(|known| known.name);
        self
    }

    /// With a `status` that is written on its own.
    #[must_use]
    pub fn status(self, rules: &'static dyn Rules) -> Resource {
        self.subresource(Subresource {
            name: "status",
            kind: None,
            verbs: &[Verb::Get, Verb::Patch, Verb::Update],
            rules: Some(Shared::Static(rules)),
        })
    }

    /// With a `scale`, as autoscalers and `kubectl scale` use it.
    #[must_use]
    pub fn scale(self) -> Resource {
        self.subresource(Subresource {
            name: "scale",
            kind: Some(("autoscaling", "v1", "Scale")),
            verbs: &[Verb::Get, Verb::Patch, Verb::Update],
            rules: None,
        })
    }

    /// `apps/v1`, or `v1` for core.
    #[must_use]
    pub fn api_version(&self) -> Str {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => Str::from(format!("{group}/{}", self.version)),
        }
    }
}
