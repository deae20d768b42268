//! Puts of the embedded engine, at several sizes of the store.

use std::sync::Arc;
use std::time::Instant;

use orlop_storage::Store;

use super::load::{fill, write};
use super::{Bench, WRITERS, open};

/// Measures puts, and how long it takes to fill the store.
pub(crate) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for &keys in bench.key_counts() {
        let folder = bench.folder()?;
        let store: Arc<dyn Store> = Arc::new(open(folder.path())?);
        let begin = Instant::now();
        bench.runtime.block_on(fill(&store, keys))?;
        let rate = keys as f64 / begin.elapsed().as_secs_f64();
        bench.report.add(format!("embedded {keys} keys, filling /s"), rate);
        bench.runtime.block_on(write(&store, keys, 64, bench.warm_up_time()))?;
        for writers in WRITERS {
            let run = bench.runtime.block_on(write(&store, keys, writers, bench.time()))?;
            bench.report.add_run(&format!("embedded {keys} keys, {writers} writers"), &run);
        }
    }
    Ok(())
}
