//! What may change in a claim: once the volume and the class, and of a bound claim the size and
//! the class of attributes.
//!
//! After `ValidatePersistentVolumeClaimUpdate` in `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{Errors, Path};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta, unified_diff};

use super::data_source;
use crate::core::persistent_volume::STORAGE_CLASS_ANNOTATION;
use crate::rules::meaning::is_same;
use crate::rules::resource_list::quantity;
use crate::rules::status::keep;

const SPEC: &str = "io.k8s.api.core.v1.PersistentVolumeClaimSpec";
const CLASS: &str = "storageClassName";
const ATTRIBUTES_CLASS: &str = "volumeAttributesClassName";

/// Reports all changes that a claim cannot make.
pub(super) fn validate_claim_update(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    let (new_spec, old_spec) = (new.value().at("spec"), old.value().at("spec"));
    // Both without the changes that are allowed.
    let (mut masked_new, mut masked_old) = (new_spec.clone(), old_spec.clone());
    data_source::fill_in(&mut masked_old);
    if old_spec.at("volumeName").is_empty() {
        keep(&mut masked_old, new_spec, "volumeName");
    }
    mask_class(&mut masked_new, new.value(), old.value(), errors);
    if new.value().path(&["status", "phase"]).str() == "Bound" {
        mask_size(&mut masked_new, old_spec);
        keep(&mut masked_new, old_spec, ATTRIBUTES_CLASS);
    }
    if !is_same(SPEC, &masked_new, &masked_old) {
        let detail = format!(
            "spec is immutable after creation except resources.requests and \
             volumeAttributesClassName for bound claims\n{}",
            unified_diff::of_values(&masked_old, &masked_new)
        );
        errors.forbidden(&new.at("spec"), detail);
    }
    validate_size(new.value(), old.value(), errors);
    let at = Path::field("volumeMode");
    let (new_mode, old_mode) = (new_spec.at("volumeMode"), old_spec.at("volumeMode"));
    meta::validate_immutable(&Node::new(new_mode, at), &Node::new(old_mode, at), errors);
    validate_attributes_class(new, old, errors);
}

/// A class that was in the annotation may move into its field, and one that was not set may be
/// set. The annotation does not change otherwise.
fn mask_class(masked: &mut Value, new: &Value, old: &Value, errors: &mut Errors) {
    let annotation = ["metadata", "annotations", STORAGE_CLASS_ANNOTATION];
    let (in_old, in_new) = (old.path(&annotation), new.path(&annotation));
    let (old_class, new_class) = (old.path(&["spec", CLASS]), new.path(&["spec", CLASS]));
    let was_unset = old_class.is_null() && !new_class.is_null();
    let is_as_annotated = !in_old.is_null() && new_class == in_old;
    if was_unset && is_as_annotated && (in_new.is_null() || in_new == in_old) {
        masked.remove(CLASS);
        return;
    }
    if in_new.str() != in_old.str() {
        let at = format!("metadata.annotations.{STORAGE_CLASS_ANNOTATION}");
        errors.invalid_value(&Path::field(&at), in_new.str(), meta::FIELD_IMMUTABLE);
    }
    if was_unset && (in_old.is_null() || is_as_annotated) {
        masked.remove(CLASS);
    }
}

fn mask_size(masked: &mut Value, old_spec: &Value) {
    let size = old_spec.path(&["resources", "requests", "storage"]);
    let requests = masked.path_mut(&["resources", "requests"]);
    if let Some(requests) = requests.filter(|_| !size.is_null()) {
        requests.set("storage", size.clone());
    }
}

/// A size that could not be reached may be taken back, but nothing becomes smaller than it is.
fn validate_size(new: &Value, old: &Value, errors: &mut Errors) {
    let path = ["spec", "resources", "requests", "storage"];
    let size = quantity(new.path(&path));
    let capacity = quantity(old.path(&["status", "capacity", "storage"]));
    if size < quantity(old.path(&path)) && size <= capacity {
        let at = Path::field("spec.resources.requests.storage");
        errors.forbidden(&at, "field can not be less than status.capacity");
    }
}

/// A class of attributes that the volume has cannot be taken away, only changed.
fn validate_attributes_class(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    let spec = new.at("spec");
    let (new_class, old_class) = (spec.at(ATTRIBUTES_CLASS), old.value().at("spec"));
    let is_applied = !old.value().path(&["status", "currentVolumeAttributesClassName"]).is_null();
    if !is_applied || new_class.value() == old_class.at(ATTRIBUTES_CLASS) || !new_class.is_empty() {
        return;
    }
    let to = if new_class.is_set() { "empty string" } else { "nil" };
    let detail = format!(
        "update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil"
    );
    errors.forbidden(&new_class, detail);
}
