//! The durable engine of one process: state in memory, a log and snapshots in one folder.
//!
//! # Guarantees
//! - A write is answered after its frame of the log is synced. No crash loses it, as far as the
//!   device keeps what it has synced.
//! - Opening finds all of it, or says which file is damaged where. Only the last write, if it was
//!   never answered, may be missing.
//! - A failed sync ends the store: [`Embedded::failed`] says why, every later write fails, and the
//!   process should exit. A full disk does not: writes fail with [`Error::NoSpace`] until there is
//!   room.
//! - The folder belongs to one process at a time.
//!
//! # How it works
//! [`Embedded`] puts requests into a queue; one committer thread applies them to the state in
//! batches, writes each batch as one frame, syncs, shows the state and answers. Readers take the
//! shown state and meet nobody. The format of the files is in `docs/storage-format.md`.

mod background;
mod batch;
mod checksum;
mod committer;
pub mod disk;
mod entry;
mod frame;
mod identity;
mod log;
mod log_writer;
pub mod maintenance;
mod names;
mod open_error;
mod options;
mod queue;
mod recover;
mod segments;
mod snapshot;
mod snapshots;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{oneshot, watch};

use self::batch::Batch;
use self::committer::Committer;
use self::disk::{Disk, Folder, Open};
use self::log::Log;
use self::log_writer::{LogThread, LogWriter};
pub use self::open_error::OpenError;
pub use self::options::Options;
use self::queue::{LogStatus, Queue, Reply, Request};
pub use self::recover::{Facts, Progress};
use self::recover::{Recovered, io_error};
use self::snapshots::Snapshots;
use crate::hub::Hub;
use crate::retention::Retention;
use crate::state::{Lease, State};
use crate::{
    At, Clock, Error, Get, LeaseId, Outcome, Range, RangeRequest, Revision, Store, Txn, Watch,
    WatchRequest,
};

/// How many batches may wait to be told to the watchers.
const FAN_OUT_BATCHES: usize = 256;

/// A durable store in one folder. See the module's documentation.
pub struct Embedded {
    hub: Arc<Hub>,
    queue: Arc<Queue>,
    clock: Arc<dyn Clock>,
    facts: Facts,
    /// Why the store has failed.
    failure: watch::Receiver<Option<String>>,
    running: Mutex<Option<Running>>,
}

/// What ends when the store is closed.
struct Running {
    threads: Vec<JoinHandle<()>>,
    lock: Box<dyn Send + Sync>,
}

impl Embedded {
    /// Opens the store, and makes it if the folder is empty. Blocks until it is read.
    ///
    /// # Errors
    /// See [`OpenError`]; nothing is changed then.
    #[expect(clippy::needless_pass_by_value, reason = "options are used up by opening")]
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let disk = match &options.disk {
            Some(disk) => disk.clone(),
            None => folder(&options)?,
        };
        let lock = disk.lock().map_err(|source| match source.kind() {
            std::io::ErrorKind::WouldBlock => OpenError::InUse { folder: disk.describe("") },
            _ => io_error(&*disk, "lock", "", source),
        })?;
        let recovered = recover::recover(&disk, &*options.progress)?;
        let secret = match recovered.secret {
            Some(secret) => secret,
            None => identity::create(&*disk)?,
        };
        clean_up(&*disk, &recovered)?;
        if let Some((file, offset)) = &recovered.facts.torn {
            tracing::warn!(file, offset, "the last write before the stop was not complete");
        }
        Ok(Self::start(&options, disk, lock, secret, recovered))
    }

    fn start(
        options: &Options,
        disk: Arc<dyn Disk>,
        lock: Box<dyn Send + Sync>,
        secret: frame::Secret,
        recovered: Recovered,
    ) -> Self {
        let Recovered { state, end, facts, .. } = recovered;
        let unsealed = !end.sealed;
        let hub = Hub::new(state.clone(), options.watch_buffer_events);
        let queue = Arc::new(Queue::default());
        let (fan_out, fanned) = sync_channel(FAN_OUT_BATCHES);
        let writer = Arc::new(Mutex::new(LogWriter {
            log: Log::new(disk.clone(), secret, options.segment_bytes, end),
            snapshots: Snapshots::new(disk, options.snapshot_log_bytes, facts.snapshot_bytes),
            hub: hub.clone(),
            fan_out,
        }));
        let (batches, written) = sync_channel(1);
        let (give_back, done) = sync_channel(1);
        let committer = Committer {
            queue: queue.clone(),
            hub: hub.clone(),
            clock: options.clock.clone(),
            retention: Retention::new(options.history),
            writer: writer.clone(),
            log_thread: LogThread { batches, done },
            batch: Batch::new(state),
            // The last frame before a crash was served by now.
            unsealed,
            patient_until: None,
            sweeping: false,
            swept: false,
        };
        let logging = {
            let queue = queue.clone();
            spawn("orlop-log", move || write_log(&writer, &queue, &written, &give_back))
        };
        let (failed, failure) = watch::channel(None);
        let committing = {
            let (hub, queue) = (hub.clone(), queue.clone());
            spawn("orlop-commit", move || commit(committer, &hub, &queue, &failed))
        };
        let fanning = {
            let hub = hub.clone();
            spawn("orlop-watch", move || fanned.iter().for_each(|commits| hub.fan_out(&commits)))
        };
        let running = Running { threads: vec![committing, logging, fanning], lock };
        let running = Mutex::new(Some(running));
        Self { hub, queue, clock: options.clock.clone(), facts, failure, running }
    }

    /// What was found when the store was opened.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Waits until the store has failed, and says why. Never returns for a store that is closed.
    pub async fn failed(&self) -> String {
        let mut failure = self.failure.clone();
        loop {
            if let Some(reason) = &*failure.borrow_and_update() {
                return reason.clone();
            }
            if failure.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Finishes what waits, ends every watch and gives the folder back. Blocks until that is done;
    /// dropping the store does the same.
    pub fn close(&self) {
        self.queue.close("it was closed");
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // The folder is given back after the last thread has ended, and not before.
        let Some(Running { threads, lock }) = running.take() else { return };
        for thread in threads {
            // A panic of the thread has been reported where it happened.
            let _ = thread.join();
        }
        drop(lock);
    }

    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.queue.push(request(reply))?;
        answer.await.unwrap_or_else(|_| Err(Error::Stopped { reason: self.reason() }))
    }

    fn reason(&self) -> String {
        self.failure.borrow().clone().unwrap_or_else(|| "it ended before it could answer".into())
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.close();
    }
}

