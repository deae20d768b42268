//! Changing an object.
//!
//! After `Store.Update`, `rest.BeforeUpdate` and `GuaranteedUpdate`: what a request makes of the
//! stored object is worked out anew whenever somebody else was faster.

use bytes::Bytes;
use orlop_machinery::apply::keep_times_if_unchanged;
use orlop_machinery::field::Errors;
use orlop_machinery::meta::{self, Meta, create as create_rules, update as rules};
use orlop_machinery::resource_version::ResourceVersion;
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};
use orlop_storage::{Expect, Record, Revision};

use super::create::{Ready, make_ready};
use super::hooks;
use super::transaction::{ATTEMPTS_MAX, Committed, commit, put, removal, too_many_attempts};
use super::{Stored, Write, read};
use crate::admission::Operation;
use crate::definition::Definition;
use crate::object::Object;
use crate::server::Inner;

/// What a request makes of an object.
pub(crate) trait Change: Send {
    /// The object as it should be, with managed fields; `live` is null when there is none.
    fn make(&mut self, live: &Value) -> Result<Value, Status>;

    /// Whether the object is made when there is none.
    fn allows_create(&self) -> bool {
        false
    }

    /// The uid that the stored object must have; empty for any.
    fn expected_uid(&self) -> Str {
        Str::const_new("")
    }
}

/// What came of an update.
pub(crate) struct Updated {
    /// The object as it is now.
    pub object: Object,
    /// Whether there was none before.
    pub is_created: bool,
}

/// Changes an object.
pub(crate) async fn update(
    server: &Inner,
    write: &Write<'_>,
    name: &str,
    change: &mut dyn Change,
) -> Result<Updated, Status> {
    let definition = write.definition;
    // A part of what is not there cannot be written.
    let allows_create = write.subresource.is_empty()
        && (change.allows_create() || definition.kind.allows_create_on_update());
    let mut stored = read(server, definition, write.namespace, name).await?;
    for _ in 0..ATTEMPTS_MAX {
        check_uid(write, name, stored.as_ref(), &change.expected_uid())?;
        let step = match &stored {
            None if !allows_create => return Err(write.not_found(name)),
            None => create_once(server, write, name, change).await?,
            Some(stored) => update_once(server, write, stored, change).await?,
        };
        match step {
            Step::Done(updated) => return Ok(updated),
            Step::Again => {}
            Step::Changed(record) => {
                stored = Stored::read(definition, record).await?;
            }
        }
    }
    Err(too_many_attempts(definition, "update"))
}

/// How one attempt ended.
enum Step {
    Done(Updated),
    Again,
    Changed(Option<Record>),
}

/// What an attempt wrote, or would have written.
struct Attempt<'a> {
    definition: &'a Definition,
    key: String,
    bytes: Bytes,
    is_created: bool,
}

impl Attempt<'_> {
    async fn done(&self, revision: Revision) -> Result<Step, Status> {
        let written = self.definition.show_written(self.key.as_bytes(), &self.bytes, revision);
        Ok(Step::Done(Updated { object: written.await?, is_created: self.is_created }))
    }

    async fn end(&self, committed: Committed) -> Result<Step, Status> {
        match committed {
            Committed::At(revision) => self.done(Revision(revision)).await,
            Committed::Blocked => Ok(Step::Again),
            Committed::Changed(record) => Ok(Step::Changed(record)),
        }
    }
}

async fn create_once(
    server: &Inner,
    write: &Write<'_>,
    name: &str,
    change: &mut dyn Change,
) -> Result<Step, Status> {
    let definition = write.definition;
    let mut new = change.make(&Value::Null)?;
    let Ready { admitted, others } = make_ready(server, write, &mut new).await?;
    let key = definition.key(write.namespace, name);
    let bytes = definition.store(&mut new).await?;
    let attempt = Attempt { definition, key, bytes, is_created: true };
    if write.is_dry_run {
        return attempt.done(Revision::ZERO).await;
    }
    let lease = server.leases.lease_for(definition).await?;
    let own = put(&attempt.key, attempt.bytes.clone(), Expect::Absent, lease);
    attempt.end(commit(server, definition, admitted, own, others).await?).await
}

