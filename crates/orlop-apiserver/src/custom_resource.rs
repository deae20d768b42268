//! Custom resources: kinds that users define while the server runs.
//!
//! A [`Custom`] is a CustomResourceDefinition that is served. Each of its versions becomes a
//! [`Definition`] of the catalog, and after that nobody asks whether it is built in. What a version
//! needs (its schema, its rules, its columns) is made when the first object needs it, so a
//! definition that nobody uses costs little more than its text.
//!
//! After `getOrCreateServingInfoFor` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go`. What is
//! done with the definitions themselves stands in `custom_resource_definitions`.

mod envelope;
mod finalizer_names;
mod form;
mod kind;
mod scale;
mod serving;
mod status;
mod version;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use orlop_kinds::conversion_rules;
use orlop_machinery::kind::{Resource, Scope, Subresource, Verb};
use orlop_machinery::meta::Meta;
use orlop_machinery::shared::Shared;
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::{Str, Value};

use self::envelope::envelope;
use self::form::CustomForm;
use self::kind::CustomResource;
use self::status::CustomResourceStatus;
use self::version::Version;
use crate::conversion::{ConversionOptions, Converter};
use crate::custom_resource_definitions::Served;
use crate::definition::{Definition, REGISTRY, Storage};

pub(crate) use serving::Serving;

/// A definition that is served: what all its versions share.
#[derive(Clone)]
pub(crate) struct Custom {
    /// What tells it from one that was deleted and made again, or changed.
    identity: (Str, i64, Str),
    /// `example.com`
    group: Str,
    /// Under which names it is served.
    names: Value,
    scope: Scope,
    /// All versions, also those that are not served: objects may be stored in them.
    versions: Vec<Arc<Version>>,
    /// The version in which objects are stored.
    storage_version: Str,
    converter: Arc<Result<Converter, Status>>,
    is_terminating: bool,
}

/// What can be done with a custom resource, in the order in which discovery tells it.
const VERBS: [Verb; 8] = [
    Verb::Delete,
    Verb::DeleteCollection,
    Verb::Get,
    Verb::List,
    Verb::Patch,
    Verb::Create,
    Verb::Update,
    Verb::Watch,
];

/// What can be done with a resource whose definition goes, as discovery tells.
const VERBS_AT_THE_END: [Verb; 5] =
    [Verb::Delete, Verb::DeleteCollection, Verb::Get, Verb::List, Verb::Watch];

impl Custom {
    /// Reads a definition.
    ///
    /// # Errors
    ///
    /// When it cannot be served.
    pub(crate) fn new(served: &Served, options: &ConversionOptions) -> Result<Custom, Status> {
        let spec = served.object.at("spec");
        let group = Str::new(spec.at("group").str());
        let names = served.object.path(&["status", "acceptedNames"]).clone();
        for name in ["plural", "singular", "kind", "listKind"] {
            if names.at(name).is_empty() {
                let message = "the server could not properly serve the resource";
                return Err(Status::failure(500, Reason::Unknown, message));
            }
        }
        let keeps_unknown = spec.at("preserveUnknownFields").bool();
        let said = spec.at("versions").list();
        let read = |version| Version::new(version, said, (&group, &names), keeps_unknown);
        let versions: Vec<Arc<Version>> = said.iter().map(read).map(Arc::new).collect();
        let storage = versions.iter().find(|version| version.is_stored);
        let storage = storage.ok_or_else(|| Status::internal_error("no version is stored"))?;
        let scope = match spec.at("scope").str() {
            "Namespaced" => Scope::Namespaced,
            _ => Scope::Cluster,
        };
        Ok(Custom {
            storage_version: storage.api_version.clone(),
            identity: identity(&served.object),
            converter: Arc::new(Converter::new(&served.object, options)),
            is_terminating: served.is_terminating,
            group,
            names,
            scope,
            versions,
        })
    }

    /// The same definition, further on in its life; none if it says something else now.
    pub(crate) fn further_on(&self, served: &Served) -> Option<Custom> {
        let names = served.object.path(&["status", "acceptedNames"]);
        if self.identity != identity(&served.object) || self.names != *names {
            return None;
        }
        Some(Custom { is_terminating: served.is_terminating, ..self.clone() })
    }

    /// A definition of the catalog for each version that is served.
    pub(crate) fn definitions(self: &Arc<Self>) -> Vec<Arc<Definition>> {
        let served = self.versions.iter().filter(|version| version.is_served);
        served.map(|version| Arc::new(self.define(version))).collect()
    }

    /// The definition of the version in which objects are stored, served or not.
    pub(crate) fn stored(self: &Arc<Self>) -> Option<Arc<Definition>> {
        let stored = self.versions.iter().find(|version| version.is_stored)?;
        Some(Arc::new(self.define(stored)))
    }

    fn define(self: &Arc<Self>, version: &Arc<Version>) -> Definition {
        let (custom, version) = (self.clone(), version.clone());
        let envelope = envelope();
        Definition {
            resource: self.resource(&version),
            schema: Shared::Static(&envelope.schema),
            id: envelope.id,
            defaults: Shared::Static(&envelope.defaults),
            storage: Storage {
                prefix: format!("{REGISTRY}{}/{}/", self.group, self.names.at("plural").str()),
                id: envelope.id,
                api_version: self.storage_version.clone(),
            },
            form: Shared::Counted(Arc::new(CustomForm::new(&custom, &version))),
            api_version: version.api_version.clone(),
            kind: Shared::Counted(Arc::new(CustomResource::new(custom, version))),
            is_retired: AtomicBool::new(false),
        }
    }

    fn resource(self: &Arc<Self>, version: &Arc<Version>) -> Resource {
        let text = |name: &str| Str::new(self.names.at(name).str());
        let texts = |name: &str| self.names.at(name).list().iter().map(|text| text.str().into());
        // Who waits until a definition is established finds it in discovery, so it is told a moment
        // before it says that it is.
        let announced_verbs = match self.is_terminating {
            true => VERBS_AT_THE_END.to_vec(),
            false => VERBS.to_vec(),
        };
        let resource = Resource {
            group: self.group.clone(),
            version: version.name.clone(),
            kind: text("kind"),
            list_kind: text("listKind"),
            plural: text("plural"),
            singular: text("singular"),
            short_names: texts("shortNames").collect(),
            categories: texts("categories").collect(),
            scope: self.scope,
            verbs: Verb::ALL.to_vec(),
            announced_verbs,
            schema_name: version.schema_name.clone(),
            returns_deleted: false,
            subresources: Vec::new(),
        };
        let resource = match version.scale.is_some() {
            true => resource.scale(),
            false => resource,
        };
        if !version.has_status {
            return resource;
        }
        let rules = CustomResourceStatus::new(version.clone());
        let mut resource = resource.subresource(Subresource {
            name: "status",
            kind: None,
            verbs: &[Verb::Get, Verb::Patch, Verb::Update],
            rules: Some(Shared::Counted(Arc::new(rules))),
        });
        // Unlike those of built-in kinds they are told with status first.
        resource.subresources.reverse();
        resource
    }

    /// A version by its `apiVersion`.
    fn version(&self, api_version: &str) -> Option<&Arc<Version>> {
        self.versions.iter().find(|version| version.api_version == api_version)
    }
}

/// What changes whenever a definition says something else.
/// The rules of conversion are in an annotation, which does not count as a generation.
fn identity(object: &Value) -> (Str, i64, Str) {
    let meta = Meta::of(object);
    let rules = meta.annotation(conversion_rules::ANNOTATION).unwrap_or_default();
    (Str::new(meta.uid()), meta.generation(), Str::new(rules))
}
