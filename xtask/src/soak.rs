//! `cargo xtask soak NAME`: tests that run for minutes or hours, by name.
//!
//! A soak test is an ignored test in a test file of its own. It reads how long to run from
//! `ORLOP_SOAK_KILLS` and `ORLOP_SOAK_MINUTES`, which the arguments here set.

use anyhow::{Context, Result, bail};

use crate::install::{self, Tool};
use crate::shell;

/// A soak test: adding one is one line in [`SOAKS`].
struct Soak {
    name: &'static str,
    package: &'static str,
    /// The file under the package's `tests/`, without its ending.
    test: &'static str,
    needs: &'static [Tool],
}

const SOAKS: [Soak; 2] = [
    Soak {
        name: "storage",
        package: "orlop-storage-suite",
        test: "soak",
        needs: &[install::C_COMPILER],
    },
    Soak { name: "apiserver", package: "orlop-cli", test: "soak", needs: &[install::C_COMPILER] },
];

const KILLS_DEFAULT: u32 = 200;

/// Runs the command.
///
/// # Errors
///
/// On an unknown name or a number that is none.
pub fn run(arguments: &[String]) -> Result<u8> {
    let names: Vec<&str> = SOAKS.iter().map(|soak| soak.name).collect();
    let usage = format!(
        "usage: cargo xtask soak NAME [--kills N] [--minutes N] [args]; names: {}",
        names.join(", ")
    );
    let Some((name, rest)) = arguments.split_first() else {
        bail!(usage);
    };
    let soak = SOAKS.iter().find(|soak| soak.name == name).context(usage)?;
    let options = Options::parse(rest)?;
    install::ensure(soak.needs)?;
    let mut command = shell::cargo();
    command.args(["test", "--release", "--package", soak.package]);
    command.args(["--test", soak.test, "--", "--ignored", "--nocapture"]);
    command.args(&options.rest);
    command.env("ORLOP_SOAK_KILLS", options.kills.to_string());
    if let Some(minutes) = options.minutes {
        command.env("ORLOP_SOAK_MINUTES", minutes.to_string());
    }
    shell::run(&mut command)
}

/// The arguments after the name.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    kills: u32,
    minutes: Option<u32>,
    /// What the test program gets.
    rest: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { kills: KILLS_DEFAULT, minutes: None, rest: Vec::new() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut number = || -> Result<u32> {
                let value = words.next().with_context(|| format!("{word} N"))?;
                value.parse().with_context(|| format!("{word} {value}"))
            };
            match word.as_str() {
                "--kills" => options.kills = number()?,
                "--minutes" => options.minutes = Some(number()?),
                _ => options.rest.push(word.clone()),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn numbers_are_taken_and_the_rest_is_passed_on() {
        let options = parse("--kills 7 a --minutes 30 b").unwrap();
        assert_eq!((options.kills, options.minutes), (7, Some(30)));
        assert_eq!(options.rest, ["a", "b"]);
        assert_eq!(parse("").unwrap().kills, KILLS_DEFAULT);
    }

    #[test]
    fn a_missing_or_wrong_number_is_refused() {
        assert!(parse("--kills").is_err());
        assert!(parse("--minutes soon").is_err());
    }
}
