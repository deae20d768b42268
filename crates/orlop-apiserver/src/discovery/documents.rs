//! The documents themselves: what is told of groups, versions and resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use orlop_machinery::kind::{Scope, Subresource, Verb};
use orlop_machinery::schema::{Schema, StructId};
use orlop_machinery::value::Map;
use orlop_machinery::{Str, Value, encode, protobuf, yaml};
use sha2::{Digest as _, Sha256};

use super::groups::{Group, Groups, Version};
use crate::definition::Definition;
use crate::output::Format;
use crate::respond::indent;

/// How many bytes of a hash tell how objects are stored.
const STORAGE_VERSION_HASH_BYTES: usize = 8;

/// Kinds whose hash names another version than they are stored in. The hash means nothing to
/// clients but that it changes; these are what upstream tells, which stores older versions.
const HASHED_AS: &[(&str, &str)] = &[
    ("customresourcedefinitions", "apiextensions.k8s.io/v1beta1"),
    ("mutatingadmissionpolicies", "admissionregistration.k8s.io/v1beta1"),
    ("mutatingadmissionpolicybindings", "admissionregistration.k8s.io/v1beta1"),
];

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const APIDISCOVERY: &str = "io.k8s.api.apidiscovery.v2";

/// Which document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Document {
    /// `/api`.
    Versions,
    /// `/apis`.
    Groups,
    /// `/apis/GROUP`.
    Group(Str),
    /// `/api/VERSION` and `/apis/GROUP/VERSION`.
    Resources(Str, Str),
    /// `/api`, with everything in it.
    AggregatedCore,
    /// `/apis`, with everything in it.
    AggregatedGroups,
}

/// A document, ready to be written in any form.
pub(super) struct Text {
    schema: &'static Schema,
    id: StructId,
    value: Value,
    json: Vec<u8>,
}

impl Document {
    /// Whether everything is in it.
    pub(super) fn is_aggregated(&self) -> bool {
        matches!(self, Document::AggregatedCore | Document::AggregatedGroups)
    }

    /// The document of these groups, for a server at this address.
    pub(super) fn text(&self, groups: &Groups, address: &str) -> Text {
        let (package, kind, mut value) = match self {
            Document::Versions => (META, "APIVersions", versions(groups, address)),
            Document::Groups => {
                let all: Vec<Value> = groups.named().map(group_value).collect();
                let list = Value::from([("apiVersion", Value::from("v1")), ("groups", all.into())]);
                (META, "APIGroupList", list)
            }
            Document::Group(name) => {
                let mut value = groups.find(name).map(group_value).unwrap_or_default();
                value.set("apiVersion", "v1");
                (META, "APIGroup", value)
            }
            Document::Resources(group, version) => {
                (META, "APIResourceList", resources(groups, group, version))
            }
            Document::AggregatedCore => {
                let core = groups.find("").into_iter();
                (APIDISCOVERY, "APIGroupDiscoveryList", aggregated(core))
            }
            Document::AggregatedGroups => {
                (APIDISCOVERY, "APIGroupDiscoveryList", aggregated(groups.named()))
            }
        };
        value.set("kind", kind);
        Text::new(&format!("{package}.{kind}"), value)
    }
}

impl Text {
    fn new(name: &str, value: Value) -> Text {
        let schema = orlop_kinds::schema();
        let id = schema.find(name).expect("the schema has the structs of discovery");
        let json = encode::to_vec(schema, id, &value);
        Text { schema, id, value, json }
    }

    /// As JSON, without the line feed at its end.
    pub(super) fn json(&self) -> &[u8] {
        &self.json
    }

    /// The bytes of a form.
    pub(super) fn into_bytes(self, format: Format) -> Bytes {
        match format {
            Format::Json => {
                let mut json = self.json;
                json.push(b'\n');
                json.into()
            }
            Format::PrettyJson => indent(&self.json).into(),
            Format::Yaml => yaml::to_string(&self.value).into(),
            Format::Protobuf => protobuf::encode_sealed(self.schema, self.id, &self.value).into(),
        }
    }
}

fn versions(groups: &Groups, address: &str) -> Value {
    let core = groups.find("").map(|group| group.versions.as_slice()).unwrap_or_default();
    let versions: Vec<Str> = core.iter().map(|version| version.name.clone()).collect();
    let everybody = Value::from([("clientCIDR", "0.0.0.0/0"), ("serverAddress", address)]);
    Value::from([
        ("versions", Value::from(versions)),
        ("serverAddressByClientCIDRs", Value::from(vec![everybody])),
    ])
}

fn group_value(group: &Group) -> Value {
    let versions: Vec<Value> = group
        .versions
        .iter()
        .map(|version| {
            let group_version = format!("{}/{}", group.name, version.name);
            Value::from([
                ("groupVersion", Value::from(group_version)),
                ("version", version.name.clone().into()),
            ])
        })
        .collect();
    let preferred = versions.first().cloned().unwrap_or_default();
    Value::from([
        ("name", group.name.clone().into()),
        ("versions", versions.into()),
        ("preferredVersion", preferred),
    ])
}

