//! Writes waiting for the committer.
//!
//! The committer takes everything that waits at once: the more writers there are, the more of them
//! share a sync. After a batch it gives the writers that it has just answered a moment to come
//! back, because a sync for a few is as dear as a sync for all.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::state::Lease;
use crate::{Error, LeaseId, Outcome, Revision, Txn};

/// The most requests that may wait.
const REQUESTS_MAX: usize = 16 << 10;
/// The most bytes that one batch takes, unless a single request is larger.
const BATCH_BYTES: usize = 1 << 20;
/// The most bytes that may wait.
const BYTES_MAX: usize = 256 << 20;

/// Where an answer goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// Something to do for the committer.
pub(super) enum Request {
    Commit(Txn, Reply<Outcome>),
    Compact(Revision, Reply<()>),
    Grant(Lease, Reply<LeaseId>),
    /// A snapshot of the log up to this batch is durable, and so large.
    SnapshotDone(u64, u64),
    /// No snapshot was made.
    SnapshotFailed,
}

impl Request {
    fn size(&self) -> usize {
        match self {
            Self::Commit(txn, _) => txn.size() + 64,
            Self::Compact(..) | Self::Grant(..) => 64,
            Self::SnapshotDone(..) | Self::SnapshotFailed => 0,
        }
    }
}

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    requests: Vec<Request>,
    bytes: usize,
    /// Why nothing is taken any more.
    closed: Option<String>,
    /// The committer sleeps until this many requests wait.
    wanted: usize,
}

/// How long the committer waits for what.
pub(super) struct Patience {
    /// For the first request.
    pub(super) idle: Duration,
    /// How many requests are expected to come soon.
    pub(super) company: usize,
    /// How long to wait for them.
    pub(super) linger: Duration,
}

impl Queue {
    /// Adds a request.
    pub(super) fn push(&self, request: Request) -> Result<(), Error> {
        let mut waiting = self.waiting();
        if let Some(reason) = &waiting.closed {
            return Err(Error::Stopped { reason: reason.clone() });
        }
        let size = request.size();
        if waiting.requests.len() >= REQUESTS_MAX || waiting.bytes + size > BYTES_MAX {
            let reason = format!("{} writes are waiting", waiting.requests.len());
            return Err(Error::Unavailable { reason });
        }
        waiting.bytes += size;
        waiting.requests.push(request);
        let enough = waiting.requests.len() >= waiting.wanted;
        drop(waiting);
        if enough {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Moves the next batch into `batch`, which may stay empty. False once the queue is closed and
    /// empty.
    pub(super) fn take(&self, batch: &mut Vec<Request>, patience: &Patience) -> bool {
        let mut waiting = self.waiting();
        if waiting.requests.is_empty() && waiting.closed.is_none() {
            waiting = self.wait_for(waiting, 1, patience.idle);
        }
        if !waiting.requests.is_empty() && waiting.requests.len() < patience.company {
            waiting = self.wait_for(waiting, patience.company, patience.linger);
        }
        let mut bytes = 0;
        let count = waiting.requests.iter().take_while(|request| {
            let fits = bytes == 0 || bytes + request.size() <= BATCH_BYTES;
            bytes += request.size();
            fits
        });
        let count = count.count();
        batch.extend(waiting.requests.drain(..count));
        waiting.bytes -= batch.iter().map(Request::size).sum::<usize>();
        !(batch.is_empty() && waiting.closed.is_some())
    }

    /// How many requests wait.
    pub(super) fn len(&self) -> usize {
        self.waiting().requests.len()
    }

    /// Takes nothing any more; what waits is still handed out.
    pub(super) fn close(&self, reason: &str) {
        self.waiting().closed.get_or_insert_with(|| reason.to_string());
        self.arrived.notify_one();
    }

    /// Drops what waits: whoever asked is told that there will be no answer.
    pub(super) fn clear(&self) {
        let requests = std::mem::take(&mut self.waiting().requests);
        drop(requests);
    }

    /// Waits until `wanted` requests are there, or `time` is over, or the queue is closed.
    fn wait_for<'a>(
        &self,
        mut waiting: MutexGuard<'a, Waiting>,
        wanted: usize,
        time: Duration,
    ) -> MutexGuard<'a, Waiting> {
        let end = Instant::now() + time;
        waiting.wanted = wanted;
        while waiting.requests.len() < wanted && waiting.closed.is_none() {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            let woken = self.arrived.wait_timeout(waiting, rest);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        waiting.wanted = usize::MAX;
        waiting
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
