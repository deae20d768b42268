//! The one thread that writes.
//!
//! Each round: take all waiting requests, apply them to the working state, write one frame, sync
//! once, show the state, answer. Nothing is answered before it is durable, not even a conflict,
//! because a conflict too tells of records that may be in the same batch.
//!
//! Between batches it does what else changes the state: ending leases, giving up history, starting
//! snapshots. All of it in steps that a writer does not notice.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::entry;
use super::frame::FrameBuffer;
use super::log::{AppendError, Log};
use super::queue::{Patience, Queue, Reply, Request};
use super::snapshots::Snapshots;
use crate::hub::Hub;
use crate::retention::Retention;
use crate::state::{Commit, State};
use crate::{Clock, Error, LeaseId, Outcome};

/// How many commits are swept out of the history in one round.
const SWEEP_COMMITS: usize = 256;
/// How long the committer sleeps at most.
const IDLE: Duration = Duration::from_millis(200);
/// The longest wait for company.
const LINGER_MAX: Duration = Duration::from_micros(300);

/// Everything the committer owns.
pub(super) struct Committer {
    pub(super) queue: Arc<Queue>,
    pub(super) hub: Arc<Hub>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) log: Log,
    pub(super) snapshots: Snapshots,
    pub(super) retention: Retention,
    /// The state with everything that was ever answered; between rounds it is the shown one.
    pub(super) state: State,
    pub(super) frame: FrameBuffer,
    /// Where commits go to be told to the watchers.
    pub(super) fan_out: SyncSender<Vec<Commit>>,
    /// Whether the last frame is not known to be followed by another.
    pub(super) unsealed: bool,
    /// Whether there is more history to sweep out.
    pub(super) sweeping: bool,
    /// How many writers there seem to be.
    pub(super) company: usize,
    /// How long a sync takes, smoothed.
    pub(super) sync_time: Duration,
}

/// Answers that wait for the sync.
enum Answer {
    Commit(Reply<Outcome>, Result<Outcome, Error>),
    Compact(Reply<()>, Result<(), Error>),
    Grant(Reply<LeaseId>, Result<LeaseId, Error>),
}

/// What a batch has done to the working state.
#[derive(Default)]
struct Batch {
    answers: Vec<Answer>,
    commits: Vec<Commit>,
}

impl Committer {
    /// Works until the queue is closed; why it stopped before, if it had to.
    pub(super) fn run(mut self) -> Option<String> {
        let mut requests = Vec::new();
        loop {
            let linger = (self.sync_time / 2).min(LINGER_MAX);
            let patience = Patience { idle: self.idle(), company: self.company, linger };
            let open = self.queue.take(&mut requests, &patience);
            let idle = requests.is_empty();
            let done = match self.round(&mut requests) {
                Ok(()) if idle => self.seal(),
                done => done,
            };
            if let Err(reason) = done {
                return Some(reason);
            }
            if !open {
                return self.seal().err();
            }
        }
    }

    /// How long there is nothing to do unless a request comes.
    fn idle(&self) -> Duration {
        if self.sweeping {
            return Duration::ZERO;
        }
        let now = self.clock.now();
        match self.state.next_deadline() {
            Some(deadline) => deadline.saturating_sub(now).min(IDLE),
            None => IDLE,
        }
    }

    /// One batch, from the requests to their answers.
    fn round(&mut self, requests: &mut Vec<Request>) -> Result<(), String> {
        self.frame.clear();
        let mut batch = Batch::default();
        for request in requests.drain(..) {
            self.serve(request, &mut batch);
        }
        self.look_after_time(&mut batch);
        let swept = self.state.sweep(SWEEP_COMMITS);
        self.sweeping = swept == SWEEP_COMMITS;
        if self.frame.payload_length() == 0 {
            if swept > 0 {
                self.hub.show(self.state.clone());
            }
            batch.answers.into_iter().for_each(Answer::send);
            return Ok(());
        }
        let begin = Instant::now();
        match self.log.append(&mut self.frame, self.state.revision()) {
            Ok(()) => {}
            Err(AppendError::NoSpace) => {
                self.state = State::clone(&self.hub.state());
                batch.answers.into_iter().for_each(Answer::send_no_space);
                return Ok(());
            }
            Err(AppendError::Broken(reason)) => {
                batch.answers.into_iter().for_each(|answer| answer.send_stopped(&reason));
                return Err(reason);
            }
        }
        self.sync_time = (self.sync_time * 7 + begin.elapsed()) / 8;
        // Whoever waits now could not be in this batch, and whoever is answered may come back.
        self.company = batch.answers.len() + self.queue.len();
        self.unsealed = true;
        self.publish(batch);
        self.snapshots.start_if_due(&self.log, &self.state, &self.queue);
        Ok(())
    }

