//! The orlop binary: arguments, composition, exit codes.
//!
//! One command = one file. Whatever goes wrong is told in one line on standard error, with the
//! chain of causes, and ends in exit code 1; wrong arguments end in 2. Started under the name
//! `kube-apiserver` the program is `orlop apiserver`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    missing_docs,
    reason = "this is the program that talks to the terminal and reads the environment"
)]

mod apiserver;
mod certificate_files;
mod data_dir;
mod host_address;
mod installation;
mod kubeconfig;
mod logging;
mod private_file;
mod progress;
mod serving;
mod store;
mod system_roots;
mod up;

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use logging::Verbosity;

// Small allocations are the cost of a write.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code of wrong arguments.
const USAGE: u8 = 2;

/// The Kubernetes control plane in one small binary.
#[derive(Parser)]
#[command(name = "orlop", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// The API server of the Kubernetes control plane in one small binary.
#[derive(Parser)]
#[command(name = KUBE_APISERVER, version)]
struct KubeApiserver {
    #[command(flatten)]
    apiserver: apiserver::Apiserver,
}

/// The name under which the program is the API server alone.
const KUBE_APISERVER: &str = "kube-apiserver";

#[derive(Subcommand)]
enum Command {
    Up(Box<up::Up>),
    Apiserver(Box<apiserver::Apiserver>),
    #[command(subcommand)]
    Store(store::Store),
}

fn main() -> ExitCode {
    let command = match parse() {
        Ok(command) => command,
        Err(error) => return refuse(&error),
    };
    logging::start(command.verbosity());
    let done = match command {
        Command::Up(up) => up.run(),
        Command::Apiserver(apiserver) => apiserver.run(),
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

impl Command {
    fn verbosity(&self) -> Verbosity {
        match self {
            Command::Up(up) => up.verbosity,
            Command::Apiserver(apiserver) => apiserver.verbosity,
            Command::Store(_) => Verbosity::default(),
        }
    }
}

fn parse() -> Result<Command, clap::Error> {
    let name = env::args_os().next().unwrap_or_default();
    if Path::new(&name).file_name() == Some(OsStr::new(KUBE_APISERVER)) {
        return Ok(Command::Apiserver(Box::new(KubeApiserver::try_parse()?.apiserver)));
    }
    Ok(Arguments::try_parse()?.command)
}

/// Says what is wrong with the arguments in one line, or prints the help that was asked for.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Nobody there to read the help is no failure.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
    }
    let text = error.to_string();
    let reason: Vec<&str> =
        text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let reason = reason.join(" ");
    eprintln!("orlop: {}", reason.strip_prefix("error: ").unwrap_or(&reason));
    ExitCode::from(USAGE)
}
