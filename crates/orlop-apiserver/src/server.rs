//! The server as a value: what every request needs, and how it starts.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use http::{Request, Response};
use orlop_kinds::service_allocation::ClusterFamilies;
use orlop_machinery::Str;
use orlop_machinery::names::IpFamily;
use orlop_machinery::status::Status;
use orlop_storage::{Clock, Store};
use tokio::task::JoinSet;

use crate::admission::{Admission, NamespaceLifecycle};
use crate::allocation::{AllocationOptions, NodePortRange, Repair, ServiceAllocator};
use crate::body::{Body, RequestBody};
use crate::bootstrap::{AuthenticationTrust, Bootstrap, BootstrapOptions, RequestHeaderTrust};
use crate::catalog::Catalog;
use crate::chain;
use crate::conversion::ConversionOptions;
use crate::custom_resource::Serving;
use crate::custom_resource_definitions::CustomResourceDefinitions;
use crate::definition::Definition;
use crate::discovery::Discovery;
use crate::event_ttl::EventTtl;
use crate::flow::{Flow, FlowOptions};
use crate::health::{Check, Health};
use crate::measured_store::MeasuredStore;
use crate::metrics::{Metrics, Snapshot, StoreTimes};
use crate::non_resource::NonResource;
use crate::object_counts::ObjectCounts;
use crate::openapi::OpenApi;
use crate::own_objects::OwnObjects;
use crate::own_services::OwnServices;
use crate::reads::Reads;
use crate::registry::{Manager, Write};
use crate::request::RequestInfo;
use crate::serve::{Handle, Peer, ShuttingDown};
use crate::server_options::{Options, ServiceNetwork};
use crate::version::Version;
use crate::webhook_client::{SystemRoots, WebhookOptions};
use crate::write_hook::WriteHooks;

/// An API server. It answers requests, from sockets or from its own process, and keeps what every
/// cluster has.
pub struct Server {
    inner: Arc<Inner>,
    bootstrap: Arc<Bootstrap>,
    /// What goes on besides requests; none any more once the server was stopped.
    tasks: Mutex<JoinSet<()>>,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// What every cluster has cannot be made.
    #[error("cannot make the objects of the cluster: {0}")]
    Bootstrap(String),
    /// The options do not fit together.
    #[error("{0}")]
    Options(String),
}

/// What every request needs.
pub(crate) struct Inner {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// What is always served.
    built_in: Arc<Catalog>,
    /// What is served now.
    served: ArcSwap<Catalog>,
    /// What else may be served soon; set when the server starts.
    custom: OnceLock<CustomResourceDefinitions>,
    /// How it is read.
    pub reads: Reads,
    /// What is decided by who started the server.
    pub options: Options,
    /// What may change or refuse writes.
    pub admission: Admission,
    /// What kinds add to writes.
    pub hooks: WriteHooks,
    /// How long objects stay.
    pub leases: EventTtl,
    /// How many requests are under way.
    pub flow: Flow,
    /// What was counted.
    pub metrics: Arc<Metrics>,
    /// How many objects there are.
    pub counts: ObjectCounts,
    /// What is served besides resources.
    pub non_resource: NonResource,
    /// Whether the cluster was told that this server goes.
    leaving: ShuttingDown,
}

