//! Who manages which fields of an object: `metadata.managedFields`.
//!
//! Invariants: a manager stands once, told apart by name, operation, subresource and, for updates,
//! API version; nobody manages nothing. Entries are written in upstream's order: operation, time,
//! name, version, subresource.
//!
//! Behaviour after `apimachinery/pkg/util/managedfields/internal` (`managedfields.go`,
//! `fieldmanager.go`). The rules of `managedFields` as a field of metadata are
//! with the other rules of metadata.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::field_set::FieldSet;
use super::fields_v1::{self, FieldsError};
use crate::json;
use crate::meta::FIELD_MANAGER_MAX;
use crate::text::{is_printable, quote};
use crate::time::Time;
use crate::value::{Map, Str, Value};

/// How somebody came to manage fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

/// What tells an entry of `managedFields` from others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ManagerId {
    /// The manager's name.
    pub manager: Str,
    /// How it came to manage fields.
    pub operation: Operation,
    /// The version that it wrote; empty for an applier, who stays the same in any version.
    pub api_version: Str,
    /// The subresource that it wrote; empty for the object itself.
    pub subresource: Str,
}

/// Why `managedFields` cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManagedFieldsError {
    /// An entry is of neither operation.
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// An entry has no version.
    #[error("apiVersion must not be empty")]
    NoVersion,
    /// An entry does not say how its fields are written.
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    /// An entry has fields that are written in an unknown way.
    #[error("invalid fieldsType {} in managed fields entry {at}", quote(fields_type))]
    FieldsType {
        /// The way.
        fields_type: String,
        /// Which entry.
        at: usize,
    },
    /// An entry has a time that is none.
    #[error("invalid time {} in managed fields entry {at}", quote(time))]
    Time {
        /// The text.
        time: String,
        /// Which entry.
        at: usize,
    },
    /// An entry has fields that cannot be read.
    #[error("error decoding versioned set from {entry}: error decoding set: {source}")]
    Fields {
        /// Who manages them.
        entry: String,
        /// What is wrong.
        source: FieldsError,
    },
}

/// A manager and what it manages.
#[derive(Clone, Debug)]
pub(super) struct Manager {
    pub(super) id: ManagerId,
    /// The version in which the fields are named.
    pub(super) api_version: Str,
    pub(super) fields: FieldSet,
    pub(super) time: Option<Time>,
}

/// All managers of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Managers {
    pub(super) list: Vec<Manager>,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }
}

impl ManagerId {
    /// Of an update in a version.
    pub(super) fn update(manager: &str, api_version: &str, subresource: &str) -> ManagerId {
        ManagerId {
            manager: Str::new(manager),
            operation: Operation::Update,
            api_version: Str::new(api_version),
            subresource: Str::new(subresource),
        }
    }

    /// Of an apply in any version.
    pub(super) fn apply(manager: &str, subresource: &str) -> ManagerId {
        ManagerId {
            manager: Str::new(manager),
            operation: Operation::Apply,
            api_version: Str::const_new(""),
            subresource: Str::new(subresource),
        }
    }

    /// The identity as text. Where managers are listed, they are in the order of these.
    #[must_use]
    pub fn key(&self) -> String {
        let mut out = String::from("{");
        for (name, value) in [
            ("manager", self.manager.as_str()),
            ("operation", self.operation.name()),
            ("apiVersion", self.api_version.as_str()),
            ("subresource", self.subresource.as_str()),
        ] {
            if !value.is_empty() {
                if out.len() > 1 {
                    out.push(',');
                }
                out += &format!("\"{name}\":{}", json::to_string(&Value::from(value)));
            }
        }
        out.push('}');
        out
    }
}

impl Manager {
    /// When it last wrote; 0 when that is not known.
    pub(super) fn seconds(&self) -> i64 {
        self.time.map_or(0, Time::unix_seconds)
    }
}

