//! Deleting an object: at once, after its grace period, or when its finalizers are gone.
//!
//! After `Store.Delete` and `rest.BeforeDelete`.

use orlop_machinery::Value;
use orlop_machinery::group_version::{GroupKind, GroupResource};
use orlop_machinery::kind::BeginningOfEnd;
use orlop_machinery::meta::delete::{self as rules, Ending};
use orlop_machinery::meta::{Meta, MetaMut};
use orlop_machinery::status::Status;
use orlop_machinery::time::Time;
use orlop_storage::{Expect, Record, Revision};

use super::hooks;
use super::transaction::{ATTEMPTS_MAX, Committed, commit, put, removal, too_many_attempts};
use super::{Stored, Write, read};
use crate::admission::{Admitted, Operation};
use crate::definition::Definition;
use crate::object::Object;
use crate::server::Inner;

/// What came of a deletion.
pub(crate) struct Deletion {
    /// The object as it was last.
    pub object: Object,
    /// Its uid.
    pub uid: String,
    /// Whether it is gone.
    pub is_gone: bool,
    /// Whether it was on its way already, or is gone: the answer may be a mere success.
    pub is_done: bool,
}

/// Deletes an object with `DeleteOptions` that are well-formed.
pub(crate) async fn delete(
    server: &Inner,
    write: &Write<'_>,
    name: &str,
    options: &Value,
) -> Result<Deletion, Status> {
    let definition = write.definition;
    let mut options = options.clone();
    let mut stored = read(server, definition, write.namespace, name).await?;
    for _ in 0..ATTEMPTS_MAX {
        let Some(current) = &stored else { return Err(write.not_found(name)) };
        check_preconditions(definition, &current.object, &options)?;
        let attributes = write.attributes(Operation::Delete, name);
        let admission = &server.admission;
        let mutated = admission.mutate(&attributes, None).await?;
        let admitted =
            admission.validate(mutated, &attributes, None, Some(&current.object)).await?;
        let plan = plan(server, write, current, &mut options)?;
        if write.is_dry_run {
            return Ok(pretend(write, current, plan));
        }
        match plan {
            Plan::Nothing => return Ok(pretend(write, current, plan)),
            Plan::Mark(mut new, then) => {
                match mark(server, write, current, (&mut new, admitted)).await? {
                    Committed::At(revision) if then == Then::Wait => {
                        let revision = Revision(revision);
                        let object = show(definition, &current.record, &mut new, revision);
                        return Ok(finish(object, &new, false, false));
                    }
                    Committed::At(_) => {
                        // The object was told that it ends now; the next round takes it away.
                        clear_version(&mut options);
                        let last = stored.take();
                        stored = read(server, definition, write.namespace, name).await?;
                        if let (None, Some(last)) = (&stored, last) {
                            return Ok(pretend(write, &last, Plan::Remove));
                        }
                    }
                    Committed::Blocked => {}
                    Committed::Changed(record) => {
                        stored = Stored::read(definition, record).await?;
                    }
                }
            }
            Plan::Remove => match remove(server, write, current, admitted).await? {
                Committed::At(revision) => {
                    let (record, mut last) = (&current.record, current.object.clone());
                    let object = show(definition, record, &mut last, Revision(revision));
                    return Ok(finish(object, &last, true, true));
                }
                Committed::Blocked => {}
                Committed::Changed(record) => {
                    stored = Stored::read(definition, record).await?;
                }
            },
        }
    }
    Err(too_many_attempts(definition, "delete"))
}

fn check_preconditions(
    definition: &Definition,
    object: &Value,
    options: &Value,
) -> Result<(), Status> {
    match definition.kind.beginning_of_end() {
        BeginningOfEnd::LikeOthers => {
            rules::check_preconditions(object, options, &kind_as_resource(definition))
        }
        BeginningOfEnd::Said | BeginningOfEnd::SaidAlone => {
            let resource = definition.group_resource();
            rules::check_preconditions_of_said_end(object, options, &resource)
        }
    }
}

/// Upstream names the kind where it means the resource.
fn kind_as_resource(definition: &Definition) -> GroupResource {
    let GroupKind { group, kind } = definition.stored_group_kind();
    GroupResource { group, resource: kind }
}

