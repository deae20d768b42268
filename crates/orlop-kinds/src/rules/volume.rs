//! The volumes of a pod: their names, and what each kind of volume must say.
//!
//! After `ValidateVolumes` and `validateVolumeSource` in
//! `pkg/apis/core/validation/validation.go`. The kinds of volumes stand in the files below by what
//! they have in common; persistent volumes use the same rules where upstream does. Not here: how
//! containers mount volumes (`rules/pod_spec/volume_mounts.rs`).

pub(crate) mod cloud;
pub(crate) mod driver;
pub(crate) mod file;
pub(crate) mod host;
pub(crate) mod iscsi;
pub(crate) mod network;
pub(crate) mod source;

mod defaults;
mod projected;

use std::collections::BTreeSet;

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::value::Str;

pub(crate) use defaults::DEFAULTERS;

use super::persistent_volume_claim_spec::{ClaimOptions, validate_claim_template};
use super::pod_spec::PodOptions;
use super::scalar::validate_required_text;
use source::Check::{Always, Plain, Within};
use source::{Source, validate_one_source};

/// What the rules of a source may need of the pod.
struct Pod {
    /// Empty when it is not known.
    name: Str,
    options: PodOptions,
}

/// Every kind of volume, in the order in which they are looked at.
const SOURCES: &[Source<Pod>] = &[
    ("emptyDir", Plain(host::validate_empty_dir)),
    ("hostPath", Plain(host::validate_host_path)),
    ("gitRepo", Plain(host::validate_git_repo)),
    ("gcePersistentDisk", Within(|volume, _, errors| cloud::validate_gce_disk(volume, errors))),
    ("awsElasticBlockStore", Plain(cloud::validate_aws_block_store)),
    ("secret", Plain(file::validate_secret)),
    ("nfs", Plain(network::validate_nfs)),
    ("iscsi", Plain(iscsi::validate_iscsi)),
    // This is looked at even if there is another source.
    ("iscsi", Always(|volume, _, errors| iscsi::validate_name_with_portal(volume, errors))),
    ("glusterfs", Plain(network::validate_glusterfs)),
    ("flocker", Plain(driver::validate_flocker)),
    ("persistentVolumeClaim", Plain(host::validate_claim_reference)),
    ("rbd", Plain(network::validate_rbd)),
    ("cinder", Plain(cloud::validate_cinder)),
    ("cephfs", Plain(network::validate_cephfs)),
    ("quobyte", Plain(network::validate_quobyte)),
    ("downwardAPI", Plain(file::validate_downward_api)),
    ("fc", Plain(network::validate_fibre_channel)),
    ("flexVolume", Plain(driver::validate_flex)),
    ("configMap", Plain(file::validate_config_map)),
    ("azureFile", Plain(cloud::validate_azure_file)),
    ("vsphereVolume", Plain(cloud::validate_vsphere_disk)),
    ("photonPersistentDisk", Plain(cloud::validate_photon_disk)),
    ("portworxVolume", Plain(driver::validate_portworx)),
    ("azureDisk", Plain(cloud::validate_azure_disk)),
    ("storageos", Plain(driver::validate_storage_os)),
    (
        "projected",
        Within(|volume, pod, errors| {
            projected::validate_projected(&volume.at("projected"), &pod.options, errors);
        }),
    ),
    ("scaleIO", Plain(driver::validate_scale_io)),
    ("csi", Plain(driver::validate_csi)),
    ("ephemeral", Within(validate_ephemeral)),
    (
        "image",
        Within(|volume, pod, errors| {
            host::validate_image(&volume.at("image"), pod.options.resource_is_pod, errors);
        }),
    ),
];

/// Reports all that is wrong with the volumes of a pod. `pod_name` is empty when it is not known,
/// as in a template.
pub(crate) fn validate_volumes(
    volumes: &Node<'_>,
    pod_name: &str,
    options: &PodOptions,
    errors: &mut Errors,
) {
    let pod = Pod { name: Str::new(pod_name), options: *options };
    let all = volumes.value().list();
    let ephemeral = all.iter().filter(|volume| !volume.at("ephemeral").is_null());
    let created: BTreeSet<String> = match pod_name {
        "" => BTreeSet::new(),
        pod_name => {
            ephemeral.map(|volume| format!("{pod_name}-{}", volume.at("name").str())).collect()
        }
    };
    let mut known = BTreeSet::new();
    for volume in volumes.items() {
        let before = errors.len();
        validate_one_source(&volume, SOURCES, &pod, errors);
        let name = volume.at("name");
        validate_required_text(&name, names::dns_label, errors);
        if known.contains(name.str()) {
            errors.duplicate(&name);
        }
        if errors.len() == before {
            known.insert(volume.value().at("name").str());
        }
        let claim = volume.at("persistentVolumeClaim");
        let claim_name = claim.at("claimName");
        if claim.is_set() && created.contains(claim_name.str()) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.invalid(&claim_name, detail);
        }
    }
}

/// A volume with a claim of its own, which is named after the pod and the volume.
fn validate_ephemeral(volume: &Node<'_>, pod: &Pod, errors: &mut Errors) {
    let ephemeral = volume.at("ephemeral");
    let template = ephemeral.at("volumeClaimTemplate");
    if template.is_set() {
        validate_claim_template(&template, ClaimOptions::default(), errors);
    } else {
        errors.required(&template, "");
    }
    let name = volume.at("name");
    if pod.name.is_empty() || name.is_empty() {
        return;
    }
    let claim_name = format!("{}-{}", pod.name, name.str());
    for message in names::dns_subdomain(&claim_name) {
        errors.invalid(&name, format!("PVC name {}: {message}", quote(&claim_name)));
    }
}
