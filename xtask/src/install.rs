//! What the commands need beyond Rust, and how it gets onto a bare Debian 12.
//!
//! Only what is missing is installed, and only through the system's package manager or cargo.
//! On another system, or without the right to install, the error names what to install.
//! The etcd package brings a service; tests start their own etcd on their own ports, so the
//! service is kept from starting.

use anyhow::{Result, bail};

use crate::shell;

/// A program that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The file that must be on `PATH`.
    program: &'static str,
    /// The Debian packages that bring it.
    packages: &'static str,
    /// An environment variable that says where else it is.
    elsewhere: Option<&'static str>,
}

/// The etcd server, which the etcd backend and the benchmarks are measured against.
pub const ETCD: Tool =
    Tool { program: "etcd", packages: "etcd-server", elsewhere: Some("ORLOP_ETCD") };

/// The C compiler: linker of every Rust program, compiler of the allocator.
pub const C_COMPILER: Tool =
    Tool { program: "cc", packages: "gcc libc6-dev", elsewhere: Some("CC") };

/// The C++ compiler, for the fuzzing engine.
pub const CXX_COMPILER: Tool = Tool { program: "c++", packages: "g++", elsewhere: Some("CXX") };

/// Python, which brings the clients that the server is tested with.
pub const PYTHON: Tool =
    Tool { program: "python3", packages: "python3 python3-venv", elsewhere: None };

/// For transcripts of what people do without a client.
pub const CURL: Tool = Tool { program: "curl", packages: "curl", elsewhere: None };

/// Installs those of the tools that are missing.
///
/// # Errors
///
/// When a tool is missing and cannot be installed; the error names the packages.
pub fn ensure(tools: &[Tool]) -> Result<()> {
    let packages =
        missing(tools, |variable| std::env::var_os(variable).is_some(), shell::is_on_path);
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    self::packages(&list)?;
    let still = missing(tools, |_| false, shell::is_on_path);
    if still.iter().any(|package| packages.contains(package)) {
        bail!("installed {list}, but its programs are not on PATH");
    }
    Ok(())
}

/// Installs Debian packages.
///
/// # Errors
///
/// When this user cannot, or the installation fails; the error names the packages.
pub fn packages(list: &str) -> Result<()> {
    let Some(mut command) = installer()? else {
        bail!(
            "something is missing that this user cannot install: as root, run \
             `apt-get install {list}`, or install its equal on another system"
        );
    };
    let script = INSTALL.replace("PACKAGES", list);
    if shell::run(command.args(["-c", &script]))? != 0 {
        bail!("installing {list} failed");
    }
    Ok(())
}

/// Fetches the lists of packages that can be had, which a bare machine does not have.
///
/// # Errors
///
/// When this user cannot.
pub fn update_package_lists() -> Result<()> {
    let Some(mut command) = installer()? else {
        bail!("this user cannot run `apt-get update`");
    };
    if shell::run(command.args(["-c", "apt-get -q update"]))? != 0 {
        bail!("`apt-get update` failed");
    }
    Ok(())
}

/// Installs cargo-deny when it is absent.
///
/// # Errors
///
/// When cargo cannot install it.
pub fn ensure_cargo_deny() -> Result<()> {
    if shell::is_on_path("cargo-deny") {
        return Ok(());
    }
    if shell::run(shell::cargo().args(["install", "--locked", "cargo-deny"]))? != 0 {
        bail!("`cargo install --locked cargo-deny` failed");
    }
    Ok(())
}

/// Exit code 101 of `policy-rc.d` forbids every service action while packages are installed.
/// A file that is already there is somebody's policy and stays.
const INSTALL: &str = "\
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    printf '#!/bin/sh\\nexit 101\\n' > $policy
    chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends PACKAGES
";

/// A shell with the right to install, if there is one on this machine.
fn installer() -> Result<Option<std::process::Command>> {
    if !shell::is_on_path("apt-get") {
        return Ok(None);
    }
    let user = shell::output(shell::program("id").arg("-u"))?;
    if user.trim() == "0" {
        return Ok(Some(shell::program("sh")));
    }
    if !shell::is_on_path("sudo") {
        return Ok(None);
    }
    let mut command = shell::program("sudo");
    command.arg("sh");
    Ok(Some(command))
}

fn missing(
    tools: &[Tool],
    is_set: impl Fn(&str) -> bool,
    is_on_path: impl Fn(&str) -> bool,
) -> Vec<&'static str> {
    tools
        .iter()
        .filter(|tool| !tool.elsewhere.is_some_and(&is_set) && !is_on_path(tool.program))
        .map(|tool| tool.packages)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_path_or_named_by_a_variable_is_not_installed() {
        let tools = [ETCD, C_COMPILER];
        assert_eq!(missing(&tools, |_| false, |_| false), ["etcd-server", "gcc libc6-dev"]);
        assert_eq!(missing(&tools, |name| name == "ORLOP_ETCD", |_| false), ["gcc libc6-dev"]);
        assert_eq!(missing(&tools, |_| false, |name| name == "cc"), ["etcd-server"]);
        assert!(missing(&tools, |_| false, |_| true).is_empty());
    }
}
