//! The conformance files of the language (cel-spec, `tests/simple/testdata`), one test each.
//!
//! They lie beside the repository, in `../shared/data/cel-spec`; without them the tests say that
//! they skip. What is left out stands in `conformance/excluded.rs` with its reason, and must fail:
//! a case that would pass does not stay in the list.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "where the files lie may be said by the environment")]

#[path = "conformance/case.rs"]
mod case;
#[path = "conformance/excluded.rs"]
mod excluded;
#[path = "conformance/runner.rs"]
mod runner;
#[path = "conformance/text_format.rs"]
mod text_format;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, panic};

use case::{Case, read_cases};
use excluded::{EXCLUDED, find_exclusion};
use orlop_cel::function::Library;
use orlop_cel::library;

/// All that Kubernetes has, and what cel-go has beside it.
fn libraries() -> Vec<&'static Library> {
    [library::KUBERNETES, library::EXTENSIONS].concat()
}

macro_rules! files {
    ($($file:ident)*) => {
        /// The files that there are tests for.
        const FILES: &[&str] = &[$(stringify!($file)),*];

        $(#[test]
        fn $file() {
            check(stringify!($file));
        })*
    };
}

files! {
    basic bindings_ext block_ext comparisons conversions dynamic encoders_ext enums fields
    fp_math integer_math lists logic macros macros2 math_ext namespace network_ext
    optionals parse plumbing proto2 proto2_ext proto3 string string_ext timestamps
    type_deduction unknowns wrappers
}

#[test]
fn every_file_has_a_test() {
    let Some(folder) = folder() else { return };
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(FILES.contains(&name), "{name} has no test");
    }
}

fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = env::var_os("ORLOP_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("data/cel-spec");
    if !folder.is_dir() {
        println!("skipped: there are no conformance files in {}", folder.display());
        return None;
    }
    Some(folder)
}

/// Runs the cases of a file and shows all that are not as they should be.
fn check(file: &str) {
    let Some(folder) = folder() else { return };
    let text = fs::read_to_string(folder.join(file).with_extension("textproto")).unwrap();
    let cases = read_cases(file, &text);
    let mut wrong = String::new();
    let (mut failed, mut left_out) = (0, 0);
    for case in &cases {
        let outcome = panic::catch_unwind(|| runner::run(case, &libraries()));
        let outcome = outcome.unwrap_or_else(|_| Err("panics".to_owned()));
        let exclusion = find_exclusion(case);
        left_out += usize::from(exclusion.is_some() && outcome.is_err());
        let what = match (outcome, exclusion) {
            // Some of a kind pass all the same.
            (Ok(()), _) | (Err(_), Some(_)) => continue,
            (Err(what), None) => what,
        };
        failed += 1;
        let Case { section, name, expression, .. } = case;
        let _ = writeln!(wrong, "{file}/{section}/{name}: {expression}\n    {what}");
    }
    for exclusion in EXCLUDED.iter().filter(|exclusion| exclusion.file == file) {
        if !cases.iter().any(|case| exclusion.is_about(case)) {
            failed += 1;
            let _ = writeln!(wrong, "{exclusion:?} is about no case");
        }
    }
    println!("{file}: {} cases, {left_out} left out", cases.len());
    assert!(failed == 0, "{failed} of {} cases are not as they should be:\n{wrong}", cases.len());
}
