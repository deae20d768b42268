//! `orlop store check`: reads everything and says what is there, or what is damaged.

use crate::data_dir::DataDir;

/// Verifies every byte of the store, without writing
#[derive(clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    data_dir: DataDir,
}

impl Check {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let image = super::load(&self.data_dir)?;
        let facts = image.facts();
        println!("keys            {}", image.keys());
        println!("older versions  {}", image.older_versions());
        println!("leases          {}", image.leases());
        println!("revision        {}", image.revision());
        println!("oldest revision {}", image.compacted());
        println!("snapshot        {} bytes", facts.snapshot_bytes);
        println!("log             {} bytes in {} batches", facts.log_bytes, facts.frames_replayed);
        if let Some((file, offset)) = &facts.torn {
            println!("unfinished      {file} at {offset}: a write that was never acknowledged");
        }
        println!("the store is sound");
        Ok(())
    }
}
