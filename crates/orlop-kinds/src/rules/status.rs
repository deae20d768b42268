//! Writing spec and status apart: each endpoint keeps what belongs to the other.

use orlop_machinery::schema::Omit;
use orlop_machinery::{Map, Value};

use crate::schema;

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

/// Makes a status of the struct with this name in which nothing is set: what Go always writes is
/// there.
///
/// # Panics
///
/// When the schema has no such struct: a mistake in a kind, which every test of it shows.
pub(crate) fn clear_struct(object: &mut Value, struct_name: &str) {
    let id = schema().find(struct_name).expect("a kind names structs that there are");
    let always = schema().get(id).fields.iter().filter(|field| field.omit == Omit::Never);
    let status: Map = always.map(|field| (field.name.clone(), field.zero())).collect();
    object.set("status", status);
}

/// Puts back what of the metadata a write of the status may not change.
pub(crate) fn keep_common_metadata(new: &mut Value, old: &Value) {
    let fields = [
        "deletionTimestamp",
        "generation",
        "selfLink",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ];
    for field in fields {
        keep(new.entry("metadata"), old.at("metadata"), field);
    }
}
