//! Which ports of nodes a service takes and gives back when it is written.
//!
//! After `initNodePorts`, `updateNodePorts` and `updateHealthCheckNodePort` in
//! `pkg/registry/core/service/storage/alloc.go`, in the same order and with the same words.

use std::collections::HashMap;

use orlop_kinds::service_allocation::{needs_health_check_node_port, needs_node_ports, node_ports};
use orlop_machinery::Value;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::group_version::GroupKind;
use orlop_machinery::meta::Meta;
use orlop_machinery::status::{Reason, Status};

use super::node_ports::{PortError, PortOperation};

/// Takes what a new service asks for and needs.
pub(super) async fn take_on_create(
    service: &mut Value,
    operation: &mut PortOperation<'_>,
) -> Result<(), Status> {
    if may_have_node_ports(service) {
        take_ports(service, operation).await?;
    }
    if needs_health_check_node_port(service) {
        take_health_check_port(service, operation).await?;
    }
    Ok(())
}

/// Takes what a changed service newly asks for and needs, and gives back what it does not.
pub(super) async fn exchange_on_update(
    service: &mut Value,
    old: &Value,
    operation: &mut PortOperation<'_>,
) -> Result<(), Status> {
    let is_closed = ["ExternalName", "ClusterIP"].contains(&type_of(service));
    if may_have_node_ports(old) && is_closed {
        release_ports(old, operation);
    }
    if may_have_node_ports(service) {
        exchange_ports(service, old, operation).await?;
    }
    let (needed, needs) =
        (needs_health_check_node_port(old), needs_health_check_node_port(service));
    if needs && !needed {
        take_health_check_port(service, operation).await?;
    }
    if needed && !needs {
        operation.release(health_check_port(old));
    }
    Ok(())
}

/// Gives back all that a service has.
pub(super) fn release_on_delete(service: &Value, operation: &mut PortOperation<'_>) {
    release_ports(service, operation);
    if needs_health_check_node_port(service) {
        operation.release(health_check_port(service));
    }
}

fn release_ports(service: &Value, operation: &mut PortOperation<'_>) {
    for port in node_ports(service) {
        operation.release(port);
    }
}

/// Ports with the same number (and different protocols) share one port of the nodes.
async fn take_ports(service: &mut Value, operation: &mut PortOperation<'_>) -> Result<(), Status> {
    let needs_all = needs_node_ports(service);
    let mut shared: HashMap<i64, i64> = HashMap::new();
    for index in 0..ports(service).len() {
        let (port, wanted) = numbers(&ports(service)[index]);
        if wanted == 0 && !needs_all {
            continue;
        }
        let Some(known) = shared.get(&port).copied() else {
            let requested = ports(service).iter().map(numbers);
            let requested = requested.filter(|(other, _)| *other == port);
            let requested = requested.map(|(_, wanted)| wanted).find(|wanted| *wanted != 0);
            let given = match requested {
                Some(wanted) => take_wanted(service, index, wanted, operation).await?,
                None => take_any(operation).await?,
            };
            set_node_port(service, index, given);
            shared.insert(port, given);
            continue;
        };
        if wanted == 0 {
            set_node_port(service, index, known);
        } else if wanted != known {
            take_wanted(service, index, wanted, operation).await?;
        }
    }
    Ok(())
}

async fn exchange_ports(
    service: &mut Value,
    old: &Value,
    operation: &mut PortOperation<'_>,
) -> Result<(), Status> {
    let needs_all = needs_node_ports(service);
    let before = node_ports(old);
    let mut taken = Vec::new();
    let mut seen: Vec<(String, i64)> = Vec::new();
    for index in 0..ports(service).len() {
        let port = &ports(service)[index];
        let (protocol, (_, wanted)) = (port.at("protocol").str().to_owned(), numbers(port));
        if wanted == 0 && !needs_all {
            continue;
        }
        let mut given = wanted;
        if wanted == 0 {
            given = take_any(operation).await?;
            set_node_port(service, index, given);
        } else if !before.contains(&wanted) && !taken.contains(&wanted) {
            take_wanted(service, index, wanted, operation).await?;
            taken.push(wanted);
        }
        let this = (protocol, given);
        if seen.contains(&this) {
            let (protocol, port) = this;
            let message = format!("duplicate nodePort: {{{protocol} {port}}}");
            return Err(Status::failure(500, Reason::Unknown, message));
        }
        seen.push(this);
    }
    for port in &before - &node_ports(service) {
        operation.release(port);
    }
    Ok(())
}

async fn take_wanted(
    service: &Value,
    index: usize,
    wanted: i64,
    operation: &mut PortOperation<'_>,
) -> Result<i64, Status> {
    match operation.allocate(wanted).await {
        Ok(()) => Ok(wanted),
        Err(PortError::Failed(status)) => Err(status),
        Err(error) => {
            let (spec, mut errors) = (Path::field("spec"), Errors::new());
            let (ports, detail) = (spec.child("ports"), error.to_string());
            let port = ports.index(index);
            errors.invalid_value(&port.child("nodePort"), wanted, detail);
            Err(invalid(service, &errors))
        }
    }
}

async fn take_any(operation: &mut PortOperation<'_>) -> Result<i64, Status> {
    operation.allocate_next().await.map_err(|error| match error {
        PortError::Failed(status) => status,
        error => Status::internal_error(format!("failed to allocate a nodePort: {error}")),
    })
}

async fn take_health_check_port(
    service: &mut Value,
    operation: &mut PortOperation<'_>,
) -> Result<(), Status> {
    let wanted = health_check_port(service);
    let taken = match wanted {
        0 => operation.allocate_next().await,
        wanted => operation.allocate(wanted).await.map(|()| wanted),
    };
    let port = taken.map_err(|error| match (error, wanted) {
        (PortError::Failed(status), _) => status,
        (error, 0) => {
            Status::internal_error(format!("failed to allocate a HealthCheck NodePort 0: {error}"))
        }
        (error, wanted) => Status::internal_error(format!(
            "failed to allocate requested HealthCheck NodePort {wanted}: {error}"
        )),
    })?;
    service.entry("spec").set("healthCheckNodePort", port);
    Ok(())
}

/// The status for a service that breaks a rule.
pub(super) fn invalid(service: &Value, errors: &Errors) -> Status {
    let kind = GroupKind { group: "".into(), kind: "Service".into() };
    Status::invalid(&kind, Meta::of(service).name(), errors)
}

fn ports(service: &Value) -> &[Value] {
    service.path(&["spec", "ports"]).list()
}

/// The number of a port, and that of its port of the nodes.
fn numbers(port: &Value) -> (i64, i64) {
    (port.at("port").int(), port.at("nodePort").int())
}

fn set_node_port(service: &mut Value, index: usize, port: i64) {
    let ports = service.path_mut(&["spec", "ports"]).map(Value::list_mut).unwrap_or_default();
    if let Some(entry) = ports.get_mut(index) {
        entry.set("nodePort", port);
    }
}

fn health_check_port(service: &Value) -> i64 {
    service.path(&["spec", "healthCheckNodePort"]).int()
}

fn type_of(service: &Value) -> &str {
    service.path(&["spec", "type"]).str()
}

fn may_have_node_ports(service: &Value) -> bool {
    ["NodePort", "LoadBalancer"].contains(&type_of(service))
}
