//! Owners that are named twice are named once.
//!
//! After `dedupOwnerReferencesAndAddWarning` in
//! `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/rest.go`.

use orlop_machinery::Value;

use crate::call::Warnings;

/// Takes out owner references that stand twice, and says so.
pub(crate) fn dedup_owner_references(object: &mut Value, warnings: &Warnings) {
    let Some(references) = object.path_mut(&["metadata", "ownerReferences"]) else { return };
    if references.list().len() < 2 {
        return;
    }
    let list = references.make_list();
    let mut seen: Vec<Value> = Vec::with_capacity(list.len());
    let mut repeated: Vec<String> = Vec::new();
    for reference in list.drain(..) {
        if seen.contains(&reference) {
            repeated.push(reference.at("uid").str().to_owned());
        } else {
            seen.push(reference);
        }
    }
    *list = seen;
    if !repeated.is_empty() {
        repeated.dedup();
        let uids = repeated.join(", ");
        warnings.add(format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner \
             references in 1.20+, and may reject such requests as early as 1.24; please fix your \
             requests; duplicate UID(s) observed: {uids}"
        ));
    }
}
