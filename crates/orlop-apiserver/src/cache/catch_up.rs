//! The changes that the cache has forgotten, from the history of the store, until they meet those
//! that it knows.
//!
//! The store's watch and the cache tell of the same transactions in the same order. After each
//! delivery the cache is asked whether it knows everything since; when it does, it takes over
//! after exactly the revision that was delivered last.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use orlop_machinery::status::Status;
use orlop_storage::{Delivery, Error, Event, KeyRange, Revision, Watch, WatchEnd, WatchRequest};

use super::change::{Change, Seen};
use super::subscription::{Subscription, Wish};
use super::{Cache, Shared};
use crate::object::Object;

/// See the module's documentation.
pub(crate) struct CatchUp {
    shared: Arc<Shared>,
    wish: Wish,
    /// Everything up to here was taken from the history.
    delivered: u64,
    changes: VecDeque<(Change, Seen)>,
    waiting: Waiting,
}

type Waiting = Pin<Box<dyn Future<Output = (Watch, Result<Delivery, WatchEnd>)> + Send>>;

/// What comes next.
pub(crate) enum Step {
    /// A change.
    Change(Change, Seen),
    /// The cache has the rest.
    Joined(Subscription),
    /// The store has given up the rest.
    Expired(Status),
    /// Nothing more will come; who wants more starts again.
    End,
}

impl CatchUp {
    /// Starts after a revision that the cache does not know.
    ///
    /// # Errors
    ///
    /// When the store does not know it either, or cannot be asked.
    pub(crate) async fn start(
        cache: &Cache,
        wish: &Wish,
        range: KeyRange,
        after: u64,
    ) -> Result<CatchUp, Error> {
        let shared = cache.shared.clone();
        let request = WatchRequest::new(range).after(Revision(after));
        let watch = shared.store.watch(request).await?;
        // Where nothing has happened since, there is nothing to wait for but this.
        watch.progress_requester().request();
        let (wish, waiting) = (wish.clone(), wait(watch));
        Ok(CatchUp { shared, wish, delivered: after, changes: VecDeque::new(), waiting })
    }

    /// Waits for what comes next.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        loop {
            if let Some((change, seen)) = self.changes.pop_front() {
                return Poll::Ready(Step::Change(change, seen));
            }
            let (watch, delivery) = ready!(self.waiting.as_mut().poll(context));
            match delivery {
                Ok(Delivery::Events(events)) => self.take(&events),
                Ok(Delivery::Progress(revision)) => {
                    self.delivered = self.delivered.max(revision.0);
                }
                Err(WatchEnd::Compacted { oldest }) => {
                    return Poll::Ready(Step::Expired(too_old(self.delivered, oldest.0)));
                }
                Err(WatchEnd::Lagged { .. } | WatchEnd::Stopped { .. }) => {
                    return Poll::Ready(Step::End);
                }
            }
            if self.changes.is_empty()
                && let Ok(joined) = Subscription::after(&self.shared, &self.wish, self.delivered)
            {
                return Poll::Ready(Step::Joined(joined));
            }
            watch.progress_requester().request();
            self.waiting = wait(watch);
        }
    }

    fn take(&mut self, events: &[Event]) {
        for event in events {
            let object = |record: &orlop_storage::Record| Arc::new(Object::new(record.clone()));
            let change = Change {
                revision: event.revision().0,
                object: event.record().map(object),
                previous: event.previous().map(object),
            };
            self.delivered = self.delivered.max(change.revision);
            if let Some(seen) = change.seen_through(&self.wish.filter) {
                self.changes.push_back((change, seen));
            }
        }
    }
}

/// What a watcher is told that wants to start before everything that is known.
pub(crate) fn too_old(asked: u64, oldest: u64) -> Status {
    Status::expired(&format!("too old resource version: {asked} ({oldest})"))
}

fn wait(mut watch: Watch) -> Waiting {
    Box::pin(async move {
        let delivery = watch.next().await;
        (watch, delivery)
    })
}