fn resources(groups: &Groups, group: &str, version: &str) -> Value {
    let versions = groups.find(group).map(|group| group.versions.as_slice()).unwrap_or_default();
    let found = versions.iter().find(|known| known.name == version);
    let definitions = found.map(|version| version.definitions.as_slice()).unwrap_or_default();
    let resources: Vec<Value> = definitions
        .iter()
        .flat_map(|definition| {
            let subresources = &definition.resource.subresources;
            let below = subresources.iter().map(|found| subresource_value(definition, found));
            std::iter::once(resource_value(definition)).chain(below)
        })
        .collect();
    let group_version = match group {
        "" => Str::new(version),
        group => Str::from(format!("{group}/{version}")),
    };
    let mut list = Value::from([
        ("groupVersion", Value::from(group_version)),
        ("resources", resources.into()),
    ]);
    // The oldest group tells no version of its lists.
    if !group.is_empty() {
        list.set("apiVersion", "v1");
    }
    list
}

fn resource_value(definition: &Definition) -> Value {
    let resource = &definition.resource;
    let mut value = Value::from([
        ("name", Value::from(resource.plural.clone())),
        ("singularName", resource.singular.clone().into()),
        ("namespaced", definition.is_namespaced().into()),
        ("kind", resource.kind.clone().into()),
        ("verbs", verbs(&resource.announced_verbs)),
    ]);
    set_names(&mut value, "shortNames", &resource.short_names);
    set_names(&mut value, "categories", &resource.categories);
    if definition.kind.is_stored() {
        value.set("storageVersionHash", storage_version_hash(definition));
    }
    value
}

fn subresource_value(definition: &Definition, subresource: &Subresource) -> Value {
    let resource = &definition.resource;
    let (group, version, kind) = response_kind(definition, subresource);
    let mut value = Value::from([
        ("name", Value::from(format!("{}/{}", resource.plural, subresource.name))),
        ("singularName", "".into()),
        ("namespaced", definition.is_namespaced().into()),
        ("kind", kind.into()),
        ("verbs", verbs(subresource.verbs)),
    ]);
    for (name, text) in [("group", group), ("version", version)] {
        if !text.is_empty() {
            value.set(name, text);
        }
    }
    value
}

/// What is read and written at a subresource: group, version and kind. Group and version are empty
/// where they are those of the resource.
fn response_kind<'a>(
    definition: &'a Definition,
    subresource: &Subresource,
) -> (&'static str, &'static str, &'a str) {
    let resource = &definition.resource;
    match subresource.kind {
        None => ("", "", &resource.kind),
        Some((group, version, kind)) if resource.group == group && resource.version == version => {
            ("", "", kind)
        }
        Some(other) => other,
    }
}

/// Tells clients whether objects are stored as they were; after `storageversionhash.go`.
fn storage_version_hash(definition: &Definition) -> String {
    let (plural, stored) = (&definition.resource.plural, &definition.storage.api_version);
    let (group, version) = stored.split_once('/').unwrap_or(("", stored));
    let older = HASHED_AS.iter().filter_map(|(known, version)| {
        (known == plural).then_some(version.split_once('/')).flatten()
    });
    let mut older = older.filter(|(of, _)| *of == group);
    let (group, version) = older.next().unwrap_or((group, version));
    let text = format!("{group}/{version}/{}", definition.resource.kind);
    STANDARD.encode(&Sha256::digest(text)[..STORAGE_VERSION_HASH_BYTES])
}

fn aggregated<'a>(groups: impl Iterator<Item = &'a Group>) -> Value {
    let items: Vec<Value> = groups
        .map(|group| {
            let mut metadata = Value::Map(Map::new());
            if !group.name.is_empty() {
                metadata.set("name", group.name.clone());
            }
            let versions: Vec<Value> = group.versions.iter().map(aggregated_version).collect();
            Value::from([("metadata", metadata), ("versions", versions.into())])
        })
        .collect();
    Value::from([
        ("apiVersion", Value::from("apidiscovery.k8s.io/v2")),
        ("metadata", Value::Map(Map::new())),
        ("items", items.into()),
    ])
}

fn aggregated_version(version: &Version) -> Value {
    let resources: Vec<Value> =
        version.definitions.iter().map(|definition| aggregated_resource(definition)).collect();
    Value::from([
        ("version", Value::from(version.name.clone())),
        ("resources", resources.into()),
        ("freshness", "Current".into()),
    ])
}

fn aggregated_resource(definition: &Definition) -> Value {
    let resource = &definition.resource;
    let scope = match resource.scope {
        Scope::Namespaced => "Namespaced",
        Scope::Cluster => "Cluster",
    };
    let mut value = Value::from([
        ("resource", Value::from(resource.plural.clone())),
        ("responseKind", kind_value(("", "", &resource.kind))),
        ("scope", scope.into()),
        ("singularResource", resource.singular.clone().into()),
        ("verbs", verbs(&resource.announced_verbs)),
    ]);
    set_names(&mut value, "shortNames", &resource.short_names);
    set_names(&mut value, "categories", &resource.categories);
    let subresources: Vec<Value> = resource
        .subresources
        .iter()
        .map(|subresource| {
            Value::from([
                ("subresource", Value::from(subresource.name)),
                ("responseKind", kind_value(response_kind(definition, subresource))),
                ("verbs", verbs(subresource.verbs)),
            ])
        })
        .collect();
    if !subresources.is_empty() {
        value.set("subresources", subresources);
    }
    value
}

fn kind_value((group, version, kind): (&str, &str, &str)) -> Value {
    Value::from([("group", group), ("version", version), ("kind", kind)])
}

fn verbs(verbs: &[Verb]) -> Value {
    verbs.iter().map(|verb| verb.name()).collect::<Vec<_>>().into()
}

fn set_names(value: &mut Value, field: &str, names: &[Str]) {
    if !names.is_empty() {
        value.set(field, names.to_vec());
    }
}
