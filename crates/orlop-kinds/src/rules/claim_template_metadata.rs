//! The metadata of a template of claims: labels and annotations, and nothing else.
//!
//! After `ValidateTemplateObjectMeta` in `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::meta;
use orlop_machinery::node::Node;

/// What cannot be set, and what errors call it.
const FORBIDDEN: &[(&str, &str)] = &[
    ("name", "name"),
    ("generateName", "generateName"),
    ("namespace", "namespace"),
    ("selfLink", "selfLink"),
    ("uid", "uID"),
    ("resourceVersion", "resourceVersion"),
    ("generation", "generation"),
    ("creationTimestamp", "creationTimestamp"),
    ("deletionTimestamp", "deletionTimestamp"),
    ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds"),
    ("ownerReferences", "ownerReferences"),
    ("finalizers", "finalizers"),
    ("managedFields", "managedFields"),
];

/// Reports all that is wrong with it.
pub(crate) fn validate_claim_template_metadata(metadata: &Node<'_>, errors: &mut Errors) {
    meta::validate_annotations(&metadata.at("annotations"), errors);
    meta::validate_labels(&metadata.at("labels"), errors);
    for (field, shown) in FORBIDDEN {
        if !metadata.at(field).is_empty() {
            errors.forbidden(&metadata.path().child(shown), "cannot be set");
        }
    }
}
