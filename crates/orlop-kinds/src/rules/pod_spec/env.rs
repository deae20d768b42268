//! The environment of a container: variables, and where their values come from.
//!
//! After `ValidateEnv`, `ValidateEnvFrom` and what they call in
//! `pkg/apis/core/validation/validation.go`. The selectors of fields and of resources are those of
//! downward API volumes too.

use std::collections::BTreeMap;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::visit::for_each_container;
use crate::rules::local_path::validate_path_without_backsteps;
use crate::rules::resource_list::quantity;
use crate::rules::scalar::{validate_optional_text, validate_required_text, validate_text};

/// What a variable may take from its pod.
const FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Every field of a pod that can be asked for by some means.
const KNOWN_FIELDS: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// What can be asked for of a container's resources, besides huge pages.
const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const CPU_DIVISORS: &[&str] = &["1m", "1"];
const BYTE_DIVISORS: &[&str] =
    &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

const SOURCES: [&str; 5] =
    ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

/// The variables of a container.
pub(super) fn validate_env(env: &Node<'_>, errors: &mut Errors) {
    for variable in env.items() {
        validate_required_text(&variable.at("name"), names::relaxed_env_var_name, errors);
        if variable.at("valueFrom").is_set() {
            validate_value_from(&variable, errors);
        }
    }
}

/// Objects whose entries all become variables.
pub(super) fn validate_env_from(env_from: &Node<'_>, errors: &mut Errors) {
    for source in env_from.items() {
        validate_optional_text(&source.at("prefix"), names::relaxed_env_var_name, errors);
        let mut count = 0;
        for field in ["configMapRef", "secretRef"] {
            let reference = source.at(field);
            if reference.is_set() {
                count += 1;
                validate_required_text(&reference.at("name"), name_or_prefix, errors);
            }
        }
        match count {
            0 => {
                let detail = "must specify one of: `configMapRef` or `secretRef`";
                errors.invalid_value(env_from, "", detail);
            }
            1 => {}
            _ => {
                let detail = "may not have more than one field specified at a time";
                errors.invalid_value(env_from, "", detail);
            }
        }
    }
}

