//! Which operations there are at which paths.
//!
//! After `registerResourceHandlers` in upstream's `apiserver/pkg/endpoints/installer.go`.

use std::collections::BTreeMap;

use super::operations::{self, Operation, Parameter, Place, Target};
use super::shapes::{
    DELETE, DELETE_COLLECTION, GET, LIST, PATCH, POST, PUT, Shape, WATCH, WATCH_LIST,
};
use super::{Documents, group_path};
use crate::kind::{Resource, Scope, Subresource, Verb};

/// Operations by path.
pub(super) type Paths<'a> = BTreeMap<String, Vec<Operation<'a>>>;

/// What methods a connection answers to, by what access rules call them. One that answers to all
/// of these answers to the last two as well, which access rules do not know.
const CONNECT_METHODS: [(Option<Verb>, &str); 7] = [
    (Some(Verb::Create), "post"),
    (Some(Verb::Delete), "delete"),
    (Some(Verb::Get), "get"),
    (Some(Verb::Patch), "patch"),
    (Some(Verb::Update), "put"),
    (None, "head"),
    (None, "options"),
];

/// The paths of a group version.
pub(super) fn of_group_version<'a>(
    documents: &'a Documents<'a>,
    group: &str,
    version: &str,
) -> Paths<'a> {
    let prefix = format!("/{}/{version}", group_path(group));
    let id = format!("get{}APIResources", operations::group_version_id(group, version));
    let resources = operations::discovery(id, operations::tag(group, version), "APIResourceList");
    let mut paths = Paths::new();
    if !documents.is_custom_group(group) {
        paths.insert(format!("{prefix}/"), vec![resources]);
    }
    for resource in documents.resources_of(group, version) {
        let is_custom = documents.is_custom(resource);
        let target = Target::new(documents, resource, None);
        add_resource(&mut paths, &prefix, (&target, is_custom), resource);
        for subresource in &resource.subresources {
            let target = Target::new(documents, resource, Some(subresource));
            add_subresource(&mut paths, &prefix, (&target, resource), subresource);
        }
    }
    paths
}

/// The path of a group: its versions.
pub(super) fn of_group(group: &str) -> Paths<'static> {
    let id = format!("get{}APIGroup", operations::group_version_id(group, ""));
    let operation = operations::discovery(id, operations::tag(group, ""), "APIGroup");
    Paths::from([(format!("/{}/", group_path(group)), vec![operation])])
}

/// The path of all groups, or of the versions of core.
pub(super) fn of_root(root: &str) -> Paths<'static> {
    let (id, tag, gives) = match root {
        "api" => ("getCoreAPIVersions", "core", "APIVersions"),
        _ => ("getAPIVersions", "apis", "APIGroupList"),
    };
    let operation = operations::discovery(id.to_owned(), tag.into(), gives);
    Paths::from([(format!("/{root}/"), vec![operation])])
}

