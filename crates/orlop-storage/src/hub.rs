//! What readers and watchers of an in-process engine see.
//!
//! The hub holds the published [`State`], which readers take without a lock, and hands the events
//! of each commit to the watchers of the ranges they are in. Watchers of the same range share one
//! [`Topic`]: its events are gathered once, stored once and wake all of them.
//!
//! A watcher first reads the history from the published state and then follows its topic. The
//! state of a commit is shown before its events are fanned out, so a watcher that joins its topic
//! and then looks at the state misses nothing; what it sees twice it drops by revision.
//!
//! A topic keeps what its slowest watcher has not read, up to a bound; whoever is behind that is
//! cut off. Nobody waits for a watcher.

mod local_watch;
mod topic;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, Guard};
use bytes::Bytes;
use tokio::sync::watch;

pub(crate) use self::local_watch::LocalWatch;
use self::topic::Topic;
use crate::state::{Commit, State};
use crate::{Error, Event, KeyRange, Revision, WatchRequest};

/// See the module's documentation.
pub(crate) struct Hub {
    state: ArcSwap<State>,
    topics: Mutex<Topics>,
    /// The newest revision whose events are in their topics.
    fanned: watch::Sender<Revision>,
    buffer_events_max: usize,
}

#[derive(Default)]
struct Topics {
    /// Topics whose range is a prefix, by that prefix: an event finds its own by looking up the
    /// beginnings of its key.
    prefixes: HashMap<Bytes, Slot>,
    /// How many prefixes there are of each length.
    lengths: Vec<(usize, usize)>,
    others: Vec<Slot>,
    stopped: Option<String>,
}

struct Slot {
    topic: Arc<Topic>,
    /// What one call of [`Hub::fan_out`] has found for the topic so far.
    found: Vec<Event>,
}

impl Hub {
    pub(crate) fn new(state: State, buffer_events_max: usize) -> Arc<Self> {
        let fanned = watch::Sender::new(state.revision());
        let state = ArcSwap::from_pointee(state);
        Arc::new(Self { state, topics: Mutex::default(), fanned, buffer_events_max })
    }

    /// The published state, to look at once.
    pub(crate) fn state(&self) -> Guard<Arc<State>> {
        self.state.load()
    }

    /// Publishes a state to the readers.
    pub(crate) fn show(&self, state: State) {
        self.state.store(Arc::new(state));
    }

    /// Hands the events of commits, which have been shown, to the watchers.
    pub(crate) fn fan_out(&self, commits: &[Commit]) {
        let Some(last) = commits.last() else { return };
        let mut topics = self.topics();
        let Topics { prefixes, lengths, others, .. } = &mut *topics;
        if !prefixes.is_empty() || !others.is_empty() {
            for event in commits.iter().flat_map(|commit| commit.events.iter()) {
                let key = event.key();
                for &(length, _) in lengths.iter().filter(|(length, _)| *length <= key.len()) {
                    if let Some(slot) = prefixes.get_mut(&key[..length]) {
                        slot.found.push(event.clone());
                    }
                }
                for slot in others.iter_mut().filter(|slot| slot.topic.range.contains(key)) {
                    slot.found.push(event.clone());
                }
            }
            let slots = prefixes.values_mut().chain(others);
            for slot in slots.filter(|slot| !slot.found.is_empty()) {
                slot.topic.push(std::mem::take(&mut slot.found).into());
            }
        }
        drop(topics);
        self.fanned.send_replace(last.revision);
    }

    /// Starts a watch.
    pub(crate) fn watch(self: &Arc<Self>, request: &WatchRequest) -> Result<LocalWatch, Error> {
        let (topic, cursor) = self.join(&request.range)?;
        let watch = LocalWatch::new(self.clone(), topic, cursor, request);
        let oldest = self.state().compacted();
        match request.after {
            Some(after) if after < oldest => Err(Error::Compacted { oldest }),
            _ => Ok(watch),
        }
    }

    /// Ends every watch, and refuses new ones.
    pub(crate) fn stop(&self, reason: &str) {
        let mut topics = self.topics();
        topics.stopped = Some(reason.to_string());
        for slot in topics.prefixes.values().chain(&topics.others) {
            slot.topic.stop(reason);
        }
    }

    fn join(&self, range: &KeyRange) -> Result<(Arc<Topic>, u64), Error> {
        let mut topics = self.topics();
        if let Some(reason) = &topics.stopped {
            return Err(Error::Stopped { reason: reason.clone() });
        }
        let slot = topics.slot(range, self.buffer_events_max);
        Ok((slot.topic.clone(), slot.topic.join()))
    }

