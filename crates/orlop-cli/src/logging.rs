//! Logs: for people on a terminal, as JSON otherwise. Both on standard error.
//!
//! Libraries that we use write headers and frames at their lower levels, tokens among them: of
//! those nothing below `info` gets out, whatever is asked for.

use std::io::{self, IsTerminal};

use tracing::{Level, Metadata};
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// How much is logged.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct Verbosity {
    /// How much to log: up to 2 what an operator needs, up to 5 details, above that everything
    #[arg(short = 'v', long = "v", value_name = "LEVEL", default_value_t = 0)]
    verbosity: u8,
}

/// Starts logging; `ORLOP_LOG` chooses what, the verbosity without it.
pub(crate) fn start(verbosity: Verbosity) {
    let level = match verbosity.verbosity {
        0..=2 => "info",
        3..=5 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("ORLOP_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = if io::stderr().is_terminal() {
        lines.with_target(false).boxed()
    } else {
        lines.json().boxed()
    };
    tracing_subscriber::registry().with(filter).with(filter_fn(may_be_told)).with(lines).init();
}

fn may_be_told(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= Level::INFO || metadata.target().starts_with("orlop")
}
