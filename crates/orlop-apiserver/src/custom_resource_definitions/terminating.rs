//! What is said about the end of a definition while its objects go.
//!
//! After
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go`, and
//! the admission of `pkg/apiserver/customresource_handler.go` there.

use orlop_kinds::custom_resource_definition_conditions::{
    CLEANUP_FINALIZER, Condition, ESTABLISHED, TERMINATING, find,
};
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::meta::Meta;
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};

/// What is to be done about a definition that is being deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Nothing: it is not being deleted, or others keep it.
    Nothing,
    /// Its objects are deleted first.
    DeleteInstances,
    /// It goes, and this is said about it.
    Finish(Condition),
}

/// Decides about a definition. `is_overlapping` says whether its objects would be stored where
/// those of a built-in resource are.
pub(super) fn plan(object: &Value, is_overlapping: bool) -> Plan {
    if !is_ending(object) {
        return Plan::Nothing;
    }
    if is_overlapping {
        let message = "instances overlap with built-in resources in storage";
        return Plan::Finish(condition("False", "OverlappingBuiltInResource", message));
    }
    let conditions = Condition::all(object);
    if find(&conditions, ESTABLISHED).is_some_and(Condition::is_true) {
        return Plan::DeleteInstances;
    }
    Plan::Finish(condition("False", "NeverEstablished", "resource was never established"))
}

/// Whether a definition is being deleted and waits for its objects to go.
pub(super) fn is_ending(object: &Value) -> bool {
    let meta = Meta::of(object);
    meta.deletion_timestamp().is_some() && meta.finalizers().any(|name| name == CLEANUP_FINALIZER)
}

/// Objects are being deleted.
pub(super) fn in_progress() -> Condition {
    let message = "CustomResource deletion is in progress";
    condition("True", "InstanceDeletionInProgress", message)
}

/// All objects are gone.
pub(super) fn completed() -> Condition {
    condition("False", "InstanceDeletionCompleted", "removed all instances")
}

/// Objects could not be found.
pub(super) fn not_listed(why: &str) -> Condition {
    let message = format!("could not list instances: {why}");
    condition("True", "InstanceDeletionFailed", &message)
}

/// Objects could not be deleted.
pub(super) fn not_deleted(why: &str) -> Condition {
    let message = format!("could not issue all deletes: {why}");
    condition("True", "InstanceDeletionFailed", &message)
}

/// Objects are still there.
pub(super) fn not_gone(why: &str) -> Condition {
    let message = format!("could not confirm zero CustomResources remaining: {why}");
    condition("True", "InstanceDeletionCheck", &message)
}

fn condition(status: &str, reason: &str, message: &str) -> Condition {
    Condition::new(TERMINATING, status, reason, message)
}

/// The finalizers of a definition whose objects are gone.
pub(super) fn other_finalizers(object: &Value) -> Vec<Str> {
    let finalizers = Meta::of(object).finalizers();
    finalizers.filter(|name| *name != CLEANUP_FINALIZER).map(Str::new).collect()
}

/// What somebody is told who makes an object while its definition is being deleted.
pub(crate) fn refuse_create(resource: &GroupResource, name: &str) -> Status {
    let why = "create not allowed while custom resource definition is terminating";
    Status::forbidden(resource, name, why)
}

#[cfg(test)]
mod tests {
    use orlop_machinery::json;

    use super::*;

    fn object(deletion: bool, finalizers: &[&str], established: &str) -> Value {
        let deletion = if deletion { r#""2026-01-01T00:00:00Z""# } else { "null" };
        let text = format!(
            r#"{{"metadata":{{"deletionTimestamp":{deletion},"finalizers":{finalizers:?}}},
                "status":{{"conditions":[{{"type":"Established","status":"{established}"}}]}}}}"#
        );
        json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn objects_go_before_their_definition() {
        let check = |object: Value, is_overlapping: bool, expect: &str| {
            let found = match plan(&object, is_overlapping) {
                Plan::Nothing => "nothing".to_owned(),
                Plan::DeleteInstances => "instances".to_owned(),
                Plan::Finish(condition) => format!("{} {}", condition.status, condition.reason),
            };
            assert_eq!(found, expect);
        };
        let own = [CLEANUP_FINALIZER];
        check(object(false, &own, "True"), false, "nothing");
        check(object(true, &["a/b"], "True"), false, "nothing");
        check(object(true, &own, "True"), false, "instances");
        check(object(true, &own, "True"), true, "False OverlappingBuiltInResource");
        check(object(true, &own, "False"), false, "False NeverEstablished");
        check(object(true, &[], "False"), false, "nothing");
    }

    #[test]
    fn finalizers_of_others_stay() {
        let found = other_finalizers(&object(true, &["a/b", CLEANUP_FINALIZER, "c/d"], "True"));
        assert_eq!(found, ["a/b", "c/d"]);
    }

    #[test]
    fn nothing_is_made_while_the_definition_goes() {
        let status = refuse_create(&GroupResource::new("example.com", "widgets"), "a");
        assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
        let expect = "widgets.example.com \"a\" is forbidden: create not allowed while custom \
                      resource definition is terminating";
        assert_eq!(status.message, expect);
    }
}
