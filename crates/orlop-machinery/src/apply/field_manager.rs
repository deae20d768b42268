//! The entry point: records who writes what, and applies objects.
//!
//! A field manager belongs to one endpoint: a kind in a version, or a subresource of it. Objects
//! come and go in that version, with their managed fields inside. What comes out of an apply is
//! what the client wrote on top of the live object: it still has to be brought into normal form
//! and defaulted.
//!
//! Behaviour after `apimachinery/pkg/util/managedfields/internal` (`fieldmanager.go` and the chain
//! of managers that it builds: `versioncheck`, `skipnonapplied`, `capmanagers`,
//! `buildmanagerinfo`, `managedfieldsupdater`, `stripmeta`, `structuredmerge`).

use std::sync::LazyLock;

use super::cap_managers::cap_updaters;
use super::conflict::ApplyError;
use super::field_filter::ResetFields;
use super::field_set::FieldSet;
use super::last_applied;
use super::managers::{
    Manager, ManagerId, Managers, decode_live_or_new, managed_fields, remove_managed_fields,
};
use super::remove::extract_fields;
use super::typing::Typing;
use super::updater::{Failure, OnConflict, Updater};
use super::validate::{Duplicates, validate};
use super::versions::{OneVersion, Versions};
use super::zero_object::zero_object;
use crate::time::Time;
use crate::value::{Map, Str, Value};

/// More updaters than these are joined.
const UPDATERS_MAX: usize = 10;

/// The manager of what was there before anybody was tracked.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// What nobody manages: the identity of the object, and what the API server sets itself.
static UNMANAGED: LazyLock<FieldSet> = LazyLock::new(|| {
    FieldSet::of_fields(&[
        "apiVersion",
        "kind",
        "metadata",
        "metadata.name",
        "metadata.namespace",
        "metadata.creationTimestamp",
        "metadata.selfLink",
        "metadata.uid",
        "metadata.clusterName",
        "metadata.generation",
        "metadata.managedFields",
        "metadata.resourceVersion",
    ])
});

/// Keeps track of who writes which fields at one endpoint.
pub struct FieldManager<'a> {
    typing: Typing<'a>,
    api_version: Str,
    kind: Str,
    subresource: Str,
    reset_fields: ResetFields,
    versions: &'a dyn Versions,
    /// The object of which nobody has set anything.
    zero: Value,
}

/// How an object is applied.
#[derive(Clone, Copy, Debug)]
pub struct ApplyOptions {
    /// What to do about fields that others manage.
    pub on_conflict: OnConflict,
    /// What time it is.
    pub now: Time,
}

/// What came of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The object, with its managed fields.
    pub object: Value,
    /// Whether the object changed; who manages it may have changed anyway.
    pub is_changed: bool,
}

/// Why it is not known who manages an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UpdateError {
    message: String,
}

impl<'a> FieldManager<'a> {
    /// Of a kind in a version (`apps/v1`, `Deployment`).
    #[must_use]
    pub fn new(typing: Typing<'a>, api_version: &str, kind: &str) -> FieldManager<'a> {
        FieldManager {
            typing,
            api_version: Str::new(api_version),
            kind: Str::new(kind),
            subresource: Str::const_new(""),
            reset_fields: ResetFields::default(),
            versions: &OneVersion,
            zero: zero_object(typing, api_version, kind),
        }
    }

    /// For a subresource.
    #[must_use]
    pub fn for_subresource(mut self, subresource: &str) -> FieldManager<'a> {
        self.subresource = Str::new(subresource);
        self
    }

