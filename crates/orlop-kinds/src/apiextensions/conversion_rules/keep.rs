//! What an object cannot have in its version, kept in an annotation until it can again.
//!
//! An entry says: where the rules alone put this (`instead`), there was that (`value`). It comes
//! back only where the rules still put the same, so whoever has changed the object in between is
//! not overruled. Items of lists are told by what they are when they are no longer at their place:
//! a list may have got another order. The annotation is JSON, by version: `{"v1": [{"path":
//! ["spec", "note"], "value": "x"}]}`.

use std::collections::BTreeMap;

use orlop_machinery::{Map, Str, Value, json};

use super::{COMMON, KEPT};

/// What was kept, by version.
pub(super) struct ByVersion(BTreeMap<Str, Value>);

impl ByVersion {
    pub(super) fn remove(&mut self, version: &str) -> Option<Value> {
        self.0.remove(version)
    }

    pub(super) fn insert(&mut self, version: &str, entries: Value) {
        self.0.insert(Str::new(version), entries);
    }
}

/// Takes the annotation out of an object. One that cannot be read says nothing.
pub(super) fn take(object: &mut Value) -> ByVersion {
    let Some(metadata) = object.get_mut("metadata") else { return ByVersion(BTreeMap::new()) };
    let Some(annotations) = metadata.get_mut("annotations") else {
        return ByVersion(BTreeMap::new());
    };
    let text = annotations.remove(KEPT);
    if text.is_some() && annotations.map().is_empty() {
        metadata.remove("annotations");
    }
    let text = text.unwrap_or_default();
    let kept = json::parse(text.str().as_bytes()).unwrap_or_default();
    let entries = kept.map().iter();
    ByVersion(entries.map(|(version, entries)| (Str::new(version), entries.clone())).collect())
}

/// Writes the annotation, if there is anything to keep.
pub(super) fn put(object: &mut Value, kept: ByVersion) {
    if kept.0.is_empty() {
        return;
    }
    let kept = Value::Map(kept.0.into_iter().collect());
    object.entry("metadata").entry("annotations").set(KEPT, json::to_string(&kept));
}

/// What the rules alone do not bring back: entries for everything in which an object and what came
/// back of it differ.
pub(super) fn difference(original: &Value, back: &Value) -> Vec<Value> {
    let mut entries = Vec::new();
    compare(&mut Vec::new(), (Some(original), Some(back)), &mut entries);
    entries
}

fn compare(
    path: &mut Vec<Str>,
    (original, back): (Option<&Value>, Option<&Value>),
    entries: &mut Vec<Value>,
) {
    match (original, back) {
        (Some(Value::Map(original)), Some(Value::Map(back))) => {
            for field in names_of(original, back) {
                if path.is_empty() && COMMON.contains(&field) {
                    continue;
                }
                path.push(Str::new(field));
                compare(path, (original.get(field), back.get(field)), entries);
                path.pop();
            }
        }
        (Some(Value::List(original)), Some(Value::List(back))) if original.len() == back.len() => {
            for (at, (original, back)) in original.iter().zip(back).enumerate() {
                if original != back {
                    let mut entry = entry(path, Some(original), Some(back));
                    entry.set("item", i64::try_from(at).unwrap_or(i64::MAX));
                    entries.push(entry);
                }
            }
        }
        (original, back) if original == back => {}
        (original, back) => entries.push(entry(path, original, back)),
    }
}

/// The names of the fields of either, in order.
fn names_of<'a>(left: &'a Map, right: &'a Map) -> Vec<&'a str> {
    let mut names: Vec<&str> = left.keys().chain(right.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn entry(path: &[Str], value: Option<&Value>, instead: Option<&Value>) -> Value {
    let mut entry = Value::Map(Map::new());
    entry.set("path", path.iter().map(Str::as_str).collect::<Vec<_>>());
    for (field, content) in [("value", value), ("instead", instead)] {
        if let Some(content) = content {
            entry.set(field, content.clone());
        }
    }
    entry
}

/// Brings back what was kept, where the rules still put what they put then.
pub(super) fn restore(object: &mut Value, entries: &Value) {
    // Items that have come back are not looked at again: their value may be another's `instead`.
    let mut done: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
    for entry in entries.list() {
        let path: Vec<&str> = entry.at("path").list().iter().map(Value::str).collect();
        let Some((last, around)) = path.split_last() else { continue };
        if COMMON.contains(&path[0]) {
            continue;
        }
        if let Some(place) = entry.at("item").as_int() {
            let Some(Value::List(items)) = object.path_mut(&path) else { continue };
            restore_item(items, entry, place, done.entry(path.clone()).or_default());
            continue;
        }
        if object.path_mut(around).and_then(|place| place.get(last)) != entry.get("instead") {
            continue;
        }
        restore_field(object, &path, entry.get("value"));
    }
}

/// Brings an item back: the one at its place if it is still the same, else the first that is.
fn restore_item(items: &mut [Value], entry: &Value, place: i64, done: &mut Vec<usize>) {
    let is_it = |at: &usize| !done.contains(at) && items.get(*at) == Some(entry.at("instead"));
    let place = usize::try_from(place).ok().filter(is_it);
    if let Some(at) = place.or_else(|| (0..items.len()).find(is_it)) {
        items[at] = entry.at("value").clone();
        done.push(at);
    }
}

fn restore_field(object: &mut Value, path: &[&str], value: Option<&Value>) {
    let Some((last, around)) = path.split_last() else { return };
    let Some(value) = value else {
        if let Some(place) = object.path_mut(around) {
            place.remove(last);
        }
        return;
    };
    let mut place = object;
    for step in around {
        // Whoever has put something else here in between meant it.
        if !matches!(place, Value::Map(_) | Value::Null) {
            return;
        }
        place = place.entry(step);
    }
    if matches!(place, Value::Map(_) | Value::Null) {
        place.set(last, value.clone());
    }
}
