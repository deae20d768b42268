//! The endpoint at which a pod that runs gets more or less of processors and memory.
//!
//! After `podResizeStrategy` in `pkg/registry/core/pod/strategy.go` and `ValidatePodResize` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Value, meta};

use super::{
    SPEC_STRUCT, is_mirror, options_from_old, prepare, quality_of_service,
    validate_metadata_and_spec,
};
use crate::rules::meaning;
use crate::rules::pod_spec::visit::is_sidecar;
use crate::rules::status::keep;

pub(super) static RULES: Resize = Resize;

/// The subresource.
pub(super) struct Resize;

const CONTAINER_STRUCT: &str = "io.k8s.api.core.v1.Container";
const RESOURCES_STRUCT: &str = "io.k8s.api.core.v1.ResourceRequirements";
const LISTS: [&str; 2] = ["containers", "initContainers"];
const RESIZED: [&str; 2] = ["cpu", "memory"];

impl Rules for Resize {
    /// Everything but resources stays, as long as it is clear which container is which.
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        let (sent, before) = (new.at("spec").clone(), old.at("spec"));
        if LISTS.iter().all(|list| sent.at(list).list().len() == before.at(list).list().len()) {
            for field in ["spec", "status"] {
                keep(new, old, field);
            }
            meta::update::keep_for_status(new, old);
            let spec = new.entry("spec");
            keep(spec, &sent, "resources");
            for list in LISTS {
                keep_container_resources(spec, &sent, list);
            }
        }
        prepare::settle_spec(new, old);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        if let Some(detail) = reason_against_any(old.value()) {
            // Upstream says it of no field at all, and nothing else.
            let at = Path::root();
            errors.forbidden(&at.key(""), detail);
            return;
        }
        let before = errors.len();
        validate_metadata_and_spec(new, &options_from_old(old.value()), errors);
        validate_resize(new, old.value(), before, errors);
    }

    fn written_fields(&self) -> &'static [&'static str] {
        &[
            "spec.containers.*.resources",
            "spec.containers.*.resizePolicy",
            "spec.initContainers.*.resources",
            "spec.initContainers.*.resizePolicy",
        ]
    }
}

/// Takes the resources of containers from what was sent; all of the containers, if one was renamed.
fn keep_container_resources(spec: &mut Value, sent: &Value, list: &str) {
    let sent = sent.at(list).list();
    let Some(containers) = spec.get_mut(list) else { return };
    let names = containers.list().iter().map(|container| container.at("name"));
    if !names.eq(sent.iter().map(|container| container.at("name"))) {
        containers.list_mut().clone_from_slice(sent);
        return;
    }
    for (container, sent) in containers.list_mut().iter_mut().zip(sent) {
        keep(container, sent, "resources");
        keep(container, sent, "resizePolicy");
    }
}

fn reason_against_any(old: &Value) -> Option<&'static str> {
    if is_mirror(old) {
        Some("static pods cannot be resized")
    } else if old.path(&["spec", "os", "name"]).str() == "windows" {
        Some("windows pods cannot be resized")
    } else {
        None
    }
}

/// `before` is how many errors there were before anything of this endpoint was looked at.
fn validate_resize(new: &Node<'_>, old: &Value, before: usize, errors: &mut Errors) {
    let (spec, old_spec) = (new.at("spec"), old.at("spec"));
    let class = quality_of_service::of_spec(spec.value());
    if quality_of_service::of_pod(old) != class {
        let shown = new.value().path(&["status", "qosClass"]).str();
        let detail = "Pod QOS Class may not change as a result of resizing";
        errors.invalid_value(&spec, shown, detail);
    }
    if !is_supported_by_node(old) {
        errors.forbidden(&spec, "Pod running on node without support for resize");
    }
    let mut masked = spec.value().clone();
    if [spec.value(), old_spec].iter().any(|spec| has_pod_level_resources(spec)) {
        validate_pod_level(&spec, old_spec, &mut masked, errors);
    }
    if !old.path(&["status", "nodeAllocatableResourceClaimStatuses"]).is_empty() {
        let detail = "pods with node allocatable resource claims cannot be resized";
        errors.forbidden(&spec, detail);
    }
    if !validate_order(&spec, old_spec, errors) {
        return;
    }
    for list in ["initContainers", "containers"] {
        for (container, old) in spec.at(list).items().zip(old_spec.at(list).list()) {
            let resources = container.at("resources");
            validate_nothing_removed(&resources, old.at("resources"), "resource", errors);
        }
    }
    validate_containers(&spec, old_spec, &mut masked, errors);
    validate_init_containers(&spec, old_spec, &mut masked, errors);
    if errors.len() == before && !meaning::is_same(SPEC_STRUCT, &masked, old_spec) {
        errors.forbidden(&spec, "only cpu and memory resources are mutable");
    }
}

