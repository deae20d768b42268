//! What a reader asks for and gets.

use crate::{KeyRange, Record, Revision};

/// The point in history to read at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// The newest state; includes every write acknowledged before the read began.
    #[default]
    Latest,
    /// The state as it was just after this revision.
    Revision(Revision),
}

/// The answer to a read of one key.
#[derive(Clone, Debug)]
pub struct Get {
    /// The record, if the key exists.
    pub record: Option<Record>,
    /// The newest revision of the store when it was read, also for reads of the past.
    pub revision: Revision,
}

/// What a range read returns beside its count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Select {
    /// Whole records.
    #[default]
    Records,
    /// Records whose values are not asked for: an engine that would have to move them leaves
    /// them empty.
    Keys,
    /// Only the number of keys.
    Count,
}

/// A read of the keys of a range, in order.
#[derive(Clone, Debug)]
pub struct RangeRequest {
    /// Which keys.
    pub range: KeyRange,
    /// The point in history.
    pub at: At,
    /// The most records to return; zero is no limit.
    pub limit: usize,
    /// What to return.
    pub select: Select,
}

impl RangeRequest {
    /// All records of `range` at the newest state.
    #[must_use]
    pub fn new(range: KeyRange) -> Self {
        Self { range, at: At::Latest, limit: 0, select: Select::Records }
    }

    /// Reads at this point in history.
    #[must_use]
    pub fn at(self, at: At) -> Self {
        Self { at, ..self }
    }

    /// Returns at most `limit` records; zero is no limit.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Returns this much of each record.
    #[must_use]
    pub fn select(self, select: Select) -> Self {
        Self { select, ..self }
    }
}

/// The answer to a range read.
#[derive(Clone, Debug)]
pub struct Range {
    /// The records, ordered by key; empty if only the count was asked for.
    pub records: Vec<Record>,
    /// How many keys the range holds at that point in history, whatever the limit was.
    pub count: u64,
    /// The newest revision of the store when it was read, also for reads of the past.
    pub revision: Revision,
}

impl Range {
    /// Whether the limit cut the answer short.
    #[must_use]
    pub fn more(&self) -> bool {
        self.count > self.records.len() as u64
    }
}
