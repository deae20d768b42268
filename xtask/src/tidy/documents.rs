//! Documents: the ones that must exist, the crates the map must name, the links that must work.

use super::{Finding, Tree};

const REQUIRED: [&str; 4] = ["ARCHITECTURE.md", "CHANGELOG.md", "LICENSE", "README.md"];
const MAP: &str = "ARCHITECTURE.md";
const MAP_LINES_MAX: usize = 400;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let missing = REQUIRED.iter().filter(|path| !tree.paths.contains(**path));
    let mut findings: Vec<Finding> =
        missing.map(|path| Finding::new(path, 1, "the repository has no such file")).collect();
    if let Some(map) = tree.files.get(MAP) {
        findings.extend(check_map(map, tree));
    }
    for (path, text) in tree.files_ending(&["md"]) {
        for (line, target) in links(text) {
            if !exists(tree, path, target) {
                let message = format!("the link to {target} leads nowhere");
                findings.push(Finding::new(path, line, message));
            }
        }
    }
    findings
}

fn check_map(map: &str, tree: &Tree) -> Vec<Finding> {
    let is_name = |character: char| character.is_alphanumeric() || character == '-';
    let names: Vec<&str> = map.split(|character| !is_name(character)).collect();
    let crates = tree.packages.iter();
    let mut findings: Vec<Finding> = crates
        .filter(|package| package.folder.starts_with("crates/"))
        .filter(|package| !names.contains(&package.name.as_str()))
        .map(|package| Finding::new(MAP, 1, format!("does not name {}", package.name)))
        .collect();
    let lines = map.lines().count();
    if lines > MAP_LINES_MAX {
        let message = format!("{lines} lines, at most {MAP_LINES_MAX}: move detail elsewhere");
        findings.push(Finding::new(MAP, MAP_LINES_MAX + 1, message));
    }
    findings
}

/// The targets of inline links to files, with their lines; code is left out.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Every second piece between backticks is code.
        for piece in line.split('`').step_by(2) {
            let targets = piece.split("](").skip(1);
            let targets = targets.filter_map(|rest| rest.split([')', ' ', '#']).next());
            let files = targets.filter(|target| !target.is_empty() && !target.contains(':'));
            links.extend(files.map(|target| (index + 1, target)));
        }
    }
    links
}

/// Whether the target of a link in the document at `path` is in the tree.
fn exists(tree: &Tree, path: &str, target: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.is_empty() => return false,
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.is_empty() || tree.paths.contains(&parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::{lines, package, tree};
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let text = "[a](b.md) and [c](d/e.md#part)\n[x](https://example.com) [y](#here)\n\
            ```\n[a](code.md)\n```\n`[a](code.md)`\n[z](f.md \"title\")\n";
        assert_eq!(links(text), [(1, "b.md"), (1, "d/e.md"), (7, "f.md")]);
    }

    #[test]
    fn links_are_relative_to_their_document() {
        let tree = tree(&[("docs/a.md", ""), ("README.md", "")]);
        assert!(exists(&tree, "docs/b.md", "a.md"));
        assert!(exists(&tree, "docs/b.md", "../README.md"));
        assert!(exists(&tree, "docs/b.md", ".."));
        assert!(!exists(&tree, "docs/b.md", "README.md"));
        assert!(!exists(&tree, "b.md", "../README.md"));
    }

    #[test]
    fn missing_documents_and_unnamed_crates_are_reported() {
        let mut tree = tree(&[
            (MAP, "orlop-storage-suite\n"),
            ("CHANGELOG.md", ""),
            ("README.md", "[map](NONE.md)"),
        ]);
        tree.packages.push(package("orlop-storage", &[]));
        tree.packages.push(package("xtask", &[]));
        let expect = [
            "LICENSE:1: the repository has no such file",
            "ARCHITECTURE.md:1: does not name orlop-storage",
            "README.md:1: the link to NONE.md leads nowhere",
        ];
        assert_eq!(lines(&check(&tree)), expect);
    }
}