impl Managers {
    /// Reads the entries of `managedFields`.
    ///
    /// # Errors
    ///
    /// With the first entry that is wrong.
    pub(super) fn decode(entries: &[Value]) -> Result<Managers, ManagedFieldsError> {
        let mut list: Vec<Manager> = Vec::with_capacity(entries.len());
        // Clients send these: there may be many.
        let mut places = HashMap::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            let manager = decode_entry(at, entry)?;
            match places.entry(manager.id.clone()) {
                Entry::Occupied(place) => list[*place.get()] = manager,
                Entry::Vacant(place) => {
                    place.insert(list.len());
                    list.push(manager);
                }
            }
        }
        Ok(Managers { list })
    }

    /// Writes the entries; none when nobody manages anything.
    pub(super) fn encode(mut self) -> Option<Value> {
        if self.list.is_empty() {
            return None;
        }
        self.list.sort_by(|a, b| {
            let rank = |manager: &Manager| (manager.id.operation, manager.seconds());
            let order = rank(a).cmp(&rank(b)).then_with(|| a.id.manager.cmp(&b.id.manager));
            let order = order.then_with(|| a.api_version.cmp(&b.api_version));
            order.then_with(|| a.id.subresource.cmp(&b.id.subresource))
        });
        Some(Value::List(self.list.into_iter().map(encode_entry).collect()))
    }

    /// Writes the entries into an object's metadata.
    pub(super) fn write_into(self, object: &mut Value) {
        match self.encode() {
            Some(entries) => object.entry("metadata").set("managedFields", entries),
            None => remove_managed_fields(object),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn get(&self, id: &ManagerId) -> Option<&Manager> {
        self.list.iter().find(|manager| manager.id == *id)
    }

    pub(super) fn get_mut(&mut self, id: &ManagerId) -> Option<&mut Manager> {
        self.list.iter_mut().find(|manager| manager.id == *id)
    }

    /// Adds a manager, in the place of the one with its identity.
    pub(super) fn set(&mut self, manager: Manager) {
        match self.get_mut(&manager.id) {
            Some(known) => *known = manager,
            None => self.list.push(manager),
        }
    }

    pub(super) fn take(&mut self, id: &ManagerId) -> Option<Manager> {
        let at = self.list.iter().position(|manager| manager.id == *id)?;
        Some(self.list.remove(at))
    }

    pub(super) fn drop_idle(&mut self) {
        self.list.retain(|manager| !manager.fields.is_empty());
    }
}

/// The name of the manager of a request: the one that it gives, else the program that sends it.
///
/// Of a `User-Agent` that is what comes before the first slash, without what cannot be printed,
/// and no longer than a name may be.
///
/// ```
/// use orlop_machinery::apply::manager_name;
///
/// assert_eq!(manager_name("me", "kubectl/v1.36.0"), "me");
/// assert_eq!(manager_name("", "kubectl/v1.36.0 (linux/amd64)"), "kubectl");
/// ```
#[must_use]
pub fn manager_name(field_manager: &str, user_agent: &str) -> String {
    if !field_manager.is_empty() {
        return field_manager.to_owned();
    }
    let program = user_agent.split('/').next().unwrap_or_default();
    let mut name = String::new();
    for c in program.chars().filter(|c| is_printable(*c)) {
        if name.len() + c.len_utf8() > FIELD_MANAGER_MAX {
            break;
        }
        name.push(c);
    }
    name
}

/// The managers that an update starts from: those that the client sent, if it sent any that make
/// sense, else those of the live object.
pub(super) fn decode_live_or_new(live: &Value, new: &Value, is_subresource: bool) -> Managers {
    let of_live = || Managers::decode(managed_fields(live).list()).unwrap_or_default();
    // Nobody can set managed fields through a subresource.
    if is_subresource {
        return of_live();
    }
    let sent = managed_fields(new);
    if is_reset(sent) {
        return Managers::default();
    }
    match Managers::decode(sent.list()) {
        Ok(managers) if !managers.is_empty() => managers,
        _ => of_live(),
    }
}

/// Whether the managed fields of an object can be understood.
///
/// # Errors
///
/// With the first entry that is wrong.
pub fn check_managed_fields(object: &Value) -> Result<(), ManagedFieldsError> {
    Managers::decode(managed_fields(object).list()).map(|_| ())
}

/// The managed fields of an object.
pub(super) fn managed_fields(object: &Value) -> &Value {
    object.at("metadata").at("managedFields")
}

/// Takes the managed fields out of an object.
pub(super) fn remove_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
}

/// Whether a client asks to forget all managers: with an empty list, or with one empty entry.
fn is_reset(sent: &Value) -> bool {
    match sent {
        Value::List(entries) => match entries.as_slice() {
            [] => true,
            [Value::Map(only)] => only.values().all(|value| value.is_empty()),
            _ => false,
        },
        _ => false,
    }
}

fn decode_entry(at: usize, entry: &Value) -> Result<Manager, ManagedFieldsError> {
    let text = |field: &str| entry.at(field).str();
    let operation = match text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err(ManagedFieldsError::Operation),
    };
    let api_version = text("apiVersion");
    if api_version.is_empty() {
        return Err(ManagedFieldsError::NoVersion);
    }
    match text("fieldsType") {
        "FieldsV1" => {}
        "" => return Err(ManagedFieldsError::NoFieldsType(at)),
        other => {
            return Err(ManagedFieldsError::FieldsType { fields_type: other.to_owned(), at });
        }
    }
    let id = match operation {
        Operation::Apply => ManagerId::apply(text("manager"), text("subresource")),
        Operation::Update => ManagerId::update(text("manager"), api_version, text("subresource")),
    };
    let fields = fields_v1::from_value(entry.at("fieldsV1"))
        .map_err(|source| ManagedFieldsError::Fields { entry: id.key(), source })?;
    let time = match text("time") {
        "" => None,
        time => match time.parse() {
            Ok(time) => Some(time),
            Err(_) => return Err(ManagedFieldsError::Time { time: time.to_owned(), at }),
        },
    };
    Ok(Manager { id, api_version: Str::new(api_version), fields, time })
}

