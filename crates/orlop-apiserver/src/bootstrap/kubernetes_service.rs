//! The service by which pods find the API server.
//!
//! After `pkg/controlplane/controller/kubernetesservice/controller.go`. It is made when it is
//! missing and never changed. Its endpoints are kept by
//! [`endpoint_reconciler`](super::endpoint_reconciler).

use orlop_machinery::Value;
use orlop_machinery::status::Status;

use super::BootstrapOptions;
use super::ensure::ensure as ensure_object;
use crate::allocation::first_address;
use crate::objects::{FIELD_MANAGER, Objects};

/// The namespace and the name, of its endpoints too.
pub(super) const NAMESPACE: &str = "default";
pub(super) const NAME: &str = "kubernetes";
/// The name of its port.
pub(super) const PORT_NAME: &str = "https";
/// The number of its port.
const PORT: i64 = 443;

/// Makes it, if it is not there.
pub(super) async fn ensure(
    objects: &dyn Objects,
    options: &BootstrapOptions,
) -> Result<(), Status> {
    ensure_object(objects, service(options)?, FIELD_MANAGER).await
}

fn service(options: &BootstrapOptions) -> Result<Value, Status> {
    let network = options.service_cidrs.first().map(AsRef::as_ref).unwrap_or_default();
    let address = first_address(network).ok_or_else(|| {
        Status::internal_error(format!("the network {network:?} has no address for services"))
    })?;
    let mut port = Value::from([
        ("name", Value::from(PORT_NAME)),
        ("protocol", "TCP".into()),
        ("port", PORT.into()),
        ("targetPort", i64::from(options.secure_port).into()),
    ]);
    let mut kind = "ClusterIP";
    if let Some(node_port) = options.kubernetes_service_node_port {
        port.set("nodePort", i64::from(node_port));
        kind = "NodePort";
    }
    let labels = Value::from([("component", "apiserver"), ("provider", "kubernetes")]);
    let metadata = Value::from([
        ("name", Value::from(NAME)),
        ("namespace", NAMESPACE.into()),
        ("labels", labels),
    ]);
    let spec = Value::from([
        ("ports", Value::from(vec![port])),
        ("clusterIP", address.to_string().into()),
        ("ipFamilyPolicy", "SingleStack".into()),
        ("sessionAffinity", "None".into()),
        ("type", kind.into()),
    ]);
    Ok(Value::from([
        ("apiVersion", Value::from("v1")),
        ("kind", "Service".into()),
        ("metadata", metadata),
        ("spec", spec),
    ]))
}
