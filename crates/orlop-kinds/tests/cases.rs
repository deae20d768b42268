//! The rules of every kind, as text in and text out.
//!
//! `tests/cases/GROUP/KIND.txt` holds the cases of a kind:
//!
//! ```text
//! ### base
//! (an object as YAML; `### base NAME` gives it a name)
//!
//! ### create: what the case shows
//! spec.replicas: -1
//! =>
//! spec.replicas: Invalid value: -1: must be greater than or equal to 0
//! ```
//!
//! A heading is `### ACTION [SUBRESOURCE] [of BASE]: TITLE`. The lines below it change the base:
//! `path: value`, where a path is `spec.containers[0].image` or `metadata.labels["a.b/c"]` and a
//! value is YAML in flow style; `null` takes the field out. A body that starts with `apiVersion:`
//! is a whole object instead. For actions with an old object, the lines before a line `to` change
//! the old one, and those after it then change the new one.
//!
//! | action | what is done with the object | what follows `=>` |
//! |---|---|---|
//! | `create` | defaults, prepare, validate | all errors, or `ok` |
//! | `update` | the same as an update (of a subresource) | all errors, or `ok` |
//! | `default` | defaults | `path: value` or `path: absent` that must then hold |
//! | `prepare` | defaults, prepare for creation | the same |
//! | `prepare-update` | defaults, prepare for update | the same |
//! | `warn`, `warn-update` | defaults, prepare | all warnings, or `none` |
//! | `row` | cells 24 hours after 2026-01-01 | the cells, separated by ` \| ` |
//! | `select` | selectable fields | `field: text` for each |
//!
//! Metadata is checked by the generic rules, as the server does it.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "which files to run is read from the environment")]

#[path = "cases/runner.rs"]
mod runner;

use std::path::Path;

#[test]
fn every_case_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let report = runner::run(&folder);
    println!("{} cases", report.count);
    assert!(report.failures.is_empty(), "\n{}", report.failures.join("\n"));
}