/// A node that can resize tells which resources a running container has.
fn is_supported_by_node(pod: &Value) -> bool {
    let statuses = pod.path(&["status", "containerStatuses"]).list();
    let running = statuses.iter().find(|status| !status.path(&["state", "running"]).is_null());
    running.is_none_or(|status| !status.at("resources").is_null())
}

fn has_pod_level_resources(spec: &Value) -> bool {
    let resources = spec.at("resources");
    ["requests", "limits"].iter().any(|field| !resources.at(field).is_empty())
}

fn validate_pod_level(spec: &Node<'_>, old_spec: &Value, masked: &mut Value, errors: &mut Errors) {
    let (resources, old) = (spec.at("resources"), old_spec.at("resources"));
    if !old.is_null() {
        if !resources.is_set() {
            errors.forbidden(&resources, "pod-level resources cannot be removed");
            return;
        }
        validate_nothing_removed(&resources, old, "pod-level resource", errors);
    }
    if let Some(resources) = masked.get_mut("resources") {
        mask_amounts(resources, old);
        if old.is_null() && resources.map().is_empty() {
            masked.remove("resources");
        }
    }
    let masked = masked.at("resources");
    let is_same =
        masked.is_null() == old.is_null() && meaning::is_same(RESOURCES_STRUCT, masked, old);
    if !is_same {
        errors.forbidden(spec, "only cpu and memory resources are mutable at pod-level");
    }
}

/// Whether all containers are where they were.
fn validate_order(spec: &Node<'_>, old_spec: &Value, errors: &mut Errors) -> bool {
    let before = errors.len();
    for list in LISTS {
        let (containers, old) = (spec.at(list), old_spec.at(list).list());
        if containers.len() != old.len() {
            let detail = format!("{list} may not be added or removed on resize");
            errors.forbidden(&containers, detail);
            continue;
        }
        for (container, old) in containers.items().zip(old) {
            let name = container.at("name");
            if name.str() != old.at("name").str() {
                errors
                    .forbidden(&name, format!("{list} may not be renamed or reordered on resize"));
            }
        }
    }
    errors.len() == before
}

fn validate_nothing_removed(resources: &Node<'_>, old: &Value, noun: &str, errors: &mut Errors) {
    for field in ["requests", "limits"] {
        let amounts = resources.at(field);
        if old.at(field).map().keys().any(|name| !amounts.map().contains_key(name)) {
            errors.forbidden(&amounts, format!("{noun} {field} cannot be removed"));
        }
    }
}

fn validate_containers(spec: &Node<'_>, old_spec: &Value, masked: &mut Value, errors: &mut Errors) {
    let Some(containers) = masked.get_mut("containers") else { return };
    for (container, old) in containers.list_mut().iter_mut().zip(old_spec.at("containers").list()) {
        mask_container(container, old);
        if !meaning::is_same(CONTAINER_STRUCT, container, old) {
            errors.forbidden(spec, "only cpu and memory resources are mutable");
        }
    }
}

fn validate_init_containers(
    spec: &Node<'_>,
    old_spec: &Value,
    masked: &mut Value,
    errors: &mut Errors,
) {
    let list = "initContainers";
    let at = spec.path().child(list);
    let Some(containers) = masked.get_mut(list) else { return };
    let pairs = containers.list_mut().iter_mut().zip(old_spec.at(list).list());
    for (index, (container, old)) in pairs.enumerate() {
        let is_changed = !meaning::is_same(CONTAINER_STRUCT, container, old);
        mask_container(container, old);
        if !meaning::is_same(CONTAINER_STRUCT, container, old) {
            let detail = "only cpu and memory resources for init or sidecar containers are mutable";
            errors.forbidden(&at.index(index), detail);
        }
        if !is_changed || is_sidecar(container) {
            continue;
        }
        for policy in container.at("resizePolicy").list() {
            if policy.at("restartPolicy").str() == "RestartContainer" {
                let detail = "non-sidecar init containers with a resize policy of \
                              RestartContainer cannot be resized";
                errors.forbidden(&at.index(index), detail);
            }
        }
    }
}

/// Gives a container the processors and the memory that it had. Claims do not count here.
fn mask_container(container: &mut Value, old: &Value) {
    let resources = container.entry("resources");
    resources.remove("claims");
    mask_amounts(resources, old.at("resources"));
}

fn mask_amounts(resources: &mut Value, old: &Value) {
    for field in ["requests", "limits"] {
        let mut amounts = resources.at(field).map().clone();
        for name in RESIZED {
            amounts.remove(name);
            if let Some(amount) = old.path(&[field, name]).as_str() {
                amounts.insert(name, Value::from(amount));
            }
        }
        set_or_remove(resources, field, amounts);
    }
}

fn set_or_remove(resources: &mut Value, field: &str, amounts: Map) {
    if amounts.is_empty() {
        resources.remove(field);
    } else {
        resources.set(field, amounts);
    }
}