    fn serve(&mut self, request: Request, batch: &mut Batch) {
        let answer = match request {
            Request::Commit(txn, reply) => {
                let outcome = self.state.apply(&txn).map(|applied| {
                    if let Some(commit) = applied.commit {
                        entry::write_commit(&mut self.frame, &commit);
                        batch.commits.push(commit);
                    }
                    applied.outcome
                });
                Answer::Commit(reply, outcome)
            }
            Request::Compact(revision, reply) => {
                let done = self.state.compact(revision);
                if done.is_ok() {
                    entry::write_compacted(&mut self.frame, revision);
                }
                Answer::Compact(reply, done)
            }
            Request::Grant(lease, reply) => {
                self.state.grant(lease);
                entry::write_granted(&mut self.frame, &lease);
                Answer::Grant(reply, Ok(lease.id))
            }
            Request::SnapshotDone(covered, bytes) => {
                self.snapshots.done(bytes);
                self.log.drop_through(covered);
                return;
            }
            Request::SnapshotFailed => {
                self.snapshots.failed(&self.log);
                return;
            }
        };
        batch.answers.push(answer);
    }

    /// Ends leases and gives up history whose time has come.
    fn look_after_time(&mut self, batch: &mut Batch) {
        let now = self.clock.now();
        while let Some(lease) = self.state.overdue(now) {
            let commit = self.state.expire(lease);
            entry::write_ended(&mut self.frame, lease);
            if let Some(commit) = commit {
                entry::write_commit(&mut self.frame, &commit);
                batch.commits.push(commit);
            }
        }
        if let Some(revision) = self.retention.due(now, &self.state) {
            self.state.compact(revision).expect("what is due is in the past");
            entry::write_compacted(&mut self.frame, revision);
        }
    }

    /// Shows a durable batch and answers its requests.
    fn publish(&self, batch: Batch) {
        self.hub.show(self.state.clone());
        if !batch.commits.is_empty() {
            // The other side only ends after this one.
            let _ = self.fan_out.send(batch.commits);
        }
        batch.answers.into_iter().for_each(Answer::send);
    }

    /// Writes an empty frame behind the last one. A reader can tell damage to an acknowledged frame
    /// from a write that was cut short only by what follows it.
    fn seal(&mut self) -> Result<(), String> {
        if !self.unsealed {
            return Ok(());
        }
        self.frame.clear();
        match self.log.append(&mut self.frame, self.state.revision()) {
            Ok(()) => self.unsealed = false,
            Err(AppendError::NoSpace) => {}
            Err(AppendError::Broken(reason)) => return Err(reason),
        }
        Ok(())
    }
}

impl Answer {
    fn send(self) {
        match self {
            Self::Commit(reply, outcome) => send(reply, outcome),
            Self::Compact(reply, done) => send(reply, done),
            Self::Grant(reply, lease) => send(reply, lease),
        }
    }

    fn send_no_space(self) {
        self.send_error(|| Error::NoSpace);
    }

    fn send_stopped(self, reason: &str) {
        self.send_error(|| Error::Stopped { reason: reason.to_string() });
    }

    fn send_error(self, error: impl Fn() -> Error) {
        match self {
            Self::Commit(reply, _) => send(reply, Err(error())),
            Self::Compact(reply, _) => send(reply, Err(error())),
            Self::Grant(reply, _) => send(reply, Err(error())),
        }
    }
}

fn send<T>(reply: oneshot::Sender<T>, value: T) {
    // Whoever asked may have gone; the write stands all the same.
    let _ = reply.send(value);
}
