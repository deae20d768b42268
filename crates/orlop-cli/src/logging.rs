//! Logs: for people on a terminal, as JSON otherwise. Both on standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

/// Starts logging; `ORLOP_LOG` chooses what, `info` without it.
pub(crate) fn start() {
    let filter = EnvFilter::try_from_env("ORLOP_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if io::stderr().is_terminal() {
        logs.with_target(false).init();
    } else {
        logs.json().init();
    }
}
