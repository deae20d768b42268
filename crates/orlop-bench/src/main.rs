//! Benchmarks: each measures ours and a named peer in one run, prints a table with ratios, and ends
//! with one line of JSON that holds all figures.
//!
//! Run them through `cargo xtask bench NAME [--quick]`. They are not tests: nothing here fails
//! because a machine is slow.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a program for the terminal"
)]

mod crd;
mod model;
mod report;
mod server;
mod storage;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

// The allocator of the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(about = "Benchmarks of Orlop against its peers")]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// The store: a bare log, the embedded engine and etcd on the same disk.
    Storage(Options),
    /// The object model: what one object costs, beside serde_json on the same text.
    Model(Options),
    /// The API server under load from outside, beside kube-apiserver with etcd.
    Server(Options),
    /// Custom resources: definitions, their objects and their rules, beside kube-apiserver.
    Crd(Options),
    /// Opens the store in a folder and says what that took: the part of `storage` that needs a
    /// process of its own.
    #[command(hide = true)]
    Open { folder: PathBuf },
}

/// What every benchmark takes.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Options {
    /// Fewer and shorter measurements: under three minutes.
    #[arg(long)]
    quick: bool,
    /// Measure only the parts whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// The folder to measure in; its disk is what is measured.
    #[arg(long, default_value = "target/bench")]
    folder: PathBuf,
    /// Write the figures to this file, too.
    #[arg(long)]
    json: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().bench {
        Bench::Storage(options) => storage::run(&options),
        Bench::Model(options) => model::run(&options),
        Bench::Server(options) => server::run(&options),
        Bench::Crd(options) => crd::run(&options),
        Bench::Open { folder } => storage::open_here(&folder),
    }
}
