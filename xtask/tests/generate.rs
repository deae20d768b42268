//! The table of built-in kinds is what the facts give.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "where the facts lie may be said by the environment")]

use std::env;
use std::path::PathBuf;

use xtask::{generate, shell};

#[test]
fn the_table_is_what_the_facts_give() {
    let beside = shell::root().join("../shared");
    let shared = env::var_os("ORLOP_SHARED").map_or(beside, PathBuf::from);
    if !shared.is_dir() {
        println!("skipped: there are no recorded facts in {}", shared.display());
        return;
    }
    let folder = shared.to_str().unwrap().to_owned();
    assert_eq!(generate::run(&["--check".to_owned(), folder]).unwrap(), 0);
}
