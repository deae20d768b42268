//! One change of one object, and how it looks to somebody who sees only some objects.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go`.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::filter::Filter;
use crate::object::Object;
use crate::output::Output;

/// One change of one object.
#[derive(Debug)]
pub(crate) struct Change {
    /// The revision that made it.
    pub revision: u64,
    /// What the object is now; none when it is gone.
    pub object: Option<Arc<Object>>,
    /// What it was before; none when it is new.
    pub previous: Option<Arc<Object>>,
}

/// How a change looks to a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// An object came into sight.
    Added,
    /// An object that was in sight is another.
    Modified,
    /// An object went out of sight.
    Deleted,
}

/// A change on its way to watchers, who share what it is written as. It is freed when the last of
/// them has sent it.
#[derive(Debug)]
pub(crate) struct Notice {
    /// The change.
    pub change: Arc<Change>,
    frames: Mutex<Vec<(FrameKey, Bytes)>>,
}

/// What tells the written forms of one change apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameKey {
    /// How it looks.
    pub seen: Seen,
    /// The form.
    pub output: Output,
    /// Whether a table has its headings.
    pub has_columns: bool,
}

impl Change {
    /// How the change looks through a filter; none when it cannot be seen.
    pub(crate) fn seen_through(&self, filter: &Filter) -> Option<Seen> {
        let is_seen = |object: &Option<Arc<Object>>| {
            object.as_ref().is_some_and(|object| filter.matches(object))
        };
        match (is_seen(&self.previous), is_seen(&self.object)) {
            (false, false) => None,
            (false, true) => Some(Seen::Added),
            (true, true) => Some(Seen::Modified),
            (true, false) => Some(Seen::Deleted),
        }
    }

    /// How many bytes it holds, without what it is written as.
    pub(crate) fn byte_len(&self) -> usize {
        let len = |object: &Option<Arc<Object>>| object.as_ref().map_or(0, |it| it.stored().len());
        len(&self.object) + len(&self.previous)
    }

    /// The object that somebody is shown who sees the change like this: what left is shown as it
    /// was.
    pub(crate) fn shown(&self, seen: Seen) -> Option<&Arc<Object>> {
        match seen {
            Seen::Added | Seen::Modified => self.object.as_ref(),
            Seen::Deleted => self.previous.as_ref(),
        }
    }

    /// The key of the object.
    pub(crate) fn key(&self) -> &[u8] {
        self.object.as_ref().or(self.previous.as_ref()).map_or(&[], |object| object.key())
    }
}

impl Seen {
    /// The type of the event.
    pub(crate) fn event_type(self) -> &'static str {
        match self {
            Seen::Added => "ADDED",
            Seen::Modified => "MODIFIED",
            Seen::Deleted => "DELETED",
        }
    }
}

impl Notice {
    /// A notice of a change.
    pub(crate) fn new(change: Arc<Change>) -> Notice {
        Notice { change, frames: Mutex::default() }
    }

    /// The written form, made by the first who needs it.
    pub(crate) fn frame(&self, key: FrameKey, make: impl FnOnce() -> Bytes) -> Bytes {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, frame)) = frames.iter().find(|(known, _)| *known == key) {
            return frame.clone();
        }
        let frame = make();
        frames.push((key, frame.clone()));
        frame
    }
}
