//! What a server does to the metadata of an object before it updates it.
//!
//! After `staging/src/k8s.io/apiserver/pkg/registry/rest/update.go` and `Store.Update` in
//! `.../registry/generic/registry/store.go`. The order: [`match_resource_version`],
//! [`match_namespace`](super::create::match_namespace), [`keep_generation`], the kind's
//! preparation, [`keep_system_fields`], [`validate_common`], the kind's rules, and at last
//! [`is_deleted_by`].

use super::{Meta, MetaMut, Scope, create, validate_object_meta_update};
use crate::field::{Errors, Path};
use crate::group_version::{GroupKind, GroupResource};
use crate::node::Node;
use crate::resource_version::ResourceVersion;
use crate::status::{OPTIMISTIC_LOCK, Reason, Status};
use crate::value::Value;

/// What an update that names no resource version means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconditional {
    /// Whatever there is may be overwritten.
    Allowed,
    /// The writer must have read what it overwrites.
    Refused,
}

/// The update is of the object as it is; one that names no version takes the current one, if that
/// is allowed.
///
/// # Errors
///
/// When the version is missing or malformed, or is not the current one.
pub fn match_resource_version(
    new: &mut Value,
    current: ResourceVersion,
    unconditional: Unconditional,
    resource: &GroupResource,
) -> Result<(), Status> {
    // Upstream takes this for its own fault.
    let malformed = |error| Status::failure(500, Reason::Unknown, format!("{error}"));
    let asked = ResourceVersion::of(new).map_err(malformed)?;
    let name = Meta::of(new).name();
    if asked.is_zero() {
        if unconditional == Unconditional::Refused {
            let mut errors = Errors::new();
            let metadata = Path::field("metadata");
            let at = metadata.child("resourceVersion");
            errors.invalid_value(&at, 0i64, "must be specified for an update");
            let kind = GroupKind::new(&resource.group, &resource.resource);
            return Err(Status::invalid(&kind, name, &errors));
        }
        MetaMut::of(new).set_resource_version(&current.to_string());
        return Ok(());
    }
    if asked != current {
        return Err(Status::conflict(resource, name, OPTIMISTIC_LOCK));
    }
    Ok(())
}

/// Requests do not set the generation.
pub fn keep_generation(new: &mut Value, old: &Value) {
    MetaMut::of(new).set_generation(Meta::of(old).generation());
}

/// What is asked for has changed: the generation counts it.
pub fn count_generation(new: &mut Value, old: &Value) {
    MetaMut::of(new).set_generation(Meta::of(old).generation().saturating_add(1));
}

/// Puts back what an update cannot change and need not repeat.
pub fn keep_system_fields(new: &mut Value, old: &Value) {
    let old = Meta::of(old);
    let mut meta = MetaMut::of(new);
    if meta.read().uid().is_empty() {
        meta.copy("uid", old);
    }
    if !old.creation_timestamp().is_empty() {
        meta.copy("creationTimestamp", old);
    }
    if old.deletion_timestamp().is_some() {
        meta.copy("deletionTimestamp", old);
    }
    if meta.read().deletion_grace_period_seconds().is_none() {
        meta.copy("deletionGracePeriodSeconds", old);
    }
}

/// An update of the status does not touch metadata, but for who manages which field.
pub fn keep_for_status(new: &mut Value, old: &Value) {
    let mut meta = MetaMut::of(new);
    for field in [
        "deletionTimestamp",
        "generation",
        "selfLink",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ] {
        meta.copy(field, Meta::of(old));
    }
}

/// The rules that metadata of every kind keeps, before the rules of its own kind.
pub fn validate_common(new: &Node<'_>, old: &Node<'_>, scope: Scope, errors: &mut Errors) {
    create::validate_common(new, scope, errors);
    validate_object_meta_update(new, old, errors);
}

