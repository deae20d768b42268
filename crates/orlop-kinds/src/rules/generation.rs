//! The generation: how often a spec was changed.

use orlop_machinery::Value;

/// A new object starts at 1.
pub(crate) fn start(object: &mut Value) {
    object.entry("metadata").set("generation", 1);
}

/// One more when one of the fields differs; otherwise it stays as the client sent it, which the
/// generic rules have made the old one.
pub(crate) fn count_change(new: &mut Value, old: &Value, fields: &[&str]) {
    if fields.iter().any(|field| new.at(field) != old.at(field)) {
        count(new, old);
    }
}

/// One more than before.
pub(crate) fn count(new: &mut Value, old: &Value) {
    let before = old.path(&["metadata", "generation"]).int();
    new.entry("metadata").set("generation", before.saturating_add(1));
}

/// Whether something changed that counts.
pub(crate) fn differs(new: &Value, old: &Value) -> bool {
    let path = ["metadata", "generation"];
    new.path(&path).int() != old.path(&path).int()
}
