//! Addresses and ports of services: given out with the service, and back with it.
//!
//! After `pkg/registry/core/service/storage/{alloc,storage}.go`. Upstream reserves first and
//! writes the service after, and repairs what is lost between the two; here an IPAddress, a port
//! of the nodes and their service are one transaction, so nothing is lost and no other server can
//! have the same. What can be decided without the store stands in
//! `orlop_kinds::service_allocation`; [`repair`] mends what others have broken.

mod address_range;
mod cluster_ips;
mod ip_address;
mod node_ports;
mod repair;
mod service_ports;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use orlop_kinds::service_allocation::{
    ClusterFamilies, default_on_read, keep_allocated_values, normalize_cluster_ips,
    set_cluster_ips, set_ip_families, wanted_cluster_ips,
};
use orlop_machinery::Value;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::names::{self, IpFamily};
use orlop_machinery::status::Status;
use orlop_storage::{At, Clock, Store, Write};

use self::cluster_ips::{AddressError, AddressOperation, read_ranges};
use self::ip_address::ServiceName;
use self::node_ports::PortOperation;
use crate::catalog::Catalog;
use crate::definition::Definition;
use crate::write_hook::{HookContext, WriteHook};

pub(crate) use node_ports::NodePortRange;
pub(crate) use repair::Repair;

/// Gives addresses and ports to services.
pub(crate) struct ServiceAllocator {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    options: AllocationOptions,
    services: Arc<Definition>,
    endpoints: Arc<Definition>,
    ip_addresses: Arc<Definition>,
    service_cidrs: Arc<Definition>,
}

/// What the cluster gives to services.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocationOptions {
    /// The families of addresses.
    pub families: ClusterFamilies,
    /// The ports of nodes.
    pub node_ports: NodePortRange,
}

impl ServiceAllocator {
    /// For the services of a catalog; none if it has no services.
    pub(crate) fn new(
        catalog: &Catalog,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        options: AllocationOptions,
    ) -> Option<ServiceAllocator> {
        let find = |group, plural| catalog.find(group, "v1", plural).cloned();
        Some(ServiceAllocator {
            store,
            clock,
            options,
            services: find("", "services")?,
            endpoints: find("", "endpoints")?,
            ip_addresses: find("networking.k8s.io", "ipaddresses")?,
            service_cidrs: find("networking.k8s.io", "servicecidrs")?,
        })
    }

    /// The resource whose hook this is.
    pub(crate) fn resource(&self) -> GroupResource {
        self.services.group_resource()
    }

    fn ports(&self, service: &Value, context: HookContext) -> PortOperation<'_> {
        let owner = ServiceName::of(service).to_string();
        PortOperation::new(&*self.store, self.options.node_ports, owner, context.is_dry_run)
    }

    fn addresses(&self, context: HookContext) -> AddressOperation<'_> {
        let now = self.clock.now();
        AddressOperation::new(&*self.store, &self.ip_addresses, now, context.is_dry_run)
    }

    /// The same, where addresses are taken.
    async fn addresses_to_take(
        &self,
        context: HookContext,
    ) -> Result<AddressOperation<'_>, Status> {
        let ranges = read_ranges(&*self.store, &self.service_cidrs, At::Latest).await?;
        Ok(self.addresses(context).with_ranges(ranges))
    }

    /// The addresses of a changed service. The first one never changes while it has one.
    async fn exchange_addresses(
        &self,
        context: HookContext,
        service: &mut Value,
        old: &Value,
    ) -> Result<Vec<Write>, Status> {
        if is_external_name(old) && !is_external_name(service) {
            let mut operation = self.addresses_to_take(context).await?;
            take_addresses(service, 0, &mut operation).await?;
            return Ok(operation.into_writes());
        }
        let had = old.path(&["spec", "clusterIPs"]).list();
        if had.first().is_some_and(|first| first.str() == "None") {
            return Ok(Vec::new());
        }
        let count_of = |service: &Value| service.path(&["spec", "ipFamilies"]).list().len();
        let (before, after) = (count_of(old), count_of(service));
        if is_external_name(service) {
            return self.release_addresses(context, old, had).await;
        }
        if before == 1 && after == 2 {
            let mut operation = self.addresses_to_take(context).await?;
            take_addresses(service, 1, &mut operation).await?;
            return Ok(operation.into_writes());
        }
        if before == 2 && after == 1 {
            return self.release_addresses(context, old, had.get(1..).unwrap_or_default()).await;
        }
        Ok(Vec::new())
    }

    async fn release_addresses(
        &self,
        context: HookContext,
        service: &Value,
        addresses: &[Value],
    ) -> Result<Vec<Write>, Status> {
        let mut operation = self.addresses(context);
        for address in addresses.iter().filter_map(|address| names::parse_ip(address.str())) {
            operation.release(address, ServiceName::of(service)).await?;
        }
        Ok(operation.into_writes())
    }

    /// The endpoints of a service go with it, so that a new one of its name does not begin with
    /// them.
    async fn delete_endpoints(&self, service: &Value) -> Result<Option<Write>, Status> {
        let ServiceName { namespace, name } = ServiceName::of(service);
        let key = self.endpoints.key(namespace, name);
        ip_address::delete(&*self.store, &self.endpoints, key, |_| true, self.clock.now()).await
    }
}

