//! Layer 0 is pure: time, randomness and I/O are arguments, so every decision can be replayed.

use super::layers::{self, Layer};
use super::{Finding, Tree, rust_source};

/// Crates that bring effects with them.
const CRATES: [&str; 3] = ["tokio", "rand", "getrandom"];
const STD_MODULES: [&str; 2] = ["fs", "net"];
const NAMES: [&str; 2] = ["SystemTime", "Instant"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let pure = |name: &str| layers::layer(name) == Some(Layer::Pure);
    for package in tree.packages.iter().filter(|package| pure(&package.name)) {
        let (path, manifest) = tree.manifest_of(package);
        for used in &package.dependencies {
            if CRATES.contains(&used.name.as_str()) && !used.is_dev {
                let line = manifest.line_of(&used.name);
                findings.push(Finding::new(&path, line, message(&used.name)));
            }
        }
        for (path, text) in tree.sources_of(package) {
            if !rust_source::is_test_file(path) {
                findings.extend(check_file(path, text));
            }
        }
    }
    findings
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let halves = rust_source::split(text);
    let code = rust_source::production(&halves.code);
    let mut findings = Vec::new();
    for name in CRATES {
        let lines = rust_source::lines_with_word(code, &format!("{name}::")).into_iter();
        let imports = rust_source::lines_with_word(code, &format!("use {name}"));
        findings.extend(lines.chain(imports).map(|line| (line, name)));
    }
    for name in STD_MODULES {
        let lines = rust_source::lines_with_std_module(code, name).into_iter();
        findings.extend(lines.map(|line| (line, name)));
    }
    for name in NAMES {
        let lines = rust_source::lines_with_word(code, name).into_iter();
        findings.extend(lines.map(|line| (line, name)));
    }
    findings.sort_unstable();
    findings.dedup();
    findings.into_iter().map(|(line, name)| Finding::new(path, line, message(name))).collect()
}

fn message(name: &str) -> String {
    format!("layer 0 is pure: take what `{name}` gives as an argument")
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::{package, tree};
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let findings = check_file("a.rs", text);
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn effects_are_found_in_production_code_only() {
        assert_eq!(lines("use tokio::time;\nlet x = rand::random();"), [1, 2]);
        assert_eq!(lines("use std::{fs, io};\nuse std::time::Instant;"), [1, 2]);
        assert!(lines("// Instant, std::fs\nlet operand = \"SystemTime\";").is_empty());
        assert!(lines("#[cfg(test)]\nmod tests {\n    use std::fs;\n}").is_empty());
    }

    #[test]
    fn only_layer_zero_is_asked() {
        let text = "use std::fs;\n";
        let mut tree =
            tree(&[("crates/orlop-cel/src/lib.rs", text), ("crates/orlop-node/src/lib.rs", text)]);
        tree.packages.push(package("orlop-cel", &["rand", "dev:tokio"]));
        tree.packages.push(package("orlop-node", &["tokio"]));
        let paths: Vec<String> = check(&tree).into_iter().map(|found| found.path).collect();
        let expect = ["crates/orlop-cel/Cargo.toml", "crates/orlop-cel/src/lib.rs"];
        assert_eq!(paths, expect);
    }
}