/// Variables that come from files find these in volumes that are empty at first.
pub(super) fn validate_file_key_volumes(spec: &Node<'_>, errors: &mut Errors) {
    let volumes = spec.value().at("volumes").list().iter();
    let volumes: BTreeMap<&str, &Value> =
        volumes.map(|volume| (volume.at("name").str(), volume)).collect();
    for_each_container(spec, |container| {
        for variable in container.at("env").items() {
            let (source, file) = (variable.at("valueFrom"), "fileKeyRef");
            if !source.at(file).is_set() {
                continue;
            }
            let reference = source.at(file);
            let name = reference.at("volumeName");
            match volumes.get(name.str()) {
                None => errors.not_found(&name),
                Some(volume) if volume.at("emptyDir").is_null() => {
                    errors.invalid(&name, "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    });
}

/// A field of the pod. `allowed` lists the fields that may be asked for here; labels and
/// annotations by key always may.
pub(crate) fn validate_field_selector(selector: &Node<'_>, allowed: &[&str], errors: &mut Errors) {
    let (version, path) = (selector.at("apiVersion"), selector.at("fieldPath"));
    for part in [&version, &path] {
        if part.is_empty() {
            errors.required(part, "");
            return;
        }
    }
    let (field, key) = match split_subscript(path.str()) {
        Some((field, key)) => (field, Some(key)),
        None => (path.str(), None),
    };
    let is_map = matches!(field, "metadata.annotations" | "metadata.labels");
    let problem = if version.str() != "v1" {
        format!("unsupported pod version: {}", version.str())
    } else if key.is_some() && !is_map {
        format!("field label does not support subscript: {}", path.str())
    } else if key.is_none() && !KNOWN_FIELDS.contains(&field) && field != "spec.host" {
        format!("field label not supported: {field}")
    } else {
        String::new()
    };
    if !problem.is_empty() {
        errors.invalid(&path, format!("error converting fieldPath: {problem}"));
        return;
    }
    match key {
        Some(key) => {
            let key = match field {
                "metadata.annotations" => key.to_lowercase(),
                _ => key.to_owned(),
            };
            for message in names::qualified_name(&key) {
                errors.invalid_value(selector, key.as_str(), message);
            }
        }
        None => {
            // What old clients call the node.
            let field = if field == "spec.host" { "spec.nodeName" } else { field };
            if !allowed.contains(&field) {
                errors.not_supported_value(&path, field, allowed);
            }
        }
    }
}

/// A resource of a container. Only a volume must say which container.
pub(crate) fn validate_resource_field_selector(
    selector: &Node<'_>,
    is_volume: bool,
    errors: &mut Errors,
) {
    let (container, resource) = (selector.at("containerName"), selector.at("resource"));
    if is_volume && container.is_empty() {
        errors.required(&container, "");
    } else if resource.is_empty() {
        errors.required(&resource, "");
    } else if !RESOURCES.contains(&resource.str()) && !is_huge_pages(resource.str()) {
        errors.not_supported(&resource, RESOURCES);
    }
    validate_divisor(selector, errors);
}

fn validate_value_from(variable: &Node<'_>, errors: &mut Errors) {
    let value_from = variable.at("valueFrom");
    let mut count = 0;
    for name in SOURCES {
        let source = value_from.at(name);
        if !source.is_set() {
            continue;
        }
        count += 1;
        match name {
            "fieldRef" => validate_field_selector(&source, FIELDS, errors),
            "resourceFieldRef" => validate_resource_field_selector(&source, false, errors),
            "fileKeyRef" => validate_file_key_selector(&source, errors),
            _ => validate_key_selector(&source, errors),
        }
    }
    let detail = if count == 0 {
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or \
         `fileKeyRef`"
    } else if !variable.at("value").is_empty() {
        "may not be specified when `value` is not empty"
    } else if count > 1 {
        "may not have more than one field specified at a time"
    } else {
        return;
    };
    errors.invalid_value(&value_from, "", detail);
}

/// A key of a ConfigMap or Secret.
fn validate_key_selector(selector: &Node<'_>, errors: &mut Errors) {
    validate_text(&selector.at("name"), names::dns_subdomain, errors);
    validate_required_text(&selector.at("key"), names::config_map_key, errors);
}

/// A key in a file of a volume.
fn validate_file_key_selector(selector: &Node<'_>, errors: &mut Errors) {
    validate_required_text(&selector.at("key"), names::relaxed_env_var_name, errors);
    validate_required_text(&selector.at("volumeName"), names::dns_label, errors);
    let path = selector.at("path");
    if path.is_empty() {
        errors.required(&path, "");
    } else {
        validate_path_without_backsteps(&path, errors);
    }
}

fn validate_divisor(selector: &Node<'_>, errors: &mut Errors) {
    let (resource, divisor) = (selector.at("resource").str().to_owned(), selector.at("divisor"));
    let amount = quantity(divisor.value());
    if amount.is_zero() {
        return;
    }
    let (allowed, noun) = match resource.split_once('.').map_or("", |(_, name)| name) {
        _ if is_huge_pages(&resource) => (BYTE_DIVISORS, "hugepages resource"),
        _ if !RESOURCES.contains(&resource.as_str()) => return,
        "cpu" => (CPU_DIVISORS, "cpu resource"),
        "memory" => (BYTE_DIVISORS, "memory resource"),
        _ => (BYTE_DIVISORS, "local ephemeral storage resource"),
    };
    if !allowed.contains(&divisor.str()) {
        let allowed = if allowed.len() == 2 { "1m and 1".to_owned() } else { allowed.join(", ") };
        let detail = format!("only divisor's values {allowed} are supported with the {noun}");
        errors.invalid_value(&divisor, resource, detail);
    }
}

fn is_huge_pages(resource: &str) -> bool {
    resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-")
}

/// A name that may still get something behind it.
fn name_or_prefix(name: &str) -> Vec<String> {
    names::name_is_dns_subdomain(name, true)
}

/// `metadata.labels['a']` is the entry `a` of `metadata.labels`.
fn split_subscript(path: &str) -> Option<(&str, &str)> {
    let (field, key) = path.strip_suffix("']")?.split_once("['")?;
    (!field.is_empty()).then_some((field, key))
}
