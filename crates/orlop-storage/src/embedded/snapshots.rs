//! When a snapshot is made, and the thread that makes it.
//!
//! A snapshot is due when the log since the last one is longer than that one was (and long enough
//! at all): the disk then writes each byte about twice in all, and opening reads about as much log
//! as snapshot.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::disk::{Disk, Open};
use super::log::Log;
use super::queue::{Queue, Request};
use super::{names, snapshot};
use crate::state::State;

/// The share of the time that the thread works: writers come first.
const REST_PER_WORK: u32 = 1;
/// How long to wait after a snapshot that failed.
const RETRY: Duration = Duration::from_secs(30);

/// See the module's documentation.
pub(super) struct Snapshots {
    disk: Arc<dyn Disk>,
    log_bytes_min: u64,
    /// The size of the newest snapshot.
    size: u64,
    /// What the log had written when the newest snapshot was begun.
    begun_at: u64,
    retry_at: Option<Instant>,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Snapshots {
    /// The newest snapshot has this size; zero if there is none.
    pub(super) fn new(disk: Arc<dyn Disk>, log_bytes_min: u64, size: u64) -> Self {
        let cancelled = Arc::default();
        Self { disk, log_bytes_min, size, begun_at: 0, retry_at: None, cancelled, thread: None }
    }

    /// Starts a snapshot of `state` if one is due and none is being made.
    pub(super) fn start_if_due(&mut self, log: &Log, state: &State, queue: &Arc<Queue>) {
        let since = log.length() - self.begun_at;
        if self.thread.is_some() || since < self.log_bytes_min.max(self.size) {
            return;
        }
        if self.retry_at.is_some_and(|time| Instant::now() < time) {
            return;
        }
        self.begun_at = log.length();
        let (disk, state, batch) = (self.disk.clone(), state.clone(), log.batch());
        let (queue, cancelled) = (queue.clone(), self.cancelled.clone());
        let work = move || {
            let request = match make(&*disk, &state, batch, &cancelled) {
                Ok(bytes) => Request::SnapshotDone(batch, bytes),
                Err(error) => {
                    tracing::warn!(%error, "no snapshot was made, the log grows until one is");
                    let _ = disk.remove(names::SNAPSHOT_UNFINISHED);
                    Request::SnapshotFailed
                }
            };
            // A closed queue is the end of the store.
            let _ = queue.push(request);
        };
        let spawned = std::thread::Builder::new().name("orlop-snapshot".into()).spawn(work);
        self.thread = Some(spawned.expect("the system has room for one more thread"));
    }

    /// A snapshot is complete.
    pub(super) fn done(&mut self, size: u64) {
        self.size = size;
        self.retry_at = None;
        self.thread = None;
    }

    /// No snapshot was made; another one is tried after a while.
    pub(super) fn failed(&mut self, log: &Log) {
        self.begun_at = log.length().saturating_sub(self.log_bytes_min.max(self.size));
        self.retry_at = Some(Instant::now() + RETRY);
        self.thread = None;
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported where it happened.
            let _ = thread.join();
        }
    }
}

fn make(disk: &dyn Disk, state: &State, batch: u64, cancelled: &AtomicBool) -> io::Result<u64> {
    // What is left of an earlier attempt could be longer than this one.
    if disk.list()?.iter().any(|name| name == names::SNAPSHOT_UNFINISHED) {
        disk.remove(names::SNAPSHOT_UNFINISHED)?;
    }
    let file = disk.open(names::SNAPSHOT_UNFINISHED, Open::Write)?;
    let mut begin = Instant::now();
    let written = snapshot::write(&*file, state, batch, &mut |_, _| {
        if cancelled.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the store is closing"));
        }
        std::thread::sleep(begin.elapsed() * REST_PER_WORK);
        begin = Instant::now();
        Ok(())
    })?;
    disk.rename(names::SNAPSHOT_UNFINISHED, &names::snapshot(batch))?;
    disk.sync_names()?;
    for older in names::snapshots(&disk.list()?).into_iter().filter(|number| *number < batch) {
        disk.remove(&names::snapshot(older))?;
    }
    Ok(written.bytes)
}
