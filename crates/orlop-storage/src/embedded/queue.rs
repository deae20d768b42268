//! Where writers, the committer and the log meet.
//!
//! Writers push requests. The committer takes them whenever it has something to do, and applies
//! them to its batch while the log syncs the batch before: the more writers there are, the more of
//! them share a sync, and the less time anybody waits.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::state::Lease;
use crate::{Error, LeaseId, Outcome, Revision, Txn};

/// The most requests that may wait.
const REQUESTS_MAX: usize = 16 << 10;
/// The most bytes that may wait.
const BYTES_MAX: usize = 256 << 20;
/// While the log is busy the committer is only woken for this many requests.
const COMPANY: usize = 8;

/// Where an answer goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// Something to do for the committer.
pub(super) enum Request {
    Commit(Txn, Reply<Outcome>),
    Compact(Revision, Reply<()>),
    Grant(Lease, Reply<LeaseId>),
}

impl Request {
    fn size(&self) -> usize {
        match self {
            Self::Commit(txn, _) => txn.size() + 64,
            Self::Compact(..) | Self::Grant(..) => 64,
        }
    }
}

/// What the log is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum LogStatus {
    /// It can take a batch.
    #[default]
    Idle,
    /// It is writing one.
    Busy,
    /// It had no space for the last one, and can take another.
    NoSpace,
    /// It is not to be used any more.
    Broken(String),
}

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    requests: Vec<Request>,
    bytes: usize,
    /// Why nothing is taken any more.
    closed: Option<String>,
    log: LogStatus,
    /// The committer sleeps until this many requests wait.
    wanted: usize,
}

/// What the committer waits for.
pub(super) struct Wanted {
    /// How long to wait at most.
    pub(super) time: Duration,
    /// Whether there is a batch for the log.
    pub(super) has_batch: bool,
    /// How many bytes the batch still takes.
    pub(super) room: usize,
}

/// What the committer finds.
pub(super) struct Turn {
    /// What the log is doing; that it had no space is only told once.
    pub(super) log: LogStatus,
    /// Whether the queue is closed and empty.
    pub(super) ended: bool,
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
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Waits until there is something to do, and moves requests that fit into `requests`.
    pub(super) fn take(&self, requests: &mut Vec<Request>, wanted: &Wanted) -> Turn {
        let mut waiting = self.wait_for_work(wanted);
        let mut bytes = 0;
        let fitting = waiting.requests.iter().take_while(|request| {
            bytes += request.size();
            bytes <= wanted.room || (bytes == request.size() && !wanted.has_batch)
        });
        let count = fitting.count();
        requests.extend(waiting.requests.drain(..count));
        waiting.bytes -= requests.iter().map(Request::size).sum::<usize>();
        let log = waiting.log.clone();
        if log == LogStatus::NoSpace {
            waiting.log = LogStatus::Idle;
        }
        Turn { log, ended: waiting.closed.is_some() && waiting.requests.is_empty() }
    }

    fn wait_for_work(&self, wanted: &Wanted) -> MutexGuard<'_, Waiting> {
        let end = Instant::now() + wanted.time;
        let mut waiting = self.waiting();
        loop {
            let enough = match waiting.log {
                LogStatus::Busy if wanted.room == 0 => usize::MAX,
                LogStatus::Busy => COMPANY,
                LogStatus::Idle if wanted.has_batch => 0,
                LogStatus::Idle => 1,
                LogStatus::NoSpace | LogStatus::Broken(_) => 0,
            };
            let closing = waiting.closed.is_some() && waiting.log != LogStatus::Busy;
            let rest = end.saturating_duration_since(Instant::now());
            if waiting.requests.len() >= enough || closing || rest.is_zero() {
                waiting.wanted = usize::MAX;
                return waiting;
            }
            waiting.wanted = enough;
            let woken = self.changed.wait_timeout(waiting, rest);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Tells the committer what the log is doing.
    pub(super) fn set_log(&self, status: LogStatus) {
        self.waiting().log = status;
        self.changed.notify_one();
    }

    /// Takes nothing any more; what waits is still handed out.
    pub(super) fn close(&self, reason: &str) {
        self.waiting().closed.get_or_insert_with(|| reason.to_string());
        self.changed.notify_one();
    }

    /// Drops what waits: whoever asked is told that there will be no answer.
    pub(super) fn clear(&self) {
        let requests = std::mem::take(&mut self.waiting().requests);
        drop(requests);
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
