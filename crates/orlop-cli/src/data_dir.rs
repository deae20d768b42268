//! Where the data is.

use std::env;
use std::path::PathBuf;

use anyhow::Context;

/// The folder of one installation.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct DataDir {
    /// The folder for everything that is kept [default: orlop in the XDG data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DataDir {
    /// The folder of the store.
    pub(crate) fn store(&self) -> anyhow::Result<PathBuf> {
        Ok(self.path()?.join("store"))
    }

    /// The folder of the installation.
    pub(crate) fn path(&self) -> anyhow::Result<PathBuf> {
        if let Some(path) = &self.data_dir {
            return Ok(path.clone());
        }
        let absolute =
            |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let data =
            absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
        Ok(data.context("neither XDG_DATA_HOME nor HOME is set: name a --data-dir")?.join("orlop"))
    }
}
