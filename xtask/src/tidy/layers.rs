//! Which crate may use which: the layers of ARCHITECTURE.md, kept by a machine.
//!
//! A crate uses crates of lower layers only; crates of one layer never use each other, but for
//! layer 0, which has an order of its own. Crates for development may use everything, and only
//! they and tests may use them. The store is the
//! API server's own: everything else reaches state through the API, as a user with rights.

use super::tree::Package;
use super::{Finding, Tree};

/// The layers, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    /// Pure: no I/O, no clock, no randomness.
    Pure,
    /// The store and the client.
    Transport,
    /// Informers, queues, controllers.
    Runtime,
    /// The parts of the server, and the facade for operators.
    Part,
    /// The command line: the composition root.
    CommandLine,
    /// Not shipped.
    Development,
}

/// Every crate of the workspace has its layer here.
const CRATES: [(&str, Layer); 20] = [
    ("orlop-machinery", Layer::Pure),
    ("orlop-cel", Layer::Pure),
    ("orlop-kinds", Layer::Pure),
    ("orlop-macros", Layer::Pure),
    ("orlop-storage", Layer::Transport),
    ("orlop-client", Layer::Transport),
    ("orlop-runtime", Layer::Runtime),
    ("orlop-apiserver", Layer::Part),
    ("orlop-controllers", Layer::Part),
    ("orlop-scheduler", Layer::Part),
    ("orlop-node", Layer::Part),
    ("orlop-console", Layer::Part),
    ("orlop", Layer::Part),
    ("orlop-cli", Layer::CommandLine),
    ("orlop-testkit", Layer::Development),
    ("orlop-storage-suite", Layer::Development),
    ("orlop-apiserver-suite", Layer::Development),
    ("orlop-bench", Layer::Development),
    ("orlop-clients", Layer::Development),
    ("xtask", Layer::Development),
];

/// Inside layer 0, a crate may use those before it.
const PURE_ORDER: [&str; 4] = ["orlop-macros", "orlop-machinery", "orlop-cel", "orlop-kinds"];

const STORAGE: &str = "orlop-storage";
/// Besides crates for development.
const STORAGE_USERS: [&str; 2] = ["orlop-apiserver", "orlop-cli"];

/// The layer of a crate, when it is one of ours.
pub(super) fn layer(name: &str) -> Option<Layer> {
    let known = CRATES.iter().find(|(known, _)| *known == name);
    known.map(|(_, layer)| *layer)
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let is_ours = |name: &str| tree.packages.iter().any(|package| package.name == name);
    let mut findings = Vec::new();
    for package in &tree.packages {
        let (path, manifest) = tree.manifest_of(package);
        let Some(user) = layer(&package.name) else {
            let message = "unknown crate: give it a layer in xtask/src/tidy/layers.rs";
            findings.push(Finding::new(&path, 1, message));
            continue;
        };
        findings.extend(check_folder(package, &path));
        for used in package.dependencies.iter().filter(|used| is_ours(&used.name)) {
            if let Some(message) = violation((&package.name, user), &used.name, used.is_dev) {
                findings.push(Finding::new(&path, manifest.line_of(&used.name), message));
            }
        }
    }
    findings
}

fn check_folder(package: &Package, path: &str) -> Option<Finding> {
    let folder = package.folder.strip_prefix("crates/")?;
    let message = format!("crate {} is in folder {folder}: name them alike", package.name);
    (folder != package.name).then(|| Finding::new(path, 1, message))
}