    /// With fields that a write at this endpoint does not change.
    #[must_use]
    pub fn with_reset_fields(mut self, reset_fields: ResetFields) -> FieldManager<'a> {
        self.reset_fields = reset_fields;
        self
    }

    /// With other versions of the kind.
    #[must_use]
    pub fn with_versions(mut self, versions: &'a dyn Versions) -> FieldManager<'a> {
        self.versions = versions;
        self
    }

    /// The new object, in which `manager` manages what it has changed of the live one (null at
    /// creation). When that cannot be told, nobody manages anything.
    #[must_use]
    pub fn update(&self, live: &Value, mut new: Value, manager: &str, now: Time) -> Value {
        // The write itself is fine, so it must not fail for this.
        _ = self.try_update(live, &mut new, manager, now);
        new
    }

    /// The same, for those who want to know why nobody manages anything.
    ///
    /// # Errors
    ///
    /// When an object does not fit its schema, or cannot be converted.
    pub fn try_update(
        &self,
        live: &Value,
        new: &mut Value,
        manager: &str,
        now: Time,
    ) -> Result<(), UpdateError> {
        if !self.typing.has_metadata() || new.as_map().is_none() {
            return Ok(());
        }
        let mut managers = decode_live_or_new(live, new, !self.subresource.is_empty());
        remove_managed_fields(new);
        // What was stored without managers stays so until somebody applies it.
        let is_stored = !live.at("metadata").at("uid").str().is_empty();
        if managers.is_empty() && is_stored {
            return Ok(());
        }
        self.record(live, new, &mut managers, (manager, now))?;
        managers.write_into(new);
        Ok(())
    }

    /// The live object (null when there is none) with what `manager` applies on top.
    ///
    /// # Errors
    ///
    /// When what is applied is no such object, or others manage fields that it would change.
    pub fn apply(
        &self,
        live: &Value,
        applied: &Value,
        manager: &str,
        options: &ApplyOptions,
    ) -> Result<Outcome, ApplyError> {
        if !self.typing.has_metadata() {
            return Err(ApplyError::Internal(
                "couldn't get accessor: object does not implement the Object interfaces".into(),
            ));
        }
        let managers = Managers::decode(managed_fields(live).list())?;
        if !self.is_own_kind(applied) {
            let kind = kind_text(applied);
            return Err(ApplyError::BadRequest(format!("invalid object type: {kind}")));
        }
        let live = match live {
            Value::Null => self.zero.clone(),
            live => without_managed_fields(live),
        };
        let again = (manager == last_applied::KUBECTL).then(|| managers.clone());
        let result = self.apply_once(&live, applied, managers, (manager, *options));
        let (changed, managers) = match (result, again) {
            (Err(ApplyError::Conflicts(conflicts)), Some(managers)) => {
                let shape = self.typing.shape();
                let settled =
                    last_applied::settled_fields(&live, &self.api_version, &self.kind, &shape);
                let Some(settled) = settled else {
                    return Err(ApplyError::Conflicts(conflicts));
                };
                if let Some(rest) = conflicts.without(&settled) {
                    return Err(ApplyError::Conflicts(rest));
                }
                let forced = ApplyOptions { on_conflict: OnConflict::Force, ..*options };
                self.apply_once(&live, applied, managers, (manager, forced))?
            }
            (result, _) => result?,
        };
        let is_changed = changed.is_some();
        let mut object = changed.unwrap_or(live);
        if manager == last_applied::KUBECTL {
            last_applied::refresh(&mut object, applied);
        }
        managers.write_into(&mut object);
        Ok(Outcome { object, is_changed })
    }

    /// What `manager` has applied at this endpoint, as far as it still manages it; none when it
    /// manages nothing. The way to change one field and apply the rest again.
    ///
    /// # Errors
    ///
    /// When the object does not fit its schema, or its managed fields cannot be understood.
    pub fn extract(&self, object: &Value, manager: &str) -> Result<Option<Value>, ApplyError> {
        let mut managers = Managers::decode(managed_fields(object).list())?;
        let id = ManagerId::apply(manager, &self.subresource);
        let Some(entry) = managers.take(&id) else { return Ok(None) };
        let shape = self.typing.shape();
        validate(object, &shape, Duplicates::Refused).map_err(|misfits| {
            ApplyError::Internal(format!("error converting obj to typed: {misfits}"))
        })?;
        let mut extracted = extract_fields(object, &entry.fields.leaves(), &shape);
        if extracted.at("kind").is_null() {
            extracted.set("apiVersion", self.api_version.clone());
            extracted.set("kind", self.kind.clone());
        }
        Ok(Some(extracted))
    }

    /// Applies without regard to client-side apply. Returns what comes of it, or none when that
    /// is the live object.
    fn apply_once(
        &self,
        live: &Value,
        applied: &Value,
        mut managers: Managers,
        (manager, options): (&str, ApplyOptions),
    ) -> Result<(Option<Value>, Managers), ApplyError> {
        if managers.is_empty() {
            self.record(&Value::Null, live, &mut managers, (BEFORE_FIRST_APPLY, options.now))
                .map_err(|error| {
                    let message = format!("failed to create manager for existing fields: {error}");
                    ApplyError::Internal(message)
                })?;
        }
        if managed_fields(applied).as_list().is_some() {
            return Err(ApplyError::BadRequest("metadata.managedFields must be nil".into()));
        }
        let shape = self.typing.shape();
        for (which, object, duplicates) in
            [("patch", applied, Duplicates::Refused), ("live", live, Duplicates::Allowed)]
        {
            validate(object, &shape, duplicates).map_err(|misfits| {
                let name = object_text(object);
                let message = format!("failed to create typed {which} object ({name}): {misfits}");
                ApplyError::Internal(message)
            })?;
        }
        let id = ManagerId::apply(name_of(manager), &self.subresource);
        let changed = self
            .updater()
            .apply(live, applied, &mut managers, (&id, options.on_conflict))
            .map_err(|failure| match failure {
                Failure::Conflicts(conflicts) => ApplyError::Conflicts(conflicts),
                Failure::Other(message) => ApplyError::Internal(message),
            })?;
        if let Some(entry) = managers.get_mut(&id) {
            entry.fields.subtract(&UNMANAGED);
            if changed.is_some() {
                entry.time = Some(options.now);
            }
        }
        managers.drop_idle();
        Ok((changed, managers))
    }

    /// Makes a manager own what changed from the live to the new object.
    fn record(
        &self,
        live: &Value,
        new: &Value,
        managers: &mut Managers,
        (manager, now): (&str, Time),
    ) -> Result<(), UpdateError> {
        let shape = self.typing.shape();
        let is_first = live.is_null();
        let live = if is_first { &self.zero } else { live };
        let checked: &[(&str, &Value)] = match is_first {
            true => &[("new", new)],
            false => &[("new", new), ("live", live)],
        };
        for (which, object) in checked {
            validate(object, &shape, Duplicates::Allowed).map_err(|misfits| {
                let name = object_text(object);
                let message =
                    format!("failed to convert {which} object ({name}) to smd typed: {misfits}");
                UpdateError { message }
            })?;
        }
        let mut fields = self.updater().update(live, new, managers).map_err(|failure| {
            let reason = match failure {
                Failure::Conflicts(conflicts) => conflicts.to_string(),
                Failure::Other(message) => message,
            };
            let name = object_text(new);
            UpdateError { message: format!("failed to update ManagedFields ({name}): {reason}") }
        })?;
        fields.subtract(&UNMANAGED);
        if !fields.is_empty() {
            let id = ManagerId::update(name_of(manager), &self.api_version, &self.subresource);
            if let Some(known) = managers.take(&id) {
                fields = fields.union(known.fields);
            }
            let api_version = self.api_version.clone();
            managers.list.push(Manager { id, api_version, fields, time: Some(now) });
        }
        cap_updaters(managers, UPDATERS_MAX);
        Ok(())
    }

    fn updater(&self) -> Updater<'_> {
        Updater {
            api_version: &self.api_version,
            shape: self.typing.shape(),
            versions: self.versions,
            reset_fields: &self.reset_fields,
        }
    }

    fn is_own_kind(&self, object: &Value) -> bool {
        object.at("apiVersion").str() == self.api_version && object.at("kind").str() == self.kind
    }
}

