//! Real etcd servers for tests: one member, or a cluster whose parts can be broken and mended.
//!
//! The binary is `etcd` on the path, or what the variable `ORLOP_ETCD` names. Each server has a
//! folder and ports of its own, so tests that run at the same time do not meet. A server goes
//! away, with its folder, when its value is dropped.
//!
//! In a cluster all traffic passes through proxies on the loopback, which is how a member is cut
//! off without rights or network namespaces: its own proxies close, and so does every connection
//! that its process has dialled to the proxies of the others.

mod process;
mod proxy;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use self::process::{Process, free_port, wait_for_health};
use self::proxy::{Dialler, Proxy};

/// Names the binary to test with.
const BINARY_VARIABLE: &str = "ORLOP_ETCD";
/// Ports are picked before etcd binds them, so somebody else may be faster.
const START_ATTEMPTS: usize = 10;

/// The binary that servers are started from.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "which etcd to test with is the caller's choice")]
pub fn etcd_binary() -> PathBuf {
    std::env::var_os(BINARY_VARIABLE).map_or_else(|| "etcd".into(), PathBuf::from)
}

/// Whether there is an etcd to test with.
#[must_use]
pub fn etcd_available() -> bool {
    process::version(&etcd_binary()).is_ok()
}

/// The version of the etcd to test with, as `3.6.6`.
///
/// # Errors
/// There is none.
pub fn etcd_version() -> Result<String> {
    process::version(&etcd_binary())
}

/// How a single server is started.
#[derive(Clone, Debug, Default)]
pub struct EtcdServerOptions {
    /// Certificate, key and CA as files: clients must use TLS and show a certificate of the CA.
    pub tls: Option<EtcdServerTls>,
    /// More arguments for etcd.
    pub arguments: Vec<String>,
    /// Where to put the data folder; the system's place for temporary files if not said.
    pub folder: Option<PathBuf>,
}

/// The files of a server with TLS.
#[derive(Clone, Debug)]
pub struct EtcdServerTls {
    /// The server's certificate, for 127.0.0.1.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// What clients' certificates must descend from.
    pub ca: PathBuf,
}

/// A cluster of one.
#[derive(Debug)]
pub struct EtcdServer {
    process: Process,
    endpoint: String,
}

impl EtcdServer {
    /// Starts a server and waits until it is healthy.
    ///
    /// # Errors
    /// There is no binary, or it does not get healthy.
    pub fn start() -> Result<Self> {
        Self::start_with(&EtcdServerOptions::default())
    }

    /// Starts a server with options and waits until it is healthy.
    ///
    /// # Errors
    /// As [`EtcdServer::start`].
    pub fn start_with(options: &EtcdServerOptions) -> Result<Self> {
        retry_clashes(|| {
            let scheme = if options.tls.is_some() { "https" } else { "http" };
            let endpoint = format!("{scheme}://127.0.0.1:{}", free_port()?);
            let peer = format!("http://127.0.0.1:{}", free_port()?);
            let mut arguments = member_arguments("single", &endpoint, &peer);
            arguments.extend(pairs([
                ("--advertise-client-urls", endpoint.clone()),
                ("--initial-advertise-peer-urls", peer.clone()),
                ("--initial-cluster", format!("single={peer}")),
                ("--heartbeat-interval", "20".into()),
                ("--election-timeout", "200".into()),
            ]));
            if let Some(tls) = &options.tls {
                arguments.extend(pairs([
                    ("--cert-file", tls.certificate.display().to_string()),
                    ("--key-file", tls.key.display().to_string()),
                    ("--trusted-ca-file", tls.ca.display().to_string()),
                ]));
                arguments.push("--client-cert-auth".into());
            }
            arguments.extend(options.arguments.iter().cloned());
            let mut process = Process::start(&etcd_binary(), arguments, options.folder.as_deref())?;
            wait_for_health(&mut process)?;
            Ok(Self { process, endpoint })
        })
    }

    /// The client URL.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Kills the server without a chance to clean up.
    ///
    /// # Errors
    /// The process cannot be ended.
    pub fn kill(&mut self) -> Result<()> {
        self.process.kill()
    }

    /// Starts the server again after [`EtcdServer::kill`], with its data.
    ///
    /// # Errors
    /// It does not get healthy.
    pub fn restart(&mut self) -> Result<()> {
        self.process.restart()?;
        wait_for_health(&mut self.process)
    }

    /// Stops the server's time.
    ///
    /// # Errors
    /// The process does not exist.
    pub fn pause(&self) -> Result<()> {
        self.process.pause()
    }

    /// Lets the server's time go on.
    ///
    /// # Errors
    /// The process does not exist.
    pub fn resume(&self) -> Result<()> {
        self.process.resume()
    }
}

/// A cluster of several members that can be broken and mended.
#[derive(Debug)]
pub struct EtcdCluster {
    members: Vec<ClusterMember>,
}

#[derive(Debug)]
struct ClusterMember {
    process: Process,
    clients: Proxy,
    peers: Proxy,
}

impl EtcdCluster {
    /// Starts a cluster of `size` members and waits until all are healthy.
    ///
    /// # Errors
    /// There is no binary, or a member does not get healthy.
    pub fn start(size: usize) -> Result<Self> {
        retry_clashes(|| Self::try_start(size))
    }