/// What is wrong with `user` depending on `used`, if anything.
fn violation((user, layer_of_user): (&str, Layer), used: &str, is_dev: bool) -> Option<String> {
    let layer_of_used = layer(used)?;
    if layer_of_user == Layer::Development {
        return None;
    }
    if layer_of_used == Layer::Development {
        let message = format!("{used} is for development: only [dev-dependencies] may name it");
        return (!is_dev).then_some(message);
    }
    if used == STORAGE && !STORAGE_USERS.contains(&user) {
        let users = STORAGE_USERS.join(" and ");
        return Some(format!("only {users} use {STORAGE}: go through the API"));
    }
    match layer_of_used.cmp(&layer_of_user) {
        std::cmp::Ordering::Less => None,
        std::cmp::Ordering::Equal if is_below_in_layer_0(used, user) => None,
        std::cmp::Ordering::Equal => Some(format!("{used} is a sibling of {user}")),
        std::cmp::Ordering::Greater => Some(format!("{used} is in a layer above {user}")),
    }
}

fn is_below_in_layer_0(used: &str, user: &str) -> bool {
    let place = |name| PURE_ORDER.iter().position(|known| *known == name);
    place(used).zip(place(user)).is_some_and(|(used, user)| used < user)
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::{lines, package, tree};
    use super::*;

    /// Checks one crate with its dependencies among one crate of each layer.
    fn check_one(name: &str, dependencies: &[&str], expect: &[&str]) {
        let mut tree = tree(&[]);
        tree.packages = CRATES
            .iter()
            .filter(|(known, _)| *known != name)
            .map(|(known, _)| package(known, &[]))
            .collect();
        tree.packages.push(package(name, dependencies));
        assert_eq!(lines(&check(&tree)), expect, "{name} -> {dependencies:?}");
    }

    #[test]
    fn lower_layers_may_be_used() {
        check_one("orlop-runtime", &["orlop-client", "orlop-kinds", "tokio"], &[]);
        check_one("orlop-apiserver", &["orlop-storage"], &[]);
        check_one("orlop-cli", &["orlop-storage", "orlop-apiserver"], &[]);
    }

    #[test]
    fn siblings_and_higher_layers_may_not() {
        let sibling = "crates/orlop-node/Cargo.toml:1: orlop-scheduler is a sibling of orlop-node";
        check_one("orlop-node", &["orlop-scheduler"], &[sibling]);
        let above = "crates/orlop-cel/Cargo.toml:1: orlop-client is in a layer above orlop-cel";
        check_one("orlop-cel", &["orlop-client"], &[above]);
        check_one("orlop-cel", &["dev:orlop-client"], &[above]);
    }

    #[test]
    fn layer_0_has_an_order() {
        check_one("orlop-kinds", &["orlop-machinery"], &[]);
        let message = "crates/orlop-machinery/Cargo.toml:1: \
             orlop-kinds is a sibling of orlop-machinery";
        check_one("orlop-machinery", &["orlop-kinds"], &[message]);
    }

    #[test]
    fn the_store_belongs_to_the_api_server() {
        let message = "crates/orlop-node/Cargo.toml:1: \
             only orlop-apiserver and orlop-cli use orlop-storage: go through the API";
        check_one("orlop-node", &["orlop-storage"], &[message]);
        check_one("orlop-bench", &["orlop-storage"], &[]);
    }

    #[test]
    fn crates_for_development_are_for_tests() {
        let message = "crates/orlop-node/Cargo.toml:1: \
             orlop-testkit is for development: only [dev-dependencies] may name it";
        check_one("orlop-node", &["orlop-testkit"], &[message]);
        check_one("orlop-node", &["dev:orlop-testkit"], &[]);
        check_one("orlop-testkit", &["orlop-storage-suite"], &[]);
    }

    #[test]
    fn unknown_crates_and_wrong_folders_are_reported() {
        let message = "crates/orlop-new/Cargo.toml:1: \
             unknown crate: give it a layer in xtask/src/tidy/layers.rs";
        check_one("orlop-new", &[], &[message]);
        let mut tree = tree(&[]);
        tree.packages.push(package("orlop-cel", &[]));
        tree.packages[0].folder = "crates/cel".to_owned();
        assert_eq!(check(&tree).len(), 1);
    }
}
