//! The priority classes of pods without which a cluster does not work.
//!
//! After `pkg/registry/scheduling/rest/storage_scheduling.go` and
//! `pkg/apis/scheduling/v1/helpers.go`.

use std::sync::Arc;

use orlop_machinery::Value;
use orlop_machinery::status::Status;

use super::ensure::ensure_all;
use crate::objects::{FIELD_MANAGER, Objects};

const CLASSES: [(&str, i64, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another \
         node if necessary.",
    ),
];

/// Makes those that are not there.
pub(super) async fn ensure(objects: &Arc<dyn Objects>) -> Result<(), Status> {
    let classes = CLASSES.map(|(name, value, description)| {
        Value::from([
            ("apiVersion", Value::from("scheduling.k8s.io/v1")),
            ("kind", "PriorityClass".into()),
            ("metadata", Value::from([("name", name)])),
            ("value", value.into()),
            ("description", description.into()),
        ])
    });
    ensure_all(objects, classes, FIELD_MANAGER).await
}
