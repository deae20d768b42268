//! `orlop up`: runs the control plane.
//!
//! Today that is its store.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use orlop_storage::{Embedded, KeyRange, Memory, RangeRequest, Select, Store, embedded};
use tokio::signal::unix::{SignalKind, signal};

use crate::data_dir::DataDir;
use crate::progress::Bar;

/// Runs the control plane until it is stopped
#[derive(clap::Args)]
pub(crate) struct Up {
    #[command(flatten)]
    data_dir: DataDir,
    /// Keep everything in memory and lose it at the end
    #[arg(long, conflicts_with = "data_dir")]
    in_memory: bool,
}

impl Up {
    /// Runs until a signal comes or the store fails.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        println!("orlop {}", env!("CARGO_PKG_VERSION"));
        if self.in_memory {
            println!("store  in memory");
            return runtime.block_on(serve(Arc::new(Memory::new())));
        }
        let begin = Instant::now();
        let folder = self.data_dir.store()?;
        let store = Arc::new(open(&folder)?);
        let took = begin.elapsed();
        let count = RangeRequest::new(KeyRange::all()).select(Select::Count);
        let found = runtime.block_on(store.range(count))?;
        let folder = folder.display();
        println!("store  {folder} ({} keys, revision {})", found.count, found.revision);
        println!("ready  after {took:.0?}; stop it with Ctrl-C");
        let end = runtime.block_on(async {
            tokio::select! {
                end = serve(store.clone()) => end,
                reason = store.failed() => Err(anyhow::anyhow!("the store has failed: {reason}")),
            }
        });
        store.close();
        end
    }
}

fn open(folder: &std::path::Path) -> anyhow::Result<Embedded> {
    let bar = Bar::new("reading the store");
    let mut options = embedded::Options::new(folder);
    options.progress = Box::new(move |done, all| bar.set(done, all));
    Ok(Embedded::open(options)?)
}

/// Serves until somebody asks it to stop.
async fn serve(_store: Arc<dyn Store>) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
