//! Client programs: each tries many things and prints one line for each.
//!
//! `ok NAME` is a thing that went well, `FAIL NAME: why` one that did not; anything else is talk.
//! The exit code is not zero if anything failed. A program that tries nothing has failed.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::server::Server;
use crate::subprocess;

/// How long a program may run.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs a program against a server and returns the names of what went well.
///
/// # Errors
/// Something did not go well; the error has all that the program said.
pub fn run(server: &Server, program: &Path, arguments: &[&Path]) -> Result<Vec<String>> {
    let mut command = server.command_of_a_client(program);
    command.args(arguments);
    let (status, said) = subprocess::run(&mut command, LIMIT)?;
    let (went_well, failed) = outcome(&said);
    ensure!(status.success() && failed.is_empty(), "{status}; failed: {failed:?}\n{said}");
    ensure!(!went_well.is_empty(), "nothing was tried:\n{said}");
    Ok(went_well)
}

/// The names of what went well, and of what did not.
fn outcome(said: &str) -> (Vec<String>, Vec<String>) {
    let named = |prefix: &str| -> Vec<String> {
        said.lines().filter_map(|line| line.strip_prefix(prefix)).map(str::to_owned).collect()
    };
    (named("ok "), named("FAIL "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn talk_is_neither_good_nor_bad() {
        let (went_well, failed) = outcome("talk\nok list\nFAIL watch: no event\nok\n");
        assert_eq!(went_well, ["list"]);
        assert_eq!(failed, ["watch: no event"]);
    }
}
