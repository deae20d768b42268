//! `cargo xtask fmt`: formats every file.
//!
//! `cargo fmt` follows `mod` and does not see the files that a list `kinds![...]` declares, so
//! those are named to rustfmt one by one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell;

/// Where modules are declared by lists.
const LISTED: &str = "crates/orlop-kinds/src";

/// Runs the command.
///
/// # Errors
///
/// On an unknown argument, or when the files cannot be listed.
pub fn run(arguments: &[String]) -> Result<u8> {
    let check: &[&str] = match arguments {
        [] => &[],
        [argument] if argument == "--check" => &["--check"],
        _ => bail!("usage: cargo xtask fmt [--check]"),
    };
    let code = shell::run(shell::cargo().args(["fmt", "--all"]).args(check))?;
    let mut files = Vec::new();
    find(&shell::root().join(LISTED), &mut files)?;
    let mut command = std::process::Command::new("rustfmt");
    command.args(["--edition", "2024"]).args(check).args(files).current_dir(shell::root());
    // Its command line has hundreds of files: it is not shown.
    let status = command.status().context("rustfmt cannot be run")?;
    Ok(code.max(u8::from(!status.success())))
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}
