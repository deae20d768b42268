//! `orlop apiserver`, also under the name `kube-apiserver`: the API server alone.
//!
//! Flags have upstream's names, defaults and meanings (`cmd/kube-apiserver/app/options`). A flag
//! of upstream that has no effect here is not accepted, unless its value means what the server
//! does anyway ([`upstream_flags`]): whoever sets one counts on it.

mod upstream_flags;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, ensure};
use orlop_apiserver::pki::{self, Files, Identity, Pki};
use orlop_apiserver::serve::{Limits, Tls};
use orlop_apiserver::{Options, RequestHeader, ServiceNetwork};
use orlop_machinery::duration;
use orlop_storage::EtcdOptions;

use crate::certificate_files::{self, CertificateFiles, read};
use crate::host_address;
use crate::logging::Verbosity;
use crate::private_file::{self, NewFile, PUBLIC, SECRET};
use crate::serving::{OpenStore, Serving, check_families, hostname};
use crate::system_roots;
use upstream_flags::UpstreamFlags;

/// The only place of objects in etcd.
const ETCD_PREFIX: &str = "/registry";
/// The names of the files in --cert-dir.
const CERTIFICATE_FILE: &str = "apiserver.crt";
const KEY_FILE: &str = "apiserver.key";
/// The highest chance of a GOAWAY, as upstream bounds it.
const GOAWAY_CHANCE_MAX: f64 = 0.02;

/// Runs the API server alone, with the flags of kube-apiserver
#[derive(clap::Args)]
pub(crate) struct Apiserver {
    #[command(flatten)]
    serving: ServingFlags,
    #[command(flatten)]
    etcd: EtcdFlags,
    #[command(flatten)]
    request_header: RequestHeaderFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
    // Last, for its heading in the help.
    #[command(flatten)]
    upstream: UpstreamFlags,
}

#[derive(clap::Args)]
struct ServingFlags {
    /// The address to serve at
    #[arg(long, default_value_t = Ipv4Addr::UNSPECIFIED.into())]
    bind_address: IpAddr,
    /// The port to serve at
    #[arg(long, default_value_t = 6443)]
    secure_port: u16,
    /// The address that other members of the cluster are told [default: --bind-address, or the
    /// address of this machine if that is loopback or everywhere]
    #[arg(long)]
    advertise_address: Option<IpAddr>,
    /// The folder of apiserver.crt and apiserver.key, which are made unless they are there; not
    /// looked at with --tls-cert-file [default: none, and they are made for this run]
    #[arg(long)]
    cert_dir: Option<PathBuf>,
    /// The certificate to serve with, and its chain, as PEM [default: that in --cert-dir]
    #[arg(long, requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,
    /// The key of --tls-cert-file, as PEM
    #[arg(long, requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,
    /// Clients with a certificate of one of these authorities are known by its names
    #[arg(long)]
    client_ca_file: Option<PathBuf>,
    /// How many requests one HTTP/2 connection may have under way
    #[arg(long, default_value_t = Limits::default().http2_streams_max)]
    http2_max_streams_per_connection: u32,
    /// The chance that a request over HTTP/2 makes its client connect anew, at most 0.02
    #[arg(long, default_value_t = 0.0)]
    goaway_chance: f64,
    /// How long to go on serving after a signal, while saying that the server is not ready
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    shutdown_delay_duration: Duration,
    /// How many requests that only read may be under way; 0 is no bound
    #[arg(long, default_value_t = 400)]
    max_requests_inflight: usize,
    /// How many requests that write may be under way; 0 is no bound
    #[arg(long, default_value_t = 200)]
    max_mutating_requests_inflight: usize,
    /// How long a request may take
    #[arg(long, default_value = "1m0s", value_parser = parse_duration)]
    request_timeout: Duration,
    /// How many seconds a watch lasts at least, if its client does not say
    #[arg(long, default_value_t = 1800)]
    min_request_timeout: u32,
}

#[derive(clap::Args)]
struct EtcdFlags {
    /// The members of the etcd cluster (scheme://host:port, comma separated)
    #[arg(long, value_delimiter = ',', required = true)]
    etcd_servers: Vec<String>,
    /// The authority of the members' certificates
    #[arg(long)]
    etcd_cafile: Option<PathBuf>,
    /// The certificate to show to the members
    #[arg(long, requires = "etcd_keyfile")]
    etcd_certfile: Option<PathBuf>,
    /// The key of --etcd-certfile
    #[arg(long, requires = "etcd_certfile")]
    etcd_keyfile: Option<PathBuf>,
    /// What all keys in etcd begin with; only /registry is supported
    #[arg(long, default_value = ETCD_PREFIX)]
    etcd_prefix: String,
}

