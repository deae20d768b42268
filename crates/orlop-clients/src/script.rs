//! Transcripts: commands and the output they must have, as one would type and see them.
//!
//! A transcript is text. A line that starts with `$ ` is a command for `sh`; lines that start
//! with `> ` right below continue it, so here-documents work. What follows, up to the next
//! command, is what it prints on both outputs. Exit codes other than 0 are a last line `[1]`.
//! Lines that start with `#` and empty lines between a `#` line and a command are for the
//! reader. All commands of a transcript run in one folder, against one server; `$FILES` is the
//! folder `files` beside the transcript.
//!
//! What differs from run to run is replaced on both sides (`normalize`). With
//! `UPDATE_SCRIPTS=1` the output in the file is replaced by what came; `ORLOP_CLIENTS_SERVER`
//! says by whose (see [`crate::server`]).

mod normalize;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use self::normalize::Normalizer;
use crate::installed::{Client, Clients};
use crate::server::Server;
use crate::subprocess;

/// How long one command may run.
const COMMAND_LIMIT: Duration = Duration::from_secs(90);

/// Runs a transcript against a server of its own.
///
/// # Errors
/// The server does not start, or the output differs; the error shows where.
///
/// # Panics
/// In continuous integration, if a client is missing that the transcript uses.
pub fn run(path: &Path, orlop: &str, clients: &Clients) -> Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let script = parse(&text);
    if !clients_of(&script).iter().all(|client| clients.find(*client).is_some()) {
        return Ok(());
    }
    let server = Server::start(orlop)?;
    let normalizer = Normalizer::new(server.folder());
    let mut came = String::new();
    for step in &script {
        match step {
            Step::Talk(talk) => came.push_str(talk),
            Step::Command { typed, .. } => {
                came.push_str(typed);
                let mut command = prepare(typed, &server, clients);
                command.env("FILES", path.with_file_name("files"));
                let seen = execute(&mut command, &normalizer);
                came.push_str(&seen.with_context(|| format!("running\n{typed}"))?);
            }
        }
    }
    if came == text {
        return Ok(());
    }
    if is_update() {
        return Ok(std::fs::write(path, came)?);
    }
    bail!("{} differs (- expected, + came):\n{}", path.display(), difference(&text, &came));
}

/// A part of a transcript, with its text as it stands there.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// For the reader.
    Talk(String),
    /// A command: the lines that were typed, and what was seen.
    Command { typed: String, seen: String },
}

fn parse(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_talk = line.starts_with('#') || line == "\n";
        match steps.last_mut() {
            _ if line.starts_with("$ ") => {
                steps.push(Step::Command { typed: line.to_owned(), seen: String::new() });
            }
            Some(Step::Command { typed, seen }) if seen.is_empty() && line.starts_with("> ") => {
                typed.push_str(line);
            }
            Some(Step::Command { seen, .. }) if !line.starts_with('#') => seen.push_str(line),
            Some(Step::Talk(talk)) if is_talk => talk.push_str(line),
            _ => steps.push(Step::Talk(line.to_owned())),
        }
    }
    steps
}

/// The clients that a transcript calls by name.
fn clients_of(script: &[Step]) -> Vec<Client> {
    let is_called = |client: &Client| {
        let name = client.file().rsplit('/').next().unwrap_or_default();
        script.iter().any(|step| match step {
            Step::Command { typed, .. } => typed.split_whitespace().any(|word| word == name),
            Step::Talk(_) => false,
        })
    };
    Client::ALL.into_iter().filter(is_called).collect()
}

/// What was typed, as a command of somebody who has the clients and the server.
fn prepare(typed: &str, server: &Server, clients: &Clients) -> Command {
    let mut command = server.command_of_a_client(Path::new("/bin/sh"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", clients.commands().display());
    command.env("PATH", path).arg("-c").arg(shell_text(typed));
    command
}

/// Runs a command and returns what is seen of it in a transcript.
fn execute(command: &mut Command, normalizer: &Normalizer) -> Result<String> {
    let (status, said) = subprocess::run(command, COMMAND_LIMIT)?;
    let mut seen = normalizer.apply(&said);
    if !seen.is_empty() && !seen.ends_with('\n') {
        seen.push('\n');
    }
    if !status.success() {
        let code = status.code().map_or_else(|| "killed".to_owned(), |code| code.to_string());
        writeln!(seen, "[{code}]")?;
    }
    Ok(seen)
}

/// What was typed, without the prompts.
fn shell_text(typed: &str) -> String {
    let lines = typed.lines().map(|line| line.get(2..).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines that differ, each with the command it belongs to.
fn difference(expected: &str, came: &str) -> String {
    let mut shown = String::new();
    for (expected, came) in parse(expected).iter().zip(&parse(came)) {
        let (Step::Command { typed, seen: expected }, Step::Command { seen: came, .. }) =
            (expected, came)
        else {
            continue;
        };
        if expected == came {
            continue;
        }
        shown.push_str(typed);
        let expected: Vec<&str> = expected.lines().collect();
        let came: Vec<&str> = came.lines().collect();
        let same = expected.iter().zip(&came).take_while(|(a, b)| a == b).count();
        let rest = (&expected[same..], &came[same..]);
        let same_at_end =
            rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(a, b)| a == b).count();
        for line in &rest.0[..rest.0.len() - same_at_end] {
            shown.push_str(&format!("- {line}\n"));
        }
        for line in &rest.1[..rest.1.len() - same_at_end] {
            shown.push_str(&format!("+ {line}\n"));
        }
    }
    shown
}

#[expect(clippy::disallowed_methods, reason = "whoever runs the tests asks for new output")]
pub(crate) fn is_update() -> bool {
    std::env::var("UPDATE_SCRIPTS").is_ok_and(|value| value == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# First.\n\n$ cat <<E\n> a\n> E\na\n\nb\n# Then.\n$ false\n[1]\n";

    #[test]
    fn commands_continue_and_are_followed_by_their_output() {
        let command = |typed: &str, seen: &str| Step::Command {
            typed: typed.to_owned(),
            seen: seen.to_owned(),
        };
        let expect = [
            Step::Talk("# First.\n\n".to_owned()),
            command("$ cat <<E\n> a\n> E\n", "a\n\nb\n"),
            Step::Talk("# Then.\n".to_owned()),
            command("$ false\n", "[1]\n"),
        ];
        assert_eq!(parse(TEXT), expect);
        assert_eq!(shell_text("$ cat <<E\n> a\n> E\n"), "cat <<E\na\nE");
    }

    #[test]
    fn differences_name_their_command() {
        let came = TEXT.replace("\nb\n", "\nc\n");
        assert_eq!(difference(TEXT, &came), "$ cat <<E\n> a\n> E\n- b\n+ c\n");
    }

    #[test]
    fn a_transcript_knows_its_clients() {
        let script = parse("$ kubectl get pods | helm3 kubectl-old\nhelm\n# kubectl-1.20\n");
        assert_eq!(clients_of(&script), [Client::Kubectl, Client::Helm3]);
    }
}
