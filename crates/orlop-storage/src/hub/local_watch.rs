//! A watch of an in-process engine: history first, then its topic.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::topic::{Found, Topic};
use super::{Hub, Revision};
use crate::watch::{ProgressRequester, WatchSource};
use crate::{Delivery, Event, WatchEnd, WatchRequest};

/// How many events a watcher takes from the history at a time.
const HISTORY_EVENTS: usize = 1024;

/// See the module's documentation.
pub(crate) struct LocalWatch {
    hub: Arc<Hub>,
    topic: Arc<Topic>,
    /// The entry of the topic to read next.
    cursor: u64,
    /// Everything in the range up to here is delivered, or was not asked for.
    delivered: Revision,
    /// Whether there may be history to deliver that is not in the topic.
    in_history: bool,
    progress_every: Option<Duration>,
    progress_due: Option<Instant>,
    asked: Arc<Asked>,
}

/// A wish for a progress notification.
#[derive(Default)]
struct Asked {
    /// The revision that it must reach; zero if there is no wish.
    target: AtomicU64,
    changed: Notify,
}

impl LocalWatch {
    pub(super) fn new(
        hub: Arc<Hub>,
        topic: Arc<Topic>,
        cursor: u64,
        request: &WatchRequest,
    ) -> Self {
        let newest = hub.state().revision();
        let delivered = request.after.unwrap_or(newest);
        Self {
            hub,
            topic,
            cursor,
            delivered,
            in_history: delivered < newest,
            progress_every: request.progress_every,
            progress_due: request.progress_every.map(|interval| Instant::now() + interval),
            asked: Arc::default(),
        }
    }

    /// The next events of the history; none if the topic has the rest.
    fn next_of_history(&mut self) -> Result<Option<Arc<[Event]>>, WatchEnd> {
        while self.in_history {
            let state = self.hub.state();
            if self.delivered < state.compacted() {
                return Err(WatchEnd::Compacted { oldest: state.compacted() });
            }
            let range = &self.topic.range;
            let (events, reached) = state.events_after(self.delivered, range, HISTORY_EVENTS);
            self.in_history = reached < state.revision();
            self.delivered = reached;
            if !events.is_empty() {
                return Ok(Some(events));
            }
        }
        Ok(None)
    }

    /// The next events of the topic that are news.
    fn next_of_topic(&mut self) -> Result<Option<Arc<[Event]>>, WatchEnd> {
        loop {
            let events = match self.topic.take(&mut self.cursor) {
                Found::Events(events) => events,
                Found::Nothing => return Ok(None),
                Found::Lost => {
                    return Err(WatchEnd::Lagged { resume_after: self.delivered });
                }
                Found::Stopped(reason) => return Err(WatchEnd::Stopped { reason }),
            };
            let seen = events.partition_point(|event| event.revision() <= self.delivered);
            let Some(last) = events[seen..].last() else {
                continue;
            };
            self.delivered = last.revision();
            return Ok(Some(if seen == 0 { events } else { events[seen..].into() }));
        }
    }

    /// The progress to report, if it is wanted and known. `fanned` was read before the topic was
    /// found empty, so everything up to it is delivered.
    fn progress(&mut self, fanned: Revision) -> Option<Revision> {
        let target = self.asked.target.load(Ordering::Acquire);
        if target == 0 || fanned.0 < target || fanned < self.delivered {
            return None;
        }
        // A wish that came in between has a later target and stays.
        let _ = self.asked.target.compare_exchange(target, 0, Ordering::AcqRel, Ordering::Relaxed);
        self.delivered = fanned;
        self.set_progress_due();
        Some(fanned)
    }

    fn set_progress_due(&mut self) {
        self.progress_due = self.progress_every.map(|interval| Instant::now() + interval);
    }

    #[cfg(test)]
    pub(super) fn backlog(&self) -> usize {
        self.topic.len()
    }
}

#[async_trait]
impl WatchSource for LocalWatch {
    async fn next(&mut self) -> Result<Delivery, WatchEnd> {
        let topic = self.topic.clone();
        let asked = self.asked.clone();
        let mut fanned_now = self.hub.fanned.subscribe();
        loop {
            let mut pushed = std::pin::pin!(topic.pushed.notified());
            pushed.as_mut().enable();
            let wish = asked.changed.notified();
            let fanned = *fanned_now.borrow_and_update();
            let events = match self.next_of_history()? {
                Some(events) => Some(events),
                None => self.next_of_topic()?,
            };
            if let Some(events) = events {
                self.set_progress_due();
                return Ok(Delivery::Events(events));
            }
            if let Some(revision) = self.progress(fanned) {
                return Ok(Delivery::Progress(revision));
            }
            let target = asked.target.load(Ordering::Acquire);
            let wanted = target != 0 && target.max(self.delivered.0) > fanned.0;
            tokio::select! {
                () = pushed => {}
                () = wish => {}
                _ = fanned_now.changed(), if wanted => {}
                () = until(self.progress_due) => {
                    self.set_progress_due();
                    asked.ask(self.hub.state().revision());
                }
            }
        }
    }

    fn progress_requester(&self) -> ProgressRequester {
        let hub: Weak<Hub> = Arc::downgrade(&self.hub);
        let asked = self.asked.clone();
        ProgressRequester::new(move || {
            if let Some(hub) = hub.upgrade() {
                asked.ask(hub.state().revision());
            }
        })
    }
}

impl Asked {
    fn ask(&self, target: Revision) {
        self.target.fetch_max(target.0, Ordering::AcqRel);
        self.changed.notify_one();
    }
}

/// Waits for a moment that may never come.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

impl Drop for LocalWatch {
    fn drop(&mut self) {
        self.hub.leave(&self.topic, self.cursor);
    }
}

impl fmt::Debug for LocalWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalWatch")
            .field("range", &self.topic.range)
            .field("delivered", &self.delivered)
            .finish_non_exhaustive()
    }
}
