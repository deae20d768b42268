//! Making an object.
//!
//! After `Store.Create` and `rest.BeforeCreate`.

use bytes::Bytes;
use orlop_machinery::field::Errors;
use orlop_machinery::generate_name::{self, generate_name};
use orlop_machinery::meta::{self, Meta, create as rules};
use orlop_machinery::status::Status;
use orlop_machinery::time::Time;
use orlop_machinery::uid::Uid;
use orlop_machinery::Value;
use orlop_storage::Expect;

use super::{Write, hooks};
use super::transaction::{ATTEMPTS_MAX, Committed, commit, put, too_many_attempts};
use crate::admission::{Operation, admit};
use crate::object::Object;
use crate::server::Inner;

/// Makes an object. It comes decoded, with defaults and managed fields.
pub(crate) async fn create(
    server: &Inner,
    write: &Write<'_>,
    object: Value,
) -> Result<Object, Status> {
    let definition = write.definition;
    let generates = rules::needs_name(&object);
    let mut taken = String::new();
    for _ in 0..ATTEMPTS_MAX {
        let mut new = object.clone();
        fill(server, write, &mut new);
        let admitted = admit(server, write, Operation::Create { object: &new }).await?;
        let others = hooks::before_create(server, write, &mut new).await?;
        prepare(server, write, &mut new)?;
        let name = Meta::of(&new).name().to_owned();
        let bytes = Bytes::from(definition.to_stored(&new));
        if write.is_dry_run {
            let exists = super::read(server, definition, write.namespace, &name).await?.is_some();
            return if exists { Err(exists_already(write, &name)) } else { Ok(Object::unsaved(bytes)) };
        }
        let key = definition.key(write.namespace, &name);
        let lease = server.leases.lease_for(definition).await?;
        let own = put(&key, bytes.clone(), Expect::Absent, lease);
        match commit(server, definition, admitted, own, others).await? {
            Committed::At(revision) => return Ok(Object::written(bytes, revision)),
            Committed::Blocked => {}
            Committed::Changed(_) if !generates => return Err(exists_already(write, &name)),
            Committed::Changed(_) => {
                taken.push('.');
                if taken.len() >= generate_name::ATTEMPTS_MAX {
                    return Err(exists_already(write, &name));
                }
            }
        }
    }
    Err(too_many_attempts(definition, "create"))
}

fn exists_already(write: &Write<'_>, name: &str) -> Status {
    Status::already_exists(&write.definition.group_resource(), name)
}

/// Puts in what only the server gives to an object.
pub(super) fn fill(server: &Inner, write: &Write<'_>, object: &mut Value) {
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
pub(super) fn prepare(server: &Inner, write: &Write<'_>, object: &mut Value) -> Result<(), Status> {
    let definition = write.definition;
    let scope = definition.resource.scope;
    rules::check_ready(object)?;
    rules::match_namespace(object, write.namespace, scope)?;
    write.with_context(server.now_seconds(), |context| {
        write.rules.prepare_create(context, object);
        let invalid = |object: &Value, errors: &Errors| {
            let name = Meta::of(object).name();
            Err(Status::invalid(&definition.group_kind(), name, errors))
        };
        let mut errors = Errors::new();
        let node = definition.node(object);
        let name_rule = definition.kind.name_rule();
        meta::validate_kube_object_meta(&node.at("metadata"), scope, name_rule, &mut errors);
        write.rules.validate(context, &node, &mut errors);
        if !errors.is_empty() {
            return invalid(object, &errors);
        }
        rules::validate_common(&node.at("metadata"), scope, &mut errors);
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