#[derive(clap::Args)]
struct RequestHeaderFlags {
    /// The authority of proxies that speak for users
    #[arg(long)]
    requestheader_client_ca_file: Option<PathBuf>,
    /// The common names of those who may; everybody with a certificate if empty
    #[arg(long, value_delimiter = ',')]
    requestheader_allowed_names: Vec<String>,
    /// The headers that hold the name of the user
    #[arg(long, value_delimiter = ',')]
    requestheader_username_headers: Vec<String>,
    /// The headers that hold the id of the user
    #[arg(long, value_delimiter = ',')]
    requestheader_uid_headers: Vec<String>,
    /// The headers that hold the groups of the user
    #[arg(long, value_delimiter = ',')]
    requestheader_group_headers: Vec<String>,
    /// How headers begin that hold anything else about the user
    #[arg(long, value_delimiter = ',')]
    requestheader_extra_headers_prefix: Vec<String>,
}

#[derive(clap::Args)]
struct ClusterFlags {
    /// Where the addresses of Services come from: one network, or two of different families
    #[arg(long, value_delimiter = ',', default_value = "10.0.0.0/24")]
    service_cluster_ip_range: Vec<ServiceNetwork>,
    /// Where the node ports of Services come from
    #[arg(long, default_value = "30000-32767", value_parser = parse_port_range)]
    service_node_port_range: RangeInclusive<u16>,
    /// How long Events are kept
    #[arg(long, default_value = "1h0m0s", value_parser = parse_duration)]
    event_ttl: Duration,
}

impl Apiserver {
    /// Runs until a signal comes.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let options = self.options()?;
        let etcd = self.etcd.options()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.serve(options, etcd))
    }

    async fn serve(&self, mut options: Options, etcd: EtcdOptions) -> anyhow::Result<()> {
        let flags = &self.serving;
        let serving = flags.certificate(&options)?;
        let certificates = CertificateFiles::read(serving, flags.client_ca_file.clone())?;
        let Identity { certificate, key } = certificates.serving();
        let tls = Tls::new(certificate, key, certificates.client_ca(), options.clock.clone())?;
        let limits = Limits {
            http2_streams_max: flags.http2_max_streams_per_connection,
            goaway_chance: flags.goaway_chance,
            ..Limits::default()
        };
        let address = SocketAddr::new(flags.bind_address, flags.secure_port);
        let serve = Serving::bind(address, tls.clone(), limits).await?;
        let store = OpenStore::etcd(etcd).await?;
        let address = serve.address();
        options.secure_port = address.port();
        let delay = flags.shutdown_delay_duration;
        let serving = Serving::start(serve, store, options, delay).await?;
        tracing::info!(%address, "serving securely");
        tokio::select! {
            ended = serving.run() => ended,
            never = certificates.follow(&tls) => match never {},
        }
    }

    fn options(&self) -> anyhow::Result<Options> {
        let flags = &self.serving;
        ensure!(
            (0.0..=GOAWAY_CHANCE_MAX).contains(&flags.goaway_chance),
            "--goaway-chance can not be less than 0 or greater than {GOAWAY_CHANCE_MAX}"
        );
        let named = flags.advertise_address.filter(|address| !address.is_unspecified());
        let advertised = named.unwrap_or_else(|| host_address::advertised(flags.bind_address));
        let options = Options {
            hostname: hostname(),
            service_cluster_ip_range: self.cluster.service_cluster_ip_range.clone(),
            service_node_port_range: self.cluster.service_node_port_range.clone(),
            event_ttl: self.cluster.event_ttl,
            max_requests_inflight: flags.max_requests_inflight,
            max_mutating_requests_inflight: flags.max_mutating_requests_inflight,
            request_timeout: flags.request_timeout,
            min_request_timeout: Duration::from_secs(flags.min_request_timeout.into()),
            client_ca: flags.client_ca_file.as_deref().map(read).transpose()?,
            request_header: self.request_header.options()?,
            system_roots: system_roots::read(),
            ..Options::new(advertised, flags.secure_port)
        };
        check_families(&options)?;
        for file in self.upstream.files() {
            read(file)?;
        }
        for what in self.upstream.without_effect() {
            tracing::warn!("without effect: {what}");
        }
        Ok(options)
    }
}

