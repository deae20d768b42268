//! What a controller says about the pods that it made.
//!
//! After the status rules of Deployment, ReplicaSet and StatefulSet in
//! `pkg/apis/apps/validation/validation.go` and of ReplicationController in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

use super::scalar::validate_non_negative;

/// How one kind counts its pods.
pub(crate) struct ReplicaStatus {
    /// Everything that cannot be negative, in the order of the errors.
    pub(crate) counts: &'static [&'static str],
    /// What cannot be more than `replicas`.
    pub(crate) parts: &'static [&'static str],
    /// What an error calls the number of pods that are ready.
    pub(crate) ready: &'static str,
}

/// No count is negative, and no part is larger than the whole.
pub(crate) fn validate_replica_status(
    status: &Node<'_>,
    kind: &ReplicaStatus,
    errors: &mut Errors,
) {
    for count in kind.counts {
        validate_non_negative(&status.at(count), errors);
    }
    for part in kind.parts {
        let part = status.at(part);
        if part.int() > status.at("replicas").int() {
            errors.invalid(&part, "cannot be greater than status.replicas");
        }
    }
    let available = status.at("availableReplicas");
    if available.int() > status.at("readyReplicas").int() {
        errors.invalid(&available, format!("cannot be greater than {}", kind.ready));
    }
}

/// The number of times that a name was taken already only grows.
pub(crate) fn validate_collision_count(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    let (new, old) = (new.at("collisionCount"), old.at("collisionCount"));
    if old.is_set() && (!new.is_set() || new.int() < old.int()) {
        errors.invalid_value(&new, new.int(), "cannot be decremented");
    }
}
