//! Only the command line reads the environment; everything below it takes arguments.
//!
//! clippy refuses the same calls where they are made; this check also sees imports and code
//! behind `cfg`, and cannot be allowed away in place.

use super::layers::{self, Layer};
use super::{Finding, Tree, rust_source};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_below = |name: &str| layers::layer(name).is_some_and(|layer| layer < Layer::CommandLine);
    for package in tree.packages.iter().filter(|package| is_below(&package.name)) {
        for (path, text) in tree.sources_of(package) {
            if rust_source::is_test_file(path) {
                continue;
            }
            let halves = rust_source::split(text);
            let code = rust_source::production(&halves.code);
            for line in rust_source::lines_with_std_module(code, "env") {
                let message = "only the command line reads `std::env`: take it as an argument";
                findings.push(Finding::new(path, line, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::{lines, package, tree};
    use super::*;

    #[test]
    fn the_environment_is_for_the_command_line_and_development() {
        let text = "//! Doc.\nlet home = std::env::var(\"HOME\");\n";
        let mut tree = tree(&[
            ("crates/orlop-node/src/lib.rs", text),
            ("crates/orlop-cli/src/main.rs", text),
            ("xtask/src/lib.rs", text),
        ]);
        for name in ["orlop-node", "orlop-cli", "xtask"] {
            tree.packages.push(package(name, &[]));
        }
        let message = "crates/orlop-node/src/lib.rs:2: \
             only the command line reads `std::env`: take it as an argument";
        assert_eq!(lines(&check(&tree)), [message]);
    }
}
