//! Writing spec and status apart: each endpoint keeps what belongs to the other.

use orlop_machinery::{Map, Value};

/// Puts back a field as it was.
pub(crate) fn keep(new: &mut Value, old: &Value, field: &str) {
    match old.get(field) {
        Some(value) => new.set(field, value.clone()),
        None => {
            new.remove(field);
        }
    }
}

/// Puts back all metadata but the record of who owns which field.
pub(crate) fn keep_metadata(new: &mut Value, old: &Value) {
    let managed = new.entry("metadata").remove("managedFields");
    keep(new, old, "metadata");
    if let Some(managed) = managed {
        new.entry("metadata").set("managedFields", managed);
    }
}

/// Makes an empty status.
pub(crate) fn clear(object: &mut Value) {
    object.set("status", Map::new());
}
