//! How a store says no.

use thiserror::Error;

use crate::{LeaseId, Revision};

/// Why an operation failed.
///
/// A conflict is not among them: it is an answer ([`crate::Outcome::Conflict`]).
#[derive(Debug, Error)]
pub enum Error {
    /// The history before `oldest` is gone; reads and watches may start at it.
    #[error("the requested revision is compacted, the oldest one kept is {oldest}")]
    Compacted {
        /// The oldest revision that can be read.
        oldest: Revision,
    },
    /// The store has not seen this revision yet.
    #[error("revision {requested} is in the future, the store is at {current}")]
    FutureRevision {
        /// What was asked for.
        requested: Revision,
        /// The newest revision.
        current: Revision,
    },
    /// The lease never was, or has expired.
    #[error("lease {lease} does not exist")]
    LeaseNotFound {
        /// The lease named in the write.
        lease: LeaseId,
    },
    /// The request is malformed; nothing is changed, and trying again will not help.
    #[error("invalid request: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// The disk is full. The write did not happen; reads go on; writes work again when there is
    /// space.
    #[error("no space left on the device that holds the store")]
    NoSpace,
    /// The operation did not happen, and may work later.
    #[error("the store is unavailable: {reason}")]
    Unavailable {
        /// What is in the way.
        reason: String,
    },
    /// The write may or may not have happened: the connection broke before the answer.
    #[error("the outcome of the write is unknown: {reason}")]
    Unknown {
        /// What happened to the connection.
        reason: String,
    },
    /// The store has stopped for good: it was closed, or could not keep its promises any longer.
    #[error("the store has stopped: {reason}")]
    Stopped {
        /// Why.
        reason: String,
    },
}

/// Why a watch ended.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WatchEnd {
    /// The history that the watch still had to deliver is gone: read the range anew.
    #[error("the watch fell behind what is kept, the oldest revision is {oldest}")]
    Compacted {
        /// The oldest revision that a watch can start after.
        oldest: Revision,
    },
    /// The watcher was too slow and its buffer is full: watch again after `resume_after`.
    #[error("the watcher is too slow, its buffer is full; it has seen revision {resume_after}")]
    Lagged {
        /// Everything up to here was delivered.
        resume_after: Revision,
    },
    /// The store has stopped.
    #[error("the store has stopped: {reason}")]
    Stopped {
        /// Why.
        reason: String,
    },
}