fn encode_entry(manager: Manager) -> Value {
    let Manager { id, api_version, fields, time } = manager;
    let mut entry = Map::with_capacity(7);
    entry.insert("apiVersion", api_version.into());
    entry.insert("fieldsType", "FieldsV1".into());
    entry.insert("fieldsV1", fields_v1::to_value(&fields));
    for (name, text) in [
        ("manager", id.manager),
        ("operation", Str::const_new(id.operation.name())),
        ("subresource", id.subresource),
        ("time", time.map(|time| Str::from(time.to_string())).unwrap_or_default()),
    ] {
        if !text.is_empty() {
            entry.insert(name, text.into());
        }
    }
    Value::Map(entry)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    const FINE: &str = concat!(
        r#"{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","#,
        r#""fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}}"#,
    );

    fn object(entries: &str) -> Value {
        let text = format!(r#"{{"metadata":{{"managedFields":{entries}}}}}"#);
        json::parse(text.as_bytes()).unwrap()
    }

    /// Changes a fine entry, and tells what is wrong with it then.
    fn check(from: &str, to: &str, expect: &str) {
        assert!(FINE.contains(from), "{from}");
        let entries = format!("[{FINE},{}]", FINE.replace(from, to));
        let seen = check_managed_fields(&object(&entries));
        assert_eq!(seen.err().map(|error| error.to_string()).unwrap_or_default(), expect);
    }

    #[test]
    fn entries_that_make_no_sense_are_refused() {
        check("Update", "Apply", "");
        check("Update", "Create", "operation must be `Apply` or `Update`");
        check(r#""operation":"Update","#, "", "operation must be `Apply` or `Update`");
        check(r#""v1""#, r#""""#, "apiVersion must not be empty");
        check(r#""FieldsV1""#, r#""""#, "missing fieldsType in managed fields entry 1");
        let message = "invalid fieldsType \"FieldsV2\" in managed fields entry 1";
        check(r#""FieldsV1""#, r#""FieldsV2""#, message);
        check("2026", "x", "invalid time \"x-01-01T00:00:00Z\" in managed fields entry 1");
        check(
            "f:a",
            "a",
            "error decoding versioned set from \
             {\"manager\":\"m\",\"operation\":\"Update\",\"apiVersion\":\"v1\"}: \
             error decoding set: parsing key as path element: key must be 2 characters long:",
        );
        check(r#","fieldsV1":{"f:a":{}}"#, "", "");
    }

    #[test]
    fn the_name_of_a_program_is_short_and_printable() {
        assert_eq!(manager_name("", "a\tb c/d/e"), "ab c");
        assert_eq!(manager_name("", ""), "");
        assert_eq!(manager_name("", &"x".repeat(200)).len(), FIELD_MANAGER_MAX);
        let wide = "\u{e4}".repeat(100);
        assert_eq!(manager_name("", &format!("x{wide}")).len(), FIELD_MANAGER_MAX - 1);
    }

    #[test]
    fn the_key_of_a_manager_has_what_tells_it_apart() {
        let key = |id: ManagerId| id.key();
        assert_eq!(
            key(ManagerId::update("a\"<", "v1", "x")),
            r#"{"manager":"a\"\u003c","operation":"Update","apiVersion":"v1","subresource":"x"}"#
        );
        assert_eq!(key(ManagerId::apply("", "")), r#"{"operation":"Apply"}"#);
    }

    #[test]
    fn entries_are_sorted_by_operation_time_name_version_and_subresource() {
        let entry = |words: &str| {
            let [operation, time, manager, version, subresource] =
                words.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let time = if time == "-" { "" } else { time };
            let mut entry = Value::from([
                ("manager", manager),
                ("operation", operation),
                ("apiVersion", version),
                ("time", time),
                ("fieldsType", "FieldsV1"),
                ("subresource", subresource),
            ]);
            entry.set("fieldsV1", Value::from([("f:a", Map::new())]));
            entry
        };
        let sorted = [
            "Apply - e v1 x",
            "Apply 2026-01-01T00:00:00Z d v1 x",
            "Apply 2026-01-01T02:00:01+02:00 c v1 x",
            "Update 1969-01-01T00:00:00Z z v1 x",
            "Update - b v1 x",
            "Update 2026-01-01T00:00:00Z a v1 x",
            "Update 2026-01-01T00:00:00Z a v1 y",
            "Update 2026-01-01T00:00:00Z a v2 x",
            "Update 2026-01-01T00:00:00Z b v1 x2",
        ];
        let reversed: Vec<Value> = sorted.iter().rev().map(|words| entry(words)).collect();
        let encoded = Managers::decode(&reversed).unwrap().encode().unwrap();
        let seen: Vec<String> = encoded
            .list()
            .iter()
            .map(|entry| {
                ["manager", "apiVersion", "subresource"].map(|at| entry.at(at).str()).join(" ")
            })
            .collect();
        let expect = sorted.map(|words| words.splitn(3, ' ').last().unwrap());
        assert_eq!(seen, expect);
    }
}
