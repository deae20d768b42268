//! An API server from its start to its end: what `up` and `apiserver` share.
//!
//! The order at the end: a signal comes; the server says that it is not ready and leaves the
//! cluster; after the delay the listener stops, watches end and requests finish, within a bound;
//! then what goes on besides requests ends and the store is closed. So nothing that was
//! acknowledged is lost. A second signal does not wait.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use orlop_apiserver::serve::{Limits, Serve, ShuttingDown, Tls};
use orlop_apiserver::{Options, Server};
use orlop_storage::{Embedded, Etcd, EtcdOptions, Memory, Store};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long leaving the cluster may take: the store may be out of reach.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the objects are.
pub(crate) enum OpenStore {
    /// In files.
    Embedded(Arc<Embedded>),
    /// In memory or in etcd: nothing to look after.
    Other(Arc<dyn Store>),
}

/// A server that listens.
pub(crate) struct Serving {
    serve: Serve,
    server: Arc<Server>,
    store: OpenStore,
    signals: Signals,
    shutting_down: ShuttingDown,
    shutdown_delay: Duration,
}

impl OpenStore {
    /// A store that is gone at the end.
    pub(crate) fn memory() -> Self {
        Self::Other(Arc::new(Memory::new()))
    }

    /// A store in an etcd cluster.
    pub(crate) async fn etcd(options: EtcdOptions) -> anyhow::Result<Self> {
        let servers = options.endpoints.join(",");
        let etcd = Etcd::connect(options).await;
        Ok(Self::Other(Arc::new(etcd.with_context(|| format!("cannot use etcd at {servers}"))?)))
    }

    /// The store itself.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Embedded(store) => store.clone(),
            Self::Other(store) => store.clone(),
        }
    }

    /// Waits until the store cannot go on.
    async fn failed(&self) -> String {
        match self {
            Self::Embedded(store) => store.failed().await,
            Self::Other(_) => std::future::pending().await,
        }
    }

    fn close(&self) {
        if let Self::Embedded(store) = self {
            store.close();
        }
    }
}

impl Serving {
    /// Takes the port. Clients that connect wait until [`Serving::run`].
    pub(crate) async fn bind(
        address: SocketAddr,
        tls: Tls,
        limits: Limits,
    ) -> anyhow::Result<Serve> {
        raise_open_files();
        Ok(Serve::bind(address, tls, limits).await?)
    }

    /// Starts the server behind the port. From now on signals wait for [`Serving::run`].
    pub(crate) async fn start(
        serve: Serve,
        store: OpenStore,
        options: Options,
        shutdown_delay: Duration,
    ) -> anyhow::Result<Self> {
        let shutting_down = options.shutting_down.clone();
        let signals = Signals::new()?;
        let server = Arc::new(Server::start(store.store(), options).await?);
        Ok(Self { serve, server, store, shutting_down, shutdown_delay, signals })
    }

    /// Serves until a signal comes or the store fails.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let Self { serve, server, store, shutting_down, shutdown_delay, mut signals } = self;
        let serving = serve.run(server.clone(), &shutting_down);
        let end = async {
            signals.next().await;
            tracing::info!("shutting down");
            tokio::select! {
                () = leave(&server, shutdown_delay) => shutting_down.begin(),
                () = signals.next() => return,
            }
            signals.next().await;
        };
        let ended = tokio::select! {
            left = serving => {
                if left > 0 {
                    tracing::warn!(connections = left, "cut off connections that did not end");
                }
                Ok(())
            }
            () = end => Err(anyhow::anyhow!("stopped before everything had ended")),
            reason = store.failed() => Err(anyhow::anyhow!("the store has failed: {reason}")),
        };
        server.stop().await;
        store.close();
        ended
    }
}

/// Leaves the cluster, and lets those who look at readiness see it.
async fn leave(server: &Server, delay: Duration) {
    let left = tokio::time::timeout(LEAVE_TIMEOUT, server.leave());
    let (left, ()) = tokio::join!(left, tokio::time::sleep(delay));
    if left.is_err() {
        tracing::warn!("the cluster could not be told in time that this server goes");
    }
}

/// The signals that end the program.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Each connection is an open file, and the usual limit is for programs that do not serve.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // It may be refused; then fewer clients find room.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}

/// Refuses networks of Services that do not go together, or not with the server's address.
pub(crate) fn check_families(options: &Options) -> anyhow::Result<()> {
    let ranges = &options.service_cluster_ip_range;
    let is_v4 = |index: usize| ranges.get(index).map(|range| range.first().is_ipv4());
    match (is_v4(0), is_v4(1)) {
        _ if ranges.len() > 2 => {
            bail!("--service-cluster-ip-range must not contain more than two entries")
        }
        (None, _) => bail!("--service-cluster-ip-range needs a value"),
        (first, second) if first == second => bail!(
            "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different \
             IP family"
        ),
        (Some(first), _) if first != options.advertise_address.is_ipv4() => bail!(
            "service IP family \"{}\" must match public address family \"{}\"",
            ranges[0],
            options.advertise_address
        ),
        _ => Ok(()),
    }
}

/// The name of this machine.
pub(crate) fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
