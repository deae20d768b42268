//! Who manages what after a write, and what an apply makes of an object.
//!
//! An update takes the fields that it changes from everybody else. An apply takes the fields that
//! it mentions, but not from those who set them to something else, unless it is forced; and it
//! removes what it mentioned before and does not any more, if nobody else manages it.
//!
//! All objects here are without managed fields and fit their schema. Behaviour after
//! `structured-merge-diff/merge` (`update.go`).

use std::collections::HashSet;
use std::rc::Rc;

use super::compare::{Comparison, compare};
use super::conflict::Conflicts;
use super::field_filter::ResetFields;
use super::field_set::FieldSet;
use super::managers::{Manager, ManagerId, Managers};
use super::merge::merge;
use super::owned_fields::{add_named_fields, owned_fields};
use super::reconcile::reconcile;
use super::remove::remove_fields;
use super::typing::Shape;
use super::validate::{Duplicates, validate};
use super::value_order;
use super::versions::Versions;
use crate::value::{Str, Value};

/// What to do when others manage fields that an apply would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Refuse the apply.
    Fail,
    /// Take the fields from them.
    Force,
}

/// The rules of a write in one version.
pub(super) struct Updater<'a> {
    pub(super) api_version: &'a str,
    pub(super) shape: Shape<'a>,
    pub(super) versions: &'a dyn Versions,
    pub(super) reset_fields: &'a ResetFields,
}

/// Why a write failed.
#[derive(Debug)]
pub(super) enum Failure {
    Conflicts(Conflicts),
    Other(String),
}

/// An object in a version, which fits the schema of that version.
#[derive(Clone)]
struct Versioned<'a> {
    value: Rc<Value>,
    version: Str,
    shape: Shape<'a>,
}

/// The live object in the versions of its managers, the version of the write aside.
struct LiveVersions<'a> {
    list: Vec<(Str, Value, Shape<'a>)>,
}

/// What changed in one version.
struct Changes {
    version: Str,
    removed: FieldSet,
    /// Modified or added.
    written: FieldSet,
}

impl<'a> Updater<'a> {
    /// Takes what an update changes from its managers; returns it.
    ///
    /// # Errors
    ///
    /// When an object cannot be converted to the version of a manager.
    pub(super) fn update(
        &self,
        live: &Value,
        new: &Value,
        managers: &mut Managers,
    ) -> Result<FieldSet, Failure> {
        let versions = self.reconcile(live, managers)?;
        let changes = self.changes(live, new, &versions)?;
        Updater::take_over(changes, managers, None, OnConflict::Force)
    }

    /// Applies an object: makes its applier manage what it mentions, and returns what comes of it,
    /// or none when that is the live object.
    ///
    /// # Errors
    ///
    /// When others manage fields that it would change, or when an object cannot be converted.
    pub(super) fn apply(
        &self,
        live: &Value,
        applied: &Value,
        managers: &mut Managers,
        (id, on_conflict): (&ManagerId, OnConflict),
    ) -> Result<Option<Value>, Failure> {
        // Its time outlives an entry of a version that is gone.
        let time = managers.get(id).and_then(|manager| manager.time);
        let versions = self.reconcile(live, managers)?;
        let mut new = merge(live, applied, &self.shape);
        let mut fields = owned_fields(applied, &self.shape);
        self.reset_fields.apply(self.api_version, &mut fields);
        let last = managers.take(id);
        let is_nothing_left = last.as_ref().is_none_or(|last| {
            // What was mentioned is mentioned again, so nothing can go.
            last.api_version == self.api_version && last.fields.is_subset_of(&fields)
        });
        managers.set(Manager {
            id: id.clone(),
            api_version: Str::new(self.api_version),
            fields,
            time,
        });
        if let Some(last) = last.filter(|_| !is_nothing_left) {
            new = self
                .prune(new, managers, &last)
                .map_err(|error| Failure::Other(format!("failed to prune fields: {error}")))?;
        }
        let changes = self.changes(live, &new, &versions)?;
        Updater::take_over(changes, managers, Some(id), on_conflict)?;
        Ok((!value_order::equal(live, &new)).then_some(new))
    }

