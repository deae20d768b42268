//! `orlop store restore`: a new store from a backup.

use std::path::PathBuf;

use orlop_storage::embedded::maintenance;

use crate::data_dir::DataDir;
use crate::progress::Bar;

/// Makes a new store from a backup
#[derive(clap::Args)]
pub(crate) struct Restore {
    #[command(flatten)]
    data_dir: DataDir,
    /// The backup
    file: PathBuf,
    /// How many revisions to skip, so that clients which have seen later ones than the backup
    /// start over instead of missing changes; zero keeps the history of the backup
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000_000)]
    bump_revision: u64,
}

impl Restore {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let folder = self.data_dir.store()?;
        let bar = Bar::new("restoring");
        let progress = |done, all| bar.set(done, all);
        let image = maintenance::restore(&self.file, &folder, self.bump_revision, &progress)?;
        drop(bar);
        println!("{}: {} keys, revision {}", folder.display(), image.keys(), image.revision());
        Ok(())
    }
}
