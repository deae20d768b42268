//! `cargo xtask tidy`: the rules of this repository that neither the compiler nor clippy checks.
//!
//! A check is a pure function from the [`Tree`] to its findings, in a file of its own, and one
//! entry in `CHECKS`. All findings are reported at once, sorted, as `path:line: message`.
//! `tests/tidy.rs` runs the same checks in `cargo test`.

use std::path::Path;

use anyhow::{Result, bail};

use crate::shell;

mod dead_files;
mod dependency_table;
mod documents;
mod environment;
mod layers;
mod lint_inheritance;
mod manifest;
mod module_names;
mod purity;
mod rust_source;
mod size;
mod source_text;
mod tree;
mod whitespace;

pub use tree::Tree;

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Relative to the root of the repository.
    pub path: String,
    /// Counted from one.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// A rule and the function that finds what breaks it.
struct Check {
    name: &'static str,
    description: &'static str,
    run: fn(&Tree) -> Vec<Finding>,
}

const fn check(
    name: &'static str,
    description: &'static str,
    run: fn(&Tree) -> Vec<Finding>,
) -> Check {
    Check { name, description, run }
}

const CHECKS: [Check; 11] = [
    check("layers", "a crate uses only crates of lower layers", layers::check),
    check("purity", "layer 0 has no I/O, clock or randomness", purity::check),
    check("environment", "only the command line reads std::env", environment::check),
    check("size", "files and functions stay small", size::check),
    check("module-names", "no module is named after nothing", module_names::check),
    check("dependencies", "each stands once, with its reason", dependency_table::check),
    check("source-text", "module docs, ASCII, no leftovers", source_text::check),
    check("dead-files", "every file under src/ is compiled", dead_files::check),
    check("documents", "links work, the map is complete", documents::check),
    check("lints", "every crate has the workspace's lints", lint_inheritance::check),
    check("whitespace", "no tabs, no trailing space, 100 columns", whitespace::check),
];

/// Runs the command.
///
/// # Errors
///
/// On an unknown argument, or when the tree or its metadata cannot be read.
pub fn run(arguments: &[String]) -> Result<u8> {
    match arguments {
        [] => {}
        [argument] if argument == "--list" => {
            for check in &CHECKS {
                println!("{:<14} {}", check.name, check.description);
            }
            return Ok(0);
        }
        _ => bail!("usage: cargo xtask tidy [--list]"),
    }
    let findings = findings(&shell::root())?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: {} checks found nothing", CHECKS.len()),
        count => eprintln!("tidy: {count} findings"),
    }
    Ok(u8::from(!findings.is_empty()))
}

/// Everything that breaks a rule in the repository at `root`, sorted.
///
/// # Errors
///
/// When the tree or its metadata cannot be read.
pub fn findings(root: &Path) -> Result<Vec<Finding>> {
    let tree = Tree::read(root)?;
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| (check.run)(&tree)).collect();
    findings.sort();
    findings.dedup();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_print_where_and_what() {
        let finding = Finding::new("crates/a/src/lib.rs", 7, "tab");
        assert_eq!(finding.to_string(), "crates/a/src/lib.rs:7: tab");
    }
}
