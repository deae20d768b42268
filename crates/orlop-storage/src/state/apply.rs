//! Changing a [`State`]: one transaction, one revision.

use std::sync::Arc;

use super::{Commit, State, Superseded};
use crate::{Action, Error, Event, LeaseId, Outcome, Record, Revision, Txn};

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
}

impl State {
    /// Applies a transaction that has been validated.
    ///
    /// # Errors
    /// [`Error::LeaseNotFound`]; nothing is changed then.
    pub(crate) fn apply(&mut self, txn: &Txn) -> Result<Applied, Error> {
        let current = txn.writes.iter().map(|write| self.current.get((&write.key, 0)));
        if !txn.writes.iter().zip(current.clone()).all(|(write, now)| write.expect.holds(now)) {
            let current = current.map(|record| record.cloned()).collect();
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
        let changes = txn.writes.iter().filter_map(|write| match &write.action {
            Action::Put { value, lease } => {
                Some(Change::Put { key: &write.key, value, lease: *lease })
            }
            Action::Delete => Some(Change::Delete { key: &write.key }),
            Action::Keep => None,
        });
        let commit = self.change(self.revision.next(), changes);
        Ok(Applied { outcome: Outcome::Committed { revision: self.revision }, commit })
    }

    /// Makes changes at `revision`, which follows the newest one. None if nothing changed.
    pub(crate) fn change<'a>(
        &mut self,
        revision: Revision,
        changes: impl Iterator<Item = Change<'a>>,
    ) -> Option<Commit> {
        assert!(revision > self.revision, "revisions never go back");
        let mut events: Vec<Event> =
            changes.filter_map(|change| self.event(revision, &change)).collect();
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

    /// What a change means for the key as it is now; none if it means nothing.
    fn event(&self, revision: Revision, change: &Change<'_>) -> Option<Event> {
        match *change {
            Change::Put { key, value, lease } => {
                let previous = self.current.get((key, 0)).cloned();
                let created = previous.as_ref().map_or(revision, Record::created);
                let record = Record::new(key, value, created, revision, lease);
                Some(match previous {
                    None => Event::Created { record },
                    Some(previous) => Event::Updated { record, previous },
                })
            }
            Change::Delete { key } => {
                let previous = self.current.get((key, 0))?.clone();
                Some(Event::Deleted { revision, previous })
            }
        }
    }

    fn install(&mut self, commit: &Commit) {
        for event in &*commit.events {
            match event {
                Event::Created { record } | Event::Updated { record, .. } => {
                    self.current.insert(record.clone());
                }
                Event::Deleted { previous, .. } => {
                    self.current.remove((previous.key(), 0));
                }
            }
            if let Some(previous) = event.previous() {
                self.supersede(Superseded { record: previous.clone(), until: commit.revision });
            }
            self.move_lease(event);
        }
        self.log.insert(commit.clone());
        self.revision = commit.revision;
    }

    pub(super) fn supersede(&mut self, old: Superseded) {
        self.history_bytes += old.size();
        self.superseded.insert(old);
    }
}
