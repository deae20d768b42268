//! What a pod spec means where it says nothing.
//!
//! After `pkg/apis/core/v1/defaults.go`. Some defaults are for pods alone and not for templates:
//! what a template does not say is decided when a pod is made of it. What upstream's conversion
//! between versions changes (`pkg/apis/core/v1/conversion.go`) is done here too, because it leaves
//! the same objects behind.

use orlop_machinery::kind::Defaulter;
use orlop_machinery::{Map, Value, value};

use crate::rules::image_reference::default_pull_policy;
use crate::rules::resource_list::{Amounts, round_up_fields, sum_of_containers, text};
use crate::rules::resource_name::{is_huge_page, is_overcommit_allowed, is_pod_level};

/// The defaults of Pod and of all structs in a pod spec but volumes.
pub(crate) static DEFAULTERS: &[(&str, Defaulter)] = &[
    ("io.k8s.api.core.v1.Pod", set_pod),
    ("io.k8s.api.core.v1.PodTemplateSpec", set_pod_template_spec),
    ("io.k8s.api.core.v1.PodSpec", set_pod_spec),
    ("io.k8s.api.core.v1.Container", set_container),
    ("io.k8s.api.core.v1.EphemeralContainer", set_container),
    ("io.k8s.api.core.v1.Probe", set_probe),
    ("io.k8s.api.core.v1.HTTPGetAction", set_http_get_action),
    ("io.k8s.api.core.v1.ObjectFieldSelector", set_object_field_selector),
    ("io.k8s.api.core.v1.ResourceRequirements", round_up_requirements),
    ("io.k8s.api.core.v1.ContainerStatus", round_up_allocated_resources),
    ("io.k8s.api.core.v1.PodStatus", set_pod_status),
];

/// Annotations that held init containers before there was a field, and are not heeded any more.
const INIT_CONTAINER_ANNOTATIONS: [&str; 4] = [
    "pod.alpha.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.beta.kubernetes.io/init-containers",
];

fn set_pod(pod: &mut Value) {
    drop_init_container_annotations(pod);
    let spec = pod.entry("spec");
    for list in ["containers", "initContainers"] {
        if let Some(containers) = spec.get_mut(list) {
            containers.list_mut().iter_mut().for_each(set_requests_from_limits);
        }
    }
    set_pod_level_huge_page_limits(spec);
    set_pod_level_requests(spec);
    spec.set_default("enableServiceLinks", true);
    if spec.at("hostNetwork").bool() {
        set_host_ports(spec);
    }
    // A negative time to end means at once.
    if spec.at("terminationGracePeriodSeconds").int() < 0 {
        spec.set("terminationGracePeriodSeconds", 1);
    }
}

fn set_pod_template_spec(template: &mut Value) {
    drop_init_container_annotations(template);
}

fn set_pod_spec(spec: &mut Value) {
    set_if_empty(spec, "dnsPolicy", "ClusterFirst");
    set_if_empty(spec, "restartPolicy", "Always");
    spec.set_default("securityContext", Map::new());
    spec.set_default("terminationGracePeriodSeconds", 30);
    set_if_empty(spec, "schedulerName", "default-scheduler");
    round_up_fields(spec, &["overhead"]);
    // `serviceAccount` is another name of `serviceAccountName`, which counts if both are there.
    let account = match spec.at("serviceAccountName") {
        name if name.is_empty() => spec.at("serviceAccount").clone(),
        name => name.clone(),
    };
    if !account.is_empty() {
        spec.set("serviceAccount", account.clone());
        spec.set("serviceAccountName", account);
    }
}

fn set_container(container: &mut Value) {
    let policy = default_pull_policy(container.at("image").str());
    set_if_empty(container, "imagePullPolicy", policy);
    set_if_empty(container, "terminationMessagePath", "/dev/termination-log");
    set_if_empty(container, "terminationMessagePolicy", "File");
}

fn set_probe(probe: &mut Value) {
    let defaults = [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ];
    for (field, seconds) in defaults {
        if probe.at(field).is_empty() {
            probe.set(field, seconds);
        }
    }
}

