//! The watch cache: the objects of each resource as they are now, and their recent changes.
//!
//! One cache for each resource and version, made when somebody first lists or watches it. It is
//! fed by one read and one watch of the store ([`feed`]), and holds objects as the version shows
//! them. Lists are read from immutable snapshots
//! that cost nothing to take; watchers are told of changes through queues with a bound and share
//! what a change is written as.
//!
//! Invariants: a snapshot is shown before its changes are told, and both before the revision that
//! they lead to is said to be reached; all three happen while the hub is locked. So a watcher that
//! joins under the lock with a snapshot misses nothing and sees nothing twice, and when nothing
//! waits in a queue its owner has seen everything up to the revision that was reached before.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/cacher`. What is not here: reading the past,
//! which the store does.

mod catch_up;
mod change;
mod feed;
mod filter;
mod ring;
mod snapshot;
mod subscription;
#[cfg(test)]
mod tests;
mod watchers;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use orlop_machinery::status::Status;
use orlop_storage::{ProgressRequester, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub(crate) use catch_up::{CatchUp, Step, too_old};
pub(crate) use change::{Change, FrameKey, Notice, Seen};
pub(crate) use filter::{Filter, Scope};
pub(crate) use snapshot::{Item, Snapshot, View};
pub(crate) use subscription::{Next, Subscription, TooOld, Wish};

use self::ring::Ring;
use self::watchers::Watchers;
use crate::definition::Definition;

/// How long a request waits for the cache to come to a revision.
const WAIT_MAX: Duration = Duration::from_secs(3);
/// How often the store is asked how far it is while somebody waits.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// What a client is told to wait that asked for more than there is.
const RETRY_SECONDS: i32 = 1;

/// The caches of all resources.
pub(crate) struct Caches {
    store: Arc<dyn Store>,
    /// By the address of their definition, which they hold.
    caches: Mutex<HashMap<usize, Arc<Cache>>>,
    is_stopped: AtomicBool,
}

/// The cache of one resource.
pub(crate) struct Cache {
    shared: Arc<Shared>,
    feed: JoinHandle<()>,
}

/// What the feed, readers and watchers share.
struct Shared {
    /// What is cached.
    definition: Arc<Definition>,
    store: Arc<dyn Store>,
    snapshot: ArcSwap<Snapshot>,
    /// Every change up to this revision is in the snapshot and was told; none before the first
    /// read.
    reached: watch::Sender<Option<u64>>,
    hub: Mutex<Hub>,
    progress: ArcSwapOption<ProgressRequester>,
    kept: snapshot::Kept,
    /// Why objects cannot be shown, while they cannot.
    failure: ArcSwapOption<Status>,
}

#[derive(Default)]
struct Hub {
    ring: Ring,
    watchers: Watchers,
    last_id: u64,
    is_stopped: bool,
}

impl Caches {
    /// No caches yet.
    pub(crate) fn new(store: Arc<dyn Store>) -> Caches {
        Caches { store, caches: Mutex::default(), is_stopped: AtomicBool::new(false) }
    }

    /// The cache of a resource. It may still have to read its objects.
    pub(crate) fn get(&self, definition: &Arc<Definition>) -> Arc<Cache> {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = caches.get(&address(definition)) {
            return cache.clone();
        }
        let cache = Arc::new(Cache::new(definition.clone(), self.store.clone()));
        let is_retired = definition.is_retired.load(Ordering::Acquire);
        cache.shared.hub().is_stopped = is_retired || self.is_stopped.load(Ordering::Acquire);
        if !is_retired {
            caches.insert(address(definition), cache.clone());
        }
        cache
    }

    /// Lets a definition go on with the cache of another that shows the same.
    pub(crate) fn hand_over(&self, old: &Arc<Definition>, new: &Arc<Definition>) {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = caches.remove(&address(old)) {
            caches.insert(address(new), cache);
        }
    }

    /// Forgets what is not served any more, and ends its watches: their clients ask again.
    pub(crate) fn retire<'a>(&self, definitions: impl Iterator<Item = &'a Arc<Definition>>) {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        for definition in definitions {
            definition.is_retired.store(true, Ordering::Release);
            if let Some(cache) = caches.remove(&address(definition)) {
                cache.end_watches();
            }
        }
    }

    /// How many objects are in the cache of a resource; none if there is none, or it is still
    /// empty.
    pub(crate) fn count(&self, definition: &Arc<Definition>) -> Option<usize> {
        let caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = &caches.get(&address(definition))?.shared;
        shared.reached()?;
        Some(shared.snapshot.load().objects.len())
    }

    /// Ends every watch, and those that come later: the server stops.
    pub(crate) fn end_watches(&self) {
        self.is_stopped.store(true, Ordering::Release);
        let caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        caches.values().for_each(|cache| cache.end_watches());
    }
}

fn address(definition: &Arc<Definition>) -> usize {
    Arc::as_ptr(definition).addr()
}

