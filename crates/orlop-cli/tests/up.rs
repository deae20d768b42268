//! `orlop up` as a newcomer uses it: its files, its port, its lines, its end.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_orlop");

/// A running `orlop up`, killed if a test gives up on it.
struct Up {
    child: Child,
    lines: Vec<String>,
}

impl Up {
    fn start(folder: &Path, more: &[&str]) -> Up {
        let mut child = Command::new(BINARY)
            .args(["up", "--secure-port", "0", "--data-dir"])
            .arg(folder)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            lines.push(line.unwrap());
            if lines.last().unwrap() == "kubectl get namespaces" {
                break;
            }
        }
        Up { child, lines }
    }

    fn line(&self, start: &str) -> &str {
        let found = self.lines.iter().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no line starts with {start}: {:?}", self.lines))
    }

    /// `127.0.0.1:PORT`
    fn address(&self) -> String {
        let line = self.line("ready");
        line.split("https://").nth(1).unwrap().split(' ').next().unwrap().to_string()
    }

    fn stop(mut self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "a stop on request is a success");
        let log = io::read_to_string(self.child.stderr.take().unwrap()).unwrap();
        let is_complaint = |line: &&str| line.contains("\"WARN\"") || line.contains("\"ERROR\"");
        assert_eq!(log.lines().find(is_complaint), None, "nothing has gone wrong");
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The line of a command that fails with an exit code.
fn refuses(mut command: Command, code: i32) -> String {
    let Output { status, stderr, .. } = command.output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(code), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "one clear line: {stderr}");
    stderr.trim().to_string()
}

fn up(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(["up", "--data-dir"]).arg(folder).args(more);
    command
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_first_start_makes_what_a_newcomer_needs() {
    let folder = folder();
    let data = folder.path().join("data");
    let running = Up::start(&data, &[]);
    let kubeconfig = data.join("admin.kubeconfig");
    assert_eq!(running.line("export"), format!("export KUBECONFIG={}", kubeconfig.display()));
    assert!(running.line("store").ends_with("data/store (0 keys, revision 1)"));
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("pki")), 0o700);
    assert_eq!(mode(&kubeconfig), 0o600);
    let pki = |name: &str| data.join("pki").join(name);
    for name in ["ca", "apiserver", "admin", "front-proxy-ca", "front-proxy-client"] {
        assert_eq!(mode(&pki(&format!("{name}.crt"))), 0o644, "{name}");
        assert_eq!(mode(&pki(&format!("{name}.key"))), 0o600, "{name}");
    }
    assert_eq!((mode(&pki("sa.pub")), mode(&pki("sa.key"))), (0o644, 0o600));
    let config = text(&kubeconfig);
    assert!(config.contains(&format!("server: https://{}\n", running.address())), "{config}");
    assert!(config.contains("current-context: orlop\n"), "{config}");
    TcpStream::connect(running.address()).unwrap();
    running.stop("-TERM");
}

#[test]
fn a_second_start_keeps_the_pki() {
    let folder = folder();
    let all = |folder: &Path| -> Vec<(String, String)> {
        let entries = fs::read_dir(folder.join("pki")).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            entries.map(|path| (path.display().to_string(), text(&path))).collect();
        files.sort();
        files
    };
    Up::start(folder.path(), &["--in-memory"]).stop("-TERM");
    let first = all(folder.path());
    assert_eq!(first.len(), 12);
    Up::start(folder.path(), &[]).stop("-INT");
    assert_eq!(all(folder.path()), first);
}

#[test]
fn what_cannot_work_is_told_in_one_line() {
    let (one, two) = (folder(), folder());
    let running = Up::start(one.path(), &["--in-memory"]);
    let line = refuses(up(one.path(), &["--secure-port", "0"]), 1);
    let expect = format!("orlop: {} is in use by another process", one.path().display());
    assert_eq!(line, expect);

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let line = refuses(up(two.path(), &["--in-memory", "--secure-port", &port]), 1);
    assert!(line.ends_with(&format!("127.0.0.1:{port} is in use by another process")), "{line}");

    let line = refuses(up(two.path(), &["--no-such-flag"]), 2);
    assert_eq!(line, "orlop: unexpected argument '--no-such-flag' found");
    let line = refuses(up(two.path(), &["--secure-port", "many"]), 2);
    assert!(line.contains("'many' for '--secure-port <PORT>'"), "{line}");
    let line = refuses(up(two.path(), &["--in-memory", "--etcd-servers", "http://a:1"]), 2);
    assert!(line.contains("cannot be used with"), "{line}");
    fs::remove_file(two.path().join("pki/ca.key")).unwrap();
    let line = refuses(up(two.path(), &["--in-memory", "--secure-port", "0"]), 1);
    assert!(line.ends_with("ca.key is missing beside ca.crt"), "{line}");
    running.stop("-TERM");
}