    /// Brings all sets in line with their schemas, and drops those of versions not served.
    fn reconcile(
        &self,
        live: &Value,
        managers: &mut Managers,
    ) -> Result<LiveVersions<'a>, Failure> {
        let mut versions = LiveVersions { list: Vec::new() };
        // Clients send these: there may be many.
        let mut gone = HashSet::new();
        for manager in &mut managers.list {
            let version = &manager.api_version;
            if version == self.api_version {
                reconcile(&mut manager.fields, &self.shape);
                continue;
            }
            if versions.get(version).is_none() && !gone.contains(version) {
                match self.convert_value(live, version).map_err(Failure::Other)? {
                    Some((live, shape)) => versions.list.push((version.clone(), live, shape)),
                    None => _ = gone.insert(version.clone()),
                }
            }
            if let Some((_, shape)) = versions.get(version) {
                reconcile(&mut manager.fields, shape);
            }
        }
        managers.list.retain(|manager| !gone.contains(&manager.api_version));
        Ok(versions)
    }

    /// What changed, in the version of the write and in those of all managers.
    fn changes(
        &self,
        live: &Value,
        new: &Value,
        versions: &LiveVersions<'a>,
    ) -> Result<Vec<Changes>, Failure> {
        let mut changes = vec![self.changed_fields(live, new, self.api_version, &self.shape)];
        for (version, live, shape) in &versions.list {
            let new = self.convert_value(new, version).map_err(|error| {
                Failure::Other(format!("failed to convert new object: {error}"))
            })?;
            if let Some((new, _)) = new {
                changes.push(self.changed_fields(live, &new, version, shape));
            }
        }
        Ok(changes)
    }

    /// Takes what changed from all managers but one; returns what was written. The first of the
    /// changes are those in the version of the write.
    fn take_over(
        mut changes: Vec<Changes>,
        managers: &mut Managers,
        except: Option<&ManagerId>,
        on_conflict: OnConflict,
    ) -> Result<FieldSet, Failure> {
        let mut conflicts = Vec::new();
        for manager in managers.list.iter_mut().filter(|manager| Some(&manager.id) != except) {
            let Some(changed) =
                changes.iter().find(|changes| changes.version == manager.api_version)
            else {
                continue;
            };
            if on_conflict == OnConflict::Fail {
                let conflict = manager.fields.intersection(&changed.written);
                if !conflict.is_empty() {
                    conflicts.push((manager.id.clone(), conflict));
                }
            }
            manager.fields.subtract(&changed.written);
            manager.fields.subtract(&changed.removed);
        }
        if let Some(conflicts) = Conflicts::of(conflicts) {
            return Err(Failure::Conflicts(conflicts));
        }
        managers.drop_idle();
        Ok(changes.swap_remove(0).written)
    }

    fn changed_fields(
        &self,
        live: &Value,
        new: &Value,
        version: &str,
        shape: &Shape<'_>,
    ) -> Changes {
        let Comparison { mut removed, modified, added } = compare(live, new, shape);
        let mut written = modified.union(added);
        self.reset_fields.apply(version, &mut removed);
        self.reset_fields.apply(version, &mut written);
        Changes { version: Str::new(version), removed, written }
    }

    /// Removes what the applier mentioned last time, does not mention now, and nobody else
    /// manages.
    fn prune(&self, merged: Value, managers: &Managers, last: &Manager) -> Result<Value, String> {
        if last.fields.is_empty() {
            return Ok(merged);
        }
        let own = Versioned {
            value: Rc::new(merged),
            version: Str::new(self.api_version),
            shape: self.shape,
        };
        let merged = self.convert(&own, &last.api_version).map_err(|error| {
            format!("failed to convert merged object to last applied version: {error}")
        })?;
        let Some(merged) = merged else { return Ok(own.into_value()) };
        drop(own);
        let mut gone = last.fields.clone();
        add_named_fields(&mut gone, &merged.shape);
        let pruned = self
            .add_back_managed(&merged, merged.without(&gone), managers)
            .map_err(|error| format!("failed add back owned items: {error}"))?;
        let pruned = self
            .add_back_dangling(&merged, &pruned, &gone)
            .map_err(|error| format!("failed add back dangling items: {error}"))?;
        match self.convert(&pruned, self.api_version)? {
            Some(converted) => {
                drop(pruned);
                Ok(converted.into_value())
            }
            None => Err(format!("no conversion to {}", self.api_version)),
        }
    }

    /// Adds back what others, or the applier now, manage.
    fn add_back_managed(
        &self,
        merged: &Versioned<'a>,
        pruned: Versioned<'a>,
        managers: &Managers,
    ) -> Result<Versioned<'a>, String> {
        let mut by_version: Vec<(&Str, FieldSet)> = Vec::new();
        for manager in &managers.list {
            let fields = manager.fields.clone();
            match by_version.iter_mut().find(|(version, _)| **version == manager.api_version) {
                Some((_, known)) => *known = std::mem::take(known).union(fields),
                None => by_version.push((&manager.api_version, fields)),
            }
        }
        // First the version that the objects are in: others may need what it adds back in order
        // to convert at all. Then that of the applier, who manages the way to its fields too;
        // upstream takes the others in any order, and then now and then loses what is below.
        by_version.sort_by_key(|(version, _)| {
            (**version != merged.version, *version != self.api_version)
        });
        let (mut merged, mut pruned) = (merged.clone(), pruned);
        for (version, managed) in by_version {
            let convert = |which: &str, object: &Versioned<'a>| {
                self.convert(object, version).map_err(|error| {
                    format!("failed to convert {which} object at version {version}: {error}")
                })
            };
            let Some(merged_there) = convert("merged", &merged)? else { continue };
            merged = merged_there;
            let Some(pruned_there) = convert("pruned", &pruned)? else { continue };
            pruned = merged.with(&pruned_there, managed);
        }
        Ok(pruned)
    }

    /// Adds back what the applier did not manage last time: nobody asked to remove that.
    fn add_back_dangling(
        &self,
        merged: &Versioned<'a>,
        pruned: &Versioned<'a>,
        last: &FieldSet,
    ) -> Result<Versioned<'a>, String> {
        let pruned = self.convert(pruned, &merged.version).map_err(|error| {
            format!("failed to convert pruned object to last applied version: {error}")
        })?;
        let Some(pruned) = pruned else { return Ok(merged.clone()) };
        let mut gone = merged.named_fields();
        gone.subtract(&pruned.named_fields());
        Ok(merged.without(&gone.intersection(last)))
    }

    /// The object in a version; none when that version is not served.
    fn convert(
        &self,
        object: &Versioned<'a>,
        version: &str,
    ) -> Result<Option<Versioned<'a>>, String> {
        if object.version == version {
            return Ok(Some(object.clone()));
        }
        let Some((value, shape)) = self.convert_value(&object.value, version)? else {
            return Ok(None);
        };
        Ok(Some(Versioned { value: Rc::new(value), version: Str::new(version), shape }))
    }

    /// An object of one version in another one; none when that version is not served.
    fn convert_value(
        &self,
        object: &Value,
        version: &str,
    ) -> Result<Option<(Value, Shape<'a>)>, String> {
        let Some(shape) = self.shape_in(version)? else { return Ok(None) };
        let converted = self.versions.convert(object, version)?;
        validate(&converted, &shape, Duplicates::Refused).map_err(|error| error.to_string())?;
        Ok(Some((converted, shape)))
    }

    /// What objects of a version are made of; none when it is not served.
    fn shape_in(&self, version: &str) -> Result<Option<Shape<'a>>, String> {
        if version == self.api_version {
            return Ok(Some(self.shape));
        }
        if version.split('/').count() > 2 {
            return Err(format!("unexpected GroupVersion string: {version}"));
        }
        Ok(self.versions.typing(version).map(|typing| typing.shape()))
    }
}