/// The parameters that all operations of a path have, and so stand at the path.
pub(super) fn shared_parameters(operations: &[Operation<'_>]) -> Vec<Parameter> {
    let Some((first, rest)) = operations.split_first() else { return Vec::new() };
    let is_shared = |parameter: &&Parameter| {
        rest.iter().all(|other| other.parameters.binary_search(*parameter).is_ok())
    };
    first.parameters.iter().filter(is_shared).cloned().collect()
}

fn add_resource<'a>(
    paths: &mut Paths<'a>,
    prefix: &str,
    (target, is_custom): (&Target<'a>, bool),
    resource: &Resource,
) {
    // Nobody is told of the old way to watch custom resources.
    let has = |verb: Verb| resource.verbs.contains(&verb) && !(is_custom && verb == Verb::Watch);
    let mut add = |is_there: bool, shape: &Shape, place: &Place| {
        if is_there {
            let operation = target.operation(shape, place);
            paths.entry(place.path.clone()).or_default().push(operation);
        }
    };
    let watches_lists = has(Verb::List) && has(Verb::Watch);
    let all = collection(prefix, resource);
    add(has(Verb::List), &LIST, &all);
    add(has(Verb::Create), &POST, &all);
    add(has(Verb::DeleteCollection), &DELETE_COLLECTION, &all);
    let watch_prefix = format!("{prefix}/watch");
    add(watches_lists, &WATCH_LIST, &collection(&watch_prefix, resource));
    let one = object(prefix, resource);
    add(has(Verb::Get), &GET, &one);
    add(has(Verb::Update), &PUT, &one);
    add(has(Verb::Patch), &PATCH, &one);
    add(has(Verb::Delete), &DELETE, &one);
    add(has(Verb::Watch), &WATCH, &object(&watch_prefix, resource));
    if resource.scope == Scope::Namespaced {
        add(has(Verb::List), &LIST, &everywhere(prefix, resource));
        add(watches_lists, &WATCH_LIST, &everywhere(&watch_prefix, resource));
    }
}

fn add_subresource<'a>(
    paths: &mut Paths<'a>,
    prefix: &str,
    (target, resource): (&Target<'a>, &Resource),
    subresource: &Subresource,
) {
    let mut place = object(prefix, resource);
    place.path = format!("{}/{}", place.path, subresource.name);
    if let Some(options) = target.connect_options() {
        let methods = connect_methods(subresource.verbs);
        let connect =
            |place: &Place| methods.iter().map(|method| target.connection(method, place)).collect();
        paths.insert(place.path.clone(), connect(&place));
        if options.field("path").is_some() {
            place.path.push_str("/{path}");
            place.parameters.push(in_path("path"));
            place.suffix = "WithPath";
            paths.insert(place.path.clone(), connect(&place));
        }
        return;
    }
    let shapes = [
        (Verb::Get, GET),
        (Verb::Create, POST),
        (Verb::Update, PUT),
        (Verb::Patch, PATCH),
        (Verb::Delete, DELETE),
    ];
    let there = shapes.iter().filter(|(verb, _)| subresource.verbs.contains(verb));
    let operations: Vec<_> = there.map(|(_, shape)| target.operation(shape, &place)).collect();
    if !operations.is_empty() {
        paths.insert(place.path, operations);
    }
}

fn connect_methods(verbs: &[Verb]) -> Vec<&'static str> {
    let has = |verb: &Option<Verb>| verb.is_none_or(|verb| verbs.contains(&verb));
    let answers_to_all = CONNECT_METHODS.iter().all(|(verb, _)| has(verb));
    let methods = CONNECT_METHODS.iter().filter(|(verb, _)| has(verb));
    methods
        .filter(|(verb, _)| verb.is_some() || answers_to_all)
        .map(|(_, method)| *method)
        .collect()
}

/// Where the objects of a resource are.
fn collection(prefix: &str, resource: &Resource) -> Place {
    let plural = &resource.plural;
    match resource.scope {
        Scope::Cluster => Place {
            path: format!("{prefix}/{plural}"),
            parameters: Vec::new(),
            scope: "",
            suffix: "",
        },
        Scope::Namespaced => Place {
            path: format!("{prefix}/namespaces/{{namespace}}/{plural}"),
            parameters: vec![in_path("namespace")],
            scope: "Namespaced",
            suffix: "",
        },
    }
}

/// Where one object is.
fn object(prefix: &str, resource: &Resource) -> Place {
    let mut place = collection(prefix, resource);
    place.path.push_str("/{name}");
    place.parameters.push(in_path("name"));
    place
}

/// Where the objects of all namespaces are.
fn everywhere(prefix: &str, resource: &Resource) -> Place {
    Place {
        path: format!("{prefix}/{}", resource.plural),
        parameters: Vec::new(),
        scope: "",
        suffix: "ForAllNamespaces",
    }
}

fn in_path(name: &'static str) -> Parameter {
    Parameter { name: name.into(), place: "path", ty: "string" }
}
