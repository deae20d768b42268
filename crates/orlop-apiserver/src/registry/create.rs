//! Making an object.
//!
//! After `Store.Create` and `rest.BeforeCreate`.

use orlop_machinery::field::Errors;
use orlop_machinery::generate_name::{self, generate_name};
use orlop_machinery::meta::{self, Meta, create as rules};
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::time::Time;
use orlop_machinery::uid::Uid;
use orlop_machinery::{Value, json};
use orlop_storage::{Expect, Record, Revision, Write as StoreWrite};

use super::transaction::{ATTEMPTS_MAX, Committed, commit, put, too_many_attempts};
use super::{Write, hooks};
use crate::admission::{Admitted, Operation};
use crate::object::Object;
use crate::server::Inner;

/// Makes an object. It comes decoded, with defaults and managed fields.
pub(crate) async fn create(
    server: &Inner,
    write: &Write<'_>,
    mut object: Value,
) -> Result<Object, Status> {
    let definition = write.definition;
    let generates = rules::needs_name(&object);
    let may_repeat = generates || hooks::has_hook(server, write);
    let mut taken = 0;
    for _ in 0..ATTEMPTS_MAX {
        let mut new = if may_repeat { object.clone() } else { object.take() };
        let Ready { admitted, others } = make_ready(server, write, &mut new).await?;
        let name = Meta::of(&new).name().to_owned();
        let key = definition.key(write.namespace, &name);
        let bytes = definition.store(&mut new).await?;
        if write.is_dry_run {
            let found = super::read(server, definition, write.namespace, &name).await?;
            if let Some(found) = found {
                return Err(exists_already(write, &name, Some(&found.record)));
            }
            return definition.show_written(key.as_bytes(), &bytes, Revision::ZERO).await;
        }
        // Upstream looks when it writes, so whoever only tries is not told.
        check_no_version(&new)?;
        let lease = server.leases.lease_for(definition).await?;
        let own = put(&key, bytes.clone(), Expect::Absent, lease);
        match commit(server, definition, admitted, own, others).await? {
            Committed::At(revision) => {
                let revision = Revision(revision);
                return definition.show_written(key.as_bytes(), &bytes, revision).await;
            }
            Committed::Blocked => {}
            Committed::Changed(found) => {
                taken += 1;
                if !generates || taken >= generate_name::ATTEMPTS_MAX {
                    return Err(exists_already(write, &name, found.as_ref()));
                }
            }
        }
    }
    Err(too_many_attempts(definition, "create"))
}

fn exists_already(write: &Write<'_>, name: &str, found: Option<&Record>) -> Status {
    let definition = write.definition;
    let mut status = Status::already_exists(&definition.group_resource(), name);
    // Metadata is the same in all versions.
    let found = found.and_then(|found| json::parse(found.value()).ok());
    let is_ending = |found: Value| !found.path(&["metadata", "deletionTimestamp"]).is_null();
    if found.is_some_and(is_ending) {
        status.message.insert_str(0, "object is being deleted: ");
    }
    status
}

/// A new object has no version yet.
fn check_no_version(new: &Value) -> Result<(), Status> {
    let version = Meta::of(new).resource_version().parse::<u64>();
    if version.is_ok_and(|version| version != 0) {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(Status::failure(500, Reason::Unknown, message));
    }
    Ok(())
}

/// A new object that may be written, and what goes with it.
pub(super) struct Ready {
    pub admitted: Admitted,
    pub others: Vec<StoreWrite>,
}

/// Takes a new object through all steps before it is written.
pub(super) async fn make_ready(
    server: &Inner,
    write: &Write<'_>,
    new: &mut Value,
) -> Result<Ready, Status> {
    fill(server, write, new);
    let name = Meta::of(new).name().to_owned();
    if let Some(refusal) = write.definition.kind.refuses_create(&name) {
        return Err(refusal);
    }
    let attributes = write.attributes(Operation::Create, &name);
    let mutated = server.admission.mutate(&attributes, Some(new)).await?;
    super::dedup_owner_references(new, write.warnings);
    let others = hooks::before_create(server, write, new).await?;
    prepare(server, write, new)?;
    let admitted = server.admission.validate(mutated, &attributes, Some(new), None).await?;
    Ok(Ready { admitted, others })
}

/// Lets something be created at a subresource, or be answered and forgotten.
pub(crate) async fn admit_create(
    server: &Inner,
    write: &Write<'_>,
    name: &str,
    object: &mut Value,
) -> Result<(), Status> {
    let attributes = write.attributes(Operation::Create, name);
    let mutated = server.admission.mutate(&attributes, Some(object)).await?;
    server.admission.validate(mutated, &attributes, Some(object), None).await?;
    Ok(())
}

/// Puts in what only the server gives to an object.
fn fill(server: &Inner, write: &Write<'_>, object: &mut Value) {
    if !write.definition.kind.is_stored() {
        return;
    }
    let prefix = Meta::of(object).generate_name();
    let name = generate_name(prefix, server.random());
    let fields = rules::SystemFields {
        uid: &Uid::from_random(server.random()).to_string(),
        now: &Time::from_unix(server.now_seconds()).to_string(),
        generated_name: &name,
    };
    rules::fill_system_fields(object, fields);
}

/// Brings a new object into the form in which it is stored, if it is valid.
fn prepare(server: &Inner, write: &Write<'_>, object: &mut Value) -> Result<(), Status> {
    let definition = write.definition;
    let scope = definition.resource.scope;
    rules::check_ready(object)?;
    rules::match_namespace(object, write.namespace, scope)?;
    write.with_context(server.now_seconds(), |context| {
        write.rules.prepare_create(context, object);
        let invalid = |object: &Value, errors: &Errors| {
            let name = Meta::of(object).name();
            Err(Status::invalid(&definition.stored_group_kind(), name, errors))
        };
        let mut errors = Errors::new();
        let node = definition.node(object);
        let name_rule = definition.kind.name_rule();
        let metadata = node.at("metadata");
        match definition.kind.restricts_finalizers() {
            true => meta::validate_kube_object_meta(&metadata, scope, name_rule, &mut errors),
            false => meta::validate_object_meta(&metadata, scope, name_rule, &mut errors),
        }
        write.rules.validate(context, &node, &mut errors);
        if !errors.is_empty() {
            return invalid(object, &errors);
        }
        rules::validate_common(&metadata, scope, &mut errors);
        if !errors.is_empty() {
            return invalid(object, &errors);
        }
        let mut warnings = Vec::new();
        write.rules.warn(context, &node, &mut warnings);
        for warning in warnings {
            write.warnings.add(warning);
        }
        write.rules.canonicalize(object);
        Ok(())
    })
}
