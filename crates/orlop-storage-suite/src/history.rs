//! What clients did and saw, and whether a store that keeps its promises can have caused it.
//!
//! Clients work through a [`Recorder`], which notes on a [`Tape`] when each call began, when it
//! ended, what was asked and what was answered. [`check`] then holds the finished [`History`]
//! against the contract:
//!
//! - [`replay`](mod@replay): the revisions say in which order the writes happened. Replayed in that
//!   order, every expectation must have held, every read must have seen the state of its revision,
//!   calls that followed each other must have seen revisions that do, and the end must hold every
//!   acknowledged write and nothing invented. A write of unknown outcome may have happened at any
//!   time after it began, or not at all.
//! - [`search`]: the classic search for a linear order, key by key, which does not believe the
//!   revisions; a second opinion.
//! - [`compaction`]: what was given up stays given up, and only that.
//! - The nine guarantees of watches, one file each: [`ordered`], [`unique`], [`reliable`],
//!   [`atomic`], [`resumable`], [`bookmarkable`], [`previous`], [`is_create`], [`filter`].
//!
//! Two assumptions: every write has a value of its own, and no record has a lease.

pub mod atomic;
pub mod bookmarkable;
pub mod compaction;
pub mod filter;
pub mod is_create;
pub mod ordered;
pub mod previous;
pub mod reliable;
pub mod replay;
pub mod resumable;
pub mod search;
pub mod unique;

#[cfg(test)]
mod made_up;
mod observation;
mod recorder;

use std::fmt;

use bytes::Bytes;
use orlop_storage::{
    At, Delivery, Event, Get, KeyRange, Outcome, Range, RangeRequest, Revision, Txn, WatchEnd,
};

pub use self::recorder::{Recorder, Tape};
pub use self::replay::Replay;

/// Everything that happened to a store in one run.
#[derive(Clone, Debug)]
pub struct History {
    /// All records before the first call.
    pub start: Range,
    /// Calls in the order in which they began.
    pub calls: Vec<Call>,
    /// Watches in the order in which they began.
    pub watches: Vec<WatchLog>,
    /// All records after the last call.
    pub end: Range,
}

/// One call of one client.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who called.
    pub client: usize,
    /// When, counted in ticks of the tape.
    pub invoked: u64,
    /// When it was answered; none if what it did is not known.
    pub returned: Option<u64>,
    /// What was asked.
    pub request: Request,
    /// What was answered.
    pub answer: Answer,
}

/// What a client asked.
#[derive(Clone, Debug)]
pub enum Request {
    /// To read a key.
    Get(Bytes, At),
    /// To read a range.
    Range(RangeRequest),
    /// To write.
    Commit(Txn),
    /// To give up history.
    Compact(Revision),
    /// For the newest revision.
    Revision,
}

/// What a client was answered.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nothing: the client went away, or the outcome is unknown.
    Unknown,
    /// A key.
    Get(Get),
    /// A range.
    Range(Range),
    /// A transaction's outcome.
    Outcome(Outcome),
    /// History was given up.
    Compacted,
    /// The newest revision.
    Revision(Revision),
    /// The history before `oldest` is gone.
    RefusedCompacted {
        /// The oldest revision kept.
        oldest: Revision,
    },
    /// The revision is not there yet.
    RefusedFuture {
        /// The newest revision.
        current: Revision,
    },
    /// It did not happen, for a reason outside the model.
    Failed(String),
}

impl Answer {
    /// The newest revision that the client knows of by this answer.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        match self {
            Self::Get(get) => Some(get.revision),
            Self::Range(range) => Some(range.revision),
            Self::Outcome(Outcome::Committed { revision } | Outcome::Conflict { revision, .. })
            | Self::Revision(revision) => Some(*revision),
            Self::RefusedFuture { current } => Some(*current),
            Self::Unknown | Self::Compacted | Self::RefusedCompacted { .. } | Self::Failed(_) => {
                None
            }
        }
    }
}

/// One watch of one client, from its start to its end.
#[derive(Clone, Debug)]
pub struct WatchLog {
    /// Who watched.
    pub client: usize,
    /// Which keys.
    pub range: KeyRange,
    /// After which revision; none is from now.
    pub after: Option<Revision>,
    /// What was delivered, in order.
    pub deliveries: Vec<Delivery>,
    /// How it ended, unless the client dropped it.
    pub end: Option<WatchEnd>,
}

impl WatchLog {
    /// All events that were delivered, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.deliveries.iter().flat_map(|delivery| match delivery {
            Delivery::Events(events) => &events[..],
            Delivery::Progress(_) => &[],
        })
    }
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The verdict of a checker.
pub type Checked = Result<(), Violation>;

pub(crate) fn violation<T>(what: impl Into<String>) -> Result<T, Violation> {
    Err(Violation(what.into()))
}

/// Holds a history against the whole contract.
///
/// # Errors
/// The first promise that was not kept.
pub fn check(history: &History) -> Result<Replay, Violation> {
    let replay = replay::replay(history)?;
    compaction::compaction(history)?;
    search::search(history)?;
    for watch in &history.watches {
        let guarantees: [(&str, Checked); 9] = [
            ("filter", filter::filter(watch)),
            ("ordered", ordered::ordered(watch)),
            ("unique", unique::unique(watch)),
            ("atomic", atomic::atomic(watch, &replay)),
            ("reliable", reliable::reliable(watch, &replay)),
            ("resumable", resumable::resumable(watch, &replay)),
            ("bookmarkable", bookmarkable::bookmarkable(watch, &replay)),
            ("previous", previous::previous(watch, &replay)),
            ("is create", is_create::is_create(watch, &replay)),
        ];
        for (name, checked) in guarantees {
            checked.map_err(|Violation(what)| {
                let (client, range, after) = (watch.client, &watch.range, watch.after);
                Violation(format!(
                    "{name}: client {client}, watch of {range:?} after {after:?}: {what}"
                ))
            })?;
        }
    }
    Ok(replay)
}