/// Whether the object is gone with this update: it was being deleted without grace, and the last
/// finalizer was taken away.
#[must_use]
pub fn is_deleted_by(new: &Value, old: &Value) -> bool {
    let (new, old) = (Meta::of(new), Meta::of(old));
    new.finalizers().len() == 0
        && old.deletion_timestamp().is_some()
        && old.deletion_grace_period_seconds().unwrap_or_default() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn parse(text: &str) -> Value {
        json::parse(format!(r#"{{"metadata":{text}}}"#).as_bytes()).unwrap()
    }

    fn check(change: impl FnOnce(&mut Value, &Value), new: &str, old: &str, after: &str) {
        let mut new = parse(new);
        change(&mut new, &parse(old));
        assert_eq!(new, parse(after));
    }

    #[test]
    fn a_write_is_of_what_was_read() {
        let check = |new: &str, unconditional: Unconditional, expect: Result<&str, &str>| {
            let mut new = parse(new);
            let resource = GroupResource::new("", "pods");
            let seen =
                match_resource_version(&mut new, ResourceVersion::new(5), unconditional, &resource);
            let seen = seen.map(|()| Meta::of(&new).resource_version().to_owned());
            let seen = seen.map_err(|status| format!("{} {}", status.code, status.message));
            assert_eq!(seen, expect.map(str::to_owned).map_err(str::to_owned));
        };
        check(r#"{"resourceVersion":"5"}"#, Unconditional::Refused, Ok("5"));
        check("{}", Unconditional::Allowed, Ok("5"));
        let missing = "422 pods \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: \
                       must be specified for an update";
        check(r#"{"name":"a"}"#, Unconditional::Refused, Err(missing));
        let conflict = "409 Operation cannot be fulfilled on pods \"a\": the object has been \
                        modified; please apply your changes to the latest version and try again";
        let other = r#"{"name":"a","resourceVersion":"4"}"#;
        check(other, Unconditional::Allowed, Err(conflict));
        let malformed = "500 strconv.ParseUint: parsing \"x\": invalid syntax";
        check(r#"{"resourceVersion":"x"}"#, Unconditional::Allowed, Err(malformed));
    }

    #[test]
    fn the_generation_is_the_servers() {
        check(keep_generation, r#"{"generation":9}"#, r#"{"generation":3}"#, r#"{"generation":3}"#);
        check(keep_generation, r#"{"generation":9}"#, "{}", "{}");
        check(count_generation, "{}", r#"{"generation":3}"#, r#"{"generation":4}"#);
    }

    #[test]
    fn an_update_need_not_repeat_what_it_cannot_change() {
        let old = r#"{"creationTimestamp":"c","deletionGracePeriodSeconds":30,
            "deletionTimestamp":"d","uid":"u"}"#;
        check(keep_system_fields, "{}", old, old);
        let new = r#"{"uid":"v","creationTimestamp":"x","deletionTimestamp":"x",
            "deletionGracePeriodSeconds":0}"#;
        let after = r#"{"creationTimestamp":"c","deletionGracePeriodSeconds":0,
            "deletionTimestamp":"d","uid":"v"}"#;
        check(keep_system_fields, new, old, after);
        let new = r#"{"creationTimestamp":"x","deletionTimestamp":"x"}"#;
        check(keep_system_fields, new, "{}", new);
    }

    #[test]
    fn an_update_of_the_status_keeps_metadata() {
        let old =
            r#"{"annotations":{"a":"1"},"finalizers":["x/y"],"generation":2,"labels":{"l":"1"}}"#;
        let new = r#"{"labels":{"l":"2"},"managedFields":[],"ownerReferences":[{}],"name":"n"}"#;
        let after = r#"{"annotations":{"a":"1"},"finalizers":["x/y"],"generation":2,
            "labels":{"l":"1"},"managedFields":[],"name":"n"}"#;
        check(keep_for_status, new, old, after);
    }

    #[test]
    fn rules_of_a_new_object_and_of_a_change_both_hold() {
        let (new, old) = (parse(r#"{"name":"a/b"}"#), parse(r#"{"name":"c"}"#));
        let mut errors = Errors::new();
        let (new, old) = (Node::root(&new), Node::root(&old));
        let (new, old) = (new.at("metadata"), old.at("metadata"));
        validate_common(&new, &old, Scope::Cluster, &mut errors);
        let expect = [
            "metadata.name: Invalid value: \"a/b\": may not contain '/'",
            "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
            "metadata.name: Invalid value: \"a/b\": field is immutable",
        ];
        assert_eq!(errors.to_string().lines().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn the_last_finalizer_takes_the_object_with_it() {
        let check = |new: &str, old: &str, expect: bool| {
            assert_eq!(is_deleted_by(&parse(new), &parse(old)), expect, "{new} {old}");
        };
        check("{}", r#"{"deletionTimestamp":"d"}"#, true);
        check("{}", r#"{"deletionTimestamp":"d","deletionGracePeriodSeconds":0}"#, true);
        check("{}", r#"{"deletionTimestamp":"d","deletionGracePeriodSeconds":1}"#, false);
        check(r#"{"finalizers":["a/b"]}"#, r#"{"deletionTimestamp":"d"}"#, false);
        check("{}", "{}", false);
    }
}