async fn mark(
    server: &Inner,
    write: &Write<'_>,
    current: &Stored,
    (new, admitted): (&mut Value, Admitted),
) -> Result<Committed, Status> {
    let bytes = write.definition.store(new).await?;
    // Who deletes an object again that waits for its finalizers changes nothing.
    if bytes == current.record.value() {
        return Ok(Committed::At(current.record.modified().0));
    }
    let expect = Expect::Revision(current.record.modified());
    let key = write.definition.key(write.namespace, Meta::of(new).name());
    let own = put(&key, bytes, expect, current.record.lease());
    commit(server, write.definition, admitted, own, Vec::new()).await
}

async fn remove(
    server: &Inner,
    write: &Write<'_>,
    current: &Stored,
    admitted: Admitted,
) -> Result<Committed, Status> {
    let others = hooks::before_delete(server, write, &current.object).await?;
    commit(server, write.definition, admitted, removal(&current.record), others).await
}

/// What the answer to a plan is that changes nothing in the store.
fn pretend(write: &Write<'_>, current: &Stored, plan: Plan) -> Deletion {
    let record = &current.record;
    let (mut last, is_gone, is_done) = match plan {
        Plan::Nothing => {
            let is_kept = write.definition.kind.is_kept(&current.object);
            (current.object.clone(), false, !is_kept)
        }
        Plan::Mark(new, _) => (new, false, false),
        Plan::Remove => (current.object.clone(), true, true),
    };
    let object = show(write.definition, record, &mut last, record.modified());
    finish(object, &last, is_gone, is_done)
}

/// An object of this version, as it is shown under the key of a record.
fn show(definition: &Definition, record: &Record, object: &mut Value, at: Revision) -> Object {
    Object::written(record.key(), &definition.encode(object), at)
}

fn finish(object: Object, last: &Value, is_gone: bool, is_done: bool) -> Deletion {
    Deletion { object, uid: Meta::of(last).uid().to_owned(), is_gone, is_done }
}

/// What a deletion does to an object.
enum Plan {
    /// It is ending already.
    Nothing,
    /// It becomes this.
    Mark(Value, Then),
    /// It goes away.
    Remove,
}

/// What happens after an object was told that it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Others finish it.
    Wait,
    /// Nobody has to.
    Remove,
}

/// Decides what a deletion does to an object. The options get the grace period that applies.
fn plan(
    server: &Inner,
    write: &Write<'_>,
    stored: &Stored,
    options: &mut Value,
) -> Result<Plan, Status> {
    let kind = &write.definition.kind;
    let now = Time::from_unix(server.now_seconds());
    let mut object = stored.object.clone();
    let beginning = kind.beginning_of_end();
    let is_first = Meta::of(&object).deletion_timestamp().is_none();
    if is_first && beginning != BeginningOfEnd::LikeOthers {
        write.with_context(server.now_seconds(), |it| kind.start_ending(it, &mut object));
        if beginning == BeginningOfEnd::Said {
            set_finalizers(&mut object, options, write);
        }
        MetaMut::of(&mut object).set_deletion_timestamp(Some(&now.to_string()));
        return Ok(Plan::Mark(object, Then::Wait));
    }
    if kind.is_kept(&object) {
        return Ok(Plan::Nothing);
    }
    let ending = rules::end_gracefully(&mut object, options, now, |object, options| {
        let Some(default) = kind.grace_period_seconds(object) else { return false };
        let asked = options.at("gracePeriodSeconds").as_int().unwrap_or(default);
        let period = if kind.ends_at_once(object) { 0 } else { asked };
        options.set("gracePeriodSeconds", if period < 0 { 1 } else { period });
        true
    })?;
    if ending == Ending::Pending {
        return Ok(Plan::Nothing);
    }
    set_finalizers(&mut object, options, write);
    let waits = Meta::of(&object).finalizers().len() > 0;
    if ending == Ending::Graceful {
        let has_time = options.at("gracePeriodSeconds").int() > 0;
        let then = if waits || has_time { Then::Wait } else { Then::Remove };
        return Ok(Plan::Mark(object, then));
    }
    if !waits {
        return Ok(Plan::Remove);
    }
    rules::mark_as_deleting(&mut object, &now.to_string());
    Ok(Plan::Mark(object, Then::Wait))
}

fn set_finalizers(object: &mut Value, options: &Value, write: &Write<'_>) {
    let default = write.definition.kind.garbage_collection();
    if let Some(finalizers) = rules::finalizers_for_deletion(object, options, default) {
        MetaMut::of(object).set_finalizers(finalizers);
    }
}

/// The version that a client expected was the one before we changed it.
fn clear_version(options: &mut Value) {
    if let Some(preconditions) = options.get_mut("preconditions") {
        preconditions.remove("resourceVersion");
    }
}
