//! What clients can read about the API: OpenAPI documents, version 3 and version 2.
//!
//! Everything comes from the [`Schema`] and the list of [`Resource`]s; no kind has code here. The
//! documents say what upstream's say (`kube-openapi/pkg/builder`, `builder3` and the routes of
//! `apiserver/pkg/endpoints/installer.go`): the same schemas under the same names, the same
//! defaults, the same paths, operations and parameters. They have no prose.
//!
//! The protobuf form of the version 2 document is in [`gnostic`]. Not here: the index of the
//! version 3 documents.

mod custom;
pub mod gnostic;
mod operations;
mod paths;
mod schemas;
mod shapes;
mod v2;
mod v3;

use std::collections::{BTreeSet, HashMap};

pub use custom::CustomSchema;

use crate::kind::Resource;
use crate::schema::{Schema, Struct};
use crate::value::{Str, Value};

/// The package of object metadata, options and status.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Structs of [`META`] that are kinds of every group version.
const EVERYWHERE: [&str; 2] = ["DeleteOptions", "WatchEvent"];

/// The OpenAPI documents of a server.
///
/// ```
/// use orlop_machinery::kind::Resource;
/// use orlop_machinery::openapi::Documents;
/// use orlop_machinery::schema::parse;
///
/// let text = "package com.example.v1\nShip\n kind string -\n apiVersion string -\n name string 1";
/// let schema = parse(&[text]).unwrap();
/// let ships = Resource::namespaced(("example.com", "v1"), "Ship", "ships", "com.example.v1");
/// let documents = Documents::new(&schema, [&ships]);
/// assert_eq!(documents.names(), ["apis", "apis/example.com", "apis/example.com/v1"]);
/// let document = documents.v3("apis/example.com/v1").unwrap();
/// let path = "/apis/example.com/v1/namespaces/{namespace}/ships/{name}";
/// let patch = document.path(&["paths", path, "patch"]);
/// assert_eq!(patch.at("operationId").str(), "patchExampleComV1NamespacedShip");
/// ```
pub struct Documents<'a> {
    schema: &'a Schema,
    resources: Vec<&'a Resource>,
    /// The group and the version of each package of structs.
    packages: HashMap<&'a str, (&'a str, &'a str)>,
    /// The custom resources among them, by the name of their schema and by that of their lists.
    custom: HashMap<Str, (&'a Resource, CustomSchema<'a>)>,
}

/// A kind with its group and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GroupVersionKind<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
}

/// Which version of OpenAPI a document is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// Version 2: without defaults, and a reference may have siblings.
    V2,
    /// Version 3.
    V3,
}

