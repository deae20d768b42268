//! Every crate takes the workspace's lints: a rule that a crate can forget is not a rule.

use super::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let (path, manifest) = tree.manifest_of(package);
        let inherits = manifest.entries.iter().any(|entry| {
            entry.section == "lints" && entry.key == "workspace" && entry.value == "true"
        });
        if !inherits {
            findings.push(Finding::new(&path, 1, "add `[lints] workspace = true`"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::{package, tree};
    use super::*;

    fn count(manifest: &str) -> usize {
        let mut tree = tree(&[("crates/orlop-cel/Cargo.toml", manifest)]);
        tree.packages.push(package("orlop-cel", &[]));
        check(&tree).len()
    }

    #[test]
    fn lints_come_from_the_workspace() {
        assert_eq!(count("[lints]\nworkspace = true\n"), 0);
        assert_eq!(count("[package]\nname = \"orlop-cel\"\n"), 1);
    }
}
