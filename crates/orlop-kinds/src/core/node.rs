//! Node: a machine that runs pods.
//!
//! After `pkg/registry/core/node` and `ValidateNode` and `ValidateNodeUpdate` in
//! `pkg/apis/core/validation/validation.go`. What needs the machine itself (the proxy) is not
//! here.

mod annotations;
mod config_source;
mod row;
mod taint;

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::kind::{
    Column, Context, Defaulter, Kind, Resource, Row, Rules, Selectable, Subresource, Verb,
};
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::{Str, Value, names};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::address_pair;
use crate::rules::resource_list::round_up_fields;
use crate::rules::resource_requirements::validate_resource_quantity_value;
use crate::rules::scalar::validate_positive;
use crate::rules::status::keep;

pub(crate) static KIND: NodeKind = NodeKind;
static STATUS: NodeStatus = NodeStatus;

/// The kind.
pub(crate) struct NodeKind;

/// Its status.
struct NodeStatus;

/// The longest name of a feature.
const FEATURE_MAX: usize = 253;

impl Kind for NodeKind {
    fn resource(&self) -> Resource {
        let (group, version) = GROUP_VERSION;
        Resource::cluster(GROUP_VERSION, "Node", "nodes", PACKAGE)
            .short(&["no"])
            .subresource(Subresource {
                name: "proxy",
                kind: Some((group, version, "NodeProxyOptions")),
                verbs: &[Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update],
                rules: None,
            })
            .status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.core.v1.NodeSpec", set_spec), ("io.k8s.api.core.v1.NodeStatus", set_status)]
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        &[Selectable {
            name: "spec.unschedulable",
            get: |node| Str::from(node.path(&["spec", "unschedulable"]).bool().to_string()),
        }]
    }

    fn columns(&self) -> &'static [Column] {
        row::COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        row::row(context, object)
    }
}