impl<'a> Documents<'a> {
    /// The documents of these resources, whose structs are in `schema`.
    pub fn new(
        schema: &'a Schema,
        resources: impl IntoIterator<Item = &'a Resource>,
    ) -> Documents<'a> {
        let resources: Vec<&Resource> = resources.into_iter().collect();
        let mut packages = HashMap::from([(META, ("", "v1"))]);
        for resource in &resources {
            let group_version = (resource.group.as_str(), resource.version.as_str());
            packages.insert(package(&resource.schema_name), group_version);
        }
        Documents { schema, resources, packages, custom: HashMap::new() }
    }

    /// The same, and custom resources.
    #[must_use]
    pub fn with_custom(
        mut self,
        resources: impl IntoIterator<Item = (&'a Resource, CustomSchema<'a>)>,
    ) -> Documents<'a> {
        for (resource, schema) in resources {
            self.resources.push(resource);
            self.custom.insert(resource.schema_name.clone(), (resource, schema));
            self.custom.insert(list_name(resource), (resource, schema));
        }
        self
    }

    /// The names of the version 3 documents, sorted: paths without the slash before them. Groups of
    /// custom resources have documents of their versions only.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        for (group, version) in self.group_versions() {
            if self.is_custom_group(group) {
                names.insert(format!("{}/{version}", group_path(group)));
                continue;
            }
            let group_path = group_path(group);
            let root = group_path.split('/').next().unwrap_or_default();
            names.insert(root.to_owned());
            names.insert(format!("{group_path}/{version}"));
            names.insert(group_path);
        }
        names.into_iter().collect()
    }

    /// The version 3 document of this name, as it stands in [`Documents::names`].
    #[must_use]
    pub fn v3(&self, name: &str) -> Option<Value> {
        v3::document(self, name)
    }

    /// The version 2 document.
    #[must_use]
    pub fn v2(&self) -> Value {
        v2::document(self)
    }

    /// What is served, each once, sorted.
    fn group_versions(&self) -> BTreeSet<(&'a str, &'a str)> {
        self.resources
            .iter()
            .map(|resource| (resource.group.as_str(), resource.version.as_str()))
            .collect()
    }

    /// Whether all resources of a group are custom.
    fn is_custom_group(&self, group: &str) -> bool {
        let mut of_group = self.resources.iter().filter(|resource| resource.group == group);
        of_group.all(|resource| self.is_custom(resource))
    }

    fn is_custom(&self, resource: &Resource) -> bool {
        self.custom.contains_key(&resource.schema_name)
    }

    /// The schema of this name, if it is that of a custom resource or its lists.
    fn custom_schema(&self, name: &str, dialect: Dialect) -> Option<Value> {
        let (resource, schema) = *self.custom.get(name)?;
        Some(match resource.schema_name == name {
            true => custom::object(resource, schema, dialect),
            false => custom::list(resource, schema, dialect),
        })
    }

    /// The resources of a group version.
    fn resources_of(&self, group: &str, version: &str) -> impl Iterator<Item = &'a Resource> {
        let all = self.resources.iter().copied();
        all.filter(move |resource| resource.group == group && resource.version == version)
    }

    /// The name of the struct of a kind.
    fn struct_name(&self, kind: GroupVersionKind<'_>) -> Option<Str> {
        let mut packages =
            self.packages.iter().filter(|(_, of)| **of == (kind.group, kind.version));
        packages.find_map(|(package, _)| {
            let name = format!("{package}.{}", kind.kind);
            self.schema.find(&name).map(|id| self.schema.get(id).name.clone())
        })
    }

    /// The kinds of a struct in the document of one group version, or in that of all.
    fn kinds<'b>(
        &'b self,
        name: &'b str,
        document: Option<(&'b str, &'b str)>,
    ) -> Vec<GroupVersionKind<'b>> {
        let (package, kind) = name.rsplit_once('.').unwrap_or_default();
        let Some(&(group, version)) = self.packages.get(package) else { return Vec::new() };
        let own = GroupVersionKind { group, version, kind };
        if package == META && EVERYWHERE.contains(&kind) {
            let mut all = match document {
                Some(document) => BTreeSet::from([document]),
                None => self.group_versions(),
            };
            all.insert((group, version));
            let kinds = all.into_iter();
            return kinds
                .map(|(group, version)| GroupVersionKind { group, version, kind })
                .collect();
        }
        match self.schema.find(name) {
            Some(id) if is_kind(self.schema.get(id)) => vec![own],
            _ => Vec::new(),
        }
    }
}

impl From<GroupVersionKind<'_>> for Value {
    fn from(of: GroupVersionKind<'_>) -> Value {
        Value::from([("group", of.group), ("kind", of.kind), ("version", of.version)])
    }
}

/// A kind declares its kind and version first, and they travel outside its message.
fn is_kind(of: &Struct) -> bool {
    let mut first = of.in_order().map(|field| (field.name.as_str(), field.tag.is_none()));
    first.next() == Some(("kind", true)) && first.next() == Some(("apiVersion", true))
}

/// The name of the schema of lists of a resource.
fn list_name(resource: &Resource) -> Str {
    Str::from(format!("{}.{}", package(&resource.schema_name), resource.list_kind))
}

/// The package in the name of a struct.
fn package(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(package, _)| package)
}

/// `apis/apps`, or `api` for core.
fn group_path(group: &str) -> String {
    match group {
        "" => "api".to_owned(),
        group => format!("apis/{group}"),
    }
}

/// What both versions say about the whole.
fn info() -> Value {
    Value::from([("title", "Kubernetes"), ("version", "unversioned")])
}

/// How clients prove who they are.
fn security_scheme() -> Value {
    let bearer = Value::from([
        ("description", "Bearer Token authentication"),
        ("in", "header"),
        ("name", "authorization"),
        ("type", "apiKey"),
    ]);
    Value::from([("BearerToken", bearer)])
}
