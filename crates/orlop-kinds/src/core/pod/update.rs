//! What may change in a pod that exists: images, a deadline that comes nearer, tolerations that
//! are added, gates that are taken away; and of a pod behind gates, where it may run.
//!
//! After `ValidatePodUpdate` and `ValidatePodSpecificAnnotationUpdates` in
//! `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, names, unified_diff};

use super::SPEC_STRUCT;
use crate::rules::meaning;
use crate::rules::pod_spec::{PodOptions, annotations, validate_image_without_space};
use crate::rules::status::keep;
use crate::rules::tolerations::validate_tolerations;

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,\
    `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const TERM_STRUCT: &str = "io.k8s.api.core.v1.NodeSelectorTerm";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const GRACE_PERIOD: &str = "terminationGracePeriodSeconds";

/// The annotations that nobody may change, and all rules of annotations.
pub(super) fn validate_annotation_updates(
    new: &Node<'_>,
    old: &Node<'_>,
    options: &PodOptions,
    errors: &mut Errors,
) {
    let metadata = new.at("metadata");
    let annotations = metadata.at("annotations");
    let path = ["metadata", "annotations"];
    let (new_map, old_map) = (annotations.map(), old.value().path(&path).map());
    for (key, value) in old_map.iter() {
        if let Some(noun) = annotations::fixed_noun(key)
            && new_map.get(key) != Some(value)
        {
            let detail = format!("may not remove or update {noun}");
            errors.forbidden(&annotations.path().key(key), detail);
        }
    }
    for key in new_map.keys().filter(|key| !old_map.contains_key(key)) {
        if let Some(noun) = annotations::fixed_noun(key) {
            errors.forbidden(&annotations.path().key(key), format!("may not add {noun}"));
        }
    }
    let spec = new.value().at("spec");
    annotations::validate_pod_annotations(&annotations, spec, options, errors);
}

/// Reports what an update changes in a spec and may not.
pub(super) fn validate_spec_update(
    new: &Node<'_>,
    old: &Node<'_>,
    options: &PodOptions,
    errors: &mut Errors,
) {
    for list in ["containers", "initContainers"] {
        if !validate_containers(&new.at(list), old.at(list).len(), errors) {
            return;
        }
    }
    let deadline = "activeDeadlineSeconds";
    if !validate_deadline(&new.at(deadline), old.at(deadline).value().as_int(), errors) {
        return;
    }
    validate_only_added(&new.at("tolerations"), old.at("tolerations").list(), options, errors);
    let gates = "schedulingGates";
    validate_only_deleted(&new.at(gates), old.at(gates).list(), errors);
    let old_spec = old.value();
    if meaning::is_same(SPEC_STRUCT, new.value(), old_spec) {
        return;
    }
    let mut masked = new.value().clone();
    mask_changeable(&mut masked, old_spec);
    if !old.at(gates).is_empty() {
        validate_node_selector(&new.at("nodeSelector"), old.at("nodeSelector").value(), errors);
        keep(&mut masked, old_spec, "nodeSelector");
        validate_node_affinity(&new.at("affinity"), old_spec.at("affinity"), errors);
        mask_node_affinity(&mut masked, old_spec);
    }
    if !meaning::is_same(SPEC_STRUCT, &masked, old_spec) {
        let difference = unified_diff::of_values(old_spec, &masked);
        let detail =
            format!("pod updates may not change fields other than {CHANGEABLE}\n{difference}");
        errors.forbidden(new, detail);
    }
}

/// Whether there are as many containers as before: else nothing more can be said.
fn validate_containers(containers: &Node<'_>, old_count: usize, errors: &mut Errors) -> bool {
    if containers.len() != old_count {
        errors.forbidden(containers, "pod updates may not add or remove containers");
        return false;
    }
    for container in containers.items() {
        let image = container.at("image");
        if image.is_empty() {
            errors.required(&image, "");
        }
        validate_image_without_space(&container, errors);
    }
    true
}

/// A deadline may be set, and may come nearer. Whether it makes sense to look further.
fn validate_deadline(deadline: &Node<'_>, old: Option<i64>, errors: &mut Errors) -> bool {
    let before = errors.len();
    match (deadline.value().as_int(), old) {
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            errors.invalid_value(deadline, "null", detail);
            return true;
        }
        (None, None) => {}
        (Some(new), old) => {
            let max = i64::from(i32::MAX);
            if !(0..=max).contains(&new) {
                errors.invalid(deadline, names::inclusive_range_error(0, max));
            } else if old.is_some_and(|old| old < new) {
                errors.invalid(deadline, "must be less than or equal to previous value");
            }
        }
    }
    errors.len() == before
}

/// Every toleration is still there, but for how long it tolerates.
fn validate_only_added(
    tolerations: &Node<'_>,
    old: &[Value],
    options: &PodOptions,
    errors: &mut Errors,
) {
    let identity = |toleration: &'_ Value| {
        ["key", "operator", "value", "effect"].map(|field| toleration.at(field).str().to_owned())
    };
    let new: BTreeSet<[String; 4]> = tolerations.list().iter().map(identity).collect();
    if old.iter().all(|toleration| new.contains(&identity(toleration))) {
        let allow_comparison = options.allow_toleration_comparison_operators;
        validate_tolerations(tolerations, allow_comparison, errors);
    } else {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        errors.forbidden(tolerations, detail);
    }
}

fn validate_only_deleted(gates: &Node<'_>, old: &[Value], errors: &mut Errors) {
    let known: BTreeSet<&str> = old.iter().map(|gate| gate.at("name").str()).collect();
    for gate in gates.items() {
        let name = gate.at("name");
        if !known.contains(name.str()) {
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{}'", name.str());
            errors.forbidden(&name, detail);
        }
    }
}

/// Takes out of a new spec the changes that are allowed or were complained about.
fn mask_changeable(masked: &mut Value, old: &Value) {
    for list in ["containers", "initContainers"] {
        let Some(containers) = masked.get_mut(list) else { continue };
        for (container, old) in containers.list_mut().iter_mut().zip(old.at(list).list()) {
            keep(container, old, "image");
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        keep(masked, old, field);
    }
    if old.at(GRACE_PERIOD).int() < 0 && masked.at(GRACE_PERIOD).int() == 1 {
        keep(masked, old, GRACE_PERIOD);
    }
}

/// A pod behind gates may be bound to fewer nodes, not to others.
fn validate_node_selector(selector: &Node<'_>, old: &Value, errors: &mut Errors) {
    let is_kept = |(key, value): (&str, &Value)| selector.map().get(key) == Some(value);
    if !old.map().iter().all(is_kept) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.invalid(selector, detail);
    }
}

fn validate_node_affinity(affinity: &Node<'_>, old: &Value, errors: &mut Errors) {
    let path = ["nodeAffinity", REQUIRED, "nodeSelectorTerms"];
    let old_terms = old.path(&path).list();
    let node_affinity = affinity.at("nodeAffinity");
    let required = node_affinity.at(REQUIRED);
    let terms = required.at("nodeSelectorTerms");
    if old_terms.is_empty() {
        return;
    }
    if old_terms.len() != terms.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.invalid(&terms, detail);
        return;
    }
    for (term, old) in terms.items().zip(old_terms) {
        if !has_only_additions(term.value(), old) {
            errors.invalid(&term, "only additions are allowed (no mutations or deletions)");
        }
    }
}

/// A term that asks for nothing matches nothing, so it may not come to ask for something.
fn has_only_additions(new: &Value, old: &Value) -> bool {
    let lists = ["matchExpressions", "matchFields"];
    if lists.iter().all(|list| old.at(list).is_empty()) {
        return lists.iter().all(|list| new.at(list).is_empty());
    }
    lists.iter().all(|list| {
        let (new, old) = (new.at(list).list(), old.at(list).list());
        let start = new.get(..old.len());
        start.is_some_and(|start| {
            let term = |items: &[Value]| Value::from([(*list, Value::List(items.to_vec()))]);
            meaning::is_same(TERM_STRUCT, &term(start), &term(old))
        })
    })
}

/// Takes out the change of the nodes that are asked for, and the affinity if it has nothing else.
fn mask_node_affinity(masked: &mut Value, old: &Value) {
    let old_affinity = old.at("affinity");
    let Some(affinity) = masked.get_mut("affinity") else {
        if let Some(nodes) = old_affinity.get("nodeAffinity") {
            masked.entry("affinity").set("nodeAffinity", nodes.clone());
        }
        return;
    };
    if affinity.at("nodeAffinity") == old_affinity.at("nodeAffinity") {
        return;
    }
    keep(affinity, old_affinity, "nodeAffinity");
    if old_affinity.is_null() && affinity.map().is_empty() {
        masked.remove("affinity");
    }
}
