//! Keeps a cache as the store is: one read of everything, then every change.
//!
//! A watch of the store that ends is started again where it ended. When the store no longer has
//! what happened since, everything is read again and every watcher is ended: its client knows how
//! to go on. After `staging/src/k8s.io/client-go/tools/cache/reflector.go`.

use std::sync::Arc;
use std::time::Duration;

use orlop_storage::tree::Tree;
use orlop_storage::{
    Delivery, Error, Event, KeyRange, RangeRequest, Revision, Watch, WatchEnd, WatchRequest,
};

use super::Shared;
use super::change::Change;
use super::snapshot::{Item, Snapshot};
use crate::object::Object;

/// How long to wait before the store is asked again.
const RETRY_AFTER: Duration = Duration::from_millis(200);
/// How often the store says how far it is while a resource does not change. Bookmarks tell it on.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Runs until the store ends after the server has stopped, or until whoever started it ends it. A
/// server that stops has requests under way that read.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut after = None;
    loop {
        match start(&shared, after).await {
            Ok(watch) => after = follow(&shared, watch).await,
            Err(Error::Compacted { .. }) => after = None,
            // A store that is closed after the server was stopped is as it should be.
            Err(error) if shared.is_stopped() => {
                return tracing::debug!(prefix = %shared.prefix, %error, "the store has ended");
            }
            Err(error) => {
                tracing::warn!(prefix = %shared.prefix, %error, "cannot follow the store");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}

/// Starts to watch after a revision, or after everything was read.
async fn start(shared: &Arc<Shared>, after: Option<Revision>) -> Result<Watch, Error> {
    let range = KeyRange::prefix(shared.prefix.clone());
    let after = match after {
        Some(after) => after,
        None => {
            let found = shared.store.range(RangeRequest::new(range.clone())).await?;
            let items = found.records.into_iter().map(|record| Item(Arc::new(Object::new(record))));
            let objects = Tree::from_ascending(items);
            shared.replace(Snapshot { objects, revision: found.revision.0 });
            found.revision
        }
    };
    let request = WatchRequest::new(range).after(after).progress_every(PROGRESS_EVERY);
    let watch = shared.store.watch(request).await?;
    shared.progress.store(Some(Arc::new(watch.progress_requester())));
    Ok(watch)
}

/// Takes over every change until the watch ends; says after which revision to go on, if it can.
async fn follow(shared: &Arc<Shared>, mut watch: Watch) -> Option<Revision> {
    loop {
        match watch.next().await {
            Ok(Delivery::Events(events)) => apply(shared, &events),
            Ok(Delivery::Progress(revision)) => shared.progressed(revision.0),
            Err(WatchEnd::Lagged { resume_after }) => return Some(resume_after),
            Err(WatchEnd::Compacted { .. }) => return None,
            Err(WatchEnd::Stopped { reason }) => {
                let (prefix, what) = (&shared.prefix, "the watch of the store has ended");
                match shared.is_stopped() {
                    true => tracing::debug!(%prefix, reason, "{what}"),
                    false => tracing::warn!(%prefix, reason, "{what}"),
                }
                tokio::time::sleep(RETRY_AFTER).await;
                return shared.reached().map(Revision);
            }
        }
    }
}

fn apply(shared: &Arc<Shared>, events: &[Event]) {
    let mut snapshot = Snapshot::clone(&shared.snapshot.load());
    let mut changes = Vec::with_capacity(events.len());
    for event in events.iter().filter(|event| event.revision().0 > snapshot.revision) {
        changes.push(Arc::new(apply_one(&mut snapshot.objects, event)));
    }
    let Some(last) = changes.last() else { return };
    snapshot.revision = last.revision;
    shared.publish(snapshot, &changes);
}

fn apply_one(objects: &mut Tree<Item>, event: &Event) -> Change {
    let object = event.record().map(|record| Arc::new(Object::new(record.clone())));
    let previous = match &object {
        Some(object) => objects.insert(Item(object.clone())),
        None => objects.remove((event.key(), 0)),
    };
    // What is in the cache knows more than a record does: its labels may have been read.
    let previous = previous.map(|Item(object)| object);
    let previous =
        previous.or_else(|| event.previous().map(|record| Arc::new(Object::new(record.clone()))));
    Change { revision: event.revision().0, object, previous }
}