/// Who gives no name is called so.
fn name_of(manager: &str) -> &str {
    if manager.is_empty() { "unknown" } else { manager }
}

/// A copy without what is often half of the object.
fn without_managed_fields(object: &Value) -> Value {
    let Value::Map(map) = object else { return object.clone() };
    let copy = |map: &Map, except: &str| {
        map.entries().iter().filter(|(key, _)| key != except).cloned().collect::<Map>()
    };
    let mut without = copy(map, "metadata");
    if let Some(metadata) = map.get("metadata") {
        let metadata = match metadata {
            Value::Map(metadata) => Value::Map(copy(metadata, "managedFields")),
            other => other.clone(),
        };
        without.insert("metadata", metadata);
    }
    Value::Map(without)
}

/// Group, version and kind as Go prints them: `apps/v1, Kind=Deployment`.
fn kind_text(object: &Value) -> String {
    let (version, kind) = (object.at("apiVersion").str(), object.at("kind").str());
    match version.matches('/').count() {
        0 => format!("/{version}, Kind={kind}"),
        1 => format!("{version}, Kind={kind}"),
        // Go gives up on all of it.
        _ => "/, Kind=".to_owned(),
    }
}

/// An object in messages: `namespace/name; group/version, Kind=kind`.
fn object_text(object: &Value) -> String {
    let metadata = object.at("metadata");
    let (namespace, name) = (metadata.at("namespace").str(), metadata.at("name").str());
    format!("{namespace}/{name}; {}", kind_text(object))
}