#[test]
fn a_kubeconfig_of_others_is_merged_into() {
    let folder = folder();
    let file = folder.path().join("config");
    let link = folder.path().join("link");
    let before = "apiVersion: v1\nkind: Config\npreferences: {colors: true}\nclusters:\n\
        - name: other\n  cluster: {server: https://other, tls-server-name: x}\n\
        - name: orlop\n  cluster: {server: https://old}\ncontexts:\n\
        - name: other\n  context: {cluster: other, user: me, namespace: team}\n\
        users:\n- name: me\n  user: {token: t}\nextensions: [{name: e, extension: {a: b}}]\n\
        current-context: other\n";
    fs::write(&file, before).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    let data = folder.path().join("data");
    let running = Up::start(&data, &["--in-memory", "--kubeconfig", link.to_str().unwrap()]);
    let after = text(&file);
    let address = running.address();
    for expect in [
        "tls-server-name: x",
        "namespace: team",
        "token: t",
        "colors: true",
        "a: b",
        "current-context: orlop\n",
        &format!("server: https://{address}\n"),
    ] {
        assert!(after.contains(expect), "{expect} is missing:\n{after}");
    }
    assert!(!after.contains("https://old"), "{after}");
    assert_eq!(mode(&file), 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(!folder.path().join("config.lock").exists());
    assert_eq!(running.line("export"), format!("export KUBECONFIG={}", link.display()));
    running.stop("-TERM");

    fs::write(&file, "- not\n- a kubeconfig\n").unwrap();
    let merge = ["--in-memory", "--secure-port", "0", "--kubeconfig", file.to_str().unwrap()];
    let line = refuses(up(&data, &merge), 1);
    assert!(line.ends_with("it is not a kubeconfig"), "{line}");
    assert_eq!(text(&file), "- not\n- a kubeconfig\n");
}

#[test]
fn under_the_name_kube_apiserver_it_is_the_api_server() {
    let folder = folder();
    let name = folder.path().join("kube-apiserver");
    symlink(BINARY, &name).unwrap();
    for program in [Path::new(BINARY), &name] {
        let command = |arguments: &[&str]| {
            let mut command = Command::new(program);
            if program != name {
                command.arg("apiserver");
            }
            command.args(arguments);
            command
        };
        let line = refuses(command(&[]), 2);
        assert!(line.contains("--etcd-servers"), "{line}");
        let etcd = "--etcd-servers=http://127.0.0.1:1";
        let line = refuses(command(&[etcd, "--audit-log-path=-"]), 2);
        assert_eq!(line, "orlop: unexpected argument '--audit-log-path' found");
        let line = refuses(command(&[etcd, "--authorization-mode=AlwaysAllow"]), 2);
        assert!(line.starts_with("orlop: invalid value 'AlwaysAllow'"), "{line}");
        let line = refuses(command(&[etcd, "--service-account-key-file=/no/such/file"]), 1);
        assert!(line.contains("cannot read /no/such/file"), "{line}");
        let line = refuses(command(&[etcd, "--etcd-prefix=/other"]), 1);
        assert_eq!(line, "orlop: --etcd-prefix /other is not supported: only /registry is");
        let line = refuses(command(&[etcd, "--goaway-chance=0.5"]), 1);
        assert_eq!(line, "orlop: --goaway-chance can not be less than 0 or greater than 0.02");
        let line = refuses(command(&[etcd, "--client-ca-file=/no/such/file", "-v=2"]), 1);
        assert!(line.starts_with("orlop: cannot read /no/such/file"), "{line}");
        let line =
            refuses(command(&[etcd, "--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24"]), 1);
        assert!(line.ends_with("must be of different IP family"), "{line}");
    }
}
