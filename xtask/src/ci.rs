//! `cargo xtask ci`: exactly what CI checks, in its order, cheap steps first.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::summary::{self, Step};
use crate::{fmt, install, shell, test, tidy};

/// A step by its name; returns an exit code.
type NamedStep = (&'static str, fn() -> Result<u8>);

const STEPS: [NamedStep; 6] = [
    ("fmt", || fmt::run(&["--check".to_owned()])),
    ("clippy", || cargo("clippy --workspace --all-targets -- -D warnings")),
    ("tidy", || tidy::run(&[])),
    ("test", || test::run(&[])),
    ("doc", doc),
    ("deny", deny),
];

/// Runs the command.
///
/// # Errors
///
/// On an unknown argument. A failing step is not an error of ours: it is in the table and in
/// the exit code.
pub fn run(arguments: &[String]) -> Result<u8> {
    let keeps_going = match arguments {
        [] => false,
        [argument] if argument == "--keep-going" => true,
        _ => bail!("usage: cargo xtask ci [--keep-going]"),
    };
    let (done, failed) = run_steps(&STEPS, keeps_going);
    println!("\n{}", summary::table(&done));
    Ok(u8::from(failed))
}

fn run_steps(steps: &[NamedStep], keeps_going: bool) -> (Vec<Step>, bool) {
    let mut done = Vec::new();
    let mut failed = false;
    for (name, step) in steps {
        if failed && !keeps_going {
            done.push(finished(name, "not run", Instant::now()));
            continue;
        }
        println!("\n== {name}");
        let start = Instant::now();
        let code = step().unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            1
        });
        failed |= code != 0;
        let outcome = if code == 0 { "ok" } else { "FAILED" };
        done.push(finished(name, outcome, start));
    }
    (done, failed)
}

fn finished(name: &str, outcome: &'static str, start: Instant) -> Step {
    Step { name: name.to_owned(), outcome, took: start.elapsed() }
}

fn cargo(arguments: &str) -> Result<u8> {
    shell::run(shell::cargo().args(arguments.split(' ')))
}

fn doc() -> Result<u8> {
    let mut command = shell::cargo();
    command.args(["doc", "--workspace", "--no-deps"]);
    shell::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn deny() -> Result<u8> {
    install::ensure_cargo_deny()?;
    cargo("deny check bans licenses sources")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keeps_going: bool, expect: &[&str]) {
        let steps: [NamedStep; 3] = [("a", || Ok(0)), ("b", || bail!("no")), ("c", || Ok(0))];
        let (done, failed) = run_steps(&steps, keeps_going);
        let outcomes: Vec<_> = done.iter().map(|step| step.outcome).collect();
        assert_eq!(outcomes, expect);
        assert!(failed);
    }

    #[test]
    fn the_first_failure_stops_the_run_unless_told_otherwise() {
        check(false, &["ok", "FAILED", "not run"]);
        check(true, &["ok", "FAILED", "ok"]);
    }
}
