//! Who wants to be told of changes, found by where the change is.
//!
//! Each watcher has a queue with a bound. One that is full ends its watcher: nobody waits for a
//! slow client, and nobody skips a change. What a filter keeps out does not wake its watcher.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

use super::change::{Change, Notice, Seen};
use super::filter::{Filter, Scope};

/// The most changes that wait for a watcher.
pub(super) const QUEUE_MAX: usize = 4096;
/// About the most bytes of objects that wait for a watcher: it may be the last that holds them.
pub(super) const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What waits for a watcher.
pub(super) type Queued = (Arc<Notice>, Seen);

/// Somebody who wants to be told.
pub(super) struct Watcher {
    pub id: u64,
    /// Only of changes after this revision.
    pub after: u64,
    pub filter: Arc<Filter>,
    pub queue: mpsc::Sender<Queued>,
    /// How many bytes wait in the queue.
    pub bytes: Arc<AtomicUsize>,
}

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Watchers {
    all: Vec<Watcher>,
    /// By the part of the key up to the end of the namespace.
    namespaces: HashMap<Box<[u8]>, Vec<Watcher>>,
    /// By the key.
    keys: HashMap<Box<[u8]>, Vec<Watcher>>,
}

impl Watchers {
    pub(super) fn add(&mut self, scope: &Scope, watcher: Watcher) {
        match scope {
            Scope::All => self.all.push(watcher),
            Scope::Namespace(namespace) => {
                self.namespaces.entry(namespace.as_bytes().into()).or_default().push(watcher);
            }
            Scope::One(key) => self.keys.entry(key.as_bytes().into()).or_default().push(watcher),
        }
    }

    pub(super) fn remove(&mut self, scope: &Scope, id: u64) {
        match scope {
            Scope::All => self.all.retain(|watcher| watcher.id != id),
            Scope::Namespace(namespace) => {
                remove_from(&mut self.namespaces, namespace.as_bytes(), id);
            }
            Scope::One(key) => remove_from(&mut self.keys, key.as_bytes(), id),
        }
    }

    /// Ends all of them.
    pub(super) fn clear(&mut self) {
        *self = Watchers::default();
    }

    /// Tells everybody who wants to know. All keys of the resource start with `prefix_len` bytes
    /// that are the same.
    pub(super) fn tell(&mut self, change: &Arc<Change>, prefix_len: usize) {
        let mut notice = None;
        let key = change.key();
        let rest = key.get(prefix_len..).unwrap_or_default();
        tell_each(&mut self.all, change, &mut notice);
        if let Some(slash) = rest.iter().position(|byte| *byte == b'/')
            && let Some(watchers) = self.namespaces.get_mut(&rest[..slash])
        {
            tell_each(watchers, change, &mut notice);
        }
        if let Some(watchers) = self.keys.get_mut(key) {
            tell_each(watchers, change, &mut notice);
        }
    }
}

fn remove_from(map: &mut HashMap<Box<[u8]>, Vec<Watcher>>, key: &[u8], id: u64) {
    if let Some(watchers) = map.get_mut(key) {
        watchers.retain(|watcher| watcher.id != id);
        if watchers.is_empty() {
            map.remove(key);
        }
    }
}

fn tell_each(watchers: &mut Vec<Watcher>, change: &Arc<Change>, notice: &mut Option<Arc<Notice>>) {
    watchers.retain(|watcher| {
        if change.revision <= watcher.after {
            return true;
        }
        let Some(seen) = change.seen_through(&watcher.filter) else { return true };
        let notice = notice.get_or_insert_with(|| Arc::new(Notice::new(change.clone())));
        let bytes = change.byte_len();
        let waiting = watcher.bytes.fetch_add(bytes, Ordering::Relaxed);
        // Full or left: either way it ends here.
        (waiting == 0 || waiting + bytes <= QUEUE_BYTES_MAX)
            && watcher.queue.try_send((notice.clone(), seen)).is_ok()
    });
}
