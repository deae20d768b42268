//! Entry of `cargo xtask`: finds the command by its name and runs it.
//!
//! Adding a command is one module in the library and one line in [`COMMANDS`].

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to its user through these"
)]
#![allow(clippy::disallowed_methods, reason = "this is where the arguments are read")]

use std::process::ExitCode;

use anyhow::Result;
use xtask::{bench, ci, fmt, fuzz, generate, soak, test, tidy};

/// One command of the tool.
struct Command {
    /// The word after `cargo xtask`.
    name: &'static str,
    /// Its arguments, as the list of commands shows them.
    arguments: &'static str,
    /// What it does, in one line.
    summary: &'static str,
    /// Takes the arguments after the name and returns the exit code.
    run: fn(&[String]) -> Result<u8>,
}

const COMMANDS: [Command; 8] = [
    Command {
        name: "test",
        arguments: "[--no-install] [cargo test args]",
        summary: "install what the tests need and run all of them",
        run: test::run,
    },
    Command {
        name: "tidy",
        arguments: "[--list]",
        summary: "check the rules that the compiler does not",
        run: tidy::run,
    },
    Command {
        name: "fmt",
        arguments: "[--check]",
        summary: "format every file, those that macros declare too",
        run: fmt::run,
    },
    Command {
        name: "ci",
        arguments: "[--keep-going]",
        summary: "everything that CI checks, in its order",
        run: ci::run,
    },
    Command {
        name: "fuzz",
        arguments: "[TARGET] [--seconds N]",
        summary: "build and run the fuzz targets on stable Rust",
        run: fuzz::run,
    },
    Command {
        name: "gen",
        arguments: "[--check] [SHARED_DIR]",
        summary: "write the table of built-in kinds from facts about the API",
        run: generate::run,
    },
    Command {
        name: "bench",
        arguments: "NAME [--quick] [args]",
        summary: "run a benchmark in release mode",
        run: bench::run,
    },
    Command {
        name: "soak",
        arguments: "NAME [--kills N] [--minutes N] [args]",
        summary: "run a long test that the normal run leaves out",
        run: soak::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = arguments.first() else {
        print_commands();
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "--help" | "-h" | "help") {
        print_commands();
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("error: there is no command `{name}`; `cargo xtask` lists them");
        return ExitCode::from(2);
    };
    match (command.run)(&arguments[1..]) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print_commands() {
    println!("Usage: cargo xtask COMMAND [arguments]\n");
    for command in &COMMANDS {
        let usage = format!("{} {}", command.name, command.arguments);
        println!("  {usage:<44} {}", command.summary);
    }
}
