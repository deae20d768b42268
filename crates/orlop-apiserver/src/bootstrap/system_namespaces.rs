//! The namespaces that every cluster has.
//!
//! After `pkg/controlplane/controller/systemnamespaces`.

use std::sync::Arc;

use orlop_machinery::Value;
use orlop_machinery::status::Status;

use super::ensure::ensure_all;
use crate::objects::{FIELD_MANAGER, Objects};

const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/// Makes those that are not there.
pub(super) async fn ensure(objects: &Arc<dyn Objects>) -> Result<(), Status> {
    ensure_all(objects, NAMESPACES.map(namespace), FIELD_MANAGER).await
}

fn namespace(name: &str) -> Value {
    Value::from([
        ("apiVersion", Value::from("v1")),
        ("kind", "Namespace".into()),
        ("metadata", Value::from([("name", name)])),
    ])
}
