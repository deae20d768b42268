//! A server for one test: its own folder, its own port, gone at the end.
//!
//! The server is `orlop up`, or the program that the variable `ORLOP_CLIENTS_SERVER` names. That
//! program gets a folder as its only argument, writes `admin.kubeconfig` there, prints a line
//! that starts with `ready`, and serves until SIGTERM; so what the tests expect can be held
//! against another server, such as Kubernetes itself.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::subprocess;

/// Names another server.
const PROGRAM_VARIABLE: &str = "ORLOP_CLIENTS_SERVER";
/// How long a server may take until it is ready.
const READY_LIMIT: Duration = Duration::from_secs(60);
/// How long a server may take to end after SIGTERM.
const END_LIMIT: Duration = Duration::from_secs(20);

/// A running server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    folder: TempDir,
}

impl Server {
    /// Starts a server and waits until it is ready.
    ///
    /// # Errors
    /// It cannot be started, ends, or does not get ready.
    pub fn start(orlop: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = command(orlop, folder.path());
        command.env("HOME", folder.path());
        let log = std::fs::File::create(folder.path().join("server.log"))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).process_group(0);
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let mut server = Self { child, folder };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// The folder of this server and its test.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file by which an administrator connects.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("admin.kubeconfig")
    }

    /// Prepares a command for somebody who has nothing but this server: no settings of the
    /// machine's user, no proxies, one language and one time zone.
    #[must_use]
    pub fn command_of_a_client(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.folder())
            .env("KUBECONFIG", self.kubeconfig())
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TMPDIR", self.folder())
            .env("TZ", "UTC")
            .current_dir(self.folder());
        command
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let output = self.child.stdout.take().context("the pipe was just made")?;
        let (send, ready) = mpsc::channel();
        // Reads to the end, so that the server never waits for somebody to read.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
                if line.starts_with("ready") {
                    let _ = send.send(());
                }
            }
        });
        if ready.recv_timeout(READY_LIMIT).is_err() {
            let log = std::fs::read_to_string(self.folder.path().join("server.log"))?;
            bail!("the server did not get ready; its log:\n{log}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        subprocess::signal_group(&self.child, Signal::TERM);
        let started = std::time::Instant::now();
        while started.elapsed() < END_LIMIT {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        subprocess::signal_group(&self.child, Signal::KILL);
        let _ = self.child.wait();
    }
}

fn command(orlop: &str, folder: &Path) -> Command {
    if let Some(program) = other_server() {
        let mut command = Command::new(program);
        command.arg(folder);
        return command;
    }
    let mut command = Command::new(orlop);
    command.args(["up", "--in-memory", "--secure-port", "0", "--kubeconfig"]);
    command.arg(folder.join("admin.kubeconfig"));
    command.arg("--data-dir").arg(folder.join("data"));
    command
}

#[expect(clippy::disallowed_methods, reason = "which server to test is the caller's choice")]
fn other_server() -> Option<OsString> {
    std::env::var_os(PROGRAM_VARIABLE)
}