async fn update_once(
    server: &Inner,
    write: &Write<'_>,
    stored: &Stored,
    change: &mut dyn Change,
) -> Result<Step, Status> {
    let definition = write.definition;
    let (record, old) = (&stored.record, &stored.object);
    let mut new = change.make(old)?;
    let name = Meta::of(old).name();
    let attributes = write.attributes(Operation::Update, name);
    let mutated = server.admission.mutate(&attributes, Some(&mut new)).await?;
    super::dedup_owner_references(&mut new, write.warnings);
    match_version(write, record, &mut new)?;
    let others = hooks::before_update(server, write, &mut new, old).await?;
    prepare(server, write, &mut new, old)?;
    keep_times_if_unchanged(&mut new, old);
    let admitted = server.admission.validate(mutated, &attributes, Some(&new), Some(old)).await?;
    let bytes = definition.store(&mut new).await?;
    let key = definition.key(write.namespace, name);
    let attempt = Attempt { definition, key, bytes, is_created: false };
    let unchanged = || attempt.done(record.modified());
    if rules::is_deleted_by(&new, old) && !definition.kind.is_kept(&new) {
        if write.is_dry_run {
            return unchanged().await;
        }
        let others = hooks::before_delete(server, write, old).await?;
        let committed = commit(server, definition, admitted, removal(record), others).await?;
        return match committed {
            // Or somebody else took the last finalizer away too.
            Committed::At(_) | Committed::Changed(None) => unchanged().await,
            other => attempt.end(other).await,
        };
    }
    if write.is_dry_run || others.is_empty() && attempt.bytes == record.value() {
        return unchanged().await;
    }
    let lease = server.leases.lease_for(definition).await?;
    let expect = Expect::Revision(record.modified());
    let own = put(&attempt.key, attempt.bytes.clone(), expect, lease);
    attempt.end(commit(server, definition, admitted, own, others).await?).await
}

/// The object is the one that the request means.
fn check_uid(
    write: &Write<'_>,
    name: &str,
    stored: Option<&Stored>,
    expected: &str,
) -> Result<(), Status> {
    if expected.is_empty() {
        return Ok(());
    }
    let found = stored.map_or("", |stored| Meta::of(&stored.object).uid());
    if found == expected {
        return Ok(());
    }
    let key = write.definition.key(write.namespace, name);
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {expected}, UID in object \
         meta: {found}"
    );
    Err(Status::conflict(&write.definition.group_resource(), name, why))
}

fn match_version(write: &Write<'_>, record: &Record, new: &mut Value) -> Result<(), Status> {
    let definition = write.definition;
    let unconditional = if definition.kind.allows_unconditional_update() {
        rules::Unconditional::Allowed
    } else {
        rules::Unconditional::Refused
    };
    let current = ResourceVersion::new(record.modified().0);
    rules::match_resource_version(new, current, unconditional, &definition.group_resource())
}

/// Brings a changed object into the form in which it is stored, if the change is valid.
fn prepare(server: &Inner, write: &Write<'_>, new: &mut Value, old: &Value) -> Result<(), Status> {
    let definition = write.definition;
    let scope = definition.resource.scope;
    create_rules::match_namespace(new, write.namespace, scope)?;
    rules::keep_generation(new, old);
    write.with_context(server.now_seconds(), |context| {
        write.rules.prepare_update(context, new, old);
        rules::keep_system_fields(new, old);
        let mut errors = Errors::new();
        let (node, old_node) = (definition.node(new), definition.node(old));
        let (metadata, old_metadata) = (node.at("metadata"), old_node.at("metadata"));
        rules::validate_common(&metadata, &old_metadata, scope, &mut errors);
        match definition.kind.restricts_finalizers() {
            true => meta::validate_kube_object_meta_update(&metadata, &old_metadata, &mut errors),
            false => meta::validate_object_meta_update(&metadata, &old_metadata, &mut errors),
        }
        write.rules.validate_update(context, &node, &old_node, &mut errors);
        if !errors.is_empty() {
            let name = Meta::of(new).name();
            return Err(Status::invalid(&definition.stored_group_kind(), name, &errors));
        }
        let mut warnings = Vec::new();
        write.rules.warn_update(context, &node, &old_node, &mut warnings);
        for warning in warnings {
            write.warnings.add(warning);
        }
        write.rules.canonicalize(new);
        Ok(())
    })
}
