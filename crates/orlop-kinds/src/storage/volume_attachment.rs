//! VolumeAttachment: that a volume is to be attached to a node, and whether it is.
//!
//! After `pkg/registry/storage/volumeattachment` and
//! `pkg/apis/storage/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::meta::{self, update};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, names};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::persistent_volume_spec::validate_inline_volume_spec;
use crate::rules::scalar::validate_text;
use crate::rules::status;
use crate::rules::volume::driver::validate_csi_driver_name;

pub(crate) static KIND: VolumeAttachment = VolumeAttachment;

/// The kind.
pub(crate) struct VolumeAttachment;

/// Its status.
struct VolumeAttachmentStatus;

const METADATA_SIZE_MAX: usize = 256 * 1024;
const ERROR_MESSAGE_MAX: usize = 1024;

impl Kind for VolumeAttachment {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "VolumeAttachment", "volumeattachments", PACKAGE)
            .returns_deleted()
            .status(&VolumeAttachmentStatus)
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column { name: "Attacher", ..Column::NAME },
                Column::text("PV"),
                Column::text("Node"),
                Column::boolean("Attached"),
                Column::AGE,
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let spec = object.at("spec");
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            spec.at("attacher").str().into(),
            spec.path(&["source", "persistentVolumeName"]).str().into(),
            spec.at("nodeName").str().into(),
            object.path(&["status", "attached"]).bool().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for VolumeAttachment {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        object.set("status", [("attached", false)]);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_attachment(object, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_attachment(new, errors);
        meta::validate_immutable(&new.at("spec"), &old.at("spec"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

fn validate_attachment(object: &Node<'_>, errors: &mut Errors) {
    let spec = object.at("spec");
    validate_csi_driver_name(&spec.at("attacher"), errors);
    let source = spec.at("source");
    validate_source(&source, errors);
    validate_text(&spec.at("nodeName"), names::dns_subdomain, errors);
    validate_status(&object.at("status"), errors);
    let volume = source.at("persistentVolumeName");
    if volume.is_set() {
        validate_text(&volume, names::dns_subdomain, errors);
    }
}

/// The volume, by its name or in full.
fn validate_source(source: &Node<'_>, errors: &mut Errors) {
    let (inline, name) = (source.at("inlineVolumeSpec"), source.at("persistentVolumeName"));
    let one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (inline.is_set(), name.is_set()) {
        (false, false) => errors.required(source, one),
        (true, true) => errors.forbidden(source, one),
        (false, true) if name.is_empty() => {
            errors.required(&name, "must specify non empty persistentVolumeName");
        }
        (false, true) => {}
        (true, false) => validate_inline_volume_spec(&inline, errors),
    }
}

fn validate_status(status: &Node<'_>, errors: &mut Errors) {
    let metadata = status.at("attachmentMetadata");
    let size: usize = metadata.map().iter().map(|(key, value)| key.len() + value.str().len()).sum();
    if size > METADATA_SIZE_MAX {
        errors.too_long(&metadata, METADATA_SIZE_MAX);
    }
    for field in ["attachError", "detachError"] {
        let error = status.at(field);
        let (message, code) = (error.at("message"), error.at("errorCode"));
        if message.str().len() > ERROR_MESSAGE_MAX {
            // As upstream, the bound that is told is another one.
            errors.too_long(&message, METADATA_SIZE_MAX);
        }
        if code.int() < 0 {
            errors.invalid(&code, names::inclusive_range_error(0, i32::MAX.into()));
        }
    }
}

impl Rules for VolumeAttachmentStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        update::keep_for_status(new, old);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_attachment(object, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["metadata", "spec"]
    }
}
