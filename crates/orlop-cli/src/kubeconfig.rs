//! The kubeconfig of the administrator, and its place among the contexts of others.
//!
//! Merging follows kind (`pkg/cluster/internal/kubeconfig/internal/kubeconfig`) and the locking of
//! `k8s.io/client-go/tools/clientcmd`: entries of our name are replaced, everything else stays,
//! known or not.

use std::fs::{self, OpenOptions};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use orlop_apiserver::pki::Pki;
use orlop_machinery::{Value, yaml};

use crate::private_file::{self, NewFile, SECRET};

/// The name of the cluster, the user and the context.
const NAME: &str = "orlop";
/// The largest file that is read.
const SIZE_MAX: u64 = 16 * 1024 * 1024;

/// The kubeconfig of the administrator.
pub(crate) struct Kubeconfig {
    cluster: Value,
    user: Value,
    context: Value,
}

impl Kubeconfig {
    /// For a server at an address.
    pub(crate) fn new(url: &str, pki: &Pki) -> Self {
        let data = |pem: &str| STANDARD.encode(pem);
        Self {
            cluster: Value::from([
                ("certificate-authority-data", data(&pki.ca.certificate)),
                ("server", url.to_string()),
            ]),
            user: Value::from([
                ("client-certificate-data", data(&pki.admin.certificate)),
                ("client-key-data", data(&pki.admin.key)),
            ]),
            context: Value::from([("cluster", NAME), ("user", NAME)]),
        }
    }

    /// The text of a file that holds nothing else.
    pub(crate) fn to_text(&self) -> String {
        let mut config = Value::default();
        self.merge(&mut config).expect("an empty file has no entries of the wrong form");
        yaml::to_string(&config)
    }

    /// Merges the entries into a file, which need not be there, and makes them the current ones.
    pub(crate) fn merge_into(&self, file: &Path) -> anyhow::Result<()> {
        // What a symbolic link points at is changed, not the link.
        let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.with_context(|| format!("{} does not name a file", file.display()))?;
        private_file::make_folder(&folder)?;
        let _lock = Lock::take(folder.join(format!("{name}.lock")))?;
        let (mut config, mode) = read(&file)?;
        self.merge(&mut config).with_context(|| format!("cannot merge into {}", file.display()))?;
        let text = yaml::to_string(&config);
        private_file::write(&folder, &[NewFile { name, text: &text, mode }])
    }

    fn merge(&self, config: &mut Value) -> anyhow::Result<()> {
        ensure!(config.is_null() || config.as_map().is_some(), "it is not a kubeconfig");
        config.set_default("apiVersion", "v1");
        config.set_default("kind", "Config");
        set_entry(config, "clusters", "cluster", &self.cluster)?;
        set_entry(config, "contexts", "context", &self.context)?;
        set_entry(config, "users", "user", &self.user)?;
        config.set("current-context", NAME);
        Ok(())
    }
}

/// The URL of a server that listens at an address, for clients on this machine.
pub(crate) fn url(address: SocketAddr) -> String {
    let ip: IpAddr = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => std::net::Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => std::net::Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("https://{}", SocketAddr::new(ip, address.port()))
}

/// Replaces or adds the entry of our name in a list of named entries.
fn set_entry(config: &mut Value, list: &str, field: &str, value: &Value) -> anyhow::Result<()> {
    let found = config.entry(list);
    ensure!(found.is_null() || found.as_list().is_some(), "its {list} are not a list");
    let entries = found.make_list();
    let mut entry = Value::from([("name", NAME)]);
    entry.set(field, value.clone());
    match entries.iter_mut().find(|known| known.at("name").str() == NAME) {
        Some(known) => *known = entry,
        None => entries.push(entry),
    }
    Ok(())
}

/// What a file holds and who may read it; nothing if there is no file.
fn read(file: &Path) -> anyhow::Result<(Value, u32)> {
    let describe = || format!("cannot read {}", file.display());
    let facts = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok((Value::default(), SECRET));
        }
        facts => facts.with_context(describe)?,
    };
    ensure!(facts.len() <= SIZE_MAX, "{} is too large for a kubeconfig", file.display());
    let bytes = fs::read(file).with_context(describe)?;
    let config = yaml::parse(&bytes).with_context(describe)?;
    Ok((config, facts.permissions().mode() & 0o777))
}

/// A lock file as kubectl and kind make it beside a kubeconfig while they change it.
struct Lock(PathBuf);

impl Lock {
    fn take(path: PathBuf) -> anyhow::Result<Self> {
        match OpenOptions::new().write(true).create_new(true).mode(SECRET).open(&path) {
            Ok(_) => Ok(Self(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                bail!("somebody else changes the kubeconfig: {} exists", path.display())
            }
            Err(error) => Err(error).with_context(|| format!("cannot make {}", path.display())),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::warn!(%error, file = %self.0.display(), "cannot remove the lock");
        }
    }
}
