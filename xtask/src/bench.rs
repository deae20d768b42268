//! `cargo xtask bench NAME`: hands over to the benchmark crate, built in release mode.
//!
//! The benchmarks compare with etcd, so it is installed when absent.

use anyhow::{Result, bail};

use crate::{install, shell};

/// Runs the command.
///
/// # Errors
///
/// When no benchmark is named, or etcd is missing and cannot be installed.
pub fn run(arguments: &[String]) -> Result<u8> {
    if arguments.is_empty() {
        bail!("usage: cargo xtask bench NAME [--quick] [args]; `--help` as NAME lists them");
    }
    install::ensure(&[install::C_COMPILER, install::ETCD])?;
    let mut build = shell::cargo();
    let packages = ["--package", "orlop-bench", "--package", "orlop-cli", "--bins"];
    let code = shell::run(build.args(["build", "--release"]).args(packages))?;
    if code != 0 {
        return Ok(code);
    }
    let mut command = shell::cargo();
    let run = ["run", "--release", "--package", "orlop-bench", "--bin", "orlop-bench", "--"];
    shell::run(command.args(run).args(arguments))
}
