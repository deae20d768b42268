//! `orlop store backup`: the whole store in one file.

use std::path::PathBuf;

use orlop_storage::embedded::maintenance;

use crate::data_dir::DataDir;
use crate::progress::Bar;

/// Writes the whole store to one new file, without writing to the store
#[derive(clap::Args)]
pub(crate) struct Backup {
    #[command(flatten)]
    data_dir: DataDir,
    /// The file to make
    file: PathBuf,
}

impl Backup {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let image = super::load(&self.data_dir)?;
        let bar = Bar::new("writing the backup");
        let bytes = maintenance::backup(&image, &self.file, &|done, all| bar.set(done, all))?;
        drop(bar);
        let (keys, revision) = (image.keys(), image.revision());
        println!("{}: {keys} keys, revision {revision}, {bytes} bytes", self.file.display());
        Ok(())
    }
}
