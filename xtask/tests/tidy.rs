//! The rules of `cargo xtask tidy` hold in the tree that the tests run on.

use xtask::{shell, tidy};

#[test]
fn the_tree_is_tidy() {
    let findings = tidy::findings(&shell::root()).unwrap();
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}
