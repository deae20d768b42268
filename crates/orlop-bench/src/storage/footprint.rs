//! What the store costs beside time: memory, disk, and the time to open it again.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orlop_storage::{Embedded, HistoryLimits, Store, embedded};

use super::load::{fill, key, write};
use super::{Bench, VALUE_BYTES, open};

const MIB: f64 = (1 << 20) as f64;

/// Measures memory per key, opening, and the longest wait of a writer beside everything that
/// happens in the background.
pub(crate) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for &keys in bench.key_counts() {
        open_again(bench, keys)?;
    }
    pauses(bench)
}

fn open_again(bench: &mut Bench, keys: usize) -> anyhow::Result<()> {
    let folder = bench.folder()?;
    {
        // A snapshot as the server would make it, and a log behind it.
        let mut options = embedded::Options::new(folder.path());
        options.snapshot_log_bytes = (keys * VALUE_BYTES / 2) as u64;
        let store: Arc<dyn Store> = Arc::new(Embedded::open(options)?);
        bench.runtime.block_on(fill(&store, keys))?;
        while !has_snapshot(folder.path())? {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    let disk: u64 = files(folder.path())?.iter().map(|(_, length)| length).sum();
    let output = Command::new(std::env::current_exe()?).arg("open").arg(folder.path()).output()?;
    let opened: Opened = serde_json::from_slice(&output.stdout)?;
    let payload = (keys * VALUE_BYTES) as f64;
    let name = format!("embedded {keys} keys");
    bench.report.add(format!("{name}, opening s"), opened.0);
    bench.report.add(format!("{name}, snapshot MiB"), opened.2 / MIB);
    bench.report.add(format!("{name}, log behind it MiB"), opened.3 / MIB);
    bench.report.add(format!("{name}, disk MiB"), disk as f64 / MIB);
    let extra = (opened.1 - payload) / keys as f64;
    bench.report.add(format!("{name}, memory per key beside the value bytes"), extra);
    let key_bytes = key(0).len() as f64;
    bench.report.add(format!("{name}, of that the key itself bytes"), key_bytes);
    Ok(())
}

/// Seconds, bytes of memory, bytes of snapshot, bytes of log.
type Opened = (f64, f64, f64, f64);

/// Opens a store and prints what that took, in a process that has done nothing else.
pub(crate) fn open_here(folder: &Path) -> anyhow::Result<()> {
    let before = resident()?;
    let begin = Instant::now();
    let store = open(folder)?;
    let took = begin.elapsed().as_secs_f64();
    // What opening needed for a moment goes back to the system.
    std::thread::sleep(Duration::from_secs(1));
    let used = resident()? - before;
    let facts = store.facts();
    let opened: Opened = (took, used as f64, facts.snapshot_bytes as f64, facts.log_bytes as f64);
    println!("{}", serde_json::to_string(&opened)?);
    Ok(())
}

/// Snapshots, compaction and segment changes without a pause for writers.
fn pauses(bench: &mut Bench) -> anyhow::Result<()> {
    let keys = 100_000;
    let folder = bench.folder()?;
    let mut options = embedded::Options::new(folder.path());
    options.segment_bytes = 8 << 20;
    options.snapshot_log_bytes = 64 << 20;
    options.history = HistoryLimits { transactions_max: 20_000, ..HistoryLimits::default() };
    let store: Arc<dyn Store> = Arc::new(Embedded::open(options)?);
    bench.runtime.block_on(fill(&store, keys))?;
    for writers in [1, 8] {
        let run = bench.runtime.block_on(write(&store, keys, writers, bench.time()))?;
        let name = format!("embedded always in a snapshot, {writers} writers");
        bench.report.add_run(&name, &run);
        bench.report.add(format!("{name} p99.9 ms"), run.millis(0.999));
    }
    Ok(())
}

fn has_snapshot(folder: &Path) -> anyhow::Result<bool> {
    Ok(files(folder)?.iter().any(|(name, _)| name.ends_with(".snapshot")))
}

fn files(folder: &Path) -> anyhow::Result<Vec<(String, u64)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        files.push((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len()));
    }
    Ok(files)
}

/// The resident memory of this process in bytes.
fn resident() -> anyhow::Result<u64> {
    let fields = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = fields.split(' ').nth(1).unwrap_or_default().parse()?;
    Ok(pages * rustix::param::page_size() as u64)
}
