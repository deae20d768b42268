//! Endpoints: the addresses behind a service, in one object. EndpointSlices have replaced it.
//!
//! After `pkg/registry/core/endpoint` and `ValidateEndpoints` in
//! `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::first_few::first_few;
use crate::rules::legacy_ip::{validate_endpoint_ip, validate_ip};
use crate::rules::scalar::{validate_optional_text, validate_required_choice, validate_text};

pub(crate) static KIND: Endpoints = Endpoints;

/// The kind.
pub(crate) struct Endpoints;

/// Where the controller of endpoints writes its name.
const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const CONTROLLER: &str = "endpoint-controller";

const DEPRECATED: &str =
    "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

const ADDRESSES: [&str; 2] = ["addresses", "notReadyAddresses"];

impl Kind for Endpoints {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Endpoints", "endpoints", PACKAGE).short(&["ep"])
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.core.v1.EndpointPort", |port| {
            if port.at("protocol").is_empty() {
                port.set("protocol", "TCP");
            }
        })]
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Endpoints"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            cell(object.at("subsets").list()).into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for Endpoints {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        for subset in object.at("subsets").items() {
            validate_subset(&subset, errors);
        }
    }

    /// What was stored when other rules held may stay.
    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let mut found = Errors::new();
        self.validate(context, new, &mut found);
        if !found.is_empty() && !new.at("subsets").means_same_as(&old.at("subsets")) {
            errors.extend(found);
        }
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warnings.push(DEPRECATED.into());
        let labels = object.value().path(&["metadata", "labels"]);
        if labels.at(MANAGED_BY).str() == CONTROLLER {
            return;
        }
        for subset in object.at("subsets").items() {
            for field in ADDRESSES {
                for address in subset.at(field).items() {
                    let ip = address.at("ip");
                    warnings.extend(names::ip_warnings(&ip, ip.str()));
                }
            }
        }
    }
}

fn validate_subset(subset: &Node<'_>, errors: &mut Errors) {
    if ADDRESSES.iter().all(|field| subset.at(field).is_empty()) {
        errors.required(subset, "must specify `addresses` or `notReadyAddresses`");
    }
    for field in ADDRESSES {
        for address in subset.at(field).items() {
            validate_address(&address, errors);
        }
    }
    let ports = subset.at("ports");
    for port in ports.items() {
        validate_port(&port, ports.len() > 1, errors);
    }
}

fn validate_address(address: &Node<'_>, errors: &mut Errors) {
    let (ip, node_name) = (address.at("ip"), address.at("nodeName"));
    validate_ip(&ip, &BTreeSet::new(), errors);
    validate_optional_text(&address.at("hostname"), names::dns_label, errors);
    if node_name.is_set() {
        validate_text(&node_name, names::dns_subdomain, errors);
    }
    validate_endpoint_ip(&ip, errors);
}

fn validate_port(port: &Node<'_>, needs_name: bool, errors: &mut Errors) {
    let (name, number, protocol) = (port.at("name"), port.at("port"), port.at("appProtocol"));
    if needs_name && name.is_empty() {
        errors.required(&name, "");
    }
    validate_optional_text(&name, names::dns_label, errors);
    for message in names::port_number(number.int()) {
        errors.invalid(&number, message);
    }
    validate_required_choice(&port.at("protocol"), &["SCTP", "TCP", "UDP"], errors);
    if protocol.is_set() {
        validate_text(&protocol, names::qualified_name, errors);
    }
}

fn cell(subsets: &[Value]) -> String {
    if subsets.is_empty() {
        return "<none>".to_owned();
    }
    let counts = subsets.iter().map(|subset| {
        let ports = subset.at("ports").list().len().max(1);
        ports.saturating_mul(subset.at("addresses").list().len())
    });
    let count = counts.fold(0, usize::saturating_add);
    first_few(subsets.iter().flat_map(texts_of_subset), count, "")
}

/// Every address at every port; addresses alone where there are no ports.
fn texts_of_subset(subset: &Value) -> impl Iterator<Item = String> + '_ {
    let addresses = || subset.at("addresses").list().iter().map(|address| address.at("ip").str());
    let ports = subset.at("ports").list();
    let alone = addresses().filter(|_| ports.is_empty()).map(str::to_owned);
    let at_ports = ports.iter().flat_map(move |port| {
        let number = port.at("port").int();
        addresses().map(move |ip| {
            if ip.contains(':') { format!("[{ip}]:{number}") } else { format!("{ip}:{number}") }
        })
    });
    alone.chain(at_ports)
}
