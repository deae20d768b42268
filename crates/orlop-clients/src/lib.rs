//! Clients that nobody here wrote, run against a server as a person would run them.
//!
//! `cargo xtask test` installs the clients ([`installed`] says which and where). A test starts a
//! [`server`] of its own and lets a client loose on it: a program that prints one line per thing
//! it has tried ([`program`]), a transcript of commands with the output they must have
//! ([`script`]), or the definitions that operators publish ([`published`]). The programs lie beside
//! this crate's sources: `go/`, `python/`, `javascript/` and `rust/`; what they assert holds for
//! Kubernetes 1.36 and can be run against it.

pub mod installed;
pub mod program;
pub mod published;
pub mod script;
pub mod server;
mod subprocess;
