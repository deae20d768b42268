//! `cargo xtask test`: all tests of the workspace, on a machine that has only Rust.
//!
//! The last line of the output is always `N passed, N failed, N skipped`, summed over all test
//! programs. What breaks outside a test (a missing tool, a build error, a test program that
//! crashes) has no test to its name and counts as one failure, so that the line never reads
//! like success when the exit code says otherwise.

use anyhow::Result;

use crate::{clients, install, shell};

/// Runs the command.
///
/// # Errors
///
/// None that it does not report itself: the closing line must stay the last one.
pub fn run(arguments: &[String]) -> Result<u8> {
    let mut tally = Tally::default();
    let code = match install_and_test(arguments, &mut tally) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            1
        }
    };
    if code != 0 && tally.failed == 0 {
        println!("\nnot a failing test but a failing run: see above; it counts as one failure");
        tally.failed = 1;
    }
    println!("\n{}", tally.closing_line());
    Ok(code)
}

fn install_and_test(arguments: &[String], tally: &mut Tally) -> Result<u8> {
    let mut arguments = arguments.to_vec();
    let given = arguments.len();
    arguments.retain(|argument| argument != "--no-install");
    if arguments.len() == given {
        install::ensure(&[install::C_COMPILER, install::ETCD])?;
        if uses_clients(&arguments) {
            install::ensure(&[install::CURL])?;
            clients::ensure()?;
        }
    }
    let mut cargo = shell::cargo();
    cargo.arg("test");
    if !selects_packages(&arguments) {
        cargo.arg("--workspace");
    }
    cargo.arg("--no-fail-fast").args(&arguments);
    shell::run_watched(&mut cargo, |line| tally.add(line))
}

/// Whether the arguments of cargo select the tests that run clients, which is dear the first time.
fn uses_clients(arguments: &[String]) -> bool {
    !selects_packages(arguments) || arguments.iter().any(|word| word.ends_with("orlop-cli"))
}

/// Whether the arguments of cargo, which end at `--`, name packages themselves.
fn selects_packages(arguments: &[String]) -> bool {
    arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .any(|argument| argument.starts_with("-p") || argument.starts_with("--package"))
}

/// The counts of all test programs so far.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    /// Adds the counts of a `test result:` line; other lines change nothing.
    fn add(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else {
            return;
        };
        for count in counts.split(['.', ';']) {
            let Some((number, what)) = count.trim().split_once(' ') else {
                continue;
            };
            let number: u64 = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.skipped += number,
                _ => {}
            }
        }
    }

    fn closing_line(&self) -> String {
        let Self { passed, failed, skipped } = self;
        format!("{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expect: &str) {
        let mut tally = Tally::default();
        for line in lines {
            tally.add(line);
        }
        assert_eq!(tally.closing_line(), expect);
    }

    #[test]
    fn counts_are_summed_over_test_programs() {
        check(&[], "0 passed, 0 failed, 0 skipped");
        check(
            &[
                "running 3 tests",
                "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out; \
                 finished in 0.01s",
                "test a ... FAILED",
                "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
            ],
            "13 passed, 2 failed, 1 skipped",
        );
    }

    #[test]
    fn package_arguments_replace_the_workspace() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(selects_packages(&words("-p xtask")));
        assert!(selects_packages(&words("--package=xtask")));
        assert!(!selects_packages(&words("--test soak -- -p")));
        assert!(uses_clients(&words("-p orlop-cli")));
        assert!(uses_clients(&words("--test scripts")));
        assert!(!uses_clients(&words("-p xtask")));
    }
}
