//! Progress: how far a watch is when nothing happens, and watches that start in the future.

use std::sync::Arc;
use std::time::Duration;

use orlop_storage::{KeyRange, Revision, Store, WatchRequest};

use super::collected::Collected;
use super::fixture::*;

/// Asked how far it is, a watch that has seen everything says the newest revision.
pub async fn progress_on_request_is_the_newest_revision(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    let mut watch = Collected::from_now(&store).await;
    let last = put(&store, "/a", "2").await;
    watch.request_progress();
    assert_eq!(watch.wait_for_progress(last).await, last);
    watch.assert_told(&["updated /a=2 was 1"]);
}

/// Progress covers writes outside the range: that is what it is for.
pub async fn progress_covers_writes_outside_the_range(store: Arc<dyn Store>) {
    let request = WatchRequest::new(KeyRange::prefix("/watched/"));
    let mut watch = Collected::start(&store, request).await;
    put(&store, "/watched/a", "1").await;
    let mut last = Revision::ZERO;
    for n in 0..20 {
        last = put(&store, "/other", n.to_string()).await;
    }
    watch.request_progress();
    assert_eq!(watch.wait_for_progress(last).await, last);
    watch.assert_told(&["created /watched/a=1"]);
}

/// Progress never says a revision whose changes were not delivered before (etcd 15220).
pub async fn progress_never_overtakes_events(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        let mut last = Revision::ZERO;
        for n in 0..300 {
            last = put(&writer, "/a", n.to_string()).await;
        }
        last
    });
    while !writing.is_finished() {
        watch.request_progress();
        watch.give_up_waiting(1).await;
    }
    let last = writing.await.expect("the writer ends");
    watch.request_progress();
    watch.wait_for_progress(last).await;
    for (revision, before) in &watch.progress {
        let later = &watch.events[*before..];
        let late = later.iter().find(|event| event.revision() <= *revision);
        assert!(late.is_none(), "progress {revision} came before {late:?}");
    }
    assert!(watch.progress.is_sorted(), "progress goes forward: {:?}", watch.progress);
    assert_eq!(watch.events.len(), 300);
}

/// A watch of the past says its progress after its history, not before.
pub async fn progress_comes_after_the_history(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let mut last = start;
    for n in 0..500 {
        last = put(&store, "/a", n.to_string()).await;
    }
    let mut watch = Collected::after(&store, start).await;
    watch.request_progress();
    watch.wait_for_progress(last).await;
    assert_eq!(watch.events.len(), 500, "the whole history came before the progress");
}

/// A watch that was not asked says nothing.
pub async fn progress_is_not_said_unasked(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    put(&store, "/a", "1").await;
    watch.wait_for(1).await;
    watch.stays_silent().await;
    assert_eq!(watch.progress, []);
}

/// Asked many times, a watch answers at least once, with the newest revision of the last request.
pub async fn many_requests_are_answered(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    for n in 0..20 {
        let last = put(&store, "/a", n.to_string()).await;
        for _ in 0..5 {
            watch.request_progress();
        }
        assert_eq!(watch.wait_for_progress(last).await, last, "round {n}");
    }
    assert_eq!(watch.events.len(), 20);
}

/// Every watch that asks is answered with its own progress.
pub async fn each_watch_is_answered_for_itself(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    for n in 0..200 {
        put(&store, "/a", n.to_string()).await;
    }
    let mut live = Collected::from_now(&store).await;
    let mut replayed = Collected::after(&store, start).await;
    let last = put(&store, "/b", "x").await;
    live.request_progress();
    replayed.request_progress();
    live.wait_for_progress(last).await;
    replayed.wait_for_progress(last).await;
    assert_eq!((live.events.len(), replayed.events.len()), (1, 201));
}

/// A watch resumed after the progress it said loses nothing.
pub async fn a_watch_resumes_after_its_progress(store: Arc<dyn Store>) {
    let request = WatchRequest::new(KeyRange::prefix("/watched/"));
    let mut watch = Collected::start(&store, request.clone()).await;
    let last = put(&store, "/other", "x").await;
    watch.request_progress();
    let progress = watch.wait_for_progress(last).await;
    drop(watch);
    put(&store, "/watched/a", "1").await;
    compact(&store, progress).await;
    let mut resumed = Collected::start(&store, request.after(progress)).await;
    put(&store, "/watched/a", "2").await;
    resumed.wait_for(2).await;
    resumed.assert_told(&["created /watched/a=1", "updated /watched/a=2 was 1"]);
}

/// Asked to, an idle watch says every so often how far it is.
pub async fn an_idle_watch_says_its_progress_by_itself(store: Arc<dyn Store>) {
    let every = Duration::from_millis(200);
    let request = WatchRequest::new(KeyRange::prefix("/watched/")).progress_every(every);
    let mut watch = Collected::start(&store, request).await;
    for n in 0..3 {
        let last = put(&store, "/other", n.to_string()).await;
        watch.wait_for_progress(last).await;
    }
    assert_eq!(watch.events.len(), 0);
    assert!(watch.progress.is_sorted(), "progress goes forward: {:?}", watch.progress);
}

/// A watch that starts in the future delivers nothing before, and everything after (etcd 20221).
pub async fn a_future_watch_delivers_nothing_old_and_nothing_early(store: Arc<dyn Store>) {
    let start = put(&store, "/a", "old").await;
    let after = Revision(start.0 + 5);
    let mut watch = Collected::after(&store, after).await;
    for n in 1..=5 {
        put(&store, "/a", format!("early {n}")).await;
    }
    watch.stays_silent().await;
    put(&store, "/a", "first").await;
    put(&store, "/b", "second").await;
    watch.wait_for(2).await;
    watch.assert_told(&["updated /a=first was early 5", "created /b=second"]);
}

/// A watch that starts in the future says no progress below its start (etcd 20221).
pub async fn a_future_watch_says_no_progress_before_its_start(store: Arc<dyn Store>) {
    let start = put(&store, "/a", "old").await;
    let after = Revision(start.0 + 3);
    let request = WatchRequest::new(KeyRange::all()).after(after);
    let every = Duration::from_millis(50);
    let mut watch = Collected::start(&store, request.progress_every(every)).await;
    watch.request_progress();
    watch.stays_silent().await;
    for n in 0..4 {
        put(&store, "/a", n.to_string()).await;
        watch.request_progress();
    }
    watch.wait_for(1).await;
    let newest = newest(&store).await;
    watch.request_progress();
    watch.wait_for_progress(newest).await;
    let early = watch.progress.iter().find(|(revision, _)| *revision < after);
    assert!(early.is_none(), "a watch after {after} said progress {early:?}");
}

/// A future watch whose start is skipped over by a compaction is still complete.
pub async fn a_future_watch_survives_compaction(store: Arc<dyn Store>) {
    let start = put(&store, "/a", "old").await;
    let mut watch = Collected::after(&store, Revision(start.0 + 2)).await;
    put(&store, "/a", "1").await;
    let compacted = put(&store, "/a", "2").await;
    compact(&store, compacted).await;
    put(&store, "/a", "3").await;
    watch.wait_for(1).await;
    watch.assert_told(&["updated /a=3 was 2"]);
}
