//! Giving up history.
//!
//! Compaction only moves a number; what has become unreachable is swept out later, in steps small
//! enough that no writer waits for them.

use std::collections::BTreeMap;

use super::{Commit, Grave, State, Superseded, size};
use crate::tree::Tree;
use crate::{Error, Event, Record, Revision};

impl State {
    /// Makes `revision` the oldest one that can be read.
    ///
    /// # Errors
    /// [`Error::FutureRevision`] and [`Error::Compacted`].
    pub(crate) fn compact(&mut self, revision: Revision) -> Result<(), Error> {
        if revision > self.revision {
            return Err(Error::FutureRevision { requested: revision, current: self.revision });
        }
        if revision <= self.compacted {
            return Err(Error::Compacted { oldest: self.compacted });
        }
        self.compacted = revision;
        Ok(())
    }

    /// Frees what compaction made unreachable, of at most `commits_max` commits; of how many.
    pub(crate) fn sweep(&mut self, commits_max: usize) -> usize {
        for swept in 0..commits_max {
            let Some(oldest) = self.log.first().filter(|c| c.revision <= self.compacted) else {
                return swept;
            };
            let oldest = oldest.clone();
            for event in &*oldest.events {
                self.history_bytes -= event.previous().map_or(0, size);
                if let Event::Deleted { previous, revision } = event {
                    self.graves.remove((previous.key(), revision.0));
                }
            }
            self.log.remove((&[], oldest.revision.0));
        }
        commits_max
    }

    /// Skips revisions, and gives up all history before.
    ///
    /// None if there are not that many.
    pub(crate) fn bump(&mut self, revisions: u64) -> Option<()> {
        if revisions > 0 {
            // Not further than etcd can count, with room to go on.
            let newest = self.revision.0.checked_add(revisions).filter(|r| *r < u64::MAX >> 2)?;
            self.revision = Revision(newest);
            self.compacted = self.revision;
            self.sweep(usize::MAX);
        }
        Some(())
    }

    /// Bytes held for history only.
    pub(crate) fn history_bytes(&self) -> usize {
        self.history_bytes
    }

    /// How many commits are kept.
    pub(crate) fn history_commits(&self) -> usize {
        self.log.len()
    }

    /// The revision to compact to in order to give up the older half of the history.
    pub(crate) fn middle_of_history(&self) -> Option<Revision> {
        self.log.nth(self.log.len() / 2).map(|commit| commit.revision)
    }

    /// The state that a snapshot describes, without leases.
    pub(crate) fn restore(
        revision: Revision,
        compacted: Revision,
        current: Vec<Record>,
        superseded: &[Superseded],
    ) -> Self {
        let mut state = Self { revision, compacted, ..Self::new() };
        state.log = rebuild_log(compacted, &current, superseded);
        state.history_bytes = superseded.iter().map(|old| size(&old.record)).sum();
        state.current = Tree::from_ascending(current);
        let mut graves = Vec::new();
        for event in state.log.iter().flat_map(|commit| commit.events.iter()) {
            if let Event::Deleted { previous, revision } = event {
                graves.push(Grave { last: previous.clone(), revision: *revision });
            }
        }
        for grave in graves {
            state.graves.insert(grave);
        }
        let leased = state.current.iter().filter_map(super::lease::leased_key);
        let leased: std::collections::BTreeSet<_> = leased.collect();
        state.leased = Tree::from_ascending(leased);
        state
    }
}

/// The commits after `compacted`, from the versions that they left behind.
///
/// A version was written by the commit of its own revision, and superseded by the commit `until`:
/// by the next version of the key if that has this revision, else by a deletion.
fn rebuild_log(compacted: Revision, current: &[Record], superseded: &[Superseded]) -> Tree<Commit> {
    let recent = current.iter().filter(|record| record.modified() > compacted);
    let older = superseded.iter().map(|old| &old.record);
    let mut commits: BTreeMap<Revision, BTreeMap<&[u8], Event>> = BTreeMap::new();
    for record in recent.chain(older.filter(|record| record.modified() > compacted)) {
        let event = Event::Created { record: record.clone() };
        commits.entry(record.modified()).or_default().insert(record.key(), event);
    }
    for Superseded { record, until } in superseded {
        let previous = record.clone();
        let events = commits.entry(*until).or_default();
        let event = match events.remove(record.key()) {
            Some(Event::Created { record }) => Event::Updated { record, previous },
            _ => Event::Deleted { revision: *until, previous },
        };
        events.insert(record.key(), event);
    }
    let commits = commits
        .into_iter()
        .map(|(revision, events)| Commit { revision, events: events.into_values().collect() });
    Tree::from_ascending(commits)
}
