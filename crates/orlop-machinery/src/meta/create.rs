//! What a server does to the metadata of an object before it creates it.
//!
//! After `staging/src/k8s.io/apiserver/pkg/registry/rest/{create,meta}.go` and `Store.create` in
//! `.../registry/generic/registry/store.go`. The order: [`wipe_system_fields`] and
//! [`match_namespace`] when the object arrives, admission, [`fill_system_fields`] with the name
//! that was generated, [`check_ready`], the kind's preparation and rules, [`validate_common`].

use super::{Meta, MetaMut, Scope, validate_object_meta};
use crate::field::Errors;
use crate::names::name_is_path_segment;
use crate::node::Node;
use crate::status::Status;
use crate::value::Value;

/// What only the server gives to an object.
#[derive(Clone, Copy, Debug)]
pub struct SystemFields<'a> {
    /// A uid that no object has.
    pub uid: &'a str,
    /// The time of creation, to the second.
    pub now: &'a str,
    /// The name, for an object that [`needs_name`]; of no meaning for others.
    pub generated_name: &'a str,
}

/// Takes out what only the server gives to an object.
pub fn wipe_system_fields(object: &mut Value) {
    let mut meta = MetaMut::of(object);
    for field in
        ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"]
    {
        meta.remove(field);
    }
}

/// Whether the server chooses the name.
#[must_use]
pub fn needs_name(object: &Value) -> bool {
    let meta = Meta::of(object);
    !meta.generate_name().is_empty() && meta.name().is_empty()
}

/// Puts in what only the server gives to an object.
pub fn fill_system_fields(object: &mut Value, fields: SystemFields<'_>) {
    let needs_name = needs_name(object);
    let mut meta = MetaMut::of(object);
    meta.set_creation_timestamp(fields.now);
    meta.set_uid(fields.uid);
    if needs_name {
        meta.set_name(fields.generated_name);
    }
}

/// Makes the namespace of an object that of the request: none for objects of the cluster.
///
/// # Errors
///
/// When the object names another namespace than the request.
pub fn match_namespace(object: &mut Value, request: &str, scope: Scope) -> Result<(), Status> {
    let expected = match scope {
        Scope::Cluster => "",
        Scope::Namespaced => request,
    };
    let current = Meta::of(object).namespace();
    if current == expected {
        return Ok(());
    }
    if current.is_empty() || expected.is_empty() {
        MetaMut::of(object).set_namespace(expected);
        return Ok(());
    }
    Err(Status::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request",
    ))
}

/// Everything was filled in that the rules count on.
///
/// # Errors
///
/// When something is missing, which is a fault of the server.
pub fn check_ready(object: &Value) -> Result<(), Status> {
    let meta = Meta::of(object);
    if meta.creation_timestamp().is_empty() && meta.uid().is_empty() {
        return Err(Status::internal_error("system metadata was not initialized"));
    }
    if needs_name(object) {
        return Err(Status::internal_error("metadata.name was not generated"));
    }
    Ok(())
}

/// The rules that metadata of every kind keeps, after the rules of its own kind.
pub fn validate_common(metadata: &Node<'_>, scope: Scope, errors: &mut Errors) {
    validate_object_meta(metadata, scope, name_is_path_segment, errors);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    const FIELDS: SystemFields<'_> =
        SystemFields { uid: "u", now: "2026-01-01T00:00:00Z", generated_name: "a-12345" };

    fn check(change: impl FnOnce(&mut Value), before: &str, after: &str) {
        let mut object = json::parse(before.as_bytes()).unwrap();
        change(&mut object);
        assert_eq!(json::to_string(&object), after);
    }

    #[test]
    fn a_client_cannot_choose_what_the_server_gives() {
        let before = r#"{"metadata":{"name":"a","creationTimestamp":"x","uid":"x","selfLink":"x",
            "deletionTimestamp":"x","deletionGracePeriodSeconds":1,"generation":7}}"#;
        check(wipe_system_fields, before, r#"{"metadata":{"generation":7,"name":"a"}}"#);
        let fill = |object: &mut Value| fill_system_fields(object, FIELDS);
        let after =
            r#"{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","name":"b","uid":"u"}}"#;
        check(fill, r#"{"metadata":{"name":"b"}}"#, after);
    }

    #[test]
    fn a_generated_name_is_used_where_none_was_chosen() {
        let fill = |object: &mut Value| fill_system_fields(object, FIELDS);
        let meta = |name: &str| {
            let start = r#"{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z""#;
            format!(r#"{start},"generateName":"a-","name":"{name}","uid":"u"}}}}"#)
        };
        check(fill, r#"{"metadata":{"generateName":"a-"}}"#, &meta("a-12345"));
        check(fill, r#"{"metadata":{"generateName":"a-","name":"b"}}"#, &meta("b"));
    }

    #[test]
    fn the_namespace_is_that_of_the_request() {
        let check = |before: &str, request: &str, scope: Scope, after: Result<&str, &str>| {
            let mut object = Value::Null;
            MetaMut::of(&mut object).set_namespace(before);
            let seen = match_namespace(&mut object, request, scope);
            let seen = seen.map(|()| Meta::of(&object).namespace().to_owned());
            assert_eq!(
                seen.map_err(|status| status.message),
                after.map(str::to_owned).map_err(str::to_owned)
            );
        };
        check("", "a", Scope::Namespaced, Ok("a"));
        check("a", "a", Scope::Namespaced, Ok("a"));
        check("a", "", Scope::Namespaced, Ok(""));
        check("a", "b", Scope::Cluster, Ok(""));
        let mismatch =
            "the namespace of the provided object does not match the namespace sent on the request";
        check("a", "b", Scope::Namespaced, Err(mismatch));
    }

    #[test]
    fn an_object_that_was_not_filled_in_is_the_servers_fault() {
        let check = |text: &str, expect: &str| {
            let object = json::parse(text.as_bytes()).unwrap();
            let seen =
                check_ready(&object).map_or_else(|status| status.message, |()| String::new());
            assert_eq!(seen, expect);
        };
        check(r#"{"metadata":{"uid":"u"}}"#, "");
        check("{}", "Internal error occurred: system metadata was not initialized");
        let expect = "Internal error occurred: metadata.name was not generated";
        check(r#"{"metadata":{"uid":"u","generateName":"a-"}}"#, expect);
    }

    #[test]
    fn every_kind_may_have_a_name_that_can_stand_in_a_path() {
        let check = |text: &str, expect: &str| {
            let object = json::parse(text.as_bytes()).unwrap();
            let mut errors = Errors::new();
            validate_common(&Node::root(&object).at("metadata"), Scope::Cluster, &mut errors);
            assert_eq!(errors.to_string(), expect);
        };
        check(r#"{"metadata":{"name":"system:node"}}"#, "");
        let expect = "metadata.name: Invalid value: \"a/b\": may not contain '/'\n";
        check(r#"{"metadata":{"name":"a/b"}}"#, expect);
    }
}
