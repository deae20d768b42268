//! The endpoint at which a node, the scheduler and controllers tell how a pod is.
//!
//! After `podStatusStrategy` in `pkg/registry/core/pod/strategy.go`, `dropDisabledPodStatusFields`
//! in `pkg/api/pod/util.go` and `ValidatePodStatusUpdate` in
//! `pkg/apis/core/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta, names};

use super::{container_status, extended_claim_status, options_from_old, update};
use crate::rules::address_pair;
use crate::rules::resource_list::quantity;
use crate::rules::resource_name::is_native;
use crate::rules::scalar::validate_text;
use crate::rules::status::keep;

pub(super) static RULES: PodStatus = PodStatus;

/// The subresource.
pub(super) struct PodStatus;

/// Conditions whose type needs no domain.
const SYSTEM_CONDITIONS: &[&str] = &["PodScheduled", "Ready", "Initialized"];
const NODE_ALLOCATABLE: &str = "nodeAllocatableResourceClaimStatuses";

impl Rules for PodStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        keep(new, old, "spec");
        let metadata = new.entry("metadata");
        metadata.remove("deletionTimestamp");
        // Old nodes send back owners that the garbage collector does not understand.
        keep(metadata, old.at("metadata"), "ownerReferences");
        let (status, old_status) = (new.entry("status"), old.at("status"));
        // The class is set once, and old nodes forget it.
        keep_if_empty(status, old_status, "qosClass");
        keep_observed_generations(status, old_status);
        drop_disabled_fields(status, old_status);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = options_from_old(old.value());
        update::validate_annotation_updates(new, old, &options, errors);
        let (status, old_status) = (new.at("status"), old.at("status"));
        let spec = new.value().at("spec");
        validate_conditions(&status.at("conditions"), errors);
        validate_nominated_node(&status, old.value(), errors);
        let generation = status.at("observedGeneration");
        if generation.int() < 0 {
            errors.invalid(&generation, "must be a non-negative integer");
        }
        meta::validate_immutable(&status.at("qosClass"), &old_status.at("qosClass"), errors);
        let old_spec = old.value().at("spec");
        container_status::validate_transitions(&status, old_status.value(), old_spec, errors);
        validate_claim_statuses(&status.at("resourceClaimStatuses"), spec, errors);
        let extended = status.at("extendedResourceClaimStatus");
        extended_claim_status::validate(&extended, spec, errors);
        validate_node_allocatable(&status, spec, errors);
        validate_pod_ips(&status.at("podIPs"), old_status.value(), errors);
        validate_host_ips(&status, old_status.value(), errors);
        container_status::validate_users(&status, spec, errors);
        container_status::validate_allocated_resources(&status, spec, errors);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        _old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        let status = new.at("status");
        for list in ["podIPs", "hostIPs"] {
            for address in status.at(list).items() {
                let ip = address.at("ip");
                warnings.extend(names::ip_warnings(&ip, ip.str()));
            }
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"]
    }
}

fn keep_if_empty(new: &mut Value, old: &Value, field: &str) {
    if new.at(field).is_empty() {
        keep(new, old, field);
    }
}

/// Who leaves out which generation was seen does not mean to take it back. There may be several
/// conditions of a type: then the first goes with the first.
fn keep_observed_generations(status: &mut Value, old_status: &Value) {
    const FIELD: &str = "observedGeneration";
    keep_if_empty(status, old_status, FIELD);
    let mut by_type: BTreeMap<&str, VecDeque<&Value>> = BTreeMap::new();
    for condition in old_status.at("conditions").list() {
        by_type.entry(condition.at("type").str()).or_default().push_back(condition);
    }
    let Some(conditions) = status.get_mut("conditions") else { return };
    for condition in conditions.list_mut() {
        let of_type = by_type.get_mut(condition.at("type").str());
        if let Some(old) = of_type.and_then(VecDeque::pop_front) {
            keep_if_empty(condition, old, FIELD);
        }
    }
}

/// Takes out fields of features that are off, unless the old status has them.
fn drop_disabled_fields(status: &mut Value, old_status: &Value) {
    if old_status.at(NODE_ALLOCATABLE).is_empty() {
        status.remove(NODE_ALLOCATABLE);
    }
    let mounts = |status: &Value| -> bool {
        let statuses = container_status::LISTS.iter().flat_map(|list| status.at(list).list());
        let mut mounts = statuses.flat_map(|container| container.at("volumeMounts").list());
        mounts.any(|mount| !mount.at("volumeStatus").is_null())
    };
    if mounts(old_status) {
        return;
    }
    for list in container_status::LISTS {
        let Some(statuses) = status.get_mut(list) else { continue };
        for container in statuses.list_mut() {
            let Some(mounts) = container.get_mut("volumeMounts") else { continue };
            for mount in mounts.list_mut() {
                mount.remove("volumeStatus");
            }
        }
    }
}

