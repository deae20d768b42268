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
use super::{background, names, snapshot};
use crate::state::State;

/// The share of the time that the thread works: writers come first.
const REST_PER_WORK: u32 = 2;
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
    /// The snapshot that is being made: the batch it covers, and its size at the end.
    making: Option<(u64, JoinHandle<io::Result<u64>>)>,
}

impl Snapshots {
    /// The newest snapshot has this size; zero if there is none.
    pub(super) fn new(disk: Arc<dyn Disk>, log_bytes_min: u64, size: u64) -> Self {
        let cancelled = Arc::default();
        Self { disk, log_bytes_min, size, begun_at: 0, retry_at: None, cancelled, making: None }
    }

    /// Starts a snapshot of `state` if one is due and none is being made.
    pub(super) fn start_if_due(&mut self, log: &Log, state: &State) {
        let since = log.length() - self.begun_at;
        if self.making.is_some() || since < self.log_bytes_min.max(self.size) {
            return;
        }
        if self.retry_at.is_some_and(|time| Instant::now() < time) {
            return;
        }
        self.begun_at = log.length();
        let (disk, state, batch) = (self.disk.clone(), state.clone(), log.batch());
        let cancelled = self.cancelled.clone();
        let work = move || make(&*disk, &state, batch, &cancelled);
        match background::spawn("orlop-snapshot", work) {
            Ok(thread) => self.making = Some((batch, thread)),
            Err(error) => self.failed(&error, log),
        }
    }

    /// The batch up to which a snapshot has just become durable, if so.
    pub(super) fn finished(&mut self, log: &Log) -> Option<u64> {
        let (batch, thread) = self.making.take_if(|(_, thread)| thread.is_finished())?;
        let made = thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread panicked")));
        match made {
            Ok(size) => {
                self.size = size;
                self.retry_at = None;
                Some(batch)
            }
            Err(error) => {
                self.failed(&error, log);
                None
            }
        }
    }

    /// Another one is tried after a while.
    fn failed(&mut self, error: &io::Error, log: &Log) {
        tracing::warn!(%error, "no snapshot was made, the log grows until one is");
        let _ = self.disk.remove(names::SNAPSHOT_UNFINISHED);
        self.begun_at = log.length().saturating_sub(self.log_bytes_min.max(self.size));
        self.retry_at = Some(Instant::now() + RETRY);
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Some((_, thread)) = self.making.take() {
            // It is cancelled; what it has to say does not matter any more.
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
