//! The events of one range, kept until every watcher of it has read them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::{Event, KeyRange};

/// The most bytes of values that a topic keeps for slow watchers.
const BYTES_MAX: usize = 256 << 20;

/// See the module's documentation.
pub(super) struct Topic {
    pub(super) range: KeyRange,
    ring: Mutex<Ring>,
    /// Wakes the watchers after every push.
    pub(super) pushed: Notify,
    events_max: usize,
}

#[derive(Default)]
struct Ring {
    entries: VecDeque<Entry>,
    /// The sequence number of the first entry; the numbers are the watchers' cursors.
    base: u64,
    /// The events of all entries together, and the bytes of the values in them.
    events: usize,
    bytes: usize,
    watchers: usize,
    stopped: Option<String>,
}

struct Entry {
    events: Arc<[Event]>,
    /// How many watchers have not read it.
    unread: usize,
}

/// What a watcher finds at its cursor.
pub(super) enum Found {
    Events(Arc<[Event]>),
    Nothing,
    /// The entry was given up: the watcher is too slow.
    Lost,
    Stopped(String),
}

impl Topic {
    pub(super) fn new(range: KeyRange, events_max: usize) -> Arc<Self> {
        Arc::new(Self { range, ring: Mutex::default(), pushed: Notify::new(), events_max })
    }

    /// Adds a watcher; its cursor.
    pub(super) fn join(&self) -> u64 {
        let mut ring = self.ring();
        ring.watchers += 1;
        ring.end()
    }

    /// Takes a watcher away; how many are left.
    pub(super) fn leave(&self, cursor: u64) -> usize {
        let mut ring = self.ring();
        ring.watchers -= 1;
        let unread_from = usize::try_from(cursor.saturating_sub(ring.base)).unwrap_or(usize::MAX);
        for entry in ring.entries.iter_mut().skip(unread_from) {
            entry.unread -= 1;
        }
        ring.drop_read();
        ring.watchers
    }

    /// Adds events; the oldest ones are given up if there are too many.
    pub(super) fn push(&self, events: Arc<[Event]>) {
        let mut ring = self.ring();
        let unread = ring.watchers;
        ring.events += events.len();
        ring.bytes += bytes(&events);
        ring.entries.push_back(Entry { events, unread });
        // A single commit may be larger than the bound; it is the newest and stays.
        while (ring.events > self.events_max || ring.bytes > BYTES_MAX) && ring.entries.len() > 1 {
            ring.pop();
        }
        drop(ring);
        self.pushed.notify_waiters();
    }

    /// Reads the entry at the cursor and moves the cursor on.
    pub(super) fn take(&self, cursor: &mut u64) -> Found {
        let mut ring = self.ring();
        let Some(place) = cursor.checked_sub(ring.base) else {
            return Found::Lost;
        };
        let place = usize::try_from(place).expect("a ring fits in memory");
        let Some(entry) = ring.entries.get_mut(place) else {
            return ring.stopped.clone().map_or(Found::Nothing, Found::Stopped);
        };
        entry.unread -= 1;
        let events = entry.events.clone();
        ring.drop_read();
        *cursor += 1;
        Found::Events(events)
    }

    /// Ends the watches once they have read what is there.
    pub(super) fn stop(&self, reason: &str) {
        self.ring().stopped = Some(reason.to_string());
        self.pushed.notify_waiters();
    }

    /// How many entries are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ring().entries.len()
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn end(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    fn drop_read(&mut self) {
        while self.entries.front().is_some_and(|entry| entry.unread == 0) {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.events -= entry.events.len();
            self.bytes -= bytes(&entry.events);
            self.base += 1;
        }
    }
}

/// The bytes of all values in some events.
fn bytes(events: &[Event]) -> usize {
    let values = |event: &Event| {
        let value = |record: &crate::Record| record.value().len();
        event.record().map_or(0, value) + event.previous().map_or(0, value)
    };
    events.iter().map(values).sum()
}
