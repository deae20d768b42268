//! EndpointSlice: some of the addresses behind a service.
//!
//! After `pkg/registry/discovery/endpointslice` and `pkg/apis/discovery/validation`. The
//! declarative rules of the API say nothing that is not said there.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::names::{self, IpFamily};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, equality, meta};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::first_few::first_few;
use crate::rules::generation;
use crate::rules::legacy_ip::{validate_endpoint_ip, validate_ip};
use crate::rules::scalar::{
    TextRule, validate_choice, validate_optional_text, validate_required_choice, validate_text,
};

pub(crate) static KIND: EndpointSlice = EndpointSlice;

/// The kind.
pub(crate) struct EndpointSlice;

const ADDRESS_TYPES: &[&str] = &["FQDN", "IPv4", "IPv6"];

const ENDPOINTS_MAX: usize = 1000;
const PORTS_MAX: usize = 20_000;
const ADDRESSES_MAX: usize = 100;
const TOPOLOGY_LABELS_MAX: usize = 16;
const HINTS_MAX: usize = 8;

const HOST_NAME_LABEL: &str = "kubernetes.io/hostname";
const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// Where controllers write their names, and those that write addresses in their plain form.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const CONTROLLERS: [&str; 2] =
    ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

impl Kind for EndpointSlice {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "EndpointSlice", "endpointslices", PACKAGE)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.discovery.v1.EndpointPort", |port| {
            port.set_default("name", "");
            port.set_default("protocol", "TCP");
        })]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("AddressType"),
                Column::text("Ports"),
                Column::text("Endpoints"),
                Column::AGE,
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let ports = object.at("ports").list();
        let endpoints = object.at("endpoints").list().iter();
        let addresses = endpoints.flat_map(|endpoint| endpoint.at("addresses").list());
        let count = addresses.clone().count();
        let addresses = addresses.map(|address| address.str().to_owned());
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            object.at("addressType").str().into(),
            first_few(ports.iter().map(text_of_port), ports.len(), "<unset>").into(),
            first_few(addresses, count, "<unset>").into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for EndpointSlice {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
        drop_topology(object, &BTreeSet::new());
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        let has_same = |field| equality::equal_without_schema(new.at(field), old.at(field));
        let has_same_endpoints = has_same("endpoints");
        let labels = ["metadata", "labels"];
        let has_same_labels = new.path(&labels).map() == old.path(&labels).map();
        let is_same = has_same("addressType") && has_same("ports") && has_same_endpoints;
        if !is_same || !has_same_labels {
            generation::count(new, old);
        }
        if !has_same_endpoints {
            drop_topology(new, &node_names_in_topology(old));
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_slice(object, None, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_slice(new, Some(old), errors);
        meta::validate_immutable(&new.at("addressType"), &old.at("addressType"), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        if object.at("addressType").str() == "FQDN" {
            // As upstream, with a spec that there is not.
            warnings.push("spec.addressType: FQDN endpoints are deprecated".into());
        }
        warn_of_addresses(object, warnings);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        _old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        warn_of_addresses(new, warnings);
    }
}

/// Labels of places are of the past: this version does not write them. The node that one of them
/// named goes where it belongs now, if the slice already had it.
fn drop_topology(slice: &mut Value, known_nodes: &BTreeSet<String>) {
    for endpoint in slice.get_mut("endpoints").map(Value::list_mut).unwrap_or_default() {
        let topology = endpoint.remove("deprecatedTopology").unwrap_or_default();
        let node = topology.at(HOST_NAME_LABEL);
        let is_node =
            known_nodes.contains(node.str()) && names::dns_subdomain(node.str()).is_empty();
        if is_node && endpoint.at("nodeName").is_null() {
            endpoint.set("nodeName", node.clone());
        }
    }
}

fn node_names_in_topology(slice: &Value) -> BTreeSet<String> {
    let endpoints = slice.at("endpoints").list().iter();
    let names =
        endpoints.map(|endpoint| endpoint.path(&["deprecatedTopology", HOST_NAME_LABEL]).str());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn validate_slice(slice: &Node<'_>, old: Option<&Node<'_>>, errors: &mut Errors) {
    validate_required_choice(&slice.at("addressType"), ADDRESS_TYPES, errors);
    validate_ports(&slice.at("ports"), errors);
    let endpoints = slice.at("endpoints");
    let mut found = Errors::new();
    validate_endpoints(&endpoints, slice.at("addressType").str(), &mut found);
    // What was stored when other rules held may stay.
    let is_unchanged = || old.is_some_and(|old| endpoints.means_same_as(&old.at("endpoints")));
    if !found.is_empty() && !is_unchanged() {
        errors.extend(found);
    }
}

fn validate_ports(ports: &Node<'_>, errors: &mut Errors) {
    if ports.len() > PORTS_MAX {
        errors.too_many(ports, ports.len(), PORTS_MAX);
        return;
    }
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        let (name, protocol) = (port.at("name"), port.at("protocol"));
        validate_optional_text(&name, names::dns_label, errors);
        if !seen.insert(port.value().at("name").str()) {
            errors.duplicate_value(&name, name.str());
        }
        if !protocol.is_set() {
            errors.required(&protocol, "");
        }
        validate_choice(&protocol, &["SCTP", "TCP", "UDP"], errors);
        let app_protocol = port.at("appProtocol");
        if app_protocol.is_set() {
            validate_text(&app_protocol, names::qualified_name, errors);
        }
    }
}

fn validate_endpoints(endpoints: &Node<'_>, address_type: &str, errors: &mut Errors) {
    if endpoints.len() > ENDPOINTS_MAX {
        errors.too_many(endpoints, endpoints.len(), ENDPOINTS_MAX);
        return;
    }
    for endpoint in endpoints.items() {
        validate_addresses(&endpoint.at("addresses"), address_type, errors);
        let node_name = endpoint.at("nodeName");
        if node_name.is_set() {
            validate_text(&node_name, names::dns_subdomain, errors);
        }
        validate_topology(&endpoint.at("deprecatedTopology"), errors);
        let host_name = endpoint.at("hostname");
        if host_name.is_set() {
            validate_text(&host_name, names::dns_label, errors);
        }
        validate_hints(&endpoint.at("hints"), errors);
    }
}

fn validate_addresses(addresses: &Node<'_>, address_type: &str, errors: &mut Errors) {
    if addresses.is_empty() {
        errors.required(addresses, "must contain at least 1 address");
    } else if addresses.len() > ADDRESSES_MAX {
        errors.too_many(addresses, addresses.len(), ADDRESSES_MAX);
    }
    for address in addresses.items() {
        let count = errors.len();
        let family = match address_type {
            "IPv4" => {
                validate_ip(&address, &BTreeSet::new(), errors);
                IpFamily::V4
            }
            "IPv6" => {
                validate_text(&address, names::ip, errors);
                IpFamily::V6
            }
            "FQDN" => {
                names::fully_qualified_domain_name(&address, address.str(), errors);
                continue;
            }
            // Of other types nothing is known.
            _ => continue,
        };
        if errors.len() > count {
            continue;
        }
        if names::family_of_ip(address.str()) != Some(family) {
            let detail = format!("must be an {address_type} address");
            errors.invalid_value(addresses, address.str(), detail);
        }
        validate_endpoint_ip(&address, errors);
    }
}

fn validate_topology(topology: &Node<'_>, errors: &mut Errors) {
    if topology.len() > TOPOLOGY_LABELS_MAX {
        errors.too_many(topology, topology.len(), TOPOLOGY_LABELS_MAX);
    }
    meta::validate_labels(topology, errors);
    if topology.map().contains_key(ZONE_LABEL) {
        let detail = "reserved key was not removed in conversion";
        errors.internal(&topology.path().key(ZONE_LABEL), detail);
    }
}

fn validate_hints(hints: &Node<'_>, errors: &mut Errors) {
    if validate_hinted(&hints.at("forZones"), names::label_value, errors) {
        validate_hinted(&hints.at("forNodes"), names::dns_subdomain, errors);
    }
}

/// Whether there are not too many to look at.
fn validate_hinted(hinted: &Node<'_>, rule: TextRule, errors: &mut Errors) -> bool {
    if hinted.len() > HINTS_MAX {
        errors.too_many(hinted, hinted.len(), HINTS_MAX);
        return false;
    }
    let mut seen = BTreeSet::new();
    for place in hinted.items() {
        let name = place.at("name");
        if !seen.insert(place.value().at("name").str()) {
            errors.duplicate(&name);
        }
        validate_text(&name, rule, errors);
    }
    true
}

fn warn_of_addresses(slice: &Node<'_>, warnings: &mut Vec<String>) {
    let labels = slice.value().path(&["metadata", "labels"]);
    if CONTROLLERS.contains(&labels.at(MANAGED_BY).str()) {
        return;
    }
    for endpoint in slice.at("endpoints").items() {
        for address in endpoint.at("addresses").items() {
            warnings.extend(names::ip_warnings(&address, address.str()));
        }
    }
}

/// Its number, its name, or a star for any.
fn text_of_port(port: &Value) -> String {
    match (port.at("port"), port.at("name")) {
        (Value::Int(number), _) => number.to_string(),
        (_, Value::String(name)) => name.to_string(),
        _ => "*".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::{decode, yaml};

    use super::*;
    use crate::catalog;

    fn check(slice: &str, expect: &str) {
        let entry = catalog().find_kind("discovery.k8s.io/v1", "EndpointSlice").unwrap();
        let slice = yaml::parse(slice.as_bytes()).unwrap();
        let mut slice = decode::decode(crate::schema(), entry.id, slice).unwrap().object;
        catalog().set_defaults(entry, &mut slice);
        let mut errors = Errors::new();
        validate_slice(&entry.node(&slice), None, &mut errors);
        assert_eq!(errors.to_string().trim_end(), expect);
    }

    fn list(count: usize, text: impl Fn(usize) -> String) -> String {
        let texts: Vec<String> = (0..count).map(text).collect();
        texts.join(", ")
    }

    #[test]
    fn lists_have_bounds() {
        let slice = |endpoints: String, ports: String| {
            format!("{{addressType: IPv4, endpoints: [{endpoints}], ports: [{ports}]}}")
        };
        let endpoints = |count| list(count, |_| "{addresses: [10.1.0.1]}".to_owned());
        check(&slice(endpoints(1000), String::new()), "");
        let too_many = "endpoints: Too many: 1001: must have at most 1000 items";
        check(&slice(endpoints(1001), String::new()), too_many);

        let addresses = |count| {
            let addresses = list(count, |index| format!("10.1.0.{index}"));
            slice(format!("{{addresses: [{addresses}]}}"), String::new())
        };
        check(&addresses(100), "");
        let too_many = "endpoints[0].addresses: Too many: 101: must have at most 100 items";
        check(&addresses(101), too_many);

        let ports = |count| list(count, |index| format!("{{name: p{index}}}"));
        check(&slice(String::new(), ports(20_000)), "");
        let too_many = "ports: Too many: 20001: must have at most 20000 items";
        check(&slice(String::new(), ports(20_001)), too_many);
    }

    #[test]
    fn labels_of_places_are_labels_without_zones() {
        let topology = |labels: &str| {
            let endpoint = format!("{{addresses: [10.1.0.1], deprecatedTopology: {{{labels}}}}}");
            format!("{{addressType: IPv4, endpoints: [{endpoint}]}}")
        };
        check(&topology("a: b"), "");
        check(&topology(&list(16, |index| format!("a{index}: b"))), "");
        check(
            &topology(&list(17, |index| format!("a{index}: b"))),
            "endpoints[0].deprecatedTopology: Too many: 17: must have at most 16 items",
        );
        check(
            &topology("topology.kubernetes.io/zone: a"),
            "endpoints[0].deprecatedTopology[topology.kubernetes.io/zone]: Internal error: \
             reserved key was not removed in conversion",
        );
    }
}
