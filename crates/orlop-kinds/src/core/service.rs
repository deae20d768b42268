//! Service: a name and an address for a set of pods.
//!
//! After `pkg/registry/core/service/strategy.go`. What a service must be stands in
//! [`validation`] and [`cluster_ips`], what the server fills in besides defaults in
//! [`allocation`].

pub mod allocation;
mod cluster_ips;
mod defaults;
mod row;
mod spec;
mod type_change;
mod validation;
mod warnings;

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{
    Column, Context, Defaulter, Kind, Resource, Row, Rules, Selectable, Subresource, Verb,
};
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Str, Value};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::status;

pub(crate) static KIND: Service = Service;
static STATUS: ServiceStatus = ServiceStatus;

/// The kind.
pub(crate) struct Service;

/// Its status.
struct ServiceStatus;

impl Kind for Service {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Service", "services", PACKAGE)
            .short(&["svc"])
            .categories(&["all"])
            .returns_deleted()
            .status(&STATUS)
            .subresource(Subresource {
                name: "proxy",
                kind: Some(("", "v1", "ServiceProxyOptions")),
                verbs: &[Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update],
                rules: None,
            })
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_dns_label
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        defaults::DEFAULTERS
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        &[
            Selectable {
                name: "spec.clusterIP",
                get: |object| Str::new(object.path(&["spec", "clusterIP"]).str()),
            },
            Selectable {
                name: "spec.type",
                get: |object| Str::new(object.path(&["spec", "type"]).str()),
            },
        ]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Type"),
                Column::text("Cluster-IP"),
                Column::text("External-IP"),
                Column::text("Port(s)"),
                Column::AGE,
                Column::text("Selector").wide(),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        row::row(context, object)
    }
}

impl Rules for Service {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        object.set("status", Value::from([("loadBalancer", Map::new())]));
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        type_change::drop_type_dependent_fields(new, old);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validation::validate_service(object, None, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validation::validate_change(new, old, errors);
        validation::validate_service(new, Some(old), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warnings::warn_of_service(object, warnings);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for ServiceStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validation::validate_status(new, old, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warnings::warn_of_status(object, warnings);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}