impl Server {
    /// Starts a server on a store. When this is done it is ready.
    ///
    /// # Errors
    ///
    /// When the options do not fit together, or the store cannot be written.
    pub async fn start(store: Arc<dyn Store>, options: Options) -> Result<Server, StartError> {
        let catalog = Arc::new(Catalog::built_in());
        let times = Arc::new(StoreTimes::new(&catalog));
        let store: Arc<dyn Store> = Arc::new(MeasuredStore::new(store, times.clone()));
        let metrics = Metrics::new(Version::of_build()).with_store(times);
        let clock = options.clock.clone();
        let allocation = allocation_options(&options)?;
        let allocator = ServiceAllocator::new(&catalog, store.clone(), clock.clone(), allocation);
        let allocator = allocator.map(Arc::new);
        let mut hooks = WriteHooks::default();
        if let Some(allocator) = &allocator {
            hooks.add(allocator.resource(), allocator.clone());
        }
        let inner = Inner::new(store.clone(), catalog, Arc::new(metrics), options, hooks);
        let inner = Arc::new(inner);
        let objects = OwnObjects::of(&inner);
        let bootstrap = bootstrap_options(&inner.options);
        let hostname = bootstrap.hostname.clone();
        let failed = |status: Status| StartError::Bootstrap(status.message);
        let bootstrap = Bootstrap::new(objects.clone(), store, clock, bootstrap).map_err(failed)?;
        let bootstrap = Arc::new(bootstrap);
        bootstrap.prepare().await.map_err(failed)?;
        let mut tasks = JoinSet::new();
        tasks.spawn({
            let bootstrap = bootstrap.clone();
            async move { bootstrap.run().await }
        });
        if let Some(allocator) = allocator {
            let repair = Repair::new(allocator, &objects, &hostname);
            tasks.spawn(async move { repair.run().await });
        }
        let services = Arc::new(OwnServices::of(objects));
        let webhook = WebhookOptions {
            clock: inner.options.clock.clone(),
            system_roots: Arc::new(SystemRoots::new(inner.options.system_roots.clone())),
            ..WebhookOptions::default()
        };
        let times = inner.metrics.conversions();
        let conversion =
            ConversionOptions { services, webhook, times, ..ConversionOptions::default() };
        let serve = Arc::new(Serving::new(&inner, conversion));
        let definitions = CustomResourceDefinitions::start(&inner, serve).await;
        let (definitions, follower) = definitions.map_err(failed)?;
        let _ = inner.custom.set(definitions);
        tasks.spawn(follower.run());
        tasks.spawn(end_watches(inner.clone()));
        Ok(Server { inner, bootstrap, tasks: Mutex::new(tasks) })
    }

    /// Answers a request of somebody who is at `peer`.
    pub async fn answer(&self, request: Request<RequestBody>, peer: &Peer) -> Response<Body> {
        chain::serve(&self.inner, request, peer).await
    }

    /// Tells everybody that this server goes: it is not ready from now on, and no endpoint of the
    /// cluster. Requests are answered still.
    pub async fn leave(&self) {
        self.inner.leaving.begin();
        self.bootstrap.stop().await;
    }

    /// Ends whatever goes on besides requests, so that nobody misses a store that is closed next.
    pub async fn stop(&self) {
        self.inner.reads.caches.end_watches();
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        tasks.shutdown().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.inner.reads.caches.end_watches();
    }
}

impl Handle for Server {
    async fn handle(&self, request: Request<RequestBody>, peer: Arc<Peer>) -> Response<Body> {
        self.answer(request, &peer).await
    }

    fn handshake_failed(&self) {
        self.inner.metrics.tls_handshake_errors.increment();
    }
}

impl Inner {
    fn new(
        store: Arc<dyn Store>,
        catalog: Arc<Catalog>,
        metrics: Arc<Metrics>,
        options: Options,
        hooks: WriteHooks,
    ) -> Inner {
        let clock = options.clock.clone();
        let flow = FlowOptions {
            reads_max: options.max_requests_inflight,
            writes_max: options.max_mutating_requests_inflight,
        };
        let address = format!("{}:{}", options.advertise_address, options.secure_port);
        let leaving = ShuttingDown::new();
        let non_resource = NonResource {
            discovery: Discovery::new(address),
            open_api: OpenApi::default(),
            health: health(&store, &leaving),
            version: Version::of_build(),
        };
        Inner {
            reads: Reads::new(store.clone(), clock.clone(), metrics.clone()),
            admission: Admission::new(vec![Box::new(NamespaceLifecycle::new(store.clone()))]),
            leases: EventTtl::new(store.clone(), clock.clone(), options.event_ttl),
            flow: Flow::new(flow),
            metrics,
            counts: ObjectCounts::default(),
            non_resource,
            leaving,
            store,
            clock,
            served: ArcSwap::new(catalog.clone()),
            built_in: catalog,
            custom: OnceLock::new(),
            options,
            hooks,
        }
    }

    /// Seconds since 1970.
    pub(crate) fn now_seconds(&self) -> i64 {
        i64::try_from(self.clock.now().as_secs()).unwrap_or(i64::MAX)
    }

