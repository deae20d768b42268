//! Changing a [`State`]: one transaction, one revision.

use std::sync::Arc;

use super::{Commit, Grave, State, size};
use crate::{Action, Error, Event, LeaseId, Outcome, Record, Revision, Txn, Write};

/// What became of a transaction.
pub(crate) struct Applied {
    pub(crate) outcome: Outcome,
    /// What to make durable; none if nothing changed.
    pub(crate) commit: Option<Commit>,
}

/// A change of one key without conditions, as the log has it.
pub(crate) enum Change<'a> {
    Put { key: &'a [u8], value: &'a [u8], lease: Option<LeaseId> },
    Delete { key: &'a [u8] },
}

impl<'a> Change<'a> {
    pub(crate) fn key(&self) -> &'a [u8] {
        match self {
            Self::Put { key, .. } | Self::Delete { key } => key,
        }
    }

    /// What the change means for the key as it is now; none if it means nothing.
    fn event(&self, revision: Revision, now: Option<Record>) -> Option<Event> {
        match *self {
            Self::Put { key, value, lease } => {
                let created = now.as_ref().map_or(revision, Record::created);
                let record = Record::new(key, value, created, revision, lease);
                Some(match now {
                    None => Event::Created { record },
                    Some(previous) => Event::Updated { record, previous },
                })
            }
            Self::Delete { .. } => now.map(|previous| Event::Deleted { revision, previous }),
        }
    }
}

impl State {
    /// Applies a transaction that has been validated.
    ///
    /// # Errors
    /// [`Error::LeaseNotFound`]; nothing is changed then.
    pub(crate) fn apply(&mut self, txn: &Txn) -> Result<Applied, Error> {
        let now = |write: &Write| self.current.get((&write.key, 0)).cloned();
        let current: Vec<Option<Record>> = txn.writes.iter().map(now).collect();
        if !txn.writes.iter().zip(&current).all(|(write, now)| write.expect.holds(now.as_ref())) {
            let outcome = Outcome::Conflict { current, revision: self.revision };
            return Ok(Applied { outcome, commit: None });
        }
        for write in &txn.writes {
            if let Action::Put { lease: Some(lease), .. } = write.action
                && self.lease(lease).is_none()
            {
                return Err(Error::LeaseNotFound { lease });
            }
        }
        let changes = txn.writes.iter().zip(current).filter_map(|(write, now)| {
            let change = match &write.action {
                Action::Put { value, lease } => {
                    Change::Put { key: &write.key, value, lease: *lease }
                }
                Action::Delete => Change::Delete { key: &write.key },
                Action::Keep => return None,
            };
            Some((change, now))
        });
        let commit = self.change(changes);
        Ok(Applied { outcome: Outcome::Committed { revision: self.revision }, commit })
    }

    /// Makes changes without conditions at the next revision. None if nothing changed.
    pub(crate) fn change_all<'a>(
        &mut self,
        changes: impl IntoIterator<Item = Change<'a>>,
    ) -> Option<Commit> {
        let now = |change: &Change<'_>| self.current.get((change.key(), 0)).cloned();
        let changes: Vec<_> = changes.into_iter().map(|change| (now(&change), change)).collect();
        self.change(changes.into_iter().map(|(now, change)| (change, now)))
    }

    /// Makes changes to keys whose current records are given.
    fn change<'a>(
        &mut self,
        changes: impl Iterator<Item = (Change<'a>, Option<Record>)>,
    ) -> Option<Commit> {
        let revision = self.revision.next();
        let events = changes.filter_map(|(change, now)| change.event(revision, now));
        let mut events: Vec<Event> = events.collect();
        if events.is_empty() {
            return None;
        }
        if events.len() > 1 {
            events.sort_unstable_by(|left, right| left.key().cmp(right.key()));
        }
        let commit = Commit { revision, events: Arc::from(events) };
        self.install(&commit);
        Some(commit)
    }

    fn install(&mut self, commit: &Commit) {
        for event in &*commit.events {
            match event {
                Event::Created { record } | Event::Updated { record, .. } => {
                    self.current.insert(record.clone());
                }
                Event::Deleted { previous, revision } => {
                    self.current.remove((previous.key(), 0));
                    self.graves.insert(Grave { last: previous.clone(), revision: *revision });
                }
            }
            self.history_bytes += event.previous().map_or(0, size);
            self.move_lease(event);
        }
        self.log.insert(commit.clone());
        self.revision = commit.revision;
    }
}
