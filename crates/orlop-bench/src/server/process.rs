//! The servers that are measured, as processes.

use std::env;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::{Server, ready};

/// Where `/proc/PID/stat` has the CPU time, counted after the program's name.
const USER_TIME: usize = 11;
const SYSTEM_TIME: usize = 12;

/// A process that is ended and waited for when it is dropped.
pub(crate) struct Running(Child);

impl Running {
    fn start(command: &mut Command, log: &Path) -> Result<Running> {
        let log = File::create(log)?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let program = command.get_program().to_string_lossy().into_owned();
        command.spawn().map(Running).with_context(|| format!("cannot start {program}"))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// CPU time so far, in the steps in which the kernel counts it.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid()))?;
        // The name of the program, in parentheses, may contain anything.
        let (_, rest) = stat.rsplit_once(')').context("stat has the program's name")?;
        let field = |index: usize| -> Result<u64> {
            Ok(rest.split_whitespace().nth(index).context("stat has its fields")?.parse()?)
        };
        let ticks = field(USER_TIME)? + field(SYSTEM_TIME)?;
        Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        let statm = fs::read_to_string(format!("/proc/{}/statm", self.pid()))?;
        let pages = statm.split(' ').nth(1).context("statm has a second field")?;
        Ok(pages.parse::<u64>()? * rustix::param::page_size() as u64)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has ended already is what is wanted.
        if let Some(pid) = i32::try_from(self.pid()).ok().and_then(rustix::process::Pid::from_raw) {
            _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        drop(self.0.wait());
    }
}

/// Our server.
pub(crate) struct Orlop {
    binary: PathBuf,
}

impl Orlop {
    /// Beside this program.
    pub(crate) fn find() -> Result<Orlop> {
        let binary = env::current_exe()?.with_file_name("orlop");
        ensure!(binary.exists(), "no binary at {}", binary.display());
        Ok(Orlop { binary })
    }

    pub(crate) fn binary_bytes(&self) -> Result<u64> {
        Ok(fs::metadata(&self.binary)?.len())
    }

    /// Starts it in a fresh folder and waits until it is ready.
    pub(crate) fn start(&self, folder: &Path, in_memory: bool) -> Result<Server> {
        fs::create_dir_all(folder)?;
        let port = free_port()?;
        let kubeconfig = folder.join("kubeconfig");
        let mut command = Command::new(&self.binary);
        command.arg("up").args(["--secure-port", &port.to_string()]);
        command.arg("--kubeconfig").arg(&kubeconfig);
        if in_memory {
            command.arg("--in-memory");
        } else {
            command.arg("--data-dir").arg(folder.join("data"));
        }
        let begin = Instant::now();
        let process = Running::start(&mut command, &folder.join("orlop.log"))?;
        ready::wait(port)?;
        Ok(Server { processes: vec![process], kubeconfig, ready_after: begin.elapsed() })
    }
}

/// kube-apiserver with etcd.
pub(crate) struct Kubernetes {
    kube_apiserver: PathBuf,
    etcd: PathBuf,
}

const TOKEN: &str = "bench-token";

impl Kubernetes {
    /// Where `KUBE_APISERVER` and `ETCD` say.
    pub(crate) fn from_environment() -> Option<Kubernetes> {
        let kube_apiserver = PathBuf::from(env::var_os("KUBE_APISERVER")?);
        let etcd = PathBuf::from(env::var_os("ETCD")?);
        Some(Kubernetes { kube_apiserver, etcd })
    }

    /// Starts both in a fresh folder and waits until they are ready.
    pub(crate) fn start(&self, folder: &Path) -> Result<Server> {
        fs::create_dir_all(folder)?;
        let (port, client, peer) = (free_port()?, free_port()?, free_port()?);
        let key = rcgen::KeyPair::generate()?;
        let (key_file, public_key_file) = (folder.join("sa.key"), folder.join("sa.pub"));
        fs::write(&key_file, key.serialize_pem())?;
        fs::write(&public_key_file, key.public_key_pem())?;
        let tokens = folder.join("tokens.csv");
        fs::write(&tokens, format!("{TOKEN},admin,admin,system:masters\n"))?;
        let client_url = format!("http://127.0.0.1:{client}");
        let peer_url = format!("http://127.0.0.1:{peer}");
        let mut etcd = Command::new(&self.etcd);
        etcd.arg("--data-dir").arg(folder.join("etcd"));
        etcd.args(["--listen-client-urls", &client_url, "--advertise-client-urls", &client_url]);
        etcd.args(["--listen-peer-urls", &peer_url, "--initial-advertise-peer-urls", &peer_url]);
        etcd.args(["--initial-cluster", &format!("default={peer_url}")]);
        let mut server = Command::new(&self.kube_apiserver);
        server.args(["--etcd-servers", &client_url, "--secure-port", &port.to_string()]);
        server.args(["--bind-address", "127.0.0.1", "--service-cluster-ip-range", "10.96.0.0/12"]);
        server.arg("--cert-dir").arg(folder.join("certificates"));
        server.arg("--token-auth-file").arg(&tokens);
        server.args(["--authorization-mode", "RBAC", "--endpoint-reconciler-type", "none"]);
        server.args(["--service-account-issuer", "https://kubernetes.default.svc"]);
        server.arg("--service-account-key-file").arg(&public_key_file);
        server.arg("--service-account-signing-key-file").arg(&key_file);
        let begin = Instant::now();
        let etcd = Running::start(&mut etcd, &folder.join("etcd.log"))?;
        let server = Running::start(&mut server, &folder.join("kube-apiserver.log"))?;
        ready::wait(port)?;
        let ready_after = begin.elapsed();
        let kubeconfig = folder.join("kubeconfig");
        fs::write(&kubeconfig, kubeconfig_text(port))?;
        Ok(Server { processes: vec![server, etcd], kubeconfig, ready_after })
    }
}

fn kubeconfig_text(port: u16) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: bench
clusters: [{{name: bench, cluster: {{server: 'https://127.0.0.1:{port}', \
         insecure-skip-tls-verify: true}}}}]
users: [{{name: bench, user: {{token: {TOKEN}}}}}]
contexts: [{{name: bench, context: {{cluster: bench, user: bench}}}}]
"
    )
}

/// A port that nobody listens on just now.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
