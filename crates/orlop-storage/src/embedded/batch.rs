//! A batch: what some requests did to the working state, and who waits for it to be durable.

use tokio::sync::oneshot;

use super::frame::FrameBuffer;
use super::queue::Reply;
use crate::state::{Commit, State};
use crate::{Error, LeaseId, Outcome};

/// See the module's documentation.
pub(super) struct Batch {
    /// What to write to the log.
    pub(super) frame: FrameBuffer,
    /// The state with everything in the batch.
    pub(super) state: State,
    pub(super) commits: Vec<Commit>,
    pub(super) answers: Vec<Answer>,
    /// Whether the frame is to be written although it says nothing.
    pub(super) is_seal: bool,
}

/// An answer that waits for the sync.
pub(super) enum Answer {
    Commit(Reply<Outcome>, Result<Outcome, Error>),
    Compact(Reply<()>, Result<(), Error>),
    Grant(Reply<LeaseId>, Result<LeaseId, Error>),
}

impl Batch {
    /// A batch with nothing in it.
    pub(super) fn new(state: State) -> Self {
        let frame = FrameBuffer::new();
        Self { frame, state, commits: Vec::new(), answers: Vec::new(), is_seal: false }
    }

    /// Empties a batch that is done with; its state stays.
    pub(super) fn clear(&mut self) {
        self.frame.clear();
        self.commits.clear();
        self.answers.clear();
        self.is_seal = false;
    }

    /// Whether there is nothing to write and nobody to answer.
    pub(super) fn is_empty(&self) -> bool {
        self.answers.is_empty() && !self.changes_something() && !self.is_seal
    }

    /// Whether there is something to write.
    pub(super) fn changes_something(&self) -> bool {
        self.frame.payload_length() > 0
    }

    /// Tells everybody that their request is done.
    pub(super) fn answer(&mut self) {
        self.answers.drain(..).for_each(Answer::send);
    }

    /// Tells everybody that their request is not done.
    pub(super) fn refuse(&mut self, error: impl Fn() -> Error) {
        self.answers.drain(..).for_each(|answer| answer.refuse(&error));
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

    fn refuse(self, error: impl Fn() -> Error) {
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