impl Rules for NodeKind {
    /// All of a node may be set when it is made, with its status.
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        object.entry("spec").remove("configSource");
        object.entry("status").remove("config");
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        keep(new, old, "status");
        if old.path(&["spec", "configSource"]).is_null() {
            new.entry("spec").remove("configSource");
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        annotations::validate(object, errors);
        taint::validate_taints(object, errors);
        let status = object.at("status");
        validate_resources(&status, errors);
        validate_swap(status.value(), errors);
        validate_declared_features(&status.at("declaredFeatures"), errors);
        let spec = object.at("spec");
        let networks = spec.at("podCIDRs");
        let texts: Vec<&str> = networks.list().iter().map(Value::str).collect();
        address_pair::CIDR.validate(&networks, &texts, &BTreeSet::new(), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let spec = object.at("spec");
        if spec.at("configSource").is_set() {
            warnings.push("spec.configSource: the feature is removed".into());
        }
        if !spec.at("externalID").is_empty() {
            let warning = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
            warnings.push(warning.into());
        }
        for network in spec.at("podCIDRs").items() {
            warnings.extend(names::cidr_warnings(&network, network.str()));
        }
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        self.validate(context, new, errors);
        validate_node_update(new, old, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for NodeStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        keep(new, old, "spec");
        if old.path(&["status", "config"]).is_null() {
            new.entry("status").remove("config");
        }
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_node_update(new, old, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

/// `podCIDR` is the first of `podCIDRs`. Where a client says otherwise it does not know the list.
fn set_spec(spec: &mut Value) {
    let one = spec.at("podCIDR").str();
    let first = spec.at("podCIDRs").list().first().map_or("", Value::str);
    if !one.is_empty() && one != first {
        let one = vec![Value::from(one)];
        spec.set("podCIDRs", one);
    } else if !first.is_empty() {
        let first = Value::from(first);
        spec.set("podCIDR", first);
    }
}

/// What pods can have is all that there is, if nothing else is said.
fn set_status(status: &mut Value) {
    if status.at("allocatable").is_empty()
        && let Some(capacity) = status.get("capacity").cloned()
    {
        status.set("allocatable", capacity);
    }
    round_up_fields(status, &["capacity", "allocatable"]);
}

fn validate_resources(status: &Node<'_>, errors: &mut Errors) {
    for list in ["capacity", "allocatable"] {
        let amounts = status.at(list);
        for (name, amount) in amounts.map().iter() {
            let at = Node::new(amount, amounts.path().child(name));
            validate_resource_quantity_value(name, &at, errors);
        }
    }
}

/// As upstream, errors say that it is in the metadata.
fn validate_swap(status: &Value, errors: &mut Errors) {
    let capacity = status.path(&["nodeInfo", "swap", "capacity"]);
    if !capacity.is_null() {
        let at = Path::field("metadata");
        let at = at.child("nodeSwapStatus");
        validate_positive(&Node::new(capacity, at.child("capacity")), errors);
    }
}

/// Names of features, each once, in order.
fn validate_declared_features(features: &Node<'_>, errors: &mut Errors) {
    let mut following = features.items().skip(1);
    for feature in features.items() {
        let name = feature.str();
        if let Some(problem) = problem_of_feature(name) {
            errors.invalid(&feature, format!("invalid feature name {}: {problem}", quote(name)));
        }
        let Some(next) = following.next() else { continue };
        if next.str() == name {
            errors.duplicate(&next);
        } else if next.str() < name {
            errors.invalid(&next, "list must be sorted alphabetically");
        }
    }
}

fn problem_of_feature(name: &str) -> Option<String> {
    let is_segment = |segment: &str| {
        segment.starts_with(|c: char| c.is_ascii_alphabetic())
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if name.len() > FEATURE_MAX {
        Some(format!("must be no more than {FEATURE_MAX} characters"))
    } else if !name.starts_with(|c: char| c.is_ascii_uppercase())
        || !name.split('/').all(is_segment)
    {
        let rule = "must start with an UpperCamelCase segment, with subsequent segments \
                    separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain \
                    only alphanumeric characters and slashes";
        Some(rule.to_owned())
    } else {
        None
    }
}

/// What holds for every update, of the node or of its status.
fn validate_node_update(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    annotations::validate(new, errors);
    let (spec, status) = (new.at("spec"), new.at("status"));
    validate_resources(&status, errors);
    validate_declared_features(&status.at("declaredFeatures"), errors);
    validate_addresses(&status.at("addresses"), errors);
    validate_set_once(&spec, old.value().at("spec"), errors);
    config_source::validate_spec(&spec.at("configSource"), errors);
    config_source::validate_status(&status.at("config"), errors);
    taint::validate_taints(new, errors);
    let external = spec.at("externalID");
    if external.str() != old.value().path(&["spec", "externalID"]).str() {
        errors.forbidden(&external, "may not be updated");
    }
}

fn validate_addresses(addresses: &Node<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for address in addresses.items() {
        let value = address.value();
        if !known.insert((value.at("type").str(), value.at("address").str())) {
            errors.duplicate(&address);
        }
    }
}

/// The networks of a node and its name at its provider do not change once they are set.
fn validate_set_once(spec: &Node<'_>, old: &Value, errors: &mut Errors) {
    let networks = spec.at("podCIDRs");
    let old_networks = old.at("podCIDRs").list();
    // As upstream, once for each that differs.
    let changes = match old_networks.len() {
        0 => 0,
        count if count != networks.len() => 1,
        _ => networks.list().iter().zip(old_networks).filter(|(new, old)| new != old).count(),
    };
    for _ in 0..changes {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        errors.forbidden(&networks, detail);
    }
    let (provider, old_provider) = (spec.at("providerID"), old.at("providerID").str());
    if !old_provider.is_empty() && provider.str() != old_provider {
        let detail = "node updates may not change providerID except from \"\" to valid";
        errors.forbidden(&provider, detail);
    }
}