impl Cache {
    fn new(definition: Arc<Definition>, store: Arc<dyn Store>) -> Cache {
        let shared = Arc::new(Shared {
            definition,
            store,
            snapshot: ArcSwap::default(),
            reached: watch::Sender::new(None),
            hub: Mutex::default(),
            progress: ArcSwapOption::empty(),
            kept: snapshot::Kept::default(),
            failure: ArcSwapOption::empty(),
        });
        let feed = tokio::spawn(feed::run(shared.clone()));
        Cache { shared, feed }
    }

    /// The objects as they are in the cache, whatever its age.
    ///
    /// # Errors
    ///
    /// When nothing could be read from the store yet.
    pub(crate) async fn any(&self) -> Result<View, Status> {
        self.at_least(0).await
    }

    /// The objects at a revision or later.
    ///
    /// # Errors
    ///
    /// When the cache does not come there in time.
    pub(crate) async fn at_least(&self, revision: u64) -> Result<View, Status> {
        let mut reached = self.shared.reached.subscribe();
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            let now = *reached.borrow_and_update();
            if now.is_some_and(|now| now >= revision) {
                return Ok(self.shared.view());
            }
            if let Some(failure) = &*self.shared.failure.load() {
                return Err(Status::clone(failure));
            }
            if Instant::now() >= deadline {
                return Err(match now {
                    None => Status::too_many_requests("storage is (re)initializing", RETRY_SECONDS),
                    Some(now) => Status::resource_version_too_large(revision, now, RETRY_SECONDS),
                });
            }
            if let Some(progress) = &*self.shared.progress.load() {
                progress.request();
            }
            let next = deadline.min(Instant::now() + ASK_EVERY);
            // Whether it changed or not is seen above.
            let _ = tokio::time::timeout_at(next, reached.changed()).await;
        }
    }

    /// The objects at exactly a revision, if the cache still has or knows them.
    pub(crate) fn exactly(&self, revision: u64) -> Option<View> {
        if let Some(view) = self.shared.kept.find(revision) {
            return Some(view);
        }
        let reached = self.shared.reached()?;
        let snapshot = self.shared.snapshot.load();
        let is_now = (snapshot.revision..=reached.max(snapshot.revision)).contains(&revision);
        is_now.then(|| View { objects: snapshot.objects.clone(), revision })
    }

    /// Keeps a view for whoever asks for the next part of it.
    pub(crate) fn keep(&self, view: &View) {
        self.shared.kept.keep(view);
    }

    /// The objects as they are, and every change after them.
    pub(crate) fn watch_with_state(&self, wish: &Wish) -> (View, Subscription) {
        Subscription::with_state(&self.shared, wish)
    }

    /// Every change after a revision, which may be in the future.
    ///
    /// # Errors
    ///
    /// When the cache does not know all of them; the store may.
    pub(crate) fn watch_after(&self, wish: &Wish, revision: u64) -> Result<Subscription, TooOld> {
        Subscription::after(&self.shared, wish, revision)
    }

    fn end_watches(&self) {
        let mut hub = self.shared.hub();
        hub.is_stopped = true;
        hub.watchers.clear();
    }

    /// Whether watches have been ended for good.
    pub(crate) fn is_stopped(&self) -> bool {
        self.shared.is_stopped()
    }
}

impl Shared {
    fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.hub().is_stopped
    }

    fn reached(&self) -> Option<u64> {
        *self.reached.borrow()
    }

    /// What the cache has. What was reached is read first: the snapshot may be newer, not older.
    fn view(&self) -> View {
        let reached = self.reached().unwrap_or_default();
        let snapshot = self.snapshot.load();
        View { objects: snapshot.objects.clone(), revision: reached.max(snapshot.revision) }
    }

    /// Starts anew with what was read.
    fn replace(&self, snapshot: Snapshot) {
        let mut hub = self.hub();
        hub.watchers.clear();
        hub.ring.restart(snapshot.revision);
        let revision = snapshot.revision;
        self.snapshot.store(Arc::new(snapshot));
        self.failure.store(None);
        self.reached.send_replace(Some(revision));
    }

    /// Shows a newer snapshot and tells of the changes that led to it.
    fn publish(&self, snapshot: Snapshot, changes: &[Arc<Change>]) {
        let mut hub = self.hub();
        let revision = snapshot.revision;
        self.snapshot.store(Arc::new(snapshot));
        for change in changes {
            hub.ring.push(change.clone());
            hub.watchers.tell(change, self.definition.storage.prefix.len());
        }
        self.reached.send_replace(Some(revision));
    }

    /// Objects cannot be shown for now. Whoever waits is told; nobody is told of changes.
    fn fail(&self, failure: Status) {
        let mut hub = self.hub();
        hub.watchers.clear();
        self.failure.store(Some(Arc::new(failure)));
        self.reached.send_replace(None);
    }

    /// Nothing has changed up to a revision.
    fn progressed(&self, revision: u64) {
        let _hub = self.hub();
        self.reached.send_if_modified(|reached| {
            let is_news = reached.is_some_and(|reached| reached < revision);
            if is_news {
                *reached = Some(revision);
            }
            is_news
        });
        self.kept.forget_old();
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.feed.abort();
    }
}
