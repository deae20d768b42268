//! One etcd process with a folder of its own.
//!
//! Ended by its own id when dropped. What it logs goes into a file in the folder and into the
//! error when it does not get healthy.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A busy machine may need long for an election.
const HEALTHY_WITHIN: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Process {
    binary: std::path::PathBuf,
    arguments: Vec<String>,
    /// Where `/health` and `/metrics` are, without TLS whatever the clients have.
    metrics: u16,
    folder: TempDir,
    child: Option<Child>,
}

impl Process {
    /// Starts etcd; folder, metrics and logs are added to the arguments.
    pub(super) fn start(
        binary: &Path,
        mut arguments: Vec<String>,
        parent: Option<&Path>,
    ) -> Result<Self> {
        let mut folder = tempfile::Builder::new();
        folder.prefix("orlop-etcd-");
        let folder = parent.map_or_else(|| folder.tempdir(), |parent| folder.tempdir_in(parent))?;
        let metrics = free_port()?;
        let data = folder.path().join("data");
        arguments.extend(["--data-dir".into(), data.display().to_string()]);
        arguments.extend(["--listen-metrics-urls".into(), format!("http://127.0.0.1:{metrics}")]);
        arguments.extend(["--logger", "zap", "--log-level", "error"].map(String::from));
        let binary = binary.to_path_buf();
        let mut process = Self { binary, arguments, metrics, folder, child: None };
        process.restart()?;
        Ok(process)
    }

    /// Starts the process with the same arguments and data; it must not run.
    pub(super) fn restart(&mut self) -> Result<()> {
        anyhow::ensure!(self.child.is_none(), "etcd is still running");
        let log = File::create(self.folder.path().join("log"))?;
        let child = Command::new(&self.binary)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("start {}", self.binary.display()))?;
        self.child = Some(child);
        Ok(())
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    pub(super) fn kill(&mut self) -> Result<()> {
        let mut child = self.child.take().context("etcd is not running")?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    pub(super) fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    pub(super) fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let child = self.child.as_ref().context("etcd is not running")?;
        Ok(kill_process(Pid::from_child(child), signal)?)
    }

    /// Whether this member says that it leads.
    pub(super) fn leads(&self) -> bool {
        let metrics = get(self.metrics, "/metrics").unwrap_or_default();
        metrics.lines().any(|line| line == "etcd_server_is_leader 1")
    }

    fn healthy(&self) -> bool {
        get(self.metrics, "/health").is_ok_and(|text| text.contains("\"health\":\"true\""))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.child.is_some() {
            // A stopped process ends by the same signal; what fails here is gone already.
            let _ = self.kill();
        }
    }
}

/// Waits until the member has a leader and answers.
pub(super) fn wait_for_health(process: &mut Process) -> Result<()> {
    let deadline = Instant::now() + HEALTHY_WITHIN;
    while Instant::now() < deadline {
        if process.healthy() {
            return Ok(());
        }
        let child = process.child.as_mut().context("etcd is not running")?;
        if let Some(status) = child.try_wait()? {
            process.child = None;
            bail!("etcd ended with {status}: {}", process.log());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("etcd did not get healthy: {}", process.log())
}

/// A port that nobody uses at this moment.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The version that a binary says it has.
pub(super) fn version(binary: &Path) -> Result<String> {
    let output = Command::new(binary).arg("--version").output()?;
    let text = String::from_utf8(output.stdout)?;
    let version = text.lines().find_map(|line| line.strip_prefix("etcd Version: "));
    version.map(str::to_string).context("etcd does not say its version")
}

fn get(port: u16, path: &str) -> Result<String> {
    let timeout = Duration::from_secs(2);
    let mut stream = TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), timeout)?;
    stream.set_read_timeout(Some(timeout))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
