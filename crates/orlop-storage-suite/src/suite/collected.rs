//! What a watch has delivered so far, with waits that end and say what was missing.

use std::time::Duration;

use orlop_storage::{Delivery, Event, KeyRange, Revision, WatchEnd, WatchRequest};
use tokio::time::{Instant, timeout_at};

use super::fixture::{Shared, text};

/// How long a delivery may take before the case fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a watch is listened to when it must stay silent.
pub(super) const SILENCE: Duration = Duration::from_millis(250);

/// A watch, and everything it has said.
pub(super) struct Collected {
    watch: orlop_storage::Watch,
    /// Events in order of delivery.
    pub(super) events: Vec<Event>,
    /// The same, one list per delivery.
    pub(super) deliveries: Vec<Vec<Event>>,
    /// Progress in order of delivery, with the number of events that came before.
    pub(super) progress: Vec<(Revision, usize)>,
    /// How the watch ended, if it has.
    pub(super) end: Option<WatchEnd>,
}

impl Collected {
    /// Starts a watch, which must work.
    pub(super) async fn start(store: &Shared, request: WatchRequest) -> Self {
        let what = format!("{request:?}");
        let watch = store.watch(request).await;
        let watch = watch.unwrap_or_else(|error| panic!("{what} failed: {error}"));
        Self { watch, events: vec![], deliveries: vec![], progress: vec![], end: None }
    }

    /// Watches everything from now on.
    pub(super) async fn from_now(store: &Shared) -> Self {
        Self::start(store, WatchRequest::new(KeyRange::all())).await
    }

    /// Watches everything after a revision.
    pub(super) async fn after(store: &Shared, revision: Revision) -> Self {
        Self::start(store, WatchRequest::new(KeyRange::all()).after(revision)).await
    }

    /// Asks for progress.
    pub(super) fn request_progress(&self) {
        self.watch.progress_requester().request();
    }

    /// Takes one delivery; false if there was none before the deadline or the watch has ended.
    async fn step(&mut self, deadline: Instant) -> bool {
        match timeout_at(deadline, self.watch.next()).await {
            Err(_) => false,
            Ok(Ok(Delivery::Events(events))) => {
                assert!(!events.is_empty(), "a delivery of events must not be empty");
                self.events.extend(events.iter().cloned());
                self.deliveries.push(events.to_vec());
                true
            }
            Ok(Ok(Delivery::Progress(revision))) => {
                self.progress.push((revision, self.events.len()));
                true
            }
            Ok(Err(end)) => {
                self.end = Some(end);
                false
            }
        }
    }

    /// Waits until `done`, or panics with what has come so far.
    async fn until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done(self) {
            if self.end.is_some() || !self.step(deadline).await {
                panic!("waited for {what}; {}", self.summary());
            }
        }
    }

    /// Waits until `count` events have come in all; more than that is a failure.
    pub(super) async fn wait_for(&mut self, count: usize) -> &[Event] {
        self.until(&format!("{count} events"), |seen| seen.events.len() >= count).await;
        assert_eq!(self.events.len(), count, "too many events; {}", self.summary());
        &self.events
    }

    /// Waits for an event of `revision` or later.
    pub(super) async fn wait_until(&mut self, revision: Revision) -> &[Event] {
        let what = format!("an event of revision {revision}");
        let reached = |seen: &Self| seen.events.last().is_some_and(|e| e.revision() >= revision);
        self.until(&what, reached).await;
        &self.events
    }

    /// Waits for a progress of at least `revision` and says which came.
    pub(super) async fn wait_for_progress(&mut self, revision: Revision) -> Revision {
        let what = format!("progress of at least revision {revision}");
        let reached = |seen: &Self| seen.progress.last().is_some_and(|p| p.0 >= revision);
        self.until(&what, reached).await;
        self.progress[self.progress.len() - 1].0
    }

    /// Reads to the end of the watch.
    pub(super) async fn wait_for_end(&mut self) -> WatchEnd {
        let deadline = Instant::now() + PATIENCE;
        while self.step(deadline).await {}
        match self.end.clone() {
            Some(end) => end,
            None => panic!("waited for the watch to end; {}", self.summary()),
        }
    }

    /// Reads until the watch has delivered `revision` or ended.
    pub(super) async fn wait_until_or_end(&mut self, revision: Revision) {
        let deadline = Instant::now() + PATIENCE;
        while self.events.last().is_none_or(|e| e.revision() < revision) {
            if !self.step(deadline).await {
                assert!(self.end.is_some(), "the watch is stuck; {}", self.summary());
                return;
            }
        }
    }

    /// Listens for a while: no event and no end may come.
    pub(super) async fn stays_silent(&mut self) {
        let before = self.events.len();
        let deadline = Instant::now() + SILENCE;
        while self.step(deadline).await {}
        assert_eq!(self.events.len(), before, "nothing must come; {}", self.summary());
        assert_eq!(self.end, None, "the watch must not end; {}", self.summary());
    }

    /// Starts to wait and gives up at once, `times` times: what comes must not get lost.
    pub(super) async fn give_up_waiting(&mut self, times: usize) {
        for _ in 0..times {
            self.step(Instant::now() + Duration::from_micros(50)).await;
        }
        assert_eq!(self.end, None, "the watch must not end; {}", self.summary());
    }

    /// What has come so far, each event in a few words, in order of revisions and keys.
    pub(super) fn told(&self) -> Vec<String> {
        told(&self.events)
    }

    /// The watch said exactly this.
    #[track_caller]
    pub(super) fn assert_told(&self, expected: &[&str]) {
        assert_eq!(self.told(), expected, "what the watch told");
    }

    /// No revision came twice in different deliveries, and none after a later one.
    #[track_caller]
    pub(super) fn assert_whole_and_in_order(&self) {
        let mut last = Revision::ZERO;
        for delivery in &self.deliveries {
            let first = delivery[0].revision();
            assert!(first > last, "revision {first} was delivered after revision {last}");
            assert!(delivery.is_sorted_by_key(Event::revision), "out of order in one delivery");
            last = delivery[delivery.len() - 1].revision();
        }
    }

    fn summary(&self) -> String {
        let tail = self.events.len().saturating_sub(8);
        let last = told(&self.events[tail..]).join("; ");
        let (count, progress) = (self.events.len(), &self.progress);
        format!("so far: {count} events (last: {last}), progress {progress:?}, end {:?}", self.end)
    }
}

/// Each event in a few words, in order of revisions and, within one, of keys.
pub(super) fn told(events: &[Event]) -> Vec<String> {
    let mut events: Vec<&Event> = events.iter().collect();
    events.sort_by_key(|event| (event.revision(), event.key()));
    events.into_iter().map(tell).collect()
}

fn tell(event: &Event) -> String {
    let pair = |r: &orlop_storage::Record| format!("{}={}", text(r.key()), text(r.value()));
    match event {
        Event::Created { record } => format!("created {}", pair(record)),
        Event::Updated { record, previous } => {
            format!("updated {} was {}", pair(record), text(previous.value()))
        }
        Event::Deleted { previous, .. } => {
            format!("deleted {} was {}", text(previous.key()), text(previous.value()))
        }
    }
}