/// The folder of the file system, made if it is not there.
fn folder(options: &Options) -> Result<Arc<dyn Disk>, OpenError> {
    let disk = Folder::new(&options.folder);
    disk.create().map_err(|source| io_error(&disk, "make", "", source))?;
    Ok(Arc::new(disk))
}

/// Makes what was read durable, so that nothing that readers see can still vanish, and removes
/// what an earlier run left unfinished.
fn clean_up(disk: &dyn Disk, recovered: &Recovered) -> Result<(), OpenError> {
    if let Some(last) = recovered.end.used.last() {
        let name = names::segment(last.number);
        let synced = disk.open(&name, Open::Write).and_then(|file| file.sync());
        synced.map_err(|source| io_error(disk, "sync", &name, source))?;
    }
    let sync_names = || disk.sync_names().map_err(|source| io_error(disk, "sync", "", source));
    // What replaces them must be durable before anything is removed.
    sync_names()?;
    let files = disk.list().map_err(|source| io_error(disk, "list", "", source))?;
    let snapshots = names::snapshots(&files);
    let superseded = snapshots.iter().rev().skip(1).map(|batch| names::snapshot(*batch));
    let unfinished = files.iter().filter(|name| name.ends_with(".tmp")).cloned();
    for name in superseded.chain(unfinished) {
        disk.remove(&name).map_err(|source| io_error(disk, "remove", &name, source))?;
    }
    sync_names()
}

/// Writes batches until the committer has ended.
fn write_log(
    writer: &Mutex<LogWriter>,
    queue: &Queue,
    batches: &Receiver<Batch>,
    give_back: &SyncSender<Batch>,
) {
    for mut batch in batches {
        let write = || writer.lock().unwrap_or_else(PoisonError::into_inner).write(&mut batch);
        let written = std::panic::catch_unwind(AssertUnwindSafe(write));
        let status =
            written.unwrap_or_else(|_| LogStatus::Broken("the log's thread panicked".into()));
        queue.set_log(status);
        batch.clear();
        batch.state = State::new();
        // Its memory is used again if the committer has not got other memory by now.
        let _ = give_back.try_send(batch);
    }
}

/// Runs the committer, and ends everything with it.
fn commit(committer: Committer, hub: &Hub, queue: &Queue, failed: &watch::Sender<Option<String>>) {
    let end = std::panic::catch_unwind(AssertUnwindSafe(|| committer.run()));
    let reason = end.unwrap_or_else(|_| Some("the committer panicked".into()));
    if let Some(reason) = &reason {
        tracing::error!(reason, "the store has failed, no write is acknowledged any more");
        failed.send_replace(Some(reason.clone()));
    }
    let reason = reason.unwrap_or_else(|| "it was closed".into());
    queue.close(&reason);
    queue.clear();
    hub.stop(&reason);
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let spawned = std::thread::Builder::new().name(name.into()).spawn(work);
    spawned.expect("the system has room for one more thread")
}

#[async_trait]
impl Store for Embedded {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        self.hub.state().get(key, at)
    }

    async fn range(&self, request: RangeRequest) -> Result<Range, Error> {
        self.hub.state().range(&request)
    }

    async fn commit(&self, txn: Txn) -> Result<Outcome, Error> {
        txn.validate()?;
        self.ask(|reply| Request::Commit(txn, reply)).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error> {
        self.hub.watch(&request).map(Watch::new)
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        self.ask(|reply| Request::Compact(revision, reply)).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error> {
        let lease = Lease::new(ttl, self.clock.now())?;
        self.ask(|reply| Request::Grant(lease, reply)).await
    }

    async fn revision(&self) -> Result<Revision, Error> {
        Ok(self.hub.state().revision())
    }

    async fn health(&self) -> Result<(), Error> {
        match &*self.failure.borrow() {
            Some(reason) => Err(Error::Stopped { reason: reason.clone() }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("revision", &self.hub.state().revision())
            .finish_non_exhaustive()
    }
}
