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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    const OLD: &str = concat!(
        r#"{"metadata":{"name":"n","managedFields":[{"manager":"a","time":"1"},"#,
        r#"{"manager":"b","time":"2"}]},"spec":{"x":1}}"#,
    );

    /// Changes the old object, and tells what the times are in the end.
    fn check(change: impl FnOnce(&mut Value), expect: &[&str]) {
        let old = json::parse(OLD.as_bytes()).unwrap();
        let mut new = old.clone();
        change(&mut new);
        keep_times_if_unchanged(&mut new, &old);
        let times = managed_fields(&new).list().iter().map(|entry| entry.at("time").str());
        assert_eq!(times.collect::<Vec<_>>(), expect);
    }

    fn entry(object: &mut Value, at: usize) -> &mut Value {
        &mut object.path_mut(&["metadata", "managedFields"]).unwrap().list_mut()[at]
    }

    #[test]
    fn a_new_time_alone_is_no_change() {
        check(|_| {}, &["1", "2"]);
        check(|new| entry(new, 1).set("time", "9"), &["1", "2"]);
        check(|new| _ = entry(new, 0).remove("time"), &["1", "2"]);
    }

    #[test]
    fn a_new_time_with_another_change_stays() {
        let later = |new: &mut Value| entry(new, 1).set("time", "9");
        check(
            |new| {
                later(new);
                new.entry("spec").set("x", 2);
            },
            &["1", "9"],
        );
        check(
            |new| {
                later(new);
                new.entry("metadata").set("labels", Value::from([("a", "b")]));
            },
            &["1", "9"],
        );
        check(
            |new| {
                later(new);
                entry(new, 0).set("operation", "Apply");
            },
            &["1", "9"],
        );
    }

    #[test]
    fn managers_who_come_or_go_are_a_change() {
        let entries = |new: &mut Value, list: Vec<Value>| {
            new.entry("metadata").set("managedFields", Value::List(list));
        };
        check(|new| entries(new, vec![Value::from([("time", "9")])]), &["9"]);
        check(|new| entries(new, Vec::new()), &[]);
    }
}