fn set_http_get_action(action: &mut Value) {
    set_if_empty(action, "path", "/");
    set_if_empty(action, "scheme", "HTTP");
}

fn set_object_field_selector(selector: &mut Value) {
    set_if_empty(selector, "apiVersion", "v1");
}

fn round_up_requirements(requirements: &mut Value) {
    round_up_fields(requirements, &["limits", "requests"]);
}

fn round_up_allocated_resources(status: &mut Value) {
    round_up_fields(status, &["allocatedResources"]);
}

/// `podIP` is the first of `podIPs`. Where a node says otherwise it does not know the list.
fn set_pod_status(status: &mut Value) {
    round_up_allocated_resources(status);
    let one = status.at("podIP").clone();
    let first = status.at("podIPs").list().first().map_or(&value::NULL, |first| first.at("ip"));
    if !one.is_empty() && one != *first {
        status.set("podIPs", vec![Value::from([("ip", one)])]);
    } else if !first.is_empty() {
        let first = first.clone();
        status.set("podIP", first);
    }
}

fn set_if_empty(value: &mut Value, field: &str, default: &str) {
    if value.at(field).is_empty() {
        value.set(field, default);
    }
}

fn drop_init_container_annotations(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata") else { return };
    let Some(Value::Map(annotations)) = metadata.get_mut("annotations") else { return };
    for annotation in INIT_CONTAINER_ANNOTATIONS {
        annotations.remove(annotation);
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// Who limits a resource and does not say how much is needed needs all of it.
fn set_requests_from_limits(container: &mut Value) {
    let limits = container.path(&["resources", "limits"]).map().clone();
    if limits.is_empty() {
        return;
    }
    let requests = container.entry("resources").entry("requests");
    for (name, limit) in limits {
        requests.set_default(&name, limit);
    }
}

/// A pod that says something about its resources as a whole, and nothing about huge pages that
/// its containers limit, has their limits together.
fn set_pod_level_huge_page_limits(spec: &mut Value) {
    let resources = spec.at("resources");
    let requests = resources.at("requests").map();
    if resources.at("limits").is_empty() && requests.is_empty() {
        return;
    }
    let mut limits = sum_of_containers(spec, "limits");
    limits.retain(|name, _| is_huge_page(name) && !requests.contains_key(name));
    let limits = values(&limits);
    add_missing(spec, "limits", limits);
}

/// A pod that limits its resources as a whole asks for what its containers ask for together, and
/// for what they do not speak of, for as much as its limit.
fn set_pod_level_requests(spec: &mut Value) {
    let resources = spec.at("resources");
    if resources.at("limits").is_empty() {
        return;
    }
    let mut requests = sum_of_containers(spec, "requests");
    requests.retain(|name, _| is_pod_level(name) && is_overcommit_allowed(name));
    let mut requests = values(&requests);
    for (name, limit) in resources.at("limits").map().iter() {
        if is_pod_level(name) && !requests.contains_key(name) {
            requests.insert(name, limit.clone());
        }
    }
    add_missing(spec, "requests", requests);
}

fn values(amounts: &Amounts<'_>) -> Map {
    amounts.iter().map(|(name, amount)| ((*name).into(), text(*amount))).collect()
}

fn add_missing(spec: &mut Value, field: &str, amounts: Map) {
    if amounts.is_empty() {
        return;
    }
    let list = spec.entry("resources").entry(field);
    for (name, amount) in amounts {
        list.set_default(&name, amount);
    }
}

/// In the network of its host a port of a container is a port of the host.
fn set_host_ports(spec: &mut Value) {
    for list in ["containers", "initContainers"] {
        let Some(containers) = spec.get_mut(list) else { continue };
        for container in containers.list_mut() {
            let Some(ports) = container.get_mut("ports") else { continue };
            for port in ports.list_mut() {
                if port.at("hostPort").is_empty() && !port.at("containerPort").is_empty() {
                    let number = port.at("containerPort").clone();
                    port.set("hostPort", number);
                }
            }
        }
    }
}
