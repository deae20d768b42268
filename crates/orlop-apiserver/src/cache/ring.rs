//! The most recent changes of a resource, for watchers that start a little late.

use std::collections::VecDeque;
use std::sync::Arc;

use super::change::Change;

/// The most changes that are kept. What is older comes from the history of the store.
pub(super) const CHANGES_MAX: usize = 2048;

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Every change after this revision is here.
    start: u64,
    /// In order of revisions.
    changes: VecDeque<Arc<Change>>,
}

impl Ring {
    /// Starts anew: nothing is known of what was before.
    pub(super) fn restart(&mut self, start: u64) {
        self.start = start;
        self.changes.clear();
    }

    /// Adds the newest change.
    pub(super) fn push(&mut self, change: Arc<Change>) {
        while self.changes.len() >= CHANGES_MAX
            && let Some(oldest) = self.changes.pop_front()
        {
            self.start = oldest.revision;
        }
        // A revision is kept whole or not at all.
        while let Some(oldest) = self.changes.front()
            && oldest.revision == self.start
        {
            self.changes.pop_front();
        }
        self.changes.push_back(change);
    }

    /// The changes after a revision; none if some of them are not here any more.
    pub(super) fn after(&self, revision: u64) -> Option<impl Iterator<Item = &Arc<Change>>> {
        let place = self.changes.partition_point(|change| change.revision <= revision);
        (revision >= self.start).then(|| self.changes.range(place..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(revision: u64) -> Arc<Change> {
        Arc::new(Change { revision, object: None, previous: None })
    }

    #[test]
    fn a_full_ring_forgets_whole_revisions() {
        let mut ring = Ring::default();
        ring.restart(10);
        let length = u64::try_from(CHANGES_MAX).unwrap();
        // Two changes of each revision.
        for step in 0..length {
            ring.push(change(11 + step / 2));
        }
        assert!(ring.after(9).is_none());
        assert_eq!(ring.after(10).unwrap().count(), CHANGES_MAX);
        assert_eq!(ring.after(11).unwrap().count(), CHANGES_MAX - 2);
        ring.push(change(11 + length / 2));
        assert!(ring.after(10).is_none());
        assert_eq!(ring.start, 11);
        assert_eq!(ring.after(11).unwrap().count(), CHANGES_MAX - 1);
        assert_eq!(ring.after(u64::MAX).unwrap().count(), 0);
    }
}
