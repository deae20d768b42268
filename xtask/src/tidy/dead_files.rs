//! Every file under `src/` is compiled: reachable by `mod` from the start of a target.
//!
//! Modules declared inside a macro are not seen, but for the lists `kinds![a, b]`.

use std::collections::BTreeSet;

use super::tree::join;
use super::{Finding, Tree, rust_source};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let mut reached = BTreeSet::new();
        for root in &package.roots {
            reach(tree, root, true, &mut reached);
        }
        for (path, _) in tree.sources_of(package) {
            if !reached.contains(path) {
                let message = "no `mod` leads here: declare it or delete the file";
                findings.push(Finding::new(path, 1, message));
            }
        }
    }
    findings
}

/// Adds a file and all files below it.
fn reach(tree: &Tree, path: &str, is_root: bool, reached: &mut BTreeSet<String>) {
    let Some(text) = tree.files.get(path) else {
        return;
    };
    if !reached.insert(path.to_owned()) {
        return;
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let below = match name {
        _ if is_root => folder.to_owned(),
        "mod.rs" => folder.to_owned(),
        _ => join(folder, name.trim_end_matches(".rs")),
    };
    for module in declared(text) {
        match module {
            Module::Named(name) => {
                reach(tree, &join(&below, &format!("{name}.rs")), false, reached);
                reach(tree, &join(&below, &format!("{name}/mod.rs")), false, reached);
            }
            // A file with its own path has its modules beside it, like a root.
            Module::At(path) => reach(tree, &join(folder, &path), true, reached),
        }
    }
}

/// A module in a file of its own.
#[derive(Debug, PartialEq, Eq)]
enum Module {
    /// Its path below the declaring file's module, such as `a` or `a/b`.
    Named(String),
    /// The file of a `#[path]` attribute.
    At(String),
}

fn declared(text: &str) -> Vec<Module> {
    let halves = rust_source::split(text);
    let mut modules = Vec::new();
    // The modules written in place around the current line, with their indentation.
    let mut around: Vec<(usize, &str)> = Vec::new();
    let mut at = None;
    modules.extend(listed(&halves.code).map(|name| Module::Named(name.to_owned())));
    for (raw, line) in text.lines().zip(halves.code.lines()) {
        let indentation = line.len() - line.trim_start().len();
        if line.trim() == "}" && around.last().is_some_and(|(column, _)| *column == indentation) {
            around.pop();
        }
        if line.trim_start().starts_with("#[path") {
            at = raw.split('"').nth(1).map(str::to_owned);
        }
        let Some((name, end)) = module(line) else {
            continue;
        };
        match (end, at.take()) {
            (";", Some(path)) => modules.push(Module::At(path)),
            (";", None) => {
                let mut path: Vec<&str> = around.iter().map(|(_, name)| *name).collect();
                path.push(name);
                modules.push(Module::Named(path.join("/")));
            }
            ("{", _) => around.push((indentation, name)),
            _ => {}
        }
    }
    modules
}

/// The modules of lists `kinds![a, b];` at the start of a line.
fn listed(code: &str) -> impl Iterator<Item = &str> {
    let lists = code.split("\nkinds![").skip(1);
    let bodies = lists.filter_map(|rest| rest.split_once(']')).map(|(body, _)| body);
    bodies.flat_map(|body| body.split(',')).map(str::trim).filter(|name| !name.is_empty())
}

/// The name of the module that the line declares, and what follows the name.
fn module(line: &str) -> Option<(&str, &str)> {
    let (before, rest) = line.split_once("mod ")?;
    let before = before.trim();
    let is_declaration = before.is_empty() || before.starts_with("pub") || before.ends_with(']');
    let end = rest.find([';', ' ', '{'])?;
    let name = rest[..end].trim_start_matches("r#");
    is_declaration.then_some((name, rest[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::{lines, package, tree};
    use super::*;

    #[test]
    fn declarations_are_found() {
        let text = "mod a;\npub(crate) mod b;\n// mod c;\nmod d {\n    mod e;\n}\nmod f;\n\
            #[path = \"x/y.rs\"]\nmod g;\n#[cfg(test)] mod h;\n";
        let named = |name: &str| Module::Named(name.to_owned());
        let expect = [
            named("a"),
            named("b"),
            named("d/e"),
            named("f"),
            Module::At("x/y.rs".to_owned()),
            named("h"),
        ];
        assert_eq!(declared(text), expect);
    }

    #[test]
    fn lists_of_kinds_declare_modules() {
        let named = |name: &str| Module::Named(name.to_owned());
        assert_eq!(
            declared("//! A group.\n\nkinds![a,\n    b_c,\n];\n"),
            [named("a"), named("b_c")]
        );
    }

    #[test]
    fn only_unreachable_files_are_dead() {
        let mut tree = tree(&[
            ("crates/orlop-cel/src/lib.rs", "mod a;\nmod b;\n"),
            ("crates/orlop-cel/src/a.rs", "mod inner;\n"),
            ("crates/orlop-cel/src/a/inner.rs", ""),
            ("crates/orlop-cel/src/b/mod.rs", "mod inner;\n"),
            ("crates/orlop-cel/src/b/inner.rs", ""),
            ("crates/orlop-cel/src/inner.rs", ""),
            ("crates/orlop-cel/tests/data.rs", ""),
        ]);
        tree.packages.push(package("orlop-cel", &[]));
        let message = "crates/orlop-cel/src/inner.rs:1: \
             no `mod` leads here: declare it or delete the file";
        assert_eq!(lines(&check(&tree)), [message]);
    }
}
