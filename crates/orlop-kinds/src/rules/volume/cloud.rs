//! Disks and shares of clouds.
//!
//! After `validateGCEPersistentDiskVolumeSource` and its like in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::source::{require, require_of_secret};
use crate::rules::scalar::validate_choice;

const PARTITION_MAX: i64 = 255;
const AZURE_CACHING_MODES: &[&str] = &["None", "ReadOnly", "ReadWrite"];
const AZURE_DISK_KINDS: &[&str] = &["Dedicated", "Managed", "Shared"];
const AZURE_MANAGED_URI: &str = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/\
                                 microsoft.compute/disks/{disk-id}";
const AZURE_BLOB_URI: &str =
    "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/// A disk of Google's, in what holds it: errors call it `persistentDisk`.
pub(crate) fn validate_gce_disk(holder: &Node<'_>, errors: &mut Errors) {
    let at = holder.path().child("persistentDisk").to_string();
    let disk = holder.at("gcePersistentDisk");
    let disk = Node::new(disk.value(), Path::field(&at));
    require(&disk, &["pdName"], errors);
    validate_partition(&disk, errors);
}

/// A disk of Amazon's.
pub(crate) fn validate_aws_block_store(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["volumeID"], errors);
    validate_partition(source, errors);
}

/// A disk of OpenStack's.
pub(super) fn validate_cinder(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["volumeID"], errors);
    require_of_secret(source, &["name"], errors);
}

/// The same as a persistent volume, whose secret may be in any namespace.
pub(crate) fn validate_persistent_cinder(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["volumeID"], errors);
    require_of_secret(source, &["name", "namespace"], errors);
}

/// A share of Microsoft's.
pub(super) fn validate_azure_file(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["secretName", "shareName"], errors);
}

/// The same as a persistent volume, whose secret may be in any namespace.
pub(crate) fn validate_persistent_azure_file(source: &Node<'_>, errors: &mut Errors) {
    validate_azure_file(source, errors);
    let namespace = source.at("secretNamespace");
    if namespace.is_set() && namespace.is_empty() {
        errors.required(&namespace, "");
    }
}

/// A disk of Microsoft's.
pub(crate) fn validate_azure_disk(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["diskName", "diskURI"], errors);
    validate_choice(&source.at("cachingMode"), AZURE_CACHING_MODES, errors);
    let (kind, uri) = (source.at("kind"), source.at("diskURI"));
    validate_choice(&kind, AZURE_DISK_KINDS, errors);
    if !kind.is_set() {
        return;
    }
    let (start, form) = match kind.str() {
        "Managed" => ("/subscriptions/", AZURE_MANAGED_URI),
        _ => ("https://", AZURE_BLOB_URI),
    };
    if !uri.str().starts_with(start) {
        errors.not_supported(&uri, &[form]);
    }
}

/// A disk of vSphere's.
pub(crate) fn validate_vsphere_disk(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["volumePath"], errors);
}

/// A disk of Photon's.
pub(crate) fn validate_photon_disk(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["pdID"], errors);
}

/// 0 is the disk as a whole, though the message does not say so.
fn validate_partition(disk: &Node<'_>, errors: &mut Errors) {
    let partition = disk.at("partition");
    if !(0..=PARTITION_MAX).contains(&partition.int()) {
        errors.invalid(&partition, names::inclusive_range_error(1, PARTITION_MAX));
    }
}