    fn leave(&self, topic: &Topic, cursor: u64) {
        let mut topics = self.topics();
        if topic.leave(cursor) == 0 {
            topics.remove(&topic.range);
        }
    }

    /// A watcher that panics while it holds the lock leaves nothing half done that others see.
    fn topics(&self) -> MutexGuard<'_, Topics> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Topics {
    fn slot(&mut self, range: &KeyRange, buffer_events_max: usize) -> &Slot {
        let new =
            || Slot { topic: Topic::new(range.clone(), buffer_events_max), found: Vec::new() };
        if let Some(prefix) = range.as_prefix() {
            if !self.prefixes.contains_key(prefix) {
                match self.lengths.iter_mut().find(|(length, _)| *length == prefix.len()) {
                    Some((_, count)) => *count += 1,
                    None => self.lengths.push((prefix.len(), 1)),
                }
            }
            return self.prefixes.entry(prefix.clone()).or_insert_with(new);
        }
        let place = self.others.iter().position(|slot| slot.topic.range == *range);
        let place = place.unwrap_or_else(|| {
            self.others.push(new());
            self.others.len() - 1
        });
        &self.others[place]
    }

    fn remove(&mut self, range: &KeyRange) {
        let Some(prefix) = range.as_prefix() else {
            self.others.retain(|slot| slot.topic.range != *range);
            return;
        };
        if self.prefixes.remove(prefix).is_some() {
            self.lengths.retain_mut(|(length, count)| {
                *count -= usize::from(*length == prefix.len());
                *count > 0
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Delivery, Expect, Txn, WatchEnd};

    fn commit(hub: &Hub, state: &mut State, key: &str) {
        let txn = Txn::new().put(key.to_string(), "value", Expect::Anything);
        let commit = state.apply(&txn).expect("no lease").commit.expect("a put changes");
        hub.show(state.clone());
        hub.fan_out(&[commit]);
    }

    #[tokio::test]
    async fn topics_go_with_their_last_watcher() {
        let hub = Hub::new(State::new(), 10);
        let ranges = [KeyRange::prefix("/a/"), KeyRange::prefix("/b/"), KeyRange::new("a", "c")];
        let watches: Vec<_> = ranges
            .iter()
            .chain(&ranges)
            .map(|range| hub.watch(&WatchRequest::new(range.clone())).expect("a new hub"))
            .collect();
        assert_eq!(hub.topics().prefixes.len(), 2);
        assert_eq!(hub.topics().lengths, [(3, 2)]);
        assert_eq!(hub.topics().others.len(), 1);
        drop(watches);
        let topics = hub.topics();
        assert!(
            topics.prefixes.is_empty() && topics.lengths.is_empty() && topics.others.is_empty()
        );
    }

    #[tokio::test]
    async fn only_what_a_watcher_has_not_read_is_kept() {
        let mut state = State::new();
        let hub = Hub::new(state.clone(), 3);
        let mut quick = hub.watch(&WatchRequest::new(KeyRange::all())).expect("a new hub");
        let mut slow = hub.watch(&WatchRequest::new(KeyRange::all())).expect("a new hub");
        for step in 0..5 {
            commit(&hub, &mut state, &format!("/{step}"));
            let delivery = crate::watch::WatchSource::next(&mut quick).await.expect("in time");
            assert!(matches!(delivery, Delivery::Events(events) if events.len() == 1));
        }
        let end = crate::watch::WatchSource::next(&mut slow).await;
        assert_eq!(end, Err(WatchEnd::Lagged { resume_after: Revision(1) }));
        drop(slow);
        commit(&hub, &mut state, "/6");
        crate::watch::WatchSource::next(&mut quick).await.expect("in time");
        assert_eq!(quick.backlog(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_of_the_future_waits_without_work() {
        let hub = Hub::new(State::new(), 10);
        let request = WatchRequest::new(KeyRange::all()).after(Revision(1000));
        let request = request.progress_every(std::time::Duration::from_secs(1));
        let mut watch = hub.watch(&request).expect("a new hub");
        let next = crate::watch::WatchSource::next(&mut watch);
        // Time only goes on while nobody has anything to do.
        let end = tokio::time::timeout(std::time::Duration::from_secs(60), next).await;
        assert!(end.is_err(), "there is no progress before the start");
    }
}
