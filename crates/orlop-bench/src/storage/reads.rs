//! Reads of the embedded engine, on one core.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use orlop_storage::{At, KeyRange, RangeRequest, Revision, Select, Store};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::load::{fill, key};
use super::{Bench, open};

/// Measures gets, ranges, counts and reads of the past.
pub(crate) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for &keys in bench.key_counts() {
        let folder = bench.folder()?;
        let store: Arc<dyn Store> = Arc::new(open(folder.path())?);
        bench.runtime.block_on(fill(&store, keys))?;
        // A single thread: what one core does.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(measure(bench, &*store, keys))?;
    }
    Ok(())
}

async fn measure(bench: &mut Bench, store: &dyn Store, keys: usize) -> anyhow::Result<()> {
    let mut random = SmallRng::seed_from_u64(1);
    let names: Vec<_> = (0..100_000).map(|_| key(random.random_range(0..keys))).collect();
    let begin = Instant::now();
    let mut count = 0;
    while begin.elapsed() < bench.time() {
        for name in &names {
            black_box(store.get(name, At::Latest).await?.record.expect("it was put"));
        }
        count += names.len();
    }
    let rate = count as f64 / begin.elapsed().as_secs_f64();
    bench.report.add(format!("embedded {keys} keys, gets on one core /s"), rate);
    let newest = store.revision().await?;
    let past = At::Revision(Revision(newest.0 - 100));
    for (name, at) in [("1000 keys", At::Latest), ("1000 keys 100 revisions ago", past)] {
        let mut rounds = 0;
        let begin = Instant::now();
        while begin.elapsed() < bench.time() / 3 {
            let from = &names[rounds % names.len()];
            let range = KeyRange::prefix("/registry/").after(from);
            black_box(store.range(RangeRequest::new(range).limit(1000).at(at)).await?);
            rounds += 1;
        }
        let micros = begin.elapsed().as_secs_f64() * 1e6 / rounds as f64;
        bench.report.add(format!("embedded {keys} keys, range of {name} us"), micros);
    }
    let mut rounds = 0;
    let begin = Instant::now();
    while begin.elapsed() < bench.time() / 3 {
        let request = RangeRequest::new(KeyRange::prefix("/registry/")).select(Select::Count);
        black_box(store.range(request).await?);
        rounds += 1;
    }
    let micros = begin.elapsed().as_secs_f64() * 1e6 / f64::from(rounds);
    bench.report.add(format!("embedded {keys} keys, counting them all us"), micros);
    Ok(())
}
