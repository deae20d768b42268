//! Custom resource definitions as well-known operators publish them, held against a server.
//!
//! [`packages()`] says where they come from. For each package a server of its own is given the
//! package's definitions, its sample objects, and objects broken on purpose (`broken`: each
//! breaks one thing that the schema demands). What the server says is written down line by line
//! (`inquiry`) and compared with a file of what Kubernetes 1.36 said to the same. With
//! `UPDATE_SCRIPTS=1` the file is written anew; `ORLOP_CLIENTS_SERVER` says by whose words (see
//! [`crate::server`]).
//!
//! The files have the server's words, not the definitions: those stay in their packages.

mod broken;
mod connection;
mod inquiry;
mod packages;
mod sample;
mod schema;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};

pub use self::packages::{Package, packages};

use crate::installed::Clients;
use crate::server::Server;

/// Gives the definitions and objects of a package to a server of its own and compares what it
/// says with the file.
///
/// # Errors
/// The server does not start or does not answer, or it says something else; the error shows the
/// lines.
///
/// # Panics
/// In continuous integration, if the package is not there.
pub fn run(package: &Package, file: &Path, orlop: &str, clients: &Clients) -> Result<()> {
    let Some(folder) = clients.find_package(&package.name) else {
        return Ok(());
    };
    let server = Server::start(orlop)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let said = runtime.block_on(async {
        let client = connection::open(&server.kubeconfig())?;
        inquiry::inquire(&client, package, &folder).await
    });
    let said = said.with_context(|| package.name.clone())?;
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    if said == expected {
        return Ok(());
    }
    if crate::script::is_update() {
        return Ok(std::fs::write(file, said)?);
    }
    bail!("{} differs (- expected, + came):\n{}", file.display(), difference(&expected, &said));
}

/// The lines that only one of the two has, each with its heading.
fn difference(expected: &str, said: &str) -> String {
    let only_in = |these: &str, others: &str, sign: &str| -> String {
        let others = with_headings(others);
        let these = with_headings(these);
        let only = these.iter().filter(|line| !others.contains(*line));
        only.map(|(heading, line)| format!("{sign} {heading}: {}\n", line.trim_start())).collect()
    };
    only_in(expected, said, "-") + &only_in(said, expected, "+")
}

/// The lines that are indented, each with the last one that is not.
fn with_headings(text: &str) -> BTreeSet<(&str, &str)> {
    let mut heading = "";
    let mut lines = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with(' ') {
            lines.insert((heading, line));
        } else {
            heading = line;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_the_lines_that_one_side_has() {
        let (expected, said) = ("a\n  x\nb\n  y\n", "a\n  x\nb\n  x\n");
        assert_eq!(difference(expected, said), "- b: y\n+ b: x\n");
    }
}
