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
use orlop_storage::{
    Delivery, Error, Event, KeyRange, Record, Revision, Watch, WatchEnd, WatchRequest,
};

use super::change::{Change, Seen};
use super::subscription::{Subscription, Wish};
use super::{Cache, Shared};
use crate::definition::Definition;
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

type Waiting = Pin<Box<dyn Future<Output = (Watch, Result<News, Step>)> + Send>>;

/// What the history tells next.
enum News {
    Changes(Vec<Change>),
    Progress(u64),
}

/// What comes next.
pub(crate) enum Step {
    /// A change.
    Change(Change, Seen),
    /// The cache has the rest.
    Joined(Subscription),
    /// The rest cannot be told: the store has given it up, or it cannot be shown.
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
        let (wish, waiting) = (wish.clone(), wait(watch, shared.clone(), after));
        Ok(CatchUp { shared, wish, delivered: after, changes: VecDeque::new(), waiting })
    }

    /// Waits for what comes next.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        loop {
            if let Some((change, seen)) = self.changes.pop_front() {
                return Poll::Ready(Step::Change(change, seen));
            }
            let (watch, news) = ready!(self.waiting.as_mut().poll(context));
            match news {
                Ok(News::Changes(changes)) => self.take(changes),
                Ok(News::Progress(revision)) => self.delivered = self.delivered.max(revision),
                Err(end) => return Poll::Ready(end),
            }
            if self.changes.is_empty()
                && let Ok(joined) = Subscription::after(&self.shared, &self.wish, self.delivered)
            {
                return Poll::Ready(Step::Joined(joined));
            }
            watch.progress_requester().request();
            self.waiting = wait(watch, self.shared.clone(), self.delivered);
        }
    }

    fn take(&mut self, changes: Vec<Change>) {
        for change in changes {
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

fn wait(mut watch: Watch, shared: Arc<Shared>, delivered: u64) -> Waiting {
    Box::pin(async move {
        let news = match watch.next().await {
            Ok(Delivery::Events(events)) => show(&shared.definition, &events).await,
            Ok(Delivery::Progress(revision)) => Ok(News::Progress(revision.0)),
            Err(WatchEnd::Compacted { oldest }) => Err(Step::Expired(too_old(delivered, oldest.0))),
            Err(WatchEnd::Lagged { .. } | WatchEnd::Stopped { .. }) => Err(Step::End),
        };
        (watch, news)
    })
}

/// Events as the version shows them.
async fn show(definition: &Definition, events: &[Event]) -> Result<News, Step> {
    let both = |event: &Event| [event.record().cloned(), event.previous().cloned()];
    let records: Vec<Record> = events.iter().flat_map(both).flatten().collect();
    let mut shown = definition.show(records).await.map_err(Step::Expired)?.into_iter();
    let mut next = |record: Option<&Record>| {
        record.and_then(|_| shown.next()).map(|record| Arc::new(Object::new(record)))
    };
    let changes = events.iter().map(|event| {
        let object = next(event.record());
        Change { revision: event.revision().0, object, previous: next(event.previous()) }
    });
    Ok(News::Changes(changes.collect()))
}
