//! Writes that change nothing but the times of managers are no writes.
//!
//! Behaviour after `apiserver/pkg/endpoints/handlers/fieldmanager` (`equality.go`).

use super::managers::managed_fields;
use crate::value::Value;

/// Gives the managers of the new object their old times, if nothing else has changed.
///
/// Without this an apply of the same again would write a new revision of the object.
pub fn keep_times_if_unchanged(new: &mut Value, old: &Value) {
    let (old_entries, new_entries) = (managed_fields(old).list(), managed_fields(new).list());
    if old_entries.len() != new_entries.len() || new_entries.is_empty() {
        return;
    }
    let pairs = || old_entries.iter().zip(new_entries);
    if pairs().all(|(old, new)| old.at("time") == new.at("time")) {
        return;
    }
    if !pairs().all(|(old, new)| equal_without(old, new, "time")) {
        return;
    }
    let is_same_object = equal_without(new, old, "metadata")
        && equal_without(new.at("metadata"), old.at("metadata"), "managedFields");
    if !is_same_object {
        return;
    }
    let times: Vec<Value> = old_entries.iter().map(|entry| entry.at("time").clone()).collect();
    let Some(entries) = new.path_mut(&["metadata", "managedFields"]) else { return };
    for (entry, time) in entries.list_mut().iter_mut().zip(times) {
        match time {
            Value::Null => _ = entry.remove("time"),
            time => entry.set("time", time),
        }
    }
}

/// Whether two maps are the same but for one key.
fn equal_without(left: &Value, right: &Value, key: &str) -> bool {
    let entries = |value| Value::map(value).iter().filter(move |(name, _)| *name != key);
    entries(left).eq(entries(right))
}
