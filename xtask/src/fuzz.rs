//! `cargo xtask fuzz`: coverage-guided fuzzing on stable Rust.
//!
//! Each `[[bin]]` of `fuzz/Cargo.toml` is a target. The compiler's own coverage pass is asked
//! for by hand, because cargo-fuzz wants a nightly compiler. The build names its target triple
//! so that build scripts and macros are not instrumented. There is no address sanitizer: the
//! workspace forbids unsafe code, and what fuzzing looks for here is panics, overflows, hangs
//! and memory without bound.
//!
//! Comparisons with a constant number are seen and solved; comparisons with a constant string are
//! calls that are not seen, so a target with magic words lists them in
//! `fuzz/dictionaries/TARGET.txt`, one `"word"` per line.
//!
//! What a run learns stays in `fuzz/corpus/TARGET`; an input that crashes is written to
//! `fuzz/artifacts/TARGET` and runs again by naming the file after the target's program.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::summary::{self, Step};
use crate::{install, shell};

const RUSTFLAGS: &str = "\
    -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing \
    -Ccodegen-units=1 \
    -Clink-dead-code";

const SECONDS_DEFAULT: u32 = 60;
const MEMORY_MIB_MAX: u32 = 2048;
/// One input that takes longer is reported like a crash.
const INPUT_SECONDS_MAX: u32 = 10;

/// Runs the command.
///
/// # Errors
///
/// When there is no such target or the build fails. A crash is not an error of ours: it is in
/// the table and in the exit code.
pub fn run(arguments: &[String]) -> Result<u8> {
    run_in(&shell::root().join("fuzz"), arguments)
}

/// The same for the fuzz package in `folder`.
fn run_in(folder: &Path, arguments: &[String]) -> Result<u8> {
    let options = Options::parse(arguments)?;
    let targets = options.select(targets(&metadata(folder)?))?;
    install::ensure(&[install::C_COMPILER, install::CXX_COMPILER])?;
    let triple = host_triple()?;
    let mut steps = Vec::new();
    for target in &targets {
        build(folder, &triple, target)?;
    }
    for target in targets {
        let start = Instant::now();
        let code = fuzz(folder, &triple, &target, options.seconds)?;
        steps.push(Step {
            name: target,
            outcome: if code == 0 { "ok" } else { "CRASHED" },
            took: start.elapsed(),
        });
    }
    println!("\n{}", summary::table(&steps));
    Ok(u8::from(steps.iter().any(|step| step.outcome != "ok")))
}

fn metadata(folder: &Path) -> Result<Value> {
    let mut command = shell::cargo();
    command.args(["metadata", "--no-deps", "--format-version=1"]);
    command.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    serde_json::from_str(&shell::output(&mut command)?).context("cargo metadata")
}

/// The names of all binaries, sorted.
fn targets(metadata: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut names: Vec<String> = list(&metadata["packages"])
        .iter()
        .flat_map(|package| list(&package["targets"]))
        .filter(|target| list(&target["kind"]).contains(&Value::from("bin")))
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn host_triple() -> Result<String> {
    let version = shell::output(shell::program("rustc").arg("-vV"))?;
    let triple = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(triple.context("rustc does not name its host")?.to_owned())
}

fn build(folder: &Path, triple: &str, target: &str) -> Result<()> {
    let mut command = shell::cargo();
    command.args(["build", "--release", "--target", triple, "--bin", target]);
    command.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    command.arg("--target-dir").arg(folder.join("target"));
    // Flags from the caller's environment would take the place of ours.
    command.env_remove("CARGO_ENCODED_RUSTFLAGS");
    if shell::run(command.env("RUSTFLAGS", RUSTFLAGS))? != 0 {
        bail!("building fuzz target {target} failed");
    }
    Ok(())
}

fn fuzz(folder: &Path, triple: &str, target: &str, seconds: u32) -> Result<u8> {
    let corpus = folder.join("corpus").join(target);
    let artifacts = folder.join("artifacts").join(target);
    for folder in [&corpus, &artifacts] {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let program = folder.join("target").join(triple).join("release").join(target);
    let mut command = shell::program(&program.to_string_lossy());
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
        .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(corpus);
    let dictionary = folder.join("dictionaries").join(format!("{target}.txt"));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    shell::run(&mut command)
}

/// The arguments of the command.
#[derive(Debug)]
struct Options {
    /// All targets when none is named.
    target: Option<String>,
    seconds: u32,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { target: None, seconds: SECONDS_DEFAULT };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--seconds" => {
                    let value = words.next().context("--seconds N")?;
                    options.seconds =
                        value.parse().with_context(|| format!("--seconds {value}"))?;
                }
                name if !name.starts_with('-') && options.target.is_none() => {
                    options.target = Some(name.to_owned());
                }
                _ => bail!("usage: cargo xtask fuzz [TARGET] [--seconds N]"),
            }
        }
        Ok(options)
    }

    /// The chosen targets among all.
    fn select(&self, all: Vec<String>) -> Result<Vec<String>> {
        if all.is_empty() {
            bail!("no [[bin]] in fuzz/Cargo.toml: there is nothing to fuzz");
        }
        match &self.target {
            None => Ok(all),
            Some(name) if all.contains(name) => Ok(vec![name.clone()]),
            Some(name) => bail!("no target `{name}`; there are: {}", all.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(line: &str) -> Result<(Vec<String>, u32)> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = Options::parse(&words)?;
        let all = vec!["frame".to_owned(), "patch".to_owned()];
        Ok((options.select(all)?, options.seconds))
    }

    #[test]
    fn one_target_or_all_for_the_given_time() {
        assert_eq!(chosen("").unwrap().0, ["frame", "patch"]);
        assert_eq!(chosen("").unwrap().1, SECONDS_DEFAULT);
        let (targets, seconds) = chosen("patch --seconds 5").unwrap();
        assert_eq!((targets.as_slice(), seconds), (&["patch".to_owned()][..], 5));
        assert!(chosen("none").is_err());
        assert!(chosen("--second 5").is_err());
    }

    #[test]
    fn only_binaries_are_targets() {
        let metadata = serde_json::json!({"packages": [{"targets": [
            {"name": "z", "kind": ["bin"]},
            {"name": "shared", "kind": ["lib"]},
            {"name": "a", "kind": ["bin"]},
        ]}]});
        assert_eq!(targets(&metadata), ["a", "z"]);
    }
}
