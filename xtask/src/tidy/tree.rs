//! What the checks look at: the text of the repository and the shape of its workspace.
//!
//! Reading happens here and nowhere else, so that every check is a function of this value and
//! its tests build one from literals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::manifest::Manifest;
use crate::shell;

/// The repository as the checks see it.
#[derive(Debug, Default)]
pub struct Tree {
    /// Text of all `.rs`, `.md`, `.toml` and `.txt` files by path.
    pub(super) files: BTreeMap<String, String>,
    /// All files and folders, of whatever kind.
    pub(super) paths: BTreeSet<String>,
    /// The members of the workspace.
    pub(super) packages: Vec<Package>,
}

/// A member of the workspace.
#[derive(Debug, Default)]
pub(super) struct Package {
    pub(super) name: String,
    /// Its folder, relative to the root.
    pub(super) folder: String,
    pub(super) dependencies: Vec<Dependency>,
    /// The files its targets start from.
    pub(super) roots: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// For tests only.
    pub(super) is_dev: bool,
}

/// Folders with files that are not ours or not sources.
const SKIPPED: [&str; 4] = [".git", "target", "fuzz/corpus", "fuzz/artifacts"];
const READ: [&str; 4] = ["rs", "md", "toml", "txt"];

impl Tree {
    /// Reads the repository at `root`.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or `cargo metadata` fails.
    pub fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.walk(root, "")?;
        let mut command = shell::cargo();
        command.args(["metadata", "--no-deps", "--format-version=1"]);
        let metadata = shell::output(command.current_dir(root))?;
        let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata")?;
        tree.packages = packages(root, &metadata);
        Ok(tree)
    }

    fn walk(&mut self, root: &Path, folder: &str) -> Result<()> {
        let entries = fs::read_dir(root.join(folder)).with_context(|| folder.to_owned())?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = join(folder, &name);
            if SKIPPED.contains(&path.as_str()) || name == "target" {
                continue;
            }
            self.paths.insert(path.clone());
            if entry.file_type()?.is_dir() {
                self.walk(root, &path)?;
            } else if READ.contains(&ending(&name)) {
                let bytes = fs::read(entry.path()).with_context(|| path.clone())?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.files.insert(path, text);
            }
        }
        Ok(())
    }

    /// The files with one of these endings.
    pub(super) fn files_ending<'a>(
        &'a self,
        endings: &'a [&'a str],
    ) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        let all = self.files.iter();
        let ours = all.filter(|(path, _)| endings.contains(&ending(path)));
        ours.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub(super) fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files_ending(&["rs"])
    }

    /// The sources under `src/` of a member.
    pub(super) fn sources_of(&self, package: &Package) -> impl Iterator<Item = (&str, &str)> {
        let folder = join(&package.folder, "src/");
        let files = self.rust_files();
        files.filter(move |(path, _)| path.starts_with(&folder))
    }

    /// The manifest of a member, with its path.
    pub(super) fn manifest_of(&self, package: &Package) -> (String, Manifest) {
        let path = join(&package.folder, "Cargo.toml");
        let text = self.files.get(&path).map_or("", String::as_str);
        let manifest = Manifest::parse(text);
        (path, manifest)
    }
}

fn packages(root: &Path, metadata: &Value) -> Vec<Package> {
    list(&metadata["packages"])
        .map(|package| Package {
            name: text(&package["name"]),
            folder: relative(root, &text(&package["manifest_path"]))
                .trim_end_matches("Cargo.toml")
                .trim_end_matches('/')
                .to_owned(),
            dependencies: list(&package["dependencies"])
                .map(|dependency| Dependency {
                    name: text(&dependency["name"]),
                    is_dev: dependency["kind"] == "dev",
                })
                .collect(),
            roots: list(&package["targets"])
                .map(|target| relative(root, &text(&target["src_path"])))
                .collect(),
        })
        .collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn relative(root: &Path, path: &str) -> String {
    let path = Path::new(path);
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_string_lossy().into_owned()
}

pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[cfg(test)]
pub(super) mod fixture {
    //! Trees from literals, for the tests of the checks.

    use super::{Dependency, Package, Tree, join};

    /// A tree of these files, without packages.
    pub(in crate::tidy) fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.files.insert((*path).to_owned(), (*text).to_owned());
            tree.paths.insert((*path).to_owned());
        }
        tree
    }

    /// A member in its usual folder; a dependency that starts with `dev:` is for tests.
    pub(in crate::tidy) fn package(name: &str, dependencies: &[&str]) -> Package {
        let folder = match name {
            "xtask" => name.to_owned(),
            _ => join("crates", name),
        };
        let dependency = |name: &&str| Dependency {
            name: name.trim_start_matches("dev:").to_owned(),
            is_dev: name.starts_with("dev:"),
        };
        Package {
            name: name.to_owned(),
            roots: vec![join(&folder, "src/lib.rs")],
            folder,
            dependencies: dependencies.iter().map(dependency).collect(),
        }
    }

    /// The findings as lines of text.
    pub(in crate::tidy) fn lines(findings: &[super::super::Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_from_metadata() {
        let metadata = serde_json::json!({"packages": [{
            "name": "orlop-cel",
            "manifest_path": "/r/crates/orlop-cel/Cargo.toml",
            "dependencies": [{"name": "a", "kind": null}, {"name": "b", "kind": "dev"}],
            "targets": [{"src_path": "/r/crates/orlop-cel/src/lib.rs"}],
        }]});
        let packages = packages(Path::new("/r"), &metadata);
        assert_eq!(packages[0].folder, "crates/orlop-cel");
        assert_eq!(packages[0].roots, ["crates/orlop-cel/src/lib.rs"]);
        let kinds: Vec<bool> = packages[0].dependencies.iter().map(|d| d.is_dev).collect();
        assert_eq!(kinds, [false, true]);
    }
}
