//! Watchers: a thousand of them on one range.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use orlop_storage::{Delivery, KeyRange, Store, WatchEnd, WatchRequest};

use super::load::{fill, write};
use super::{Bench, open};

const WATCHERS: usize = 1000;
const KEYS: usize = 10_000;

/// Measures how many events all watchers together are given while 64 writers write.
pub(crate) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let folder = bench.folder()?;
    let store: Arc<dyn Store> = Arc::new(open(folder.path())?);
    bench.runtime.block_on(fill(&store, KEYS))?;
    let delivered = Arc::new(AtomicU64::new(0));
    let lagged = Arc::new(AtomicU64::new(0));
    let watchers: Vec<_> = (0..WATCHERS)
        .map(|_| {
            let (store, delivered, lagged) = (store.clone(), delivered.clone(), lagged.clone());
            bench.runtime.spawn(watch(store, delivered, lagged))
        })
        .collect();
    let begin = Instant::now();
    let run = bench.runtime.block_on(write(&store, KEYS, 64, bench.time()))?;
    let rate = delivered.load(Ordering::Relaxed) as f64 / begin.elapsed().as_secs_f64();
    watchers.iter().for_each(|watcher| watcher.abort());
    bench.report.add(format!("embedded {WATCHERS} watchers, events in all /s"), rate);
    bench.report.add_run(&format!("embedded {WATCHERS} watchers, 64 writers"), &run);
    let cut = lagged.load(Ordering::Relaxed) as f64;
    bench.report.add(format!("embedded {WATCHERS} watchers, cut off and resumed"), cut);
    Ok(())
}

/// Counts events; whoever is cut off resumes.
async fn watch(store: Arc<dyn Store>, delivered: Arc<AtomicU64>, lagged: Arc<AtomicU64>) {
    let mut request = WatchRequest::new(KeyRange::prefix("/registry/"));
    loop {
        let mut watch = store.watch(request.clone()).await.expect("history is kept long enough");
        loop {
            match watch.next().await {
                Ok(Delivery::Events(events)) => {
                    delivered.fetch_add(events.len() as u64, Ordering::Relaxed);
                }
                Ok(Delivery::Progress(_)) => {}
                Err(WatchEnd::Lagged { resume_after }) => {
                    lagged.fetch_add(1, Ordering::Relaxed);
                    request = request.after(resume_after);
                    break;
                }
                Err(end) => panic!("{end}"),
            }
        }
    }
}
