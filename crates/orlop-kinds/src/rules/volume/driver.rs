//! Volumes that a driver of somebody else's brings.
//!
//! After `validateCSIVolumeSource`, `validateFlexVolumeSource` and their like in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::source::{require, require_of_secret};
use crate::rules::scalar::{validate_optional_text, validate_required_text};

const CSI_DRIVER_NAME_MAX: usize = 63;

/// The name of a CSI driver: a domain, in letters of any case.
pub(crate) fn validate_csi_driver_name(name: &Node<'_>, errors: &mut Errors) {
    if name.is_empty() {
        errors.required(name, "");
        return;
    }
    if name.str().len() > CSI_DRIVER_NAME_MAX {
        errors.too_long(name, CSI_DRIVER_NAME_MAX);
    }
    for message in names::dns_subdomain(&name.str().to_lowercase()) {
        errors.invalid(name, message);
    }
}

/// A volume that a CSI driver makes for one pod.
pub(super) fn validate_csi(source: &Node<'_>, errors: &mut Errors) {
    validate_csi_driver_name(&source.at("driver"), errors);
    let secret = source.at("nodePublishSecretRef");
    let name = secret.at("name");
    if !secret.is_set() {
        return;
    }
    if name.is_empty() {
        errors.required(&name, "");
        return;
    }
    // Upstream does not say in which field the name is.
    let at = source.path().child("name");
    for message in names::dns_subdomain(name.str()) {
        errors.invalid_value(&at, name.str(), message);
    }
}

/// A persistent volume of a CSI driver.
pub(crate) fn validate_persistent_csi(source: &Node<'_>, errors: &mut Errors) {
    validate_csi_driver_name(&source.at("driver"), errors);
    require(source, &["volumeHandle"], errors);
    // The secret for staging is not looked at.
    for field in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let secret = source.at(field);
        if secret.is_set() {
            validate_required_text(&secret.at("name"), names::dns_subdomain, errors);
            validate_required_text(&secret.at("namespace"), names::dns_label, errors);
        }
    }
}

/// A volume of a program on the node. Its options are in nobody's namespace.
pub(crate) fn validate_flex(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["driver"], errors);
    for (key, option) in source.at("options").entries() {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace);
        let normalized = format!(".{}", namespace.to_lowercase());
        if normalized.ends_with(".kubernetes.io") || normalized.ends_with(".k8s.io") {
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            errors.invalid_value(&option, key, detail);
        }
    }
}

/// A dataset of Flocker's.
pub(crate) fn validate_flocker(source: &Node<'_>, errors: &mut Errors) {
    let (name, id) = (source.at("datasetName"), source.at("datasetUUID"));
    if name.is_empty() && id.is_empty() {
        errors.required(source, "one of datasetName and datasetUUID is required");
    }
    if !name.is_empty() && !id.is_empty() {
        let detail = "datasetName and datasetUUID can not be specified simultaneously";
        errors.invalid_value(source, "resource", detail);
    }
    if name.str().contains('/') {
        errors.invalid(&name, "must not contain '/'");
    }
}

/// A volume of Portworx'.
pub(crate) fn validate_portworx(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["volumeID"], errors);
}

/// A volume of ScaleIO's.
pub(crate) fn validate_scale_io(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["gateway", "system", "volumeName"], errors);
}

/// A volume of StorageOS'.
pub(super) fn validate_storage_os(source: &Node<'_>, errors: &mut Errors) {
    validate_storage_os_names(source, errors);
    require_of_secret(source, &["name"], errors);
}

/// The same as a persistent volume, whose secret may be in any namespace.
pub(crate) fn validate_persistent_storage_os(source: &Node<'_>, errors: &mut Errors) {
    validate_storage_os_names(source, errors);
    require_of_secret(source, &["name", "namespace"], errors);
}

fn validate_storage_os_names(source: &Node<'_>, errors: &mut Errors) {
    validate_required_text(&source.at("volumeName"), names::dns_label, errors);
    validate_optional_text(&source.at("volumeNamespace"), names::dns_label, errors);
}
