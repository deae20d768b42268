//! What a store knows: the newest records, and the history that is still kept.
//!
//! A [`State`] is a value. Cloning it is O(1), a clone never changes, and nothing here does I/O or
//! asks for the time: engines apply transactions to their working copy, make them durable in their
//! own way, and publish a clone for the readers.
//!
//! Invariants:
//! - `current` holds the newest record of every key that exists;
//! - `log` holds every commit after `compacted` (and, until swept, some before), each with the
//!   versions that it ended: an older version is found by following a key from commit to commit;
//! - `graves` holds where to start for keys that a commit in the log has deleted.

mod apply;
mod history;
mod lease;
mod read;

use std::sync::Arc;

pub(crate) use self::apply::Change;
pub(crate) use self::lease::Lease;
use self::lease::LeasedKey;
use crate::tree::{Key, Keyed, Tree};
use crate::{Event, Record, Revision};

/// See the module's documentation.
#[derive(Clone)]
pub(crate) struct State {
    revision: Revision,
    /// The oldest revision that can be read.
    compacted: Revision,
    current: Tree<Record>,
    log: Tree<Commit>,
    graves: Tree<Grave>,
    leases: Tree<Lease>,
    leased: Tree<LeasedKey>,
    /// Bytes of keys and values that only the log holds.
    history_bytes: usize,
}

/// A version that was replaced or deleted by the commit `until`.
#[derive(Clone)]
pub(crate) struct Superseded {
    pub(crate) record: Record,
    pub(crate) until: Revision,
}

/// A key that was deleted by the commit `revision`.
#[derive(Clone)]
struct Grave {
    /// What it was before.
    last: Record,
    revision: Revision,
}

/// Everything that happened at one revision, ordered by key.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) revision: Revision,
    pub(crate) events: Arc<[Event]>,
}

impl State {
    /// The state of a new store. Its revision is one, as etcd's: an empty list has a revision too.
    pub(crate) fn new() -> Self {
        Self {
            revision: Revision(1),
            compacted: Revision::ZERO,
            current: Tree::new(),
            log: Tree::new(),
            graves: Tree::new(),
            leases: Tree::new(),
            leased: Tree::new(),
            history_bytes: 0,
        }
    }

    /// The newest revision.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// The oldest revision that can be read.
    pub(crate) fn compacted(&self) -> Revision {
        self.compacted
    }

    /// The newest record of every key.
    pub(crate) fn current(&self) -> &Tree<Record> {
        &self.current
    }

    /// The older versions that are still kept, in the order in which they ended. Those that are
    /// only waiting to be swept out are not.
    pub(crate) fn superseded(&self) -> impl Iterator<Item = Superseded> {
        self.commits_after(self.compacted).flat_map(|commit| {
            let ended = commit.events.iter().filter_map(Event::previous).cloned();
            ended.map(|record| Superseded { record, until: commit.revision })
        })
    }
}

fn size(record: &Record) -> usize {
    record.key().len() + record.value().len()
}

impl Keyed for Record {
    fn key(&self) -> Key<'_> {
        (self.key(), 0)
    }
}

impl Keyed for Grave {
    fn key(&self) -> Key<'_> {
        (self.last.key(), self.revision.0)
    }
}

impl Keyed for Commit {
    fn key(&self) -> Key<'_> {
        (&[], self.revision.0)
    }
}