impl<'a> LiveVersions<'a> {
    fn get(&self, version: &str) -> Option<(&Value, &Shape<'a>)> {
        let found = self.list.iter().find(|(known, _, _)| known == version);
        found.map(|(_, live, shape)| (live, shape))
    }
}

impl<'a> Versioned<'a> {
    fn into_value(self) -> Value {
        Rc::try_unwrap(self.value).unwrap_or_else(|shared| shared.as_ref().clone())
    }

    /// The object without some fields.
    fn without(&self, fields: &FieldSet) -> Versioned<'a> {
        Versioned {
            value: Rc::new(remove_fields(&self.value, fields, &self.shape)),
            version: self.version.clone(),
            shape: self.shape,
        }
    }

    /// The object with no more than what another one has or somebody manages.
    fn with(&self, other: &Versioned<'_>, mut managed: FieldSet) -> Versioned<'a> {
        add_named_fields(&mut managed, &self.shape);
        let mut gone = self.named_fields();
        gone.subtract(&other.named_fields().union(managed));
        self.without(&gone)
    }

    /// The fields of the object and the structs on the way to them.
    fn named_fields(&self) -> FieldSet {
        let mut fields = owned_fields(&self.value, &self.shape);
        add_named_fields(&mut fields, &self.shape);
        fields
    }
}
