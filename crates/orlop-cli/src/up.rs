//! `orlop up`: runs the control plane.
//!
//! Everything that is wrong is found before anything is served: folder, store, port, PKI,
//! kubeconfig.

mod renewal;

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use orlop_apiserver::pki::{self, Pki};
use orlop_apiserver::serve::{Limits, Tls};
use orlop_apiserver::{Options, RequestHeader};
use orlop_storage::{
    Embedded, EtcdOptions, KeyRange, RangeRequest, Select, Store, SystemClock, embedded,
};

use crate::data_dir::DataDir;
use crate::host_address;
use crate::installation::Installation;
use crate::kubeconfig;
use crate::logging::Verbosity;
use crate::progress::Bar;
use crate::serving::{OpenStore, Serving, hostname};
use crate::system_roots;
use renewal::Renewal;

/// Runs the control plane until it is stopped
#[derive(clap::Args)]
pub(crate) struct Up {
    #[command(flatten)]
    data_dir: DataDir,
    /// Keep the objects in memory and lose them at the end
    #[arg(long)]
    in_memory: bool,
    /// Keep the objects in this etcd cluster
    #[arg(long, value_name = "URLS", value_delimiter = ',', conflicts_with = "in_memory")]
    etcd_servers: Vec<String>,
    /// The address to serve at
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST.into())]
    bind_address: IpAddr,
    /// The port to serve at; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 6443)]
    secure_port: u16,
    /// Merge the context `orlop` into this kubeconfig and make it the current one
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
}

impl Up {
    /// Runs until a signal comes or the store fails.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.serve())
    }

    async fn serve(&self) -> anyhow::Result<()> {
        let begin = Instant::now();
        say(&format!("orlop {}", env!("CARGO_PKG_VERSION")));
        let folder = self.data_dir.path()?;
        let installation = Installation::open(folder.clone())?;
        let (store, description) = self.open_store().await?;
        say(&format!("store  {description}"));

        let advertised = host_address::advertised(self.bind_address);
        let mut options = Options::new(advertised, self.secure_port);
        options.hostname = hostname();
        let service = options.service_cluster_ip_range[0].first();
        let names = pki::serving_names(self.reached_at(advertised), service);
        let pki = installation.pki(&names, &SystemClock)?;
        let tls = Tls::new(
            &pki.apiserver.certificate,
            &pki.apiserver.key,
            Some(&pki.ca.certificate),
            options.clock.clone(),
        )?;
        let address = SocketAddr::new(self.bind_address, self.secure_port);
        let serve = Serving::bind(address, tls.clone(), Limits::default()).await?;
        let address = serve.address();
        options.secure_port = address.port();
        options.client_ca = Some(pki.ca.certificate.clone());
        options.request_header = Some(request_header(&pki));
        options.system_roots = system_roots::read();
        let url = kubeconfig::url(address);
        let kubeconfig = self.kubeconfig.clone();
        let renewal = Renewal { installation, names, pki, url: url.clone(), kubeconfig };
        let kubeconfig = renewal.write_kubeconfig()?;
        let serving = Serving::start(serve, store, options, Duration::ZERO).await?;

        let took = begin.elapsed();
        say(&format!("ready  {url} after {took:.0?}; stop it with Ctrl-C"));
        say(&format!("\nexport KUBECONFIG={}", quoted(&kubeconfig)));
        say("kubectl get namespaces");
        tokio::select! {
            ended = serving.run() => ended,
            never = renewal.run(&tls, &SystemClock) => match never {},
        }
    }

    /// The address that the certificate must name: who listens on loopback is reached there alone.
    fn reached_at(&self, advertised: IpAddr) -> IpAddr {
        if self.bind_address.is_unspecified() { advertised } else { self.bind_address }
    }

    /// The store, and what to say of it.
    async fn open_store(&self) -> anyhow::Result<(OpenStore, String)> {
        if self.in_memory {
            return Ok((OpenStore::memory(), "in memory".into()));
        }
        if !self.etcd_servers.is_empty() {
            let store = OpenStore::etcd(EtcdOptions::new(self.etcd_servers.clone())).await?;
            return Ok((store, format!("etcd at {}", self.etcd_servers.join(","))));
        }
        let folder = self.data_dir.store()?;
        let store = Arc::new(open(&folder)?);
        let count = RangeRequest::new(KeyRange::all()).select(Select::Count);
        let found = store.range(count).await?;
        let folder = folder.display();
        let text = format!("{folder} ({} keys, revision {})", found.count, found.revision);
        Ok((OpenStore::Embedded(store), text))
    }
}

fn open(folder: &Path) -> anyhow::Result<Embedded> {
    let bar = Bar::new("reading the store");
    let mut options = embedded::Options::new(folder);
    options.progress = Box::new(move |done, all| bar.set(done, all));
    Ok(Embedded::open(options)?)
}

/// Those who may speak for users, as kubeadm has them.
fn request_header(pki: &Pki) -> RequestHeader {
    let one = |name: &str| vec![name.to_string()];
    RequestHeader {
        client_ca: pki.front_proxy_ca.certificate.clone(),
        allowed_names: one("front-proxy-client"),
        username_headers: one("X-Remote-User"),
        uid_headers: Vec::new(),
        group_headers: one("X-Remote-Group"),
        extra_headers_prefix: one("X-Remote-Extra-"),
    }
}

/// Tells the person at the terminal. Nobody there is no reason to stop.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted(Path::new("/a/b-c.d")), "/a/b-c.d");
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
