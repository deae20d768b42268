//! PersistentVolumeClaim: what somebody asks for of the cluster's storage.
//!
//! After `pkg/registry/core/persistentvolumeclaim`, `ValidatePersistentVolumeClaimUpdate` and its
//! like in `pkg/apis/core/validation/validation.go` and `pkg/api/persistentvolumeclaim/util.go`.
//! What a claim must say stands in `rules/persistent_volume_claim_spec.rs`.

mod data_source;
mod status;
mod update;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Value};

use super::persistent_volume::{STORAGE_CLASS_ANNOTATION, class, or_unset, phase};
use super::{GROUP_VERSION, PACKAGE};
use crate::rules::persistent_volume_claim_spec::{
    ClaimOptions, validate_claim_spec, warn_of_claim_spec,
};
use crate::rules::resource_list::{quantity, round_up_fields};
use crate::rules::{access_mode, status as rules_of_status};

pub(crate) static KIND: PersistentVolumeClaim = PersistentVolumeClaim;

/// The kind.
pub(crate) struct PersistentVolumeClaim;

impl Kind for PersistentVolumeClaim {
    fn resource(&self) -> Resource {
        let plural = "persistentvolumeclaims";
        Resource::namespaced(GROUP_VERSION, "PersistentVolumeClaim", plural, PACKAGE)
            .short(&["pvc"])
            .returns_deleted()
            .status(&status::PersistentVolumeClaimStatus)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[
            ("io.k8s.api.core.v1.PersistentVolumeClaim", set_defaults),
            ("io.k8s.api.core.v1.PersistentVolumeClaimSpec", |spec| {
                spec.set_default("volumeMode", "Filesystem");
            }),
            ("io.k8s.api.core.v1.VolumeResourceRequirements", |resources| {
                round_up_fields(resources, &["limits", "requests"]);
            }),
            ("io.k8s.api.core.v1.PersistentVolumeClaimStatus", |status| {
                round_up_fields(status, &["capacity", "allocatedResources"]);
            }),
        ]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Status"),
                Column::text("Volume"),
                Column::text("Capacity"),
                Column::text("Access Modes"),
                Column::text("StorageClass"),
                Column::text("VolumeAttributesClass"),
                Column::AGE,
                Column::text("VolumeMode").wide(),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let (spec, status) = (object.at("spec"), object.at("status"));
        let volume = spec.at("volumeName").str();
        let (capacity, modes) = match volume {
            "" => (String::new(), String::new()),
            _ => (
                quantity(status.path(&["capacity", "storage"])).to_string(),
                access_mode::short_text(status.at("accessModes")),
            ),
        };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            phase(object).into(),
            volume.into(),
            capacity.into(),
            modes.into(),
            class(object).into(),
            or_unset(spec.at("volumeAttributesClassName")).into(),
            context.age(object).into(),
            or_unset(spec.at("volumeMode")).into(),
        ])
    }

    /// Claims of older versions have only one of the two fields for what they are filled with.
    fn from_storage(&self, object: &mut Value) {
        if let Some(spec) = object.get_mut("spec") {
            data_source::fill_in(spec);
        }
    }
}

fn set_defaults(claim: &mut Value) {
    if claim.path(&["status", "phase"]).is_empty() {
        claim.entry("status").set("phase", "Pending");
    }
}

impl Rules for PersistentVolumeClaim {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        // What is read of an empty status has this phase by default.
        object.set("status", Map::new());
        set_defaults(object);
        data_source::prepare(object.entry("spec"), None);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        rules_of_status::keep(new, old, "status");
        data_source::prepare(new.entry("spec"), Some(old.at("spec")));
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_claim_spec(&object.at("spec"), ClaimOptions::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_claim_spec(&new.at("spec"), ClaimOptions::from_old(&old.at("spec")), errors);
        update::validate_claim_update(new, old, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let metadata = object.at("metadata");
        let annotations = metadata.at("annotations");
        if annotations.map().contains_key(STORAGE_CLASS_ANNOTATION) {
            let at = annotations.path().key(STORAGE_CLASS_ANNOTATION);
            let message = r#"deprecated since v1.8; use "storageClassName" attribute instead"#;
            warnings.push(format!("{at}: {message}"));
        }
        let spec = object.at("spec");
        warn_of_claim_spec(spec.path(), spec.value(), warnings);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}
