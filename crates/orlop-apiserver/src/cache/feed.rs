//! Keeps a cache as the store is: one read of everything, then every change.
//!
//! A watch of the store that ends is started again where it ended. When the store no longer has
//! what happened since, everything is read again and every watcher is ended: its client knows how
//! to go on. The same happens when objects cannot be shown (their webhook does not answer), after
//! a while. After `staging/src/k8s.io/client-go/tools/cache/reflector.go`.

use std::sync::Arc;
use std::time::Duration;

use orlop_machinery::status::Status;
use orlop_storage::tree::Tree;
use orlop_storage::{
    Delivery, Error, Event, KeyRange, RangeRequest, Record, Revision, Watch, WatchEnd, WatchRequest,
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
        let definition = &shared.definition;
        match start(&shared, after).await {
            Ok(watch) => match follow(&shared, watch).await {
                Ok(resume) => after = resume,
                Err(status) => {
                    after = None;
                    pause(&shared, status).await;
                }
            },
            Err(Trouble::Store(Error::Compacted { .. })) => after = None,
            // A store that is closed after the server was stopped is as it should be.
            Err(Trouble::Store(error)) if shared.is_stopped() => {
                return tracing::debug!(?definition, %error, "the store has ended");
            }
            Err(Trouble::Store(error)) => {
                tracing::warn!(?definition, %error, "cannot follow the store");
                tokio::time::sleep(RETRY_AFTER).await;
            }
            Err(Trouble::Form(status)) => pause(&shared, status).await,
        }
    }
}

/// Why a cache cannot start.
enum Trouble {
    Store(Error),
    Form(Status),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Store(error)
    }
}

/// Tells everybody why objects cannot be shown, and waits before it is tried again.
async fn pause(shared: &Arc<Shared>, status: Status) {
    tracing::warn!(definition = ?shared.definition, %status, "objects cannot be shown");
    shared.fail(status);
    tokio::time::sleep(RETRY_AFTER).await;
}

/// Starts to watch after a revision, or after everything was read.
async fn start(shared: &Arc<Shared>, after: Option<Revision>) -> Result<Watch, Trouble> {
    let range = KeyRange::prefix(shared.definition.storage.prefix.clone());
    let after = match after {
        Some(after) => after,
        None => {
            let found = shared.store.range(RangeRequest::new(range.clone())).await?;
            let records = shared.definition.show(found.records).await.map_err(Trouble::Form)?;
            let items = records.into_iter().map(|record| Item(Arc::new(Object::new(record))));
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
async fn follow(shared: &Arc<Shared>, mut watch: Watch) -> Result<Option<Revision>, Status> {
    loop {
        match watch.next().await {
            Ok(Delivery::Events(events)) => apply(shared, &events).await?,
            Ok(Delivery::Progress(revision)) => shared.progressed(revision.0),
            Err(WatchEnd::Lagged { resume_after }) => return Ok(Some(resume_after)),
            Err(WatchEnd::Compacted { .. }) => return Ok(None),
            Err(WatchEnd::Stopped { reason }) => {
                let (definition, what) = (&shared.definition, "the watch of the store has ended");
                match shared.is_stopped() {
                    true => tracing::debug!(?definition, reason, "{what}"),
                    false => tracing::warn!(?definition, reason, "{what}"),
                }
                tokio::time::sleep(RETRY_AFTER).await;
                return Ok(shared.reached().map(Revision));
            }
        }
    }
}

async fn apply(shared: &Arc<Shared>, events: &[Event]) -> Result<(), Status> {
    let mut snapshot = Snapshot::clone(&shared.snapshot.load());
    let news: Vec<&Event> =
        events.iter().filter(|event| event.revision().0 > snapshot.revision).collect();
    let records = news.iter().filter_map(|event| event.record().cloned()).collect();
    let mut shown = shared.definition.show(records).await?.into_iter();
    let mut changes = Vec::with_capacity(news.len());
    for event in news {
        let object = event.record().and_then(|_| shown.next());
        changes.push(Arc::new(apply_one(&mut snapshot.objects, event, object)));
    }
    let Some(last) = changes.last() else { return Ok(()) };
    snapshot.revision = last.revision;
    shared.publish(snapshot, &changes);
    Ok(())
}

fn apply_one(objects: &mut Tree<Item>, event: &Event, shown: Option<Record>) -> Change {
    let object = shown.map(|record| Arc::new(Object::new(record)));
    let previous = match &object {
        Some(object) => objects.insert(Item(object.clone())),
        None => objects.remove((event.key(), 0)),
    };
    // What was there before is in the cache, as it was shown.
    let previous = previous.map(|Item(object)| object);
    Change { revision: event.revision().0, object, previous }
}
