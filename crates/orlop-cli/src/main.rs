//! The orlop binary: arguments, composition, exit codes.
//!
//! One command = one file. Whatever goes wrong is told in one line on standard error, with the
//! chain of causes, and ends in exit code 1; wrong arguments end in 2.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    missing_docs,
    reason = "this is the program that talks to the terminal and reads the environment"
)]

mod data_dir;
mod logging;
mod progress;
mod store;
mod up;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

// Small allocations are the cost of a write.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The Kubernetes control plane in one small binary.
#[derive(Parser)]
#[command(name = "orlop", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Up(up::Up),
    #[command(subcommand)]
    Store(store::Store),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    logging::start();
    let done = match arguments.command {
        Command::Up(up) => up.run(),
        Command::Store(store) => store.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orlop: {error:#}");
            ExitCode::FAILURE
        }
    }
}
