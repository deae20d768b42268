//! NetworkPolicy: who may talk to whom.
//!
//! After `pkg/registry/networking/networkpolicy` and `pkg/apis/networking/validation`.

use std::collections::HashSet;

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names::{self, Cidr};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, label_selector};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::generation;

pub(crate) static KIND: NetworkPolicy = NetworkPolicy;

/// The kind.
pub(crate) struct NetworkPolicy;

const TYPES: [&str; 2] = ["Ingress", "Egress"];
/// The rules of a policy and the field with the peers of each.
const DIRECTIONS: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];

/// What an update may keep although it is wrong.
#[derive(Default)]
struct Kept<'a> {
    selector: SelectorOptions,
    /// Networks that the policy had before.
    networks: HashSet<&'a str>,
}

impl Kind for NetworkPolicy {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "NetworkPolicy", "networkpolicies", PACKAGE)
            .short(&["netpol"])
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[
            ("io.k8s.api.networking.v1.NetworkPolicy", set_policy_types),
            ("io.k8s.api.networking.v1.NetworkPolicyPort", |port| {
                port.set_default("protocol", "TCP");
            }),
        ]
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Pod-Selector"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let selector = label_selector::format_value(object.path(&["spec", "podSelector"]));
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            selector.into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for NetworkPolicy {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(&object.at("spec"), &Kept::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let mut wrong_before = Errors::new();
        let spec = old.at("spec");
        let strict = SelectorOptions::default();
        meta::validate_label_selector(&spec.at("podSelector"), strict, &mut wrong_before);
        let allows_invalid_values = !wrong_before.is_empty();
        let selector = SelectorOptions { allows_invalid_values, ..strict };
        let networks = networks(old.value().at("spec")).into_iter().collect();
        validate_spec(&new.at("spec"), &Kept { selector, networks }, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        for (rules, peers) in DIRECTIONS {
            for rule in object.at("spec").at(rules).items() {
                for peer in rule.at(peers).items() {
                    let block = peer.at("ipBlock");
                    if !block.is_set() {
                        continue;
                    }
                    let cidr = block.at("cidr");
                    warnings.extend(names::cidr_warnings(&cidr, cidr.str()));
                    for except in block.at("except").items() {
                        warnings.extend(names::cidr_warnings(&except, except.str()));
                    }
                }
            }
        }
    }
}

/// A policy that does not say is about what comes in, and about what goes out if it has rules.
fn set_policy_types(policy: &mut Value) {
    let spec = policy.entry("spec");
    if spec.at("policyTypes").is_empty() {
        let count = if spec.at("egress").is_empty() { 1 } else { 2 };
        spec.set("policyTypes", TYPES[..count].to_vec());
    }
}

fn networks(spec: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    for (rules, peers) in DIRECTIONS {
        for rule in spec.at(rules).list() {
            for peer in rule.at(peers).list() {
                let block = peer.at("ipBlock");
                found.extend(block.get("cidr").map(Value::str));
                found.extend(block.at("except").list().iter().map(Value::str));
            }
        }
    }
    found
}

fn validate_spec(spec: &Node<'_>, kept: &Kept<'_>, errors: &mut Errors) {
    meta::validate_label_selector(&spec.at("podSelector"), kept.selector, errors);
    for (rules, peers) in DIRECTIONS {
        for rule in spec.at(rules).items() {
            for port in rule.at("ports").items() {
                validate_port(&port, errors);
            }
            for peer in rule.at(peers).items() {
                validate_peer(&peer, kept, errors);
            }
        }
    }
    let types = spec.at("policyTypes");
    if types.len() > TYPES.len() {
        errors.invalid(&types, "may not specify more than two policyTypes");
        return;
    }
    for ty in types.items() {
        if !TYPES.contains(&ty.str()) {
            errors.not_supported(&ty, &TYPES);
        }
    }
}

fn validate_port(port: &Node<'_>, errors: &mut Errors) {
    let protocol = port.at("protocol");
    if protocol.is_set() && !matches!(protocol.str(), "TCP" | "UDP" | "SCTP") {
        errors.not_supported(&protocol, &["TCP", "UDP", "SCTP"]);
    }
    let (first, last) = (port.at("port"), port.at("endPort"));
    match first.value() {
        Value::Null => {
            if last.is_set() {
                errors.invalid(&last, "may not be specified when `port` is not specified");
            }
        }
        Value::String(name) => {
            if last.is_set() {
                errors.invalid(&last, "may not be specified when `port` is non-numeric");
            }
            for message in names::port_name(name) {
                errors.invalid(&first, message);
            }
        }
        number => {
            let number = number.int();
            for message in names::port_number(number) {
                errors.invalid(&first, message);
            }
            if last.is_set() {
                if last.int() < number {
                    let detail = "must be greater than or equal to `port`";
                    errors.invalid_value(&last, number, detail);
                }
                for message in names::port_number(last.int()) {
                    errors.invalid(&last, message);
                }
            }
        }
    }
}

fn validate_peer(peer: &Node<'_>, kept: &Kept<'_>, errors: &mut Errors) {
    let mut count = 0;
    for field in ["podSelector", "namespaceSelector"] {
        let selector = peer.at(field);
        if selector.is_set() {
            count += 1;
            meta::validate_label_selector(&selector, kept.selector, errors);
        }
    }
    let block = peer.at("ipBlock");
    if block.is_set() {
        validate_block(&block, &kept.networks, errors);
        if count > 0 {
            errors.forbidden(peer, "may not specify both ipBlock and another peer");
        }
    } else if count == 0 {
        errors.required(peer, "must specify a peer");
    }
}

fn validate_block(block: &Node<'_>, kept: &HashSet<&str>, errors: &mut Errors) {
    let cidr = block.at("cidr");
    if cidr.is_empty() {
        errors.required(&cidr, "");
        return;
    }
    let Some(network) = validate_network(&cidr, kept, errors) else { return };
    for except in block.at("except").items() {
        let Some(inner) = validate_network(&except, kept, errors) else { continue };
        if !network.contains(inner.network) || network.length >= inner.length {
            errors.invalid(&except, "must be a strict subset of `cidr`");
        }
    }
}

/// The network, if it can be read at all.
fn validate_network(cidr: &Node<'_>, kept: &HashSet<&str>, errors: &mut Errors) -> Option<Cidr> {
    if !kept.contains(cidr.str()) {
        for message in names::cidr_legacy_strict(cidr.str()) {
            errors.invalid(cidr, message);
        }
    }
    names::parse_cidr(cidr.str())
}