#[async_trait]
impl WriteHook for ServiceAllocator {
    async fn before_create(
        &self,
        context: HookContext,
        service: &mut Value,
    ) -> Result<Vec<Write>, Status> {
        normalize_cluster_ips(service, None);
        let errors = set_ip_families(service, None, self.options.families);
        check(service, &errors)?;
        let mut writes = Vec::new();
        if !wanted_cluster_ips(service).is_empty() {
            let mut operation = self.addresses_to_take(context).await?;
            take_addresses(service, 0, &mut operation).await?;
            writes.extend(operation.into_writes());
        }
        let mut ports = self.ports(service, context);
        service_ports::take_on_create(service, &mut ports).await?;
        writes.extend(ports.into_writes().await?);
        Ok(writes)
    }

    async fn before_update(
        &self,
        context: HookContext,
        service: &mut Value,
        old: &Value,
    ) -> Result<Vec<Write>, Status> {
        let mut old = old.clone();
        self.after_read(&mut old);
        keep_allocated_values(service, &old);
        normalize_cluster_ips(service, Some(&old));
        let errors = set_ip_families(service, Some(&old), self.options.families);
        check(service, &errors)?;
        if is_external_name(service) {
            // Upstream keeps it, and shows it to nobody.
            service.entry("spec").remove("internalTrafficPolicy");
        }
        let mut writes = self.exchange_addresses(context, service, &old).await?;
        let mut ports = self.ports(&old, context);
        service_ports::exchange_on_update(service, &old, &mut ports).await?;
        writes.extend(ports.into_writes().await?);
        Ok(writes)
    }

    async fn before_delete(
        &self,
        context: HookContext,
        service: &Value,
    ) -> Result<Vec<Write>, Status> {
        if context.is_dry_run {
            return Ok(Vec::new());
        }
        let mut service = service.clone();
        self.after_read(&mut service);
        let mut writes = Vec::new();
        if !is_external_name(&service) {
            let addresses = service.path(&["spec", "clusterIPs"]).list();
            writes.extend(self.release_addresses(context, &service, addresses).await?);
        }
        let mut ports = self.ports(&service, context);
        service_ports::release_on_delete(&service, &mut ports);
        writes.extend(ports.into_writes().await?);
        writes.extend(self.delete_endpoints(&service).await?);
        Ok(writes)
    }

    fn after_read(&self, service: &mut Value) {
        default_on_read(service, self.options.families.default);
    }
}

/// Takes the addresses that a service wants, from the one with this number on.
async fn take_addresses(
    service: &mut Value,
    from: usize,
    operation: &mut AddressOperation<'_>,
) -> Result<(), Status> {
    let wanted: Vec<(IpFamily, Option<String>)> = wanted_cluster_ips(service)
        .into_iter()
        .map(|(family, address)| (family, address.map(str::to_owned)))
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let mut addresses: Vec<String> =
        wanted.iter().map(|(_, address)| address.clone().unwrap_or_default()).collect();
    for (index, (family, address)) in wanted.iter().enumerate().skip(from) {
        let name = ServiceName::of(service);
        let taken = match address {
            Some(text) => {
                let parsed = names::parse_ip(text).ok_or_else(|| {
                    Status::internal_error(format!("failed to parse service IP {text:?}"))
                })?;
                operation.allocate(parsed, name).await.map(|()| text.clone())
            }
            None => operation.allocate_next(*family, name).await.map(|found| found.to_string()),
        };
        addresses[index] =
            taken.map_err(|error| refuse(service, &addresses, address.as_deref(), error))?;
    }
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    set_cluster_ips(service, &addresses);
    Ok(())
}

fn refuse(
    service: &Value,
    addresses: &[String],
    wanted: Option<&str>,
    error: AddressError,
) -> Status {
    let name = ServiceName::of(service).name;
    let detail = match (error, wanted) {
        (AddressError::Failed(status), _) => return status,
        (error @ AddressError::Full, None) => {
            let message = format!("failed to allocate a serviceIP for Service {name:?}: {error}");
            return Status::internal_error(message);
        }
        (error, None) => format!("failed to allocate IP: {error}"),
        (error, Some(wanted)) => format!("failed to allocate IP {wanted}: {error}"),
    };
    let (spec, mut errors) = (Path::field("spec"), Errors::new());
    let value: Vec<&str> = addresses.iter().map(String::as_str).collect();
    errors.invalid_value(&spec.child("clusterIPs"), value, detail);
    service_ports::invalid(service, &errors)
}

fn check(service: &Value, errors: &Errors) -> Result<(), Status> {
    if errors.is_empty() { Ok(()) } else { Err(service_ports::invalid(service, errors)) }
}

fn is_external_name(service: &Value) -> bool {
    service.path(&["spec", "type"]).str() == "ExternalName"
}

/// The first address of a network that somebody can have.
pub(crate) fn first_address(cidr: &str) -> Option<IpAddr> {
    let range = address_range::AddressRange::parse(cidr)?;
    let [upper, lower] = range.bands();
    let first =
        lower.starting_at_random(0).next().or_else(|| upper.starting_at_random(0).next())?;
    Some(range.address(first))
}
