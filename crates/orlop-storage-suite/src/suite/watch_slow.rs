//! Watchers that do not read: they may be cut off, but never lose anything unknowingly, and
//! nobody waits for them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use orlop_storage::{Event, Revision, Store, Txn, WatchEnd};
use tokio::time::{sleep, timeout};

use super::collected::Collected;
use super::fixture::*;

/// More transactions of the most writes than any watch buffers.
const FLOOD_TRANSACTIONS: usize = 100;

/// Writes far more events than a watch buffers, and says the last revision.
async fn flood(store: &Shared) -> Revision {
    let mut last = Revision::ZERO;
    for n in 0..FLOOD_TRANSACTIONS {
        last = commit(store, wide("/flood/", Txn::WRITES_MAX, &n.to_string())).await;
    }
    last
}

/// Where a watch that has ended can be resumed.
#[track_caller]
fn resume_after(watch: &Collected) -> Revision {
    match &watch.end {
        Some(WatchEnd::Lagged { resume_after }) => {
            let delivered = watch.events.last().map(Event::revision);
            assert!(
                delivered.is_none_or(|last| last <= *resume_after),
                "delivered up to {delivered:?}, but to be resumed after {resume_after}"
            );
            *resume_after
        }
        other => panic!("a slow watcher is cut off with Lagged, got {other:?}"),
    }
}

/// A watcher that never reads is cut off, and told where to resume.
pub async fn a_watcher_that_never_reads_is_cut_off(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    flood(&store).await;
    // An engine may be patient for a moment before it cuts off.
    sleep(Duration::from_secs(3)).await;
    watch.wait_for_end().await;
    resume_after(&watch);
    watch.assert_whole_and_in_order();
}

/// A watcher that did not read gets everything in the end, by resuming if it was cut off.
pub async fn a_watcher_that_never_reads_loses_nothing(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let mut watch = Collected::from_now(&store).await;
    let last = flood(&store).await;
    let mut events = Vec::new();
    watch.wait_until_or_end(last).await;
    for _ in 0..50 {
        watch.assert_whole_and_in_order();
        events.append(&mut watch.events);
        if watch.end.is_none() {
            break;
        }
        watch = Collected::after(&store, resume_after(&watch)).await;
        watch.wait_until_or_end(last).await;
    }
    assert_eq!(events.len(), FLOOD_TRANSACTIONS * Txn::WRITES_MAX);
    let distinct: BTreeSet<(Revision, &[u8])> =
        events.iter().map(|event| (event.revision(), event.key())).collect();
    assert_eq!(distinct.len(), events.len(), "nothing came twice");
    let revisions: BTreeSet<u64> = events.iter().map(|event| event.revision().0).collect();
    assert_eq!(revisions, (start.0 + 1..=last.0).collect(), "every revision came");
}

/// Writers and other watchers do not wait for a watcher that does not read.
pub async fn a_slow_watcher_slows_nobody(store: Arc<dyn Store>) {
    let _slow: Vec<Collected> =
        vec![Collected::from_now(&store).await, Collected::from_now(&store).await];
    let mut quick = Collected::from_now(&store).await;
    let mut last = Revision::ZERO;
    for n in 0..FLOOD_TRANSACTIONS {
        let write = commit(&store, wide("/flood/", Txn::WRITES_MAX, &n.to_string()));
        let written = timeout(Duration::from_secs(10), write).await;
        last = written.expect("writers do not wait for watchers");
        quick.wait_for((n + 1) * Txn::WRITES_MAX).await;
    }
    assert_eq!(quick.events.last().map(Event::revision), Some(last));
    quick.assert_whole_and_in_order();
}

/// A watch of a long past, read slowly from the start, is complete or resumes.
pub async fn a_long_history_is_replayed_whole(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let last = flood(&store).await;
    let (mut position, mut seen) = (start, 0);
    for _ in 0..50 {
        let mut watch = Collected::after(&store, position).await;
        watch.wait_until_or_end(last).await;
        watch.assert_whole_and_in_order();
        seen += watch.events.len();
        if watch.end.is_none() {
            break;
        }
        position = resume_after(&watch);
    }
    assert_eq!(seen, FLOOD_TRANSACTIONS * Txn::WRITES_MAX);
}
