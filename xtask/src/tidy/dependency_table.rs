//! Every dependency stands once in the root manifest, with the reason for it, and is used.

use super::manifest::{Entry, Manifest};
use super::{Finding, Tree};

const ROOT: &str = "Cargo.toml";
const TABLE: &str = "workspace.dependencies";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let root = Manifest::parse(tree.files.get(ROOT).map_or("", String::as_str));
    let members: Vec<(String, Manifest)> =
        tree.packages.iter().map(|package| tree.manifest_of(package)).collect();
    let mut findings = check_table(&root, &members);
    for (path, manifest) in &members {
        findings.extend(check_member(path, manifest));
    }
    findings
}

fn check_table(root: &Manifest, members: &[(String, Manifest)]) -> Vec<Finding> {
    let is_used = |name: &str| {
        let mut entries = members.iter().flat_map(|(_, member)| &member.entries);
        entries.any(|entry| is_dependency(entry) && entry.dependency() == name)
    };
    let mut findings = Vec::new();
    for entry in root.entries.iter().filter(|entry| entry.section.starts_with(TABLE)) {
        let name = entry.dependency();
        let mut found = |message: String| findings.push(Finding::new(ROOT, entry.line, message));
        if entry.section != TABLE {
            found(format!("write {name} as one entry of [{TABLE}], with its reason"));
            continue;
        }
        if entry.comment.as_deref().unwrap_or_default().is_empty() {
            found(format!("{name} has no reason: add `# why` behind it"));
        }
        if !is_used(name) {
            found(format!("no crate uses {name}: remove it"));
        }
    }
    findings
}

fn check_member(path: &str, manifest: &Manifest) -> Vec<Finding> {
    let entries = manifest.entries.iter();
    let dependencies: Vec<&Entry> = entries.filter(|entry| is_dependency(entry)).collect();
    let mut findings = Vec::new();
    for entry in &dependencies {
        let name = entry.dependency();
        let mut same = dependencies
            .iter()
            .filter(|other| other.section == entry.section && other.dependency() == name);
        if !same.any(|other| inherits(other)) {
            let message = format!("write `{name}.workspace = true`: versions stand in the root");
            findings.push(Finding::new(path, entry.line, message));
        }
    }
    findings
}

fn is_dependency(entry: &Entry) -> bool {
    let section = entry.section.as_str();
    let plain = section.split("dependencies.").next().unwrap_or(section);
    plain.ends_with("dependencies") || section.contains("dependencies.")
}

/// Whether the entry is `name.workspace = true`, or says so in its table.
fn inherits(entry: &Entry) -> bool {
    let value: String = entry.value.split_whitespace().collect();
    let is_key = entry.key == "workspace" || entry.key.ends_with(".workspace");
    (is_key && value == "true") || value.contains("workspace=true")
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::{lines, package, tree};
    use super::*;

    fn check_manifests(root: &str, member: &str, expect: &[&str]) {
        let mut tree = tree(&[(ROOT, root), ("crates/orlop-cel/Cargo.toml", member)]);
        tree.packages.push(package("orlop-cel", &[]));
        assert_eq!(lines(&check(&tree)), expect);
    }

    const USES_A: &str = "[dependencies]\na.workspace = true\n";

    #[test]
    fn the_table_has_reasons_and_users() {
        let root = "[workspace.dependencies]\na = \"1\" # why\n";
        check_manifests(root, USES_A, &[]);
        let root = "[workspace.dependencies]\na = \"1\"\nb = \"1\" # why\n";
        let expect = [
            "Cargo.toml:2: a has no reason: add `# why` behind it",
            "Cargo.toml:3: no crate uses b: remove it",
        ];
        check_manifests(root, USES_A, &expect);
        let root = "[workspace.dependencies.a]\nversion = \"1\" # why\n";
        let expect =
            ["Cargo.toml:2: write a as one entry of [workspace.dependencies], with its reason"];
        check_manifests(root, USES_A, &expect);
    }

    #[test]
    fn members_inherit_versions() {
        let member = "[dependencies]\na = { workspace = true, features = [\"x\"] }\n\
            [target.'cfg(unix)'.dev-dependencies]\nb = \"1\"\n\
            [build-dependencies.c]\nworkspace = true\noptional = true\n";
        let expect = ["crates/orlop-cel/Cargo.toml:4: \
             write `b.workspace = true`: versions stand in the root"];
        check_manifests("", member, &expect);
    }
}
