//! `orlop store`: looks after the files of the embedded store.
//!
//! check, dump and backup never write to the store and work beside a running server.

mod backup;
mod check;
mod dump;
mod restore;

use clap::Subcommand;
use orlop_storage::embedded::maintenance::{self, Image};

use crate::data_dir::DataDir;
use crate::progress::Bar;

/// Looks after the files of the embedded store
#[derive(Subcommand)]
pub(crate) enum Store {
    Check(check::Check),
    Dump(dump::Dump),
    Backup(backup::Backup),
    Restore(restore::Restore),
}

impl Store {
    /// Runs the command.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Check(check) => check.run(),
            Self::Dump(dump) => dump.run(),
            Self::Backup(backup) => backup.run(),
            Self::Restore(restore) => restore.run(),
        }
    }
}

/// Reads and verifies the whole store.
fn load(data_dir: &DataDir) -> anyhow::Result<Image> {
    let bar = Bar::new("reading the store");
    Ok(maintenance::load(&data_dir.store()?, &|done, all| bar.set(done, all))?)
}
