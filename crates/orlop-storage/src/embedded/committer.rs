//! The one thread that changes the state.
//!
//! It applies requests to the working state and gathers what they did in a batch. When the log is
//! idle it gets the batch; while the log syncs, the next batch grows. A lonely request is written
//! by the committer itself, which saves it a change of threads.
//!
//! Beside requests it does what else changes the state: ending leases and giving up history, in
//! steps that a writer does not notice.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::batch::{Answer, Batch};
use super::entry;
use super::log_writer::{LogThread, LogWriter};
use super::queue::{LogStatus, Queue, Request, Turn, Wanted};
use crate::hub::Hub;
use crate::retention::Retention;
use crate::state::State;
use crate::{Clock, Error};

/// How many commits are swept out of the history in one round.
const SWEEP_COMMITS: usize = 128;
/// How long the committer sleeps at most.
const IDLE: Duration = Duration::from_millis(200);
/// How long what nobody waits for is put off after the disk was full.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most bytes of a batch, unless a single request is larger.
const BATCH_BYTES: usize = 1 << 20;

/// Everything the committer owns.
pub(super) struct Committer {
    pub(super) queue: Arc<Queue>,
    pub(super) hub: Arc<Hub>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) retention: Retention,
    /// For a lonely request; otherwise the log's thread holds it.
    pub(super) writer: Arc<Mutex<LogWriter>>,
    pub(super) log_thread: LogThread,
    /// The batch that grows, and the working state.
    pub(super) batch: Batch,
    /// Whether the last frame is not known to be followed by another.
    pub(super) unsealed: bool,
    /// When to do again what nobody waits for, after the disk was full.
    pub(super) patient_until: Option<Instant>,
    /// Whether there is more history to sweep out.
    pub(super) sweeping: bool,
    /// Whether some was swept out since the state was last shown.
    pub(super) swept: bool,
}

impl Committer {
    /// Works until the queue is closed; why it stopped before, if it had to.
    pub(super) fn run(mut self) -> Option<String> {
        let mut requests = Vec::new();
        loop {
            let Turn { log, ended } = self.queue.take(&mut requests, &self.wanted());
            let quiet = requests.is_empty();
            let idle = quiet && log == LogStatus::Idle;
            if let LogStatus::Broken(reason) = log {
                self.batch.refuse(|| Error::Stopped { reason: reason.clone() });
                return Some(reason);
            }
            if log == LogStatus::NoSpace {
                self.roll_back();
                if ended && quiet {
                    return None;
                }
            }
            requests.drain(..).for_each(|request| self.serve(request));
            self.look_after_time();
            if idle && self.batch.is_empty() && !self.sweeping && !self.is_patient() {
                if ended && !self.unsealed {
                    return None;
                }
                self.rest();
            }
            if log != LogStatus::Busy {
                self.hand_over();
            }
        }
    }

    fn wanted(&self) -> Wanted {
        let time = match self.batch.state.next_deadline() {
            _ if self.sweeping => Duration::ZERO,
            _ if self.is_patient() => IDLE,
            Some(deadline) => deadline.saturating_sub(self.clock.now()).min(IDLE),
            None => IDLE,
        };
        let room = BATCH_BYTES.saturating_sub(self.batch.frame.payload_length());
        Wanted { time, has_batch: !self.batch.is_empty(), room }
    }

    fn serve(&mut self, request: Request) {
        let Batch { frame, state, commits, answers, .. } = &mut self.batch;
        answers.push(match request {
            Request::Commit(txn, reply) => {
                let outcome = state.apply(&txn).map(|applied| {
                    if let Some(commit) = applied.commit {
                        entry::write_commit(frame, &commit);
                        commits.push(commit);
                    }
                    applied.outcome
                });
                Answer::Commit(reply, outcome)
            }
            Request::Compact(revision, reply) => {
                let done = state.compact(revision);
                if done.is_ok() {
                    entry::write_compacted(frame, revision);
                }
                Answer::Compact(reply, done)
            }
            Request::Grant(lease, reply) => {
                state.grant(lease);
                entry::write_granted(frame, &lease);
                Answer::Grant(reply, Ok(lease.id))
            }
        });
    }

    /// Whether the disk was full a moment ago.
    fn is_patient(&self) -> bool {
        self.patient_until.is_some_and(|time| Instant::now() < time)
    }

    /// Ends leases and gives up history whose time has come.
    fn look_after_time(&mut self) {
        if self.is_patient() {
            return;
        }
        let Batch { frame, state, commits, .. } = &mut self.batch;
        let now = self.clock.now();
        while frame.payload_length() < BATCH_BYTES
            && let Some(lease) = state.overdue(now)
        {
            let commit = state.expire(lease);
            entry::write_ended(frame, lease);
            if let Some(commit) = commit {
                entry::write_commit(frame, &commit);
                commits.push(commit);
            }
        }
        if let Some(revision) = self.retention.due(now, state) {
            state.compact(revision).expect("what is due is in the past");
            entry::write_compacted(frame, revision);
        }
        let swept = state.sweep(SWEEP_COMMITS);
        self.sweeping = swept == SWEEP_COMMITS;
        self.swept |= swept > 0;
    }

    /// Does what can wait until there is nothing else to do: the log is idle, and everything in the
    /// working state is durable.
    fn rest(&mut self) {
        self.batch.is_seal = self.unsealed;
        if std::mem::take(&mut self.swept) {
            self.hub.show(self.batch.state.clone());
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.look_after_snapshots(&self.batch.state);
    }

    /// Gives the batch to the log, which is idle.
    fn hand_over(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let is_seal = self.batch.is_seal;
        if !self.batch.changes_something() && !is_seal {
            // All that was seen is durable, because the log is idle.
            self.batch.answer();
            return;
        }
        if self.batch.answers.len() <= 1 {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let status = writer.write(&mut self.batch);
            drop(writer);
            self.unsealed = !(is_seal && status == LogStatus::Idle);
            self.batch.clear();
            self.queue.set_log(status);
        } else {
            self.unsealed = true;
            let used = self.log_thread.done.try_recv();
            let mut next = used.unwrap_or_else(|_| Batch::new(State::new()));
            next.state = self.batch.state.clone();
            let full = std::mem::replace(&mut self.batch, next);
            self.queue.set_log(LogStatus::Busy);
            // The thread only ends after this one.
            let _ = self.log_thread.batches.send(full);
        }
    }

    /// Takes back what the log had no space for, and what was built on it.
    fn roll_back(&mut self) {
        self.batch.refuse(|| Error::NoSpace);
        self.batch.state = State::clone(&self.hub.state());
        self.batch.clear();
        self.retention.roll_back(self.batch.state.revision());
        self.patient_until = Some(Instant::now() + PATIENCE);
    }
}
