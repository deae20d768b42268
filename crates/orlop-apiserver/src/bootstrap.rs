//! Objects that every cluster has, made by the server at its start and kept after.
//!
//! After `pkg/controlplane` (`instance.go`, `controller/*`, `reconcilers/*`). One file for each
//! thing. Everything may run any number of times and on several servers at once: what exists is
//! left as it is, unless its file says otherwise. [`Bootstrap::prepare`] makes what must be there
//! when the server says that it is ready, [`Bootstrap::run`] the rest, and keeps all of it.
//! Roles are not here.

mod authentication_trust;
mod endpoint_reconciler;
mod ensure;
mod flow_control;
mod identity_lease;
mod kubernetes_service;
mod priority_classes;
mod service_cidr;
mod system_namespaces;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use orlop_machinery::Str;
use orlop_machinery::status::Status;
use orlop_storage::{Clock, Store};
use tokio::time::MissedTickBehavior;

use self::endpoint_reconciler::EndpointReconciler;
use self::identity_lease::IdentityLease;
use self::service_cidr::DefaultServiceCidr;
use crate::objects::Objects;

pub(crate) use authentication_trust::{AuthenticationTrust, RequestHeaderTrust};

/// How often the kubernetes service, its endpoints, the default ServiceCIDR and the lease of this
/// server are looked after.
const SHORT_INTERVAL: Duration = Duration::from_secs(10);
/// How often the rest is.
const LONG_INTERVAL: Duration = Duration::from_secs(60);
/// How often leases of servers that are gone are looked for.
const LEASE_COLLECTION_INTERVAL: Duration = Duration::from_secs(3600);

/// What the cluster and this server are like.
#[derive(Clone, Debug)]
pub(crate) struct BootstrapOptions {
    /// The networks of cluster IPs, in CIDR notation: one or, for two families, two.
    pub service_cidrs: Vec<Str>,
    /// Where others reach this server.
    pub advertise_address: IpAddr,
    /// On which port.
    pub secure_port: u16,
    /// The port of nodes for the kubernetes service; none by default.
    pub kubernetes_service_node_port: Option<u16>,
    /// The name of the machine.
    pub hostname: Str,
    /// What others need to trust this server's clients.
    pub authentication_trust: AuthenticationTrust,
}

/// Makes and keeps what every cluster has.
pub(crate) struct Bootstrap {
    objects: Arc<dyn Objects>,
    clock: Arc<dyn Clock>,
    options: BootstrapOptions,
    service_cidr: DefaultServiceCidr,
    /// None if others cannot reach this server.
    endpoints: Option<EndpointReconciler>,
    lease: IdentityLease,
}

impl Bootstrap {
    /// Writes through `objects`; what is no object goes to the store.
    pub(crate) fn new(
        objects: Arc<dyn Objects>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        options: BootstrapOptions,
    ) -> Result<Bootstrap, Status> {
        let lease = IdentityLease::new(&options.hostname)?;
        let service_cidr = DefaultServiceCidr::new(&options, objects.clone(), clock.clone());
        let endpoints = EndpointReconciler::new(store, &options);
        Ok(Bootstrap { objects, clock, options, service_cidr, endpoints, lease })
    }

    /// Makes what must be there when the server is ready, as far as it is not.
    ///
    /// # Errors
    ///
    /// When something cannot be made: the server is not ready then.
    pub(crate) async fn prepare(&self) -> Result<(), Status> {
        let objects = &self.objects;
        // What depends on nothing goes first, side by side: the store joins it into few writes.
        tokio::try_join!(
            system_namespaces::ensure(objects),
            priority_classes::ensure(objects),
            self.service_cidr.ensure(),
            flow_control::ensure(objects),
        )?;
        tokio::try_join!(
            kubernetes_service::ensure(&**objects, &self.options),
            authentication_trust::ensure(&**objects, &*self.clock, &self.options),
            self.lease.start(&**objects, &*self.clock),
            self.service_cidr.sync_status(),
        )?;
        Ok(())
    }

    /// Keeps everything, from now until the future is dropped. What fails is logged and tried
    /// again.
    pub(crate) async fn run(&self) {
        tokio::join!(
            every(SHORT_INTERVAL, || async {
                log("kubernetes service", self.sync_kubernetes_service().await);
                log("default ServiceCIDR", self.service_cidr.sync().await);
                log("lease of this server", self.renew_lease().await);
            }),
            every(LONG_INTERVAL, || async {
                log("system namespaces", system_namespaces::ensure(&self.objects).await);
                log("flow control", flow_control::reconcile(&self.objects).await);
                let trust =
                    authentication_trust::ensure(&*self.objects, &*self.clock, &self.options);
                log("authentication trust", trust.await);
            }),
            every(LEASE_COLLECTION_INTERVAL, || async {
                let collected = identity_lease::collect(&*self.objects, &*self.clock).await;
                log("leases of servers", collected);
            }),
        );
    }

    /// Tells the cluster that this server goes: it is no endpoint any more and has no lease.
    pub(crate) async fn stop(&self) {
        if let Some(endpoints) = &self.endpoints {
            log("endpoints of the kubernetes service", endpoints.leave(&*self.objects).await);
        }
        log("lease of this server", self.lease.stop(&*self.objects).await);
    }

    async fn sync_kubernetes_service(&self) -> Result<(), Status> {
        kubernetes_service::ensure(&*self.objects, &self.options).await?;
        match &self.endpoints {
            Some(endpoints) => endpoints.reconcile(&*self.objects).await,
            None => Ok(()),
        }
    }

    async fn renew_lease(&self) -> Result<(), Status> {
        self.lease.renew(&*self.objects, &*self.clock).await
    }
}

/// Does something now and then for ever; late is better than twice.
async fn every<F: Future<Output = ()>>(interval: Duration, mut step: impl FnMut() -> F) {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        step().await;
    }
}

fn log(what: &'static str, result: Result<(), Status>) {
    if let Err(error) = result {
        tracing::warn!(%error, what, "an object of the server itself cannot be kept");
    }
}
