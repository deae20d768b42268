//! No module is named after nothing: a name that fits everything attracts everything.

use super::{Finding, Tree, rust_source};

const BANNED: [&str; 9] =
    ["util", "utils", "helper", "helpers", "common", "misc", "base", "types", "handlers"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust_files() {
        for name in path.trim_end_matches(".rs").split('/') {
            if BANNED.contains(&name) {
                findings.push(Finding::new(path, 1, message(name)));
            }
        }
        let halves = rust_source::split(text);
        for name in BANNED {
            for line in rust_source::lines_with_word(&halves.code, &format!("mod {name}")) {
                findings.push(Finding::new(path, line, message(name)));
            }
        }
    }
    findings
}

fn message(name: &str) -> String {
    format!("`{name}` says nothing: name the module after what it is about")
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::tree;
    use super::*;

    fn check_file(path: &str, text: &str, expect: &[usize]) {
        let findings = check(&tree(&[(path, text)]));
        let lines: Vec<usize> = findings.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, expect, "{path}");
    }

    #[test]
    fn empty_names_are_refused_for_files_folders_and_modules() {
        check_file("crates/a/src/utils.rs", "", &[1]);
        check_file("crates/a/tests/common/mod.rs", "", &[1]);
        check_file("crates/a/src/lib.rs", "\nmod helpers {", &[2]);
        check_file("crates/a/src/utilization.rs", "mod base64;", &[]);
    }
}