    /// Who keeps track of the fields that a write changes.
    pub(crate) fn manager<'a>(&'a self, write: &Write<'a>, name: &'a str) -> Manager<'a> {
        Manager {
            catalog: self.catalog(),
            definition: write.definition,
            rules: write.rules,
            subresource: write.subresource,
            name,
            now_seconds: self.now_seconds(),
        }
    }

    /// What is served now.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.served.load_full()
    }

    /// A resource that is served by now: another server may have been told of it a moment ago.
    pub(crate) async fn find_late(&self, info: &RequestInfo) -> Option<Arc<Definition>> {
        // Built-in groups without a dot have no custom resources.
        let custom = self.custom.get().filter(|_| info.group.contains('.'))?;
        custom.catch_up(self).await.ok()?;
        self.catalog().find(&info.group, &info.version, &info.resource).cloned()
    }

    /// Serves from another catalog from now on.
    pub(crate) fn serve(&self, catalog: Catalog) {
        self.served.store(Arc::new(catalog));
    }

    /// A resource that is always served.
    pub(crate) fn built_in(&self, group: &str, version: &str, plural: &str) -> &Arc<Definition> {
        self.built_in.find(group, version, plural).expect("built-in kinds are always served")
    }

    /// Bytes that nobody can guess.
    pub(crate) fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system has randomness");
        bytes
    }

    /// What metrics tell of this moment.
    pub(crate) async fn measure(&self) -> Snapshot {
        let objects = self.counts.all(&self.catalog(), &self.reads).await;
        Snapshot { objects, ..Snapshot::default() }
    }
}

/// How long a store may take to say that it is well.
const STORE_PATIENCE: Duration = Duration::from_secs(2);

/// Watches last for as long as their clients like, so the end does not wait for them.
async fn end_watches(server: Arc<Inner>) {
    server.options.shutting_down.begun().await;
    server.leaving.begin();
    server.reads.caches.end_watches();
}

fn health(store: &Arc<dyn Store>, leaving: &ShuttingDown) -> Health {
    let asks = |store: Arc<dyn Store>| {
        move || {
            let store = store.clone();
            async move {
                match tokio::time::timeout(STORE_PATIENCE, store.health()).await {
                    Ok(found) => found.map_err(|error| error.to_string()),
                    Err(_) => Err("the store does not answer".to_owned()),
                }
            }
        }
    };
    let leaving = leaving.clone();
    Health::new(vec![
        Check::ping(),
        Check::new("etcd", asks(store.clone())),
        Check::readiness("etcd-readiness", asks(store.clone())),
        Check::readiness("shutdown", move || {
            let finding = match leaving.is_begun() {
                true => Err("process is shutting down".to_owned()),
                false => Ok(()),
            };
            async move { finding }
        }),
    ])
}

fn allocation_options(options: &Options) -> Result<AllocationOptions, StartError> {
    let family = |network: &ServiceNetwork| match network.first() {
        IpAddr::V4(_) => IpFamily::V4,
        IpAddr::V6(_) => IpFamily::V6,
    };
    let families: Vec<IpFamily> = options.service_cluster_ip_range.iter().map(family).collect();
    let families = match *families.as_slice() {
        [default] => ClusterFamilies { default, is_dual_stack: false },
        [default, second] if default != second => ClusterFamilies { default, is_dual_stack: true },
        _ => {
            let message = "Services need one network, or two of different families";
            return Err(StartError::Options(message.to_owned()));
        }
    };
    let range = &options.service_node_port_range;
    let node_ports = NodePortRange { first: *range.start(), last: *range.end() };
    Ok(AllocationOptions { families, node_ports })
}

fn bootstrap_options(options: &Options) -> BootstrapOptions {
    let texts = |list: &[String]| list.iter().map(Str::from).collect::<Vec<Str>>();
    let request_header = options.request_header.as_ref().map(|trust| RequestHeaderTrust {
        client_ca: trust.client_ca.clone(),
        allowed_names: texts(&trust.allowed_names),
        username_headers: texts(&trust.username_headers),
        uid_headers: texts(&trust.uid_headers),
        group_headers: texts(&trust.group_headers),
        extra_headers_prefixes: texts(&trust.extra_headers_prefix),
    });
    let client_ca = options.client_ca.clone().unwrap_or_default();
    let networks = options.service_cluster_ip_range.iter();
    BootstrapOptions {
        service_cidrs: networks.map(|network| Str::from(network.to_string())).collect(),
        advertise_address: options.advertise_address,
        secure_port: options.secure_port,
        kubernetes_service_node_port: None,
        hostname: Str::from(options.hostname.as_str()),
        authentication_trust: AuthenticationTrust { client_ca, request_header },
    }
}
