//! A persistent volume: of the kind PersistentVolume, and inline in a VolumeAttachment.
//!
//! After `ValidatePersistentVolumeSpec` in `pkg/apis/core/validation/validation.go`. What the
//! volumes of pods and persistent volumes have in common stands in `rules/volume`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::value::Str;

use super::access_mode::validate_access_modes;
use super::node_selector::validate_node_selector;
use super::persistent_volume_claim_spec::VOLUME_MODES;
use super::resource_requirements::{validate_basic_resource, validate_positive_quantity};
use super::scalar::{validate_choice, validate_optional_text, validate_text};
use super::volume::source::Check::{Always, Plain, Within};
use super::volume::source::{Source, validate_one_source};
use super::volume::{cloud, driver, host, iscsi, network};

const RECLAIM_POLICIES: &[&str] = &["Delete", "Recycle", "Retain"];
const NOT_INLINE: &str = "may not be specified in the context of inline volumes";

/// What the rules of a source may need of the volume.
struct Volume {
    name: Str,
    has_node_affinity: bool,
}

/// Every kind of persistent volume, in the order in which they are looked at.
const SOURCES: &[Source<Volume>] = &[
    ("hostPath", Plain(host::validate_host_path)),
    ("gcePersistentDisk", Within(|spec, _, errors| cloud::validate_gce_disk(spec, errors))),
    ("awsElasticBlockStore", Plain(cloud::validate_aws_block_store)),
    ("glusterfs", Plain(network::validate_persistent_glusterfs)),
    ("flocker", Plain(driver::validate_flocker)),
    ("nfs", Plain(network::validate_nfs)),
    ("rbd", Plain(network::validate_rbd)),
    ("quobyte", Plain(network::validate_quobyte)),
    ("cephfs", Plain(network::validate_cephfs)),
    (
        "iscsi",
        Within(|spec, volume, errors| {
            iscsi::validate_persistent_iscsi(&spec.at("iscsi"), &volume.name, errors);
        }),
    ),
    ("cinder", Plain(cloud::validate_persistent_cinder)),
    ("fc", Plain(network::validate_fibre_channel)),
    // As upstream, this is checked even if there is another source.
    ("flexVolume", Always(|spec, _, errors| driver::validate_flex(&spec.at("flexVolume"), errors))),
    ("azureFile", Plain(cloud::validate_persistent_azure_file)),
    ("vsphereVolume", Plain(cloud::validate_vsphere_disk)),
    ("photonPersistentDisk", Plain(cloud::validate_photon_disk)),
    ("portworxVolume", Plain(driver::validate_portworx)),
    ("azureDisk", Plain(cloud::validate_azure_disk)),
    ("scaleIO", Plain(driver::validate_scale_io)),
    ("local", Within(validate_local)),
    ("storageos", Plain(driver::validate_persistent_storage_os)),
    ("csi", Plain(driver::validate_persistent_csi)),
];

/// The fields of a spec of which a volume has one.
pub(crate) fn source_fields() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|(field, _)| *field)
}

/// Reports all that is wrong with the spec of a PersistentVolume. Bad label values are let through
/// for volumes that already have some.
pub(crate) fn validate_volume_spec(
    spec: &Node<'_>,
    volume_name: &str,
    allow_invalid_label_values: bool,
    errors: &mut Errors,
) {
    validate_modes(spec, errors);
    validate_capacity(&spec.at("capacity"), errors);
    validate_optional_choice(&spec.at("persistentVolumeReclaimPolicy"), RECLAIM_POLICIES, errors);
    let affinity = spec.at("nodeAffinity");
    validate_node_affinity(&affinity, allow_invalid_label_values, errors);
    let volume = Volume { name: Str::new(volume_name), has_node_affinity: affinity.is_set() };
    validate_source(spec, &volume, errors);
    validate_optional_text(&spec.at("storageClassName"), names::dns_subdomain, errors);
    validate_choice(&spec.at("volumeMode"), VOLUME_MODES, errors);
    let class = spec.at("volumeAttributesClassName");
    if !class.is_set() {
        return;
    }
    if class.is_empty() {
        errors.required(&class, "an empty string is disallowed");
    } else {
        validate_text(&class, names::dns_subdomain, errors);
    }
    if !spec.at("csi").is_set() {
        let detail = "has to be specified when using volumeAttributesClassName";
        errors.required(&spec.at("csi"), detail);
    }
}