    fn try_start(size: usize) -> Result<Self> {
        let mut fronts = Vec::new();
        for _ in 0..size {
            let clients = Proxy::start(free_port()?)?;
            let peers = Proxy::start(free_port()?)?;
            // Until the members run, nobody can be told apart.
            peers.set_diallers(Vec::new());
            fronts.push((clients, peers));
        }
        let name = |index: usize| format!("member{index}");
        let named = |(index, (_, peers)): (usize, &(Proxy, Proxy))| {
            format!("{}=http://127.0.0.1:{}", name(index), peers.port())
        };
        let everybody: Vec<String> = fronts.iter().enumerate().map(named).collect();
        let mut members = Vec::new();
        for (index, (clients, peers)) in fronts.into_iter().enumerate() {
            let listen = |proxy: &Proxy| format!("http://127.0.0.1:{}", proxy.target());
            let advertise = |proxy: &Proxy| format!("http://127.0.0.1:{}", proxy.port());
            let mut arguments = member_arguments(&name(index), &listen(&clients), &listen(&peers));
            arguments.extend(pairs([
                ("--advertise-client-urls", advertise(&clients)),
                ("--initial-advertise-peer-urls", advertise(&peers)),
                ("--initial-cluster", everybody.join(",")),
                ("--heartbeat-interval", "50".into()),
                ("--election-timeout", "500".into()),
            ]));
            let process = Process::start(&etcd_binary(), arguments, None)?;
            members.push(ClusterMember { process, clients, peers });
        }
        let mut cluster = Self { members };
        cluster.tell_peers();
        for member in &mut cluster.members {
            wait_for_health(&mut member.process)?;
        }
        Ok(cluster)
    }

    /// The client URLs, in the order of the members.
    #[must_use]
    pub fn endpoints(&self) -> Vec<String> {
        let url = |member: &ClusterMember| format!("http://127.0.0.1:{}", member.clients.port());
        self.members.iter().map(url).collect()
    }

    /// The member that leads, waited for.
    ///
    /// # Errors
    /// Nobody leads for half a minute.
    pub fn leader(&self) -> Result<usize> {
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline {
            let leads = |member: &ClusterMember| member.process.leads();
            if let Some(leader) = self.members.iter().position(leads) {
                return Ok(leader);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("no member leads")
    }

    /// Kills a member without a chance to clean up.
    ///
    /// # Errors
    /// The process cannot be ended.
    pub fn kill(&mut self, member: usize) -> Result<()> {
        self.members[member].process.kill()
    }

    /// Starts a member again after [`EtcdCluster::kill`], with its data. Does not wait for it.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn restart(&mut self, member: usize) -> Result<()> {
        self.members[member].process.restart()?;
        self.tell_peers();
        Ok(())
    }

    /// Waits until a member is healthy, which takes a leader too.
    ///
    /// # Errors
    /// It does not get healthy.
    pub fn wait_for_health(&mut self, member: usize) -> Result<()> {
        wait_for_health(&mut self.members[member].process)
    }

    /// Stops a member's time.
    ///
    /// # Errors
    /// The process does not exist.
    pub fn pause(&self, member: usize) -> Result<()> {
        self.members[member].process.pause()
    }

    /// Lets a member's time go on.
    ///
    /// # Errors
    /// The process does not exist.
    pub fn resume(&self, member: usize) -> Result<()> {
        self.members[member].process.resume()
    }

    /// Cuts a member off from the others, in both directions; its clients still reach it.
    pub fn cut_peers(&self, member: usize) {
        self.members[member].peers.cut();
        for other in self.others(member) {
            other.peers.cut_dialler(member);
        }
    }

    /// Undoes [`EtcdCluster::cut_peers`].
    pub fn mend_peers(&self, member: usize) {
        self.members[member].peers.mend();
        for other in self.others(member) {
            other.peers.mend_dialler(member);
        }
    }

    /// Cuts a member off from its clients; the others still reach it.
    pub fn cut_clients(&self, member: usize) {
        self.members[member].clients.cut();
    }

    /// Undoes [`EtcdCluster::cut_clients`].
    pub fn mend_clients(&self, member: usize) {
        self.members[member].clients.mend();
    }

    fn others(&self, member: usize) -> impl Iterator<Item = &ClusterMember> {
        let different = move |(index, _): &(usize, _)| *index != member;
        self.members.iter().enumerate().filter(different).map(|(_, other)| other)
    }

    /// Tells the peer proxies which processes may dial them.
    fn tell_peers(&self) {
        let dialler = |(member, other): (usize, &ClusterMember)| {
            other.process.id().map(|process| Dialler { member, process })
        };
        let diallers: Vec<Dialler> = self.members.iter().enumerate().filter_map(dialler).collect();
        for member in &self.members {
            member.peers.set_diallers(diallers.clone());
        }
    }
}

fn member_arguments(name: &str, clients: &str, peers: &str) -> Vec<String> {
    pairs([
        ("--name", name.to_string()),
        ("--listen-client-urls", clients.to_string()),
        ("--listen-peer-urls", peers.to_string()),
    ])
}

fn pairs<const N: usize>(pairs: [(&str, String); N]) -> Vec<String> {
    pairs.into_iter().flat_map(|(flag, value)| [flag.to_string(), value]).collect()
}

/// Starts again if somebody else took a port between picking and binding it.
fn retry_clashes<T>(mut start: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..START_ATTEMPTS {
        match start() {
            Err(error) if format!("{error:#}").contains("address already in use") => {}
            result => return result,
        }
    }
    start().context("every attempt found its ports taken")
}
