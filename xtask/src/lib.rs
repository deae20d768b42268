//! The commands of this repository, one module each, so that tests can call what they check.
//!
//! `cargo xtask` lists the commands. Everything CI does is a command here: what passes on a
//! developer's machine passes there. The crate compiles in seconds and stays that way: it has
//! no argument parser, no TOML parser and no Rust parser, only text.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to its user through these"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the developer's environment is this tool's configuration"
)]

pub mod bench;
pub mod ci;
pub mod clients;
pub mod fmt;
pub mod fuzz;
pub mod generate;
pub mod install;
pub mod shell;
pub mod soak;
pub mod summary;
pub mod test;
pub mod tidy;
