//! Where a container finds the volumes of its pod: as folders and as block devices.
//!
//! After `ValidateVolumeMounts` and `ValidateVolumeDevices` in
//! `pkg/apis/core/validation/validation.go`. As upstream, some errors about a mount name the list
//! without the position.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::node::Node;

use crate::rules::local_path::{has_backsteps, validate_local_descending_path_at};

/// The volumes that a container mounts, of those of the pod that are fine.
pub(super) fn validate_volume_mounts(
    container: &Node<'_>,
    volumes: &BTreeMap<&str, &Value>,
    errors: &mut Errors,
) {
    let devices = places(container.value().at("volumeDevices"), "devicePath");
    let device_paths: BTreeSet<&str> = devices.values().copied().collect();
    let mut known_paths = BTreeSet::new();
    let mounts = container.at("volumeMounts");
    for mount in mounts.items() {
        let (name, path) = (mount.at("name"), mount.at("mountPath"));
        if name.is_empty() {
            errors.required(&name, "");
        }
        if !volumes.contains_key(name.str()) {
            errors.not_found(&name);
        }
        if path.is_empty() {
            errors.required(&path, "");
        }
        if !known_paths.insert(mount.value().at("mountPath").str()) {
            errors.invalid(&path, "must be unique");
        }
        if devices.contains_key(name.str()) {
            errors.invalid(&name, "must not already exist in volumeDevices");
        }
        if device_paths.contains(path.str()) {
            errors.invalid(&path, "must not already exist as a path in volumeDevices");
        }
        validate_sub_path(&mount, mounts.path(), errors);
        validate_mount_propagation(&mount, container, mounts.path(), errors);
        validate_recursive_read_only(&mount, mounts.path(), errors);
    }
}

/// The volumes that a container sees as block devices.
pub(super) fn validate_volume_devices(
    container: &Node<'_>,
    volumes: &BTreeMap<&str, &Value>,
    errors: &mut Errors,
) {
    let mounts = places(container.value().at("volumeMounts"), "mountPath");
    let mount_paths: BTreeSet<&str> = mounts.values().copied().collect();
    let (mut known_names, mut known_paths) = (BTreeSet::new(), BTreeSet::new());
    for device in container.at("volumeDevices").items() {
        let (name, path) = (device.at("name"), device.at("devicePath"));
        if name.is_empty() {
            errors.required(&name, "");
        } else if !known_names.insert(device.value().at("name").str()) {
            errors.invalid(&name, "must be unique");
        }
        validate_block_source(&name, volumes, errors);
        if path.is_empty() {
            errors.required(&path, "");
        }
        if known_paths.contains(path.str()) {
            errors.invalid(&path, "must be unique");
        }
        if has_backsteps(path.str()) {
            errors.invalid(&path, "can not contain backsteps ('..')");
        } else {
            known_paths.insert(device.value().at("devicePath").str());
        }
        if mounts.contains_key(name.str()) {
            errors.invalid(&name, "must not already exist in volumeMounts");
        }
        if mount_paths.contains(path.str()) {
            errors.invalid(&path, "must not already exist as a path in volumeMounts");
        }
    }
}

/// Where each volume is; of one that is at several places, the last.
fn places<'a>(list: &'a Value, path: &str) -> BTreeMap<&'a str, &'a str> {
    list.list().iter().map(|item| (item.at("name").str(), item.at(path).str())).collect()
}

fn validate_block_source(name: &Node<'_>, volumes: &BTreeMap<&str, &Value>, errors: &mut Errors) {
    let Some(volume) = volumes.get(name.str()) else {
        errors.not_found(name);
        return;
    };
    if volume.at("persistentVolumeClaim").is_null() && volume.at("ephemeral").is_null() {
        let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for \
                      block mode";
        errors.invalid(name, detail);
    }
}

fn validate_sub_path(mount: &Node<'_>, list: &Path<'_>, errors: &mut Errors) {
    let (path, expression) = (mount.at("subPath"), mount.at("subPathExpr"));
    if !path.is_empty() {
        validate_local_descending_path_at(&list.child("subPath"), path.str(), errors);
    }
    if !expression.is_empty() {
        if !path.is_empty() {
            errors.invalid(&expression, "subPathExpr and subPath are mutually exclusive");
        }
        validate_local_descending_path_at(&list.child("subPathExpr"), expression.str(), errors);
    }
}

fn validate_mount_propagation(
    mount: &Node<'_>,
    container: &Node<'_>,
    list: &Path<'_>,
    errors: &mut Errors,
) {
    let propagation = mount.at("mountPropagation");
    if !propagation.is_set() {
        return;
    }
    let (at, allowed) =
        (list.child("mountPropagation"), ["Bidirectional", "HostToContainer", "None"]);
    if !allowed.contains(&propagation.str()) {
        errors.not_supported_value(&at, propagation.str(), &allowed);
    }
    let is_privileged = container.value().path(&["securityContext", "privileged"]).bool();
    if propagation.str() == "Bidirectional" && !is_privileged {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        errors.forbidden(&at, detail);
    }
}

fn validate_recursive_read_only(mount: &Node<'_>, list: &Path<'_>, errors: &mut Errors) {
    let mode = mount.at("recursiveReadOnly");
    if !mode.is_set() {
        return;
    }
    let at = list.child("recursiveReadOnly");
    match mode.str() {
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.at("readOnly").bool() {
                errors.forbidden(&at, "may only be specified when readOnly is true");
            }
            let propagation = mount.at("mountPropagation");
            if propagation.is_set() && propagation.str() != "None" {
                let detail = "may only be specified when mountPropagation is None or not specified";
                errors.forbidden(&at, detail);
            }
        }
        other => errors.not_supported_value(&at, other, &["Disabled", "Enabled", "IfPossible"]),
    }
}