fn validate_conditions(conditions: &Node<'_>, errors: &mut Errors) {
    for condition in conditions.items() {
        let generation = condition.at("observedGeneration");
        if generation.int() < 0 {
            errors.invalid(&generation, "must be a non-negative integer");
        }
        let kind = condition.at("type");
        if SYSTEM_CONDITIONS.contains(&kind.str()) {
            continue;
        }
        for message in names::qualified_name(kind.str()) {
            // As upstream writes it.
            errors.invalid_value(&condition.path().child("Type"), kind.str(), message);
        }
    }
}

/// The node that the pod may soon run on: none once it runs on one.
fn validate_nominated_node(status: &Node<'_>, old: &Value, errors: &mut Errors) {
    let name = status.at("nominatedNodeName");
    if name.is_empty() || name.str() == old.path(&["status", "nominatedNodeName"]).str() {
        return;
    }
    validate_text(&name, names::dns_subdomain, errors);
    if !old.path(&["spec", "nodeName"]).is_empty() {
        errors.forbidden(&name, "may not be set on pods that are already bound to a node");
    }
}

/// What became of the claims of the pod.
fn validate_claim_statuses(statuses: &Node<'_>, spec: &Value, errors: &mut Errors) {
    let claims = spec.at("resourceClaims").list().iter();
    let known: BTreeSet<&str> = claims.map(|claim| claim.at("name").str()).collect();
    let mut seen = BTreeSet::new();
    for status in statuses.items() {
        let name = status.at("name");
        if !known.contains(name.str()) {
            errors.invalid(&name, "must match the name of an entry in `spec.resourceClaims`");
        }
        if !seen.insert(status.value().at("name").str()) {
            errors.duplicate(&name);
        }
        let claim = status.at("resourceClaimName");
        if claim.is_set() {
            validate_text(&claim, names::dns_subdomain, errors);
        }
    }
}

/// What claims took of the resources that a node has anyway.
fn validate_node_allocatable(status: &Node<'_>, spec: &Value, errors: &mut Errors) {
    let of_spec = spec.at("resourceClaims").list();
    let of_status = status.value().at("resourceClaimStatuses").list();
    let names = of_spec.iter().chain(of_status).filter_map(|claim| claim.get("resourceClaimName"));
    let known: BTreeSet<&str> = names.map(Value::str).collect();
    for claim in status.at(NODE_ALLOCATABLE).items() {
        let name = claim.at("resourceClaimName");
        if name.is_empty() {
            errors.required(&name, "must not be empty");
        }
        if !known.contains(name.str()) {
            errors.invalid(&name, "no mapping found in pod reference");
        }
        let (containers, resources) = (claim.at("containers"), claim.at("resources"));
        for field in [&containers, &resources] {
            if field.is_empty() {
                errors.required(field, "must not be empty");
            }
        }
        for (name, amount) in resources.entries() {
            if !is_native(name) {
                errors.invalid_value(&amount, name, "must be a node allocatable resource name");
            }
            if quantity(amount.value()).sign() < 0 {
                errors.invalid(&amount, "must be non-negative");
            }
        }
    }
}

fn validate_pod_ips(addresses: &Node<'_>, old_status: &Value, errors: &mut Errors) {
    validate_ips(addresses, old_status.at("podIPs"), errors);
}

fn validate_host_ips(status: &Node<'_>, old_status: &Value, errors: &mut Errors) {
    let addresses = status.at("hostIPs");
    if let Some(first) = addresses.items().next() {
        let ip = first.at("ip");
        if ip.str() != status.at("hostIP").str() {
            errors.invalid(&ip, "must be equal to `hostIP`");
        }
    }
    validate_ips(&addresses, old_status.at("hostIPs"), errors);
}

/// At most one of each family. What was let in before is not looked at again.
fn validate_ips(addresses: &Node<'_>, old: &Value, errors: &mut Errors) {
    let known: BTreeSet<&str> = old.list().iter().map(|address| address.at("ip").str()).collect();
    let texts: Vec<&str> = addresses.list().iter().map(|address| address.at("ip").str()).collect();
    address_pair::IP.validate(addresses, &texts, &known, errors);
}
