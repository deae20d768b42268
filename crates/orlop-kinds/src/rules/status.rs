//! Writing spec and status apart: each endpoint keeps what belongs to the other.

use orlop_machinery::Value;

/// Puts back a field as it was.
pub(crate) fn keep(new: &mut Value, old: &Value, field: &str) {
    match old.get(field) {
        Some(value) => new.set(field, value.clone()),
        None => {
            new.remove(field);
        }
    }
}
