//! PersistentVolume: a piece of storage that the cluster has.
//!
//! After `pkg/registry/core/persistentvolume`, `ValidatePersistentVolume` and its like in
//! `pkg/apis/core/validation/validation.go`, `pkg/volume/validation/pv_validation.go` and
//! `pkg/api/persistentvolume/util.go`. What a volume must say stands in
//! `rules/persistent_volume_spec.rs`.

use orlop_machinery::equality::equal_without_schema;
use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::time::Time;
use orlop_machinery::{Map, Value, meta, unified_diff};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::deprecated_node_label::warn_of_node_selector_term;
use crate::rules::meaning::is_same;
use crate::rules::node_selector::has_invalid_label_value;
use crate::rules::persistent_volume_spec::{source_fields, validate_volume_spec};
use crate::rules::resource_list::{quantity, round_up_fields};
use crate::rules::{access_mode, status};

pub(crate) static KIND: PersistentVolume = PersistentVolume;

/// The kind.
pub(crate) struct PersistentVolume;

/// Its status.
struct PersistentVolumeStatus;

const SPEC: &str = "io.k8s.api.core.v1.PersistentVolumeSpec";

/// What named the class before there was a field for it.
pub(super) const STORAGE_CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
const MOUNT_OPTIONS_ANNOTATION: &str = "volume.beta.kubernetes.io/mount-options";

/// What is said about annotations that have become fields.
const DEPRECATED_ANNOTATIONS: [(&str, &str); 2] = [
    (
        STORAGE_CLASS_ANNOTATION,
        r#"deprecated since v1.8; use "storageClassName" attribute instead"#,
    ),
    (MOUNT_OPTIONS_ANNOTATION, r#"deprecated since v1.31; use "mountOptions" attribute instead"#),
];

/// Sources that the annotation with mount options is for.
const MOUNTABLE_SOURCES: [&str; 13] = [
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
];

/// Sources that do not work any more, what warnings call them, and since when.
const DEAD_SOURCES: [(&str, &str, &str); 6] = [
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    (
        "photonPersistentDisk",
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// Labels of nodes, and what they are called now.
const STABLE_LABELS: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
];

impl Kind for PersistentVolume {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "PersistentVolume", "persistentvolumes", PACKAGE)
            .short(&["pv"])
            .returns_deleted()
            .status(&PersistentVolumeStatus)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[
            ("io.k8s.api.core.v1.PersistentVolume", set_defaults),
            (SPEC, |spec| round_up_fields(spec, &["capacity"])),
        ]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Capacity"),
                Column::text("Access Modes"),
                Column::text("Reclaim Policy"),
                Column::text("Status"),
                Column::text("Claim"),
                Column::text("StorageClass"),
                Column::text("VolumeAttributesClass"),
                Column::text("Reason"),
                Column::AGE,
                Column::text("VolumeMode").wide(),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let spec = object.at("spec");
        let claim = match spec.at("claimRef") {
            Value::Null => String::new(),
            claim => format!("{}/{}", claim.at("namespace").str(), claim.at("name").str()),
        };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            quantity(spec.path(&["capacity", "storage"])).to_string().into(),
            access_mode::short_text(spec.at("accessModes")).into(),
            spec.at("persistentVolumeReclaimPolicy").str().into(),
            phase(object).into(),
            claim.into(),
            class(object).into(),
            or_unset(spec.at("volumeAttributesClassName")).into(),
            object.path(&["status", "reason"]).str().into(),
            context.age(object).into(),
            or_unset(spec.at("volumeMode")).into(),
        ])
    }
}

fn set_defaults(volume: &mut Value) {
    if volume.path(&["status", "phase"]).is_empty() {
        volume.entry("status").set("phase", "Pending");
    }
    let spec = volume.entry("spec");
    if spec.at("persistentVolumeReclaimPolicy").is_empty() {
        spec.set("persistentVolumeReclaimPolicy", "Retain");
    }
    spec.set_default("volumeMode", "Filesystem");
}

/// The phase of a volume or a claim as a column shows it.
pub(super) fn phase(object: &Value) -> &str {
    match object.path(&["metadata", "deletionTimestamp"]) {
        Value::Null => object.path(&["status", "phase"]).str(),
        _ => "Terminating",
    }
}

/// The class of a volume or a claim; the annotation counts first.
pub(super) fn class(object: &Value) -> &str {
    match object.path(&["metadata", "annotations", STORAGE_CLASS_ANNOTATION]) {
        Value::Null => object.path(&["spec", "storageClassName"]).str(),
        class => class.str(),
    }
}

/// A text that may be missing, as a column shows it.
pub(super) fn or_unset(text: &Value) -> &str {
    text.as_str().unwrap_or("<unset>")
}

