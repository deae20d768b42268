//! The model as an engine: a lock around it, and watches that ask it again and again.
//!
//! It shows that the suite can be passed by the plainest reading of the contract, and it is what
//! tests of the checkers break on purpose.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use orlop_storage::{
    At, Delivery, Error, Get, KeyRange, LeaseId, Outcome, ProgressRequester, Range, RangeRequest,
    Revision, Store, Txn, Watch, WatchEnd, WatchRequest, WatchSource,
};
use tokio::sync::watch::{Receiver, Sender};

use crate::Model;

/// The most events that wait for a watcher before it is cut off.
const BUFFER_EVENTS_MAX: usize = 8192;

/// A store that is the model.
#[derive(Clone, Debug)]
pub struct ReferenceStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    model: Mutex<Model>,
    /// Changes whenever a watcher should look again.
    changes: Sender<u64>,
}

impl ReferenceStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        let model = Mutex::new(Model::empty_at(Revision::ZERO));
        Self(Arc::new(Shared { model, changes: Sender::new(0) }))
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        self.0.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.0.changes.send_modify(|count| *count += 1);
    }
}

impl Default for ReferenceStore {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Store for ReferenceStore {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        self.model().get(key, at)
    }

    async fn range(&self, request: RangeRequest) -> Result<Range, Error> {
        self.model().range(&request)
    }

    async fn commit(&self, txn: Txn) -> Result<Outcome, Error> {
        let outcome = self.model().commit(&txn);
        self.changed();
        outcome
    }

    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error> {
        let model = self.model();
        let position = request.after.unwrap_or(model.revision());
        if position < model.oldest() {
            return Err(Error::Compacted { oldest: model.oldest() });
        }
        Ok(Watch::new(Source {
            store: self.clone(),
            changes: self.0.changes.subscribe(),
            range: request.range,
            started: model.revision(),
            position,
            progress_every: request.progress_every,
            progress_requested: Arc::new(AtomicBool::new(false)),
        }))
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        self.model().compact(revision)
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error> {
        let lease = self.model().grant_lease(ttl)?;
        let store = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(ttl).await;
            store.model().expire(lease);
            store.changed();
        });
        Ok(lease)
    }

    async fn revision(&self) -> Result<Revision, Error> {
        Ok(self.model().revision())
    }

    async fn health(&self) -> Result<(), Error> {
        Ok(())
    }
}

#[derive(Debug)]
struct Source {
    store: ReferenceStore,
    changes: Receiver<u64>,
    range: KeyRange,
    /// The newest revision when the watch began: history before it does not count as lag.
    started: Revision,
    /// Everything up to here was delivered.
    position: Revision,
    progress_every: Option<Duration>,
    progress_requested: Arc<AtomicBool>,
}

impl Source {
    fn poll(&mut self) -> Option<Result<Delivery, WatchEnd>> {
        // Taken before the revision is read: a request that comes later is answered later.
        let requested = self.progress_requested.swap(false, Ordering::SeqCst);
        let (events, newest) = {
            let model = self.store.model();
            (model.events_after(&self.range, self.position), model.revision())
        };
        let waiting = events.iter().filter(|event| event.revision() > self.started).count();
        if waiting > BUFFER_EVENTS_MAX {
            return Some(Err(WatchEnd::Lagged { resume_after: self.position }));
        }
        let reached = newest >= self.position;
        if reached && events.is_empty() && requested {
            self.position = newest;
            return Some(Ok(Delivery::Progress(newest)));
        }
        self.progress_requested.fetch_or(requested, Ordering::SeqCst);
        if events.is_empty() {
            return None;
        }
        self.position = newest;
        Some(Ok(Delivery::Events(events.into())))
    }
}

#[async_trait]
impl WatchSource for Source {
    async fn next(&mut self) -> Result<Delivery, WatchEnd> {
        loop {
            self.changes.mark_unchanged();
            if let Some(next) = self.poll() {
                return next;
            }
            let interval = self.progress_every.unwrap_or(Duration::MAX);
            if tokio::time::timeout(interval, self.changes.changed()).await.is_err() {
                self.progress_requested.store(true, Ordering::SeqCst);
            }
        }
    }

    fn progress_requester(&self) -> ProgressRequester {
        let (requested, store) = (self.progress_requested.clone(), self.store.clone());
        ProgressRequester::new(move || {
            requested.store(true, Ordering::SeqCst);
            store.changed();
        })
    }
}
