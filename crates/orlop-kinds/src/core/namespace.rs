//! Namespace: a scope for names.
//!
//! After `pkg/registry/core/namespace` and `ValidateNamespace` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::shared::Shared;
use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{
    BeginningOfEnd, Column, Context, Defaulter, Kind, Resource, Row, Rules, Selectable, Subresource,
    Verb,
};
use orlop_machinery::meta;
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;
use orlop_machinery::value::Str;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::status;

pub(crate) static KIND: Namespace = Namespace;
static STATUS: NamespaceStatus = NamespaceStatus;
static FINALIZE: NamespaceFinalize = NamespaceFinalize;

/// The kind.
pub(crate) struct Namespace;

/// Its status.
struct NamespaceStatus;

/// The finalizers of its spec, which only this endpoint changes.
struct NamespaceFinalize;

/// The label that every namespace has, with its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// What keeps a namespace until its content is gone.
const FINALIZER: &str = "kubernetes";

impl Kind for Namespace {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "Namespace", "namespaces", PACKAGE)
            .short(&["ns"])
            .verbs(&[
                Verb::Create,
                Verb::Delete,
                Verb::Get,
                Verb::List,
                Verb::Patch,
                Verb::Update,
                Verb::Watch,
            ])
            .status(&STATUS)
            .subresource(Subresource {
                name: "finalize",
                kind: None,
                verbs: &[Verb::Update],
                rules: Some(Shared::Static(&FINALIZE)),
            })
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_dns_label
    }

    // A controller empties the namespace and then takes the finalizers of its spec away.
    fn beginning_of_end(&self) -> BeginningOfEnd {
        BeginningOfEnd::Said
    }

    fn start_ending(&self, _context: &Context<'_>, namespace: &mut Value) {
        namespace.entry("status").set("phase", "Terminating");
    }

    fn is_kept(&self, namespace: &Value) -> bool {
        !namespace.path(&["spec", "finalizers"]).is_empty()
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[
            ("io.k8s.api.core.v1.Namespace", |namespace| {
                if !namespace.path(&["metadata", "name"]).is_empty() {
                    label_with_name(namespace);
                }
            }),
            ("io.k8s.api.core.v1.NamespaceStatus", |status| {
                if status.at("phase").is_empty() {
                    status.set("phase", "Active");
                }
            }),
        ]
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        &[
            Selectable {
                name: "name",
                get: |object| Str::new(object.path(&["metadata", "name"]).str()),
            },
            Selectable {
                name: "status.phase",
                get: |object| Str::new(object.path(&["status", "phase"]).str()),
            },
        ]
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Status"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            object.path(&["status", "phase"]).str().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for Namespace {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        object.set("status", Value::from([("phase", "Active")]));
        let finalizers = object.entry("spec").entry("finalizers").make_list();
        if !finalizers.iter().any(|name| name.str() == FINALIZER) {
            finalizers.push(FINALIZER.into());
        }
    }

    fn canonicalize(&self, object: &mut Value) {
        label_with_name(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new.entry("spec"), old.at("spec"), "finalizers");
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        let finalizers = spec.at("finalizers");
        for name in finalizers.list() {
            validate_finalizer(&finalizers, name.str(), errors);
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for NamespaceStatus {
    fn canonicalize(&self, object: &mut Value) {
        label_with_name(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let status = object.at("status");
        // Upstream writes the field with a capital here.
        let at = status.path().child("Phase");
        let phase = status.value().at("phase").str();
        let is_deleting = object.at("metadata").at("deletionTimestamp").is_set();
        if !is_deleting && phase != "Active" {
            let detail = "may only be 'Active' if `deletionTimestamp` is empty";
            errors.invalid_value(&at, phase, detail);
        } else if is_deleting && phase != "Terminating" {
            let detail = "may only be 'Terminating' if `deletionTimestamp` is not empty";
            errors.invalid_value(&at, phase, detail);
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

impl Rules for NamespaceFinalize {
    fn canonicalize(&self, object: &mut Value) {
        label_with_name(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        for name in object.at("spec").at("finalizers").items() {
            validate_finalizer(&name, name.str(), errors);
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

fn label_with_name(namespace: &mut Value) {
    let metadata = namespace.entry("metadata");
    let name = metadata.at("name").clone();
    metadata.entry("labels").set(NAME_LABEL, name);
}

fn validate_finalizer(at: &impl At, name: &str, errors: &mut Errors) {
    meta::validate_finalizer_name(at, name, errors);
    meta::validate_kube_finalizer_name(at, name, errors);
}
