//! Starting other programs: which ones, where, and what their end means.
//!
//! Every command of xtask runs in the root of the repository, whatever folder it was called
//! from. Programs that need shell syntax are not started here; see `install`.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the repository: the folder that holds `xtask/`.
///
/// Cargo names xtask's folder when it starts it. The folder it was compiled in is only the second
/// choice: checkouts that share a target folder also share the program.
///
/// # Panics
///
/// Never in a checkout: xtask is a folder of the repository.
#[must_use]
pub fn root() -> PathBuf {
    let compiled_in = || OsString::from(env!("CARGO_MANIFEST_DIR"));
    let mut folder =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(compiled_in));
    assert!(folder.pop(), "xtask is a folder of the repository");
    folder
}

/// A command that runs in the root of the repository.
#[must_use]
pub fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// The cargo that runs xtask, or the one on `PATH` when xtask was started without it.
#[must_use]
pub fn cargo() -> Command {
    program(&std::env::var("CARGO").unwrap_or_else(|_| String::from("cargo")))
}

/// Whether a program of that name can be found on `PATH`.
#[must_use]
pub fn is_on_path(name: &str) -> bool {
    find_on_path(name).is_some()
}

/// The first file of that name on `PATH`.
#[must_use]
pub fn find_on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Shows the command, runs it on our own output, and returns its exit code.
///
/// # Errors
///
/// When the program cannot be started.
pub fn run(command: &mut Command) -> Result<u8> {
    announce(command);
    let status = command.status().with_context(|| cannot_start(command))?;
    Ok(exit_code(status))
}

/// Runs the command silently and returns what it printed.
///
/// # Errors
///
/// When the program cannot be started or fails; the error carries what it said.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| cannot_start(command))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed: {}", describe(command), said.trim());
    }
    String::from_utf8(output.stdout).context("output is not UTF-8")
}

/// Like [`run`], and hands every line of its standard output to `see` after passing it on.
///
/// # Errors
///
/// When the program cannot be started or our own output is closed.
pub fn run_watched(command: &mut Command, mut see: impl FnMut(&str)) -> Result<u8> {
    announce(command);
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| cannot_start(command))?;
    let stdout = child.stdout.take().context("the pipe was just made")?;
    let mut lines = BufReader::new(stdout);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let mut ours = std::io::stdout().lock();
        ours.write_all(&line)?;
        ours.flush()?;
        see(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    Ok(exit_code(child.wait()?))
}

fn announce(command: &Command) {
    eprintln!("$ {}", describe(command));
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`", describe(command))
}

/// The command as one would type it, with the program's folder left out.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let mut words = vec![name.to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// A program that ended by a signal has no code; it counts as a plain failure.
fn exit_code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_of_a_program_is_passed_on() {
        let mut lines = Vec::new();
        let code = run_watched(program("sh").args(["-c", "echo one; exit 7"]), |line| {
            lines.push(line.to_owned());
        });
        assert_eq!(code.unwrap(), 7);
        assert_eq!(lines, ["one"]);
    }

    #[test]
    fn a_failing_program_says_why() {
        let error = output(program("sh").args(["-c", "echo no >&2; exit 1"])).unwrap_err();
        assert!(error.to_string().ends_with("failed: no"), "{error}");
    }

    #[test]
    fn programs_are_searched_on_path() {
        assert!(is_on_path("sh"));
        assert!(!is_on_path("no-program-has-this-name"));
    }
}