impl Rules for PersistentVolume {
    fn prepare_create(&self, context: &Context<'_>, object: &mut Value) {
        let mut status = Value::Map(Map::new());
        status.set("phase", "Pending");
        status.set("lastPhaseTransitionTime", now(context));
        object.set("status", status);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_volume(object, false, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let path = ["spec", "nodeAffinity", "required", "nodeSelectorTerms"];
        let has_invalid_value = has_invalid_label_value(old.value().path(&path));
        // Upstream reports each of these twice, and shows it once.
        validate_volume(new, has_invalid_value, errors);
        let (new_spec, old_spec) = (new.value().at("spec"), old.value().at("spec"));
        validate_source_update(new_spec, old_spec, errors);
        let (new_mode, old_mode) = (new_spec.at("volumeMode"), old_spec.at("volumeMode"));
        let at = Path::field("volumeMode");
        meta::validate_immutable(&Node::new(new_mode, at), &Node::new(old_mode, at), errors);
        validate_node_affinity_update(new_spec, old_spec, errors);
        let class = "volumeAttributesClassName";
        if !old_spec.at(class).is_null() && new_spec.at(class).is_null() {
            let detail = "update from non-nil value to nil is forbidden";
            errors.forbidden(&new.at("spec").at(class), detail);
        }
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let metadata = object.at("metadata");
        let annotations = metadata.at("annotations");
        for (key, message) in DEPRECATED_ANNOTATIONS {
            if annotations.map().contains_key(key) {
                warnings.push(format!("{}: {message}", annotations.path().key(key)));
            }
        }
        let spec = object.at("spec");
        let policy = spec.at("persistentVolumeReclaimPolicy");
        if policy.str() == "Recycle" {
            let message = "The Recycle reclaim policy is deprecated. Instead, the recommended \
                           approach is to use dynamic provisioning.";
            warnings.push(format!("{}: {message}", policy.path()));
        }
        let affinity = spec.at("nodeAffinity");
        for term in affinity.at("required").at("nodeSelectorTerms").items() {
            warn_of_node_selector_term(&term, false, warnings);
        }
        for (field, shown, message) in DEAD_SOURCES {
            if spec.at(field).is_set() {
                warnings.push(format!("{}: {message}", spec.path().child(shown)));
            }
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

fn now(context: &Context<'_>) -> String {
    Time::from_unix(context.now_seconds).to_string()
}

fn validate_volume(volume: &Node<'_>, allow_invalid_label_values: bool, errors: &mut Errors) {
    let (metadata, spec) = (volume.at("metadata"), volume.at("spec"));
    let name = metadata.at("name");
    validate_volume_spec(&spec, name.str(), allow_invalid_label_values, errors);
    let annotations = metadata.at("annotations");
    let is_mountable = MOUNTABLE_SOURCES.iter().any(|field| spec.at(field).is_set());
    if !is_mountable && annotations.map().contains_key(MOUNT_OPTIONS_ANNOTATION) {
        let at = annotations.path().child(MOUNT_OPTIONS_ANNOTATION);
        errors.forbidden(&at, "may not specify mount options for this volume type");
    }
}

/// Where the data is does not change. Only the secret for making the volume larger may come later.
fn validate_source_update(new_spec: &Value, old_spec: &Value, errors: &mut Errors) {
    let (mut new, old) = (source(new_spec), source(old_spec));
    let secret = "controllerExpandSecretRef";
    if !old.at("csi").is_null() && old.path(&["csi", secret]).is_null() {
        new.path_mut(&["csi"]).and_then(|csi| csi.remove(secret));
    }
    if !is_same(SPEC, &new, &old) {
        let detail = format!(
            "spec.persistentvolumesource is immutable after creation\n{}",
            unified_diff::of_values(&old, &new)
        );
        errors.forbidden(&Path::field("spec.persistentvolumesource"), detail);
    }
}

/// The part of a spec that says where the data is.
fn source(spec: &Value) -> Value {
    let mut source = Value::Map(Map::new());
    for field in source_fields() {
        if let Some(value) = spec.get(field).filter(|value| !value.is_null()) {
            source.set(field, value.clone());
        }
    }
    source
}

/// The nodes that can reach the data do not change, but for the names of their labels.
fn validate_node_affinity_update(new_spec: &Value, old_spec: &Value, errors: &mut Errors) {
    let mut old = old_spec.at("nodeAffinity").clone();
    if old.is_null() {
        return;
    }
    let new = new_spec.at("nodeAffinity");
    rename_labels(&mut old, new);
    if !equal_without_schema(new, &old) {
        let detail =
            format!("{}, except for updating from beta label to GA", meta::FIELD_IMMUTABLE);
        errors.invalid_value(&Path::field("nodeAffinity"), new.clone(), detail);
    }
}

/// Gives labels their new names where the new affinity has those at the same place.
fn rename_labels(old: &mut Value, new: &Value) {
    let path = ["required", "nodeSelectorTerms"];
    let Some(old_terms) = old.path_mut(&path) else { return };
    for (old_term, new_term) in old_terms.list_mut().iter_mut().zip(new.path(&path).list()) {
        for field in ["matchExpressions", "matchFields"] {
            let Some(old_list) = old_term.get_mut(field) else { continue };
            let pairs = old_list.list_mut().iter_mut().zip(new_term.at(field).list());
            for (old_requirement, new_requirement) in pairs {
                let names = (old_requirement.at("key").str(), new_requirement.at("key").str());
                if STABLE_LABELS.contains(&names) {
                    old_requirement.set("key", names.1);
                }
            }
        }
    }
}

impl Rules for PersistentVolumeStatus {
    fn prepare_update(&self, context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        let time = "lastPhaseTransitionTime";
        let (new_status, old_status) = (new.entry("status"), old.at("status"));
        let is_same_phase = new_status.at("phase").str() == old_status.at("phase").str();
        let is_unset = new_status.at(time).is_null();
        if is_same_phase && is_unset {
            status::keep(new_status, old_status, time);
        } else if !is_same_phase && (is_unset || new_status.at(time) == old_status.at(time)) {
            new_status.set(time, now(context));
        }
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        _old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_resource_version(new, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

/// A status is written with the version that it was read with.
pub(super) fn validate_resource_version(object: &Node<'_>, errors: &mut Errors) {
    if object.value().path(&["metadata", "resourceVersion"]).is_empty() {
        errors.required(&Path::field("resourceVersion"), "");
    }
}