/// Reports all that is wrong with the spec of a volume that a pod has inline: one of a CSI driver,
/// that nobody claims.
pub(crate) fn validate_inline_volume_spec(spec: &Node<'_>, errors: &mut Errors) {
    for field in ["claimRef", "capacity"] {
        if !spec.at(field).is_empty() {
            errors.forbidden(&spec.at(field), NOT_INLINE);
        }
    }
    if !spec.at("csi").is_set() {
        let detail = "has to be specified in the context of inline volumes";
        errors.required(&spec.at("csi"), detail);
    }
    validate_modes(spec, errors);
    let policy = spec.at("persistentVolumeReclaimPolicy");
    if !matches!(policy.str(), "" | "Retain") {
        errors.forbidden(&policy, "may only be Retain in the context of inline volumes");
    }
    let affinity = spec.at("nodeAffinity");
    if affinity.is_set() {
        errors.forbidden(&affinity, NOT_INLINE);
    }
    validate_source(spec, &Volume { name: Str::default(), has_node_affinity: false }, errors);
    if !spec.at("storageClassName").is_empty() {
        errors.forbidden(&spec.at("storageClassName"), NOT_INLINE);
    }
    let mode = spec.at("volumeMode");
    if mode.is_set() && mode.str() != "Filesystem" {
        let detail =
            "may not specify volumeMode other than Filesystem in the context of inline volumes";
        errors.forbidden(&mode, detail);
    }
}

fn validate_modes(spec: &Node<'_>, errors: &mut Errors) {
    let modes = spec.at("accessModes");
    if modes.is_empty() {
        errors.required(&modes, "");
    }
    validate_access_modes(&modes, errors);
}

/// How much there is of `storage`, and of nothing else.
fn validate_capacity(capacity: &Node<'_>, errors: &mut Errors) {
    if capacity.is_empty() {
        errors.required(capacity, "");
    }
    if capacity.len() != 1 || !capacity.map().contains_key("storage") {
        errors.not_supported_value(capacity, capacity.value().clone(), &["storage"]);
    }
    for (_, amount) in capacity.entries() {
        validate_basic_resource(&amount, errors);
        validate_positive_quantity(&amount, errors);
    }
}

fn validate_optional_choice(text: &Node<'_>, allowed: &[&str], errors: &mut Errors) {
    if !text.is_empty() {
        validate_choice(text, allowed, errors);
    }
}

fn validate_node_affinity(
    affinity: &Node<'_>,
    allow_invalid_label_values: bool,
    errors: &mut Errors,
) {
    let required = affinity.at("required");
    if required.is_set() {
        validate_node_selector(&required, allow_invalid_label_values, errors);
    } else if affinity.is_set() {
        errors.required(&required, "must specify required node constraints");
    }
}

fn validate_source(spec: &Node<'_>, volume: &Volume, errors: &mut Errors) {
    validate_one_source(spec, SOURCES, volume, errors);
    let host_path = spec.at("hostPath");
    let policy = spec.at("persistentVolumeReclaimPolicy");
    if policy.str() == "Recycle" && is_root(host_path.at("path").str()) {
        errors.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
}

/// A disk of a node is at home somewhere.
fn validate_local(spec: &Node<'_>, volume: &Volume, errors: &mut Errors) {
    host::validate_local(&spec.at("local"), errors);
    if !volume.has_node_affinity {
        errors.required(&spec.at("nodeAffinity"), "Local volume requires node affinity");
    }
}

/// Whether a path is the root, however it is written.
fn is_root(path: &str) -> bool {
    let depth = path.split('/').fold(0_usize, |depth, name| match name {
        "" | "." => depth,
        ".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    path.starts_with('/') && depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_can_be_written_in_many_ways() {
        for path in ["/", "//", "/.", "/..", "/a/..", "/a/../b/./..", "/../"] {
            assert!(is_root(path), "{path}");
        }
        for path in ["", ".", "a/..", "/a", "/a/../b", "/..."] {
            assert!(!is_root(path), "{path}");
        }
    }
}
