//! Following the changes of a resource from a state or a revision on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::mpsc;

use super::Shared;
use super::change::{Change, Notice, Seen};
use super::filter::{Filter, Scope};
use super::snapshot::View;
use super::watchers::{QUEUE_MAX, Watcher};

/// Which changes somebody wants.
#[derive(Clone)]
pub(crate) struct Wish {
    /// Of which keys.
    pub scope: Scope,
    /// Of which objects among them.
    pub filter: Arc<Filter>,
}

/// Changes that come; dropping it ends them.
pub(crate) struct Subscription {
    shared: Arc<Shared>,
    scope: Scope,
    id: u64,
    queue: mpsc::Receiver<(Arc<Notice>, Seen)>,
    /// How many bytes wait in the queue.
    bytes: Arc<AtomicUsize>,
    /// Changes that happened before, oldest first.
    backlog: VecDeque<(Arc<Change>, Seen)>,
}

/// The changes after a revision are not in the cache any more.
#[derive(Debug)]
pub(crate) struct TooOld;

/// What comes next.
pub(crate) enum Next {
    /// A change that happened before the subscription began.
    Old(Arc<Change>, Seen),
    /// A change that others see too.
    New(Arc<Notice>, Seen),
    /// Nothing will come: the watcher was too slow, or the cache starts anew or ends.
    End,
}

impl Subscription {
    /// The objects as they are, and every change after them.
    pub(super) fn with_state(shared: &Arc<Shared>, wish: &Wish) -> (View, Subscription) {
        let mut hub = shared.hub();
        let view = shared.view();
        let subscription = Subscription::join(shared, &mut hub, wish, view.revision);
        (view, subscription)
    }

    /// Every change after a revision, which may be in the future.
    pub(super) fn after(
        shared: &Arc<Shared>,
        wish: &Wish,
        revision: u64,
    ) -> Result<Subscription, TooOld> {
        let mut hub = shared.hub();
        let range = wish.scope.range(&shared.definition);
        let missed = hub.ring.after(revision).ok_or(TooOld)?;
        let missed = missed.filter(|change| range.contains(change.key()));
        let seen = missed.filter_map(|change| {
            change.seen_through(&wish.filter).map(|seen| (change.clone(), seen))
        });
        let backlog = seen.collect();
        let mut subscription = Subscription::join(shared, &mut hub, wish, revision);
        subscription.backlog = backlog;
        Ok(subscription)
    }

    fn join(shared: &Arc<Shared>, hub: &mut super::Hub, wish: &Wish, after: u64) -> Subscription {
        let (sender, queue) = mpsc::channel(QUEUE_MAX);
        hub.last_id += 1;
        let id = hub.last_id;
        let bytes = Arc::new(AtomicUsize::new(0));
        let filter = wish.filter.clone();
        let watcher = Watcher { id, after, filter, queue: sender, bytes: bytes.clone() };
        // Without its sender the queue ends at once, as it should once the server stops.
        if !hub.is_stopped {
            hub.watchers.add(&wish.scope, watcher);
        }
        let (shared, scope) = (shared.clone(), wish.scope.clone());
        Subscription { shared, scope, id, queue, bytes, backlog: VecDeque::new() }
    }

    /// Waits for what comes next.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Next> {
        if let Some((change, seen)) = self.backlog.pop_front() {
            return Poll::Ready(Next::Old(change, seen));
        }
        self.queue.poll_recv(context).map(|queued| match queued {
            Some((notice, seen)) => {
                self.bytes.fetch_sub(notice.change.byte_len(), Ordering::Relaxed);
                Next::New(notice, seen)
            }
            None => Next::End,
        })
    }

    /// The revision up to which every change was handed over: once nothing is waiting, all of
    /// them were seen.
    pub(crate) fn reached(&self) -> Option<u64> {
        self.shared.reached()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.hub().watchers.remove(&self.scope, self.id);
    }
}