impl ServingFlags {
    /// The certificate that is named, or that in the folder, or one that no client knows. After
    /// `MaybeDefaultWithSelfSignedCerts` in
    /// `staging/src/k8s.io/apiserver/pkg/server/options/serving.go`.
    fn certificate(&self, options: &Options) -> anyhow::Result<certificate_files::Serving> {
        use certificate_files::Serving::{Files, Made};
        if let (Some(certificate), Some(key)) = (&self.tls_cert_file, &self.tls_private_key_file) {
            return Ok(Files { certificate: certificate.clone(), key: key.clone() });
        }
        let Some(folder) = &self.cert_dir else {
            tracing::warn!("no --tls-cert-file: serving with a certificate that no client knows");
            return Ok(Made(make_certificate(options)?));
        };
        let [certificate, key] = [CERTIFICATE_FILE, KEY_FILE].map(|name| folder.join(name));
        match (certificate.exists(), key.exists()) {
            (true, true) => {}
            (false, false) => {
                let made = make_certificate(options)?;
                private_file::make_folder(folder)?;
                private_file::write(
                    folder,
                    &[
                        NewFile { name: CERTIFICATE_FILE, text: &made.certificate, mode: PUBLIC },
                        NewFile { name: KEY_FILE, text: &made.key, mode: SECRET },
                    ],
                )?;
                tracing::info!(folder = %folder.display(), "made a certificate to serve with");
            }
            (has_certificate, _) => {
                let (there, missing) =
                    if has_certificate { (&certificate, &key) } else { (&key, &certificate) };
                bail!("{} is missing beside {}", missing.display(), there.display())
            }
        }
        Ok(Files { certificate, key })
    }
}

impl EtcdFlags {
    fn options(&self) -> anyhow::Result<EtcdOptions> {
        if self.etcd_prefix.trim_end_matches('/') != ETCD_PREFIX {
            bail!("--etcd-prefix {} is not supported: only {ETCD_PREFIX} is", self.etcd_prefix);
        }
        let mut options = EtcdOptions::new(self.etcd_servers.clone());
        if let Some(ca) = &self.etcd_cafile {
            options = options.ca(read(ca)?);
        }
        if let (Some(certificate), Some(key)) = (&self.etcd_certfile, &self.etcd_keyfile) {
            options = options.identity(read(certificate)?, read(key)?);
        }
        Ok(options)
    }
}

impl RequestHeaderFlags {
    fn options(&self) -> anyhow::Result<Option<RequestHeader>> {
        let Some(file) = &self.requestheader_client_ca_file else { return Ok(None) };
        Ok(Some(RequestHeader {
            client_ca: read(file)?,
            allowed_names: self.requestheader_allowed_names.clone(),
            username_headers: self.requestheader_username_headers.clone(),
            uid_headers: self.requestheader_uid_headers.clone(),
            group_headers: self.requestheader_group_headers.clone(),
            extra_headers_prefix: self.requestheader_extra_headers_prefix.clone(),
        }))
    }
}

/// A certificate with the authority that has signed it and is forgotten at once: whoever has the
/// file can trust it.
fn make_certificate(options: &Options) -> anyhow::Result<Identity> {
    let service = options.service_cluster_ip_range[0].first();
    let names = pki::serving_names(options.advertise_address, service);
    let made = Pki::complete(&Files::new(), &names, &*options.clock)?;
    let certificate = format!("{}{}", made.apiserver.certificate, made.ca.certificate);
    Ok(Identity { certificate, key: made.apiserver.key })
}

/// A duration as Go's flags have it: `1h30m`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let parsed: duration::Duration = text.parse().map_err(|error| format!("{error}"))?;
    let nanos = u64::try_from(parsed.as_nanos()).map_err(|_| "must not be negative")?;
    Ok(Duration::from_nanos(nanos))
}

/// `30000-32767` or `30000+2767`, both ends included; after
/// `staging/src/k8s.io/apimachinery/pkg/util/net/port_range.go`.
fn parse_port_range(text: &str) -> Result<RangeInclusive<u16>, String> {
    let invalid = || format!("{text:?} is not a range of ports such as 30000-32767");
    let text = text.trim();
    let port = |text: &str| text.trim().parse::<u16>().map_err(|_| invalid());
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (port(first)?, port(last)?);
        return if first <= last { Ok(first..=last) } else { Err(invalid()) };
    }
    if let Some((first, more)) = text.split_once('+') {
        let (first, more) = (port(first)?, port(more)?);
        return Ok(first..=first.saturating_add(more));
    }
    let only = port(text)?;
    Ok(only..=only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ports_are_read_as_upstream_reads_them() {
        let check = |text: &str, expect: Option<RangeInclusive<u16>>| {
            assert_eq!(parse_port_range(text).ok(), expect, "{text}");
        };
        check("30000-32767", Some(30000..=32767));
        check(" 100 - 200 ", Some(100..=200));
        check("100+50", Some(100..=150));
        check("65000+5000", Some(65000..=65535));
        check("80", Some(80..=80));
        check("200-100", None);
        check("a-b", None);
        check("100-70000", None);
    }

    #[test]
    fn durations_are_those_of_go_and_not_negative() {
        assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert!(parse_duration("-1s").is_err());
        assert!(parse_duration("60").is_err());
    }
}
