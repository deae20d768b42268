//! The objects of a resource at one moment. A snapshot never changes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use orlop_storage::KeyRange;
use orlop_storage::tree::{Key, Keyed, Tree};
use tokio::time::Instant;

use crate::object::Object;

/// An object with its place among the others.
#[derive(Clone, Debug)]
pub(crate) struct Item(pub Arc<Object>);

impl Keyed for Item {
    fn key(&self) -> Key<'_> {
        (self.0.key(), 0)
    }
}

/// The objects of a resource after the newest change that is in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// The objects, in the order of their keys.
    pub objects: Tree<Item>,
    /// The revision of the newest change.
    pub revision: u64,
}

/// A snapshot, and the revision up to which it is known to hold.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The objects.
    pub objects: Tree<Item>,
    /// They are the objects at this revision.
    pub revision: u64,
}

/// Snapshots that were shown in part, kept for the parts that follow.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<VecDeque<(Instant, View)>>);

/// The most snapshots that are kept. Others are read from the history of the store.
const KEPT_MAX: usize = 8;
/// How long a snapshot is kept: as long as the store keeps its history.
const KEPT_FOR: Duration = Duration::from_secs(5 * 60);

impl View {
    /// The places of the first object in a range and of the first behind it.
    pub(crate) fn places(&self, range: &KeyRange) -> (usize, usize) {
        let start = self.objects.rank((range.start(), 0));
        let end = range.end().map_or(self.objects.len(), |end| self.objects.rank((end, 0)));
        (start, end.max(start))
    }
}

impl Kept {
    /// Keeps a view.
    pub(super) fn keep(&self, view: &View) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.iter().any(|(_, known)| known.revision == view.revision) {
            return;
        }
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((Instant::now(), view.clone()));
    }

    /// The view at a revision, if it was kept.
    pub(super) fn find(&self, revision: u64) -> Option<View> {
        self.forget_old();
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|(_, view)| view).find(|view| view.revision == revision).cloned()
    }

    /// Forgets what is too old.
    pub(super) fn forget_old(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while kept.front().is_some_and(|(since, _)| since.elapsed() > KEPT_FOR) {
            kept.pop_front();
        }
    }
}
