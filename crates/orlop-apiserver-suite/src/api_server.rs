//! API servers as processes, which can be killed and started again.
//!
//! A server takes a free port each time it starts; its clients follow it.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use orlop_apiserver::pki::{self, Files, Pki};
use orlop_storage::SystemClock;
use tempfile::TempDir;

use crate::api_client::ApiClient;

/// How long a server may take to be ready.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// How many lines of a server are kept to say why it did not start.
const LINES_MAX: usize = 50;

/// What an administrator shows, and whom it trusts, as PEM.
#[derive(Clone)]
pub struct Credentials {
    /// The authority of servers.
    pub ca: String,
    /// The administrator's certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

/// An API server; killed at the end of its test.
#[derive(Debug)]
pub struct ApiServer {
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    address: Arc<Mutex<SocketAddr>>,
    child: Option<Child>,
    /// What must be kept as long as the server.
    _owned: Option<TempDir>,
}

impl ApiServer {
    /// `orlop up` with a folder for its data.
    ///
    /// # Errors
    /// When it does not get ready.
    pub fn up(program: &Path, folder: &Path) -> Result<Self> {
        let arguments = ["up", "--secure-port", "0", "--data-dir"].map(String::from);
        let arguments = arguments.into_iter().chain([folder.display().to_string()]).collect();
        Self::new(program, arguments, folder.to_owned(), None)
    }

    /// `orlop apiserver` on an etcd cluster.
    ///
    /// # Errors
    /// When it does not get ready.
    pub fn on_etcd(program: &Path, endpoints: &[String], more: &[&str]) -> Result<Self> {
        let owned = tempfile::tempdir()?;
        let folder = owned.path().to_owned();
        write_pki(&folder)?;
        let file = |name: &str| folder.join("pki").join(name).display().to_string();
        let mut arguments: Vec<String> = [
            ("--etcd-servers", endpoints.join(",")),
            ("--bind-address", Ipv4Addr::LOCALHOST.to_string()),
            ("--secure-port", "0".to_owned()),
            ("--tls-cert-file", file("apiserver.crt")),
            ("--tls-private-key-file", file("apiserver.key")),
            ("--client-ca-file", file("ca.crt")),
        ]
        .into_iter()
        .flat_map(|(flag, value)| [flag.to_owned(), value])
        .collect();
        arguments.insert(0, "apiserver".to_owned());
        arguments.extend(more.iter().map(ToString::to_string));
        Self::new(program, arguments, folder, Some(owned))
    }

    fn new(
        program: &Path,
        arguments: Vec<String>,
        folder: PathBuf,
        owned: Option<TempDir>,
    ) -> Result<Self> {
        let address = Arc::new(Mutex::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))));
        let program = program.to_owned();
        let mut server = Self { program, arguments, folder, address, child: None, _owned: owned };
        server.start()?;
        Ok(server)
    }

    /// Kills the server without a chance to clean up.
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill(&mut self) -> Result<()> {
        let mut child = self.child.take().context("the server does not run")?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// Starts the server, after [`ApiServer::kill`], and waits until it is ready.
    ///
    /// # Errors
    /// When it does not get ready.
    pub fn start(&mut self) -> Result<()> {
        ensure!(self.child.is_none(), "the server runs");
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (sender, lines) = channel();
        read_lines(child.stdout.take().context("it is piped")?, sender.clone());
        read_lines(child.stderr.take().context("it is piped")?, sender);
        self.child = Some(child);
        let address = wait_for_address(&lines)?;
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
        Ok(())
    }

    /// An administrator's client of this server.
    ///
    /// # Errors
    /// When the server's files cannot be read.
    pub fn client(&self) -> Result<ApiClient> {
        let read = |name: &str| std::fs::read_to_string(self.folder.join("pki").join(name));
        let credentials = Credentials {
            ca: read("ca.crt")?,
            certificate: read("admin.crt")?,
            key: read("admin.key")?,
        };
        ApiClient::new(self.address.clone(), &credentials)
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        // One that does not run was killed before.
        let _ = self.kill();
    }
}

/// The files that `orlop up` makes by itself.
fn write_pki(folder: &Path) -> Result<()> {
    let names = pki::serving_names(Ipv4Addr::LOCALHOST.into(), [10, 0, 0, 1].into());
    let made = Pki::complete(&Files::new(), &names, &SystemClock)?;
    std::fs::create_dir_all(folder.join("pki"))?;
    for (name, text) in made.files() {
        std::fs::write(folder.join("pki").join(name), text)?;
    }
    Ok(())
}

/// Reads to the end, whether anybody listens or not: a full pipe would stop the server.
fn read_lines(from: impl Read + Send + 'static, to: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            drop(to.send(line));
        }
    });
}

/// The address in the line that says that the server serves.
fn wait_for_address(lines: &Receiver<String>) -> Result<SocketAddr> {
    let mut told = Vec::new();
    while let Ok(line) = lines.recv_timeout(START_PATIENCE) {
        if let Some(address) = address_in(&line) {
            return Ok(address);
        }
        told.push(line);
        told.truncate(LINES_MAX);
    }
    anyhow::bail!("the server does not get ready:\n{}", told.join("\n"))
}

fn address_in(line: &str) -> Option<SocketAddr> {
    if let Some(ready) = line.strip_prefix("ready ") {
        return ready.trim().strip_prefix("https://")?.split(' ').next()?.parse().ok();
    }
    let log: serde_json::Value = serde_json::from_str(line).ok()?;
    let fields = &log["fields"];
    (fields["message"] == "serving securely").then(|| fields["address"].as_str())??.parse().ok()
}
