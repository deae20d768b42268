//! Giving up history, and what must survive it.

use std::sync::Arc;

use orlop_storage::{
    At, Error, Expect, KeyRange, RangeRequest, Revision, Select, Store, Txn, WatchEnd, WatchRequest,
};

use super::collected::Collected;
use super::fixture::*;

/// The compacted revision itself is the oldest one that can be read.
pub async fn the_compacted_revision_stays_readable(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    put(&store, "/b", "1").await;
    let middle = put(&store, "/a", "2").await;
    let after = delete(&store, "/b").await;
    compact(&store, middle).await;
    assert_eq!(pairs(&everything_at(&store, middle).await), ["/a=2", "/b=1"]);
    assert_eq!(pairs(&everything_at(&store, after).await), ["/a=2"]);
    assert_eq!(value_at(&store, "/b", middle).await.as_deref(), Some("1"));
}

/// What is older than the compacted revision fails, in every kind of read, and names the oldest.
pub async fn older_revisions_fail_and_name_the_oldest(store: Arc<dyn Store>) {
    let first = put(&store, "/a", "1").await;
    let second = put(&store, "/a", "2").await;
    let oldest = put(&store, "/a", "3").await;
    put(&store, "/a", "4").await;
    compact(&store, oldest).await;
    for old in [first, second] {
        assert_compacted(store.get(b"/a", At::Revision(old)).await, oldest);
        assert_compacted(store.get(b"/none", At::Revision(old)).await, oldest);
        for select in [Select::Records, Select::Keys, Select::Count] {
            let request = RangeRequest::new(KeyRange::all()).at(At::Revision(old)).select(select);
            assert_compacted(store.range(request).await, oldest);
        }
    }
}

/// Compacting the same revision again, or an older one, fails and changes nothing.
pub async fn compacting_again_or_further_back_fails(store: Arc<dyn Store>) {
    let first = put(&store, "/a", "1").await;
    let second = put(&store, "/a", "2").await;
    let third = put(&store, "/a", "3").await;
    compact(&store, second).await;
    assert_compacted(store.compact(second).await, second);
    assert_compacted(store.compact(first).await, second);
    assert_eq!(value_at(&store, "/a", second).await.as_deref(), Some("2"));
    compact(&store, third).await;
    assert_compacted(store.get(b"/a", At::Revision(second)).await, third);
}

/// A revision that is not there yet cannot be compacted.
pub async fn the_future_cannot_be_compacted(store: Arc<dyn Store>) {
    let first = put(&store, "/a", "1").await;
    let newest = put(&store, "/a", "2").await;
    assert_future(store.compact(newest.next()).await, newest.next(), newest);
    assert_eq!(value_at(&store, "/a", first).await.as_deref(), Some("1"));
}

/// Compaction is not a change: the newest state, its revisions and the counter stay.
pub async fn compaction_leaves_the_present_alone(store: Arc<dyn Store>) {
    for n in 0..20 {
        put(&store, format!("/{}", n % 5), n.to_string()).await;
    }
    delete(&store, "/3").await;
    let before = everything(&store).await;
    compact(&store, before.revision).await;
    let after = everything(&store).await;
    assert_eq!(after.revision, before.revision, "compaction must not move the revision");
    assert_eq!(after.records, before.records);
    assert_eq!(put(&store, "/a", "1").await, before.revision.next());
}

/// The revision never goes back after compaction, and goes on by one (etcd 17780).
pub async fn the_revision_does_not_go_back_after_compaction(store: Arc<dyn Store>) {
    for n in 0..5 {
        put(&store, "/a", n.to_string()).await;
        let deleted = delete(&store, "/a").await;
        compact(&store, deleted).await;
        assert_eq!(newest(&store).await, deleted, "with nothing left that carries it");
        assert_eq!(everything(&store).await.count, 0);
    }
}

/// A key deleted before the compacted revision is gone; one deleted after it is in the past.
pub async fn deleted_keys_vanish_with_their_history(store: Arc<dyn Store>) {
    put(&store, "/gone", "1").await;
    put(&store, "/later", "1").await;
    delete(&store, "/gone").await;
    let oldest = put(&store, "/other", "1").await;
    delete(&store, "/later").await;
    compact(&store, oldest).await;
    assert_eq!(pairs(&everything_at(&store, oldest).await), ["/later=1", "/other=1"]);
    assert_eq!(pairs(&everything(&store).await), ["/other=1"]);
    let again = commit(&store, Txn::new().put("/gone", "2", Expect::Absent)).await;
    assert_record(&must_get(&store, "/gone").await, "/gone", "2", (again, again));
}

/// Compacting exactly at a deletion leaves no trace of the key, then or later.
pub async fn a_key_compacted_at_its_deletion_stays_deleted(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    let deleted = delete(&store, "/a").await;
    let later = put(&store, "/b", "1").await;
    compact(&store, deleted).await;
    assert_eq!(get_at(&store, "/a", deleted).await, None);
    assert_eq!(get_at(&store, "/a", later).await, None);
    assert_eq!(everything_at(&store, deleted).await.count, 0);
    compact(&store, later).await;
    assert_eq!(pairs(&everything(&store).await), ["/b=1"]);
}

/// The lives of a key on both sides of the compacted revision are not mixed up.
pub async fn compaction_between_two_lives_of_a_key(store: Arc<dyn Store>) {
    put(&store, "/a", "first").await;
    delete(&store, "/a").await;
    let between = put(&store, "/b", "1").await;
    let second = put(&store, "/a", "second").await;
    compact(&store, between).await;
    assert_eq!(get_at(&store, "/a", between).await, None);
    let record = get_at(&store, "/a", second).await.expect("the second life");
    assert_record(&record, "/a", "second", (second, second));
}

/// A record keeps its revisions, and can be expected by them, after their history is gone.
pub async fn records_keep_revisions_that_are_compacted(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let modified = put(&store, "/a", "2").await;
    let oldest = put(&store, "/b", "1").await;
    compact(&store, oldest).await;
    assert_record(&must_get(&store, "/a").await, "/a", "2", (created, modified));
    let update = commit(&store, Txn::new().put("/a", "3", Expect::Revision(modified))).await;
    assert_record(&must_get(&store, "/a").await, "/a", "3", (created, update));
}

/// A conflict after compaction shows what is there now, and harms nothing (etcd 18667: a
/// transaction that read a compacted revision stopped the server).
pub async fn a_conflict_with_a_compacted_revision_is_answered(store: Arc<dyn Store>) {
    let old = put(&store, "/a", "1").await;
    let modified = put(&store, "/a", "2").await;
    let oldest = put(&store, "/b", "1").await;
    compact(&store, oldest).await;
    let stale = Txn::new().put("/a", "x", Expect::Revision(old)).check("/b", Expect::Anything);
    let (current, revision) = conflict(&store, stale).await;
    assert_eq!(revision, oldest);
    assert_record(current[0].as_ref().expect("/a exists"), "/a", "2", (old, modified));
    assert_compacted(store.get(b"/a", At::Revision(old)).await, oldest);
    store.health().await.expect("the store serves on");
    put(&store, "/a", "3").await;
}

/// A list whose pages outlive their revision says so instead of mixing revisions.
pub async fn a_list_that_outlives_its_revision_says_so(store: Arc<dyn Store>) {
    for n in 0..10 {
        put(&store, format!("/{n}"), "1").await;
    }
    let first = range(&store, RangeRequest::new(KeyRange::all()).limit(3)).await;
    let oldest = put(&store, "/9", "2").await;
    compact(&store, oldest).await;
    let rest = KeyRange::all().after(first.records[2].key());
    let next = RangeRequest::new(rest).at(At::Revision(first.revision)).limit(3);
    assert_compacted(store.range(next).await, oldest);
}

/// A watch that would need given-up history is refused, and told where history begins.
pub async fn a_watch_of_compacted_history_is_refused(store: Arc<dyn Store>) {
    let first = put(&store, "/a", "1").await;
    put(&store, "/a", "2").await;
    let oldest = put(&store, "/a", "3").await;
    put(&store, "/a", "4").await;
    compact(&store, oldest).await;
    for after in [Revision::ZERO, first] {
        let request = WatchRequest::new(KeyRange::all()).after(after);
        match store.watch(request).await {
            Err(error) => assert_compacted(Err::<(), _>(error), oldest),
            Ok(mut watch) => match watch.next().await {
                Err(WatchEnd::Compacted { oldest: found }) => assert_eq!(found, oldest),
                other => panic!("a watch after {after}, of compacted history, said {other:?}"),
            },
        }
    }
}

/// A watch may start after the compacted revision, and sees all that follows.
pub async fn a_watch_after_the_compacted_revision_is_complete(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    let oldest = put(&store, "/a", "2").await;
    put(&store, "/a", "3").await;
    delete(&store, "/a").await;
    compact(&store, oldest).await;
    let mut watch = Collected::after(&store, oldest).await;
    put(&store, "/a", "4").await;
    watch.wait_for(3).await;
    watch.assert_told(&["updated /a=3 was 2", "deleted /a was 3", "created /a=4"]);
}

/// A watch that must begin with a deletion at the compacted revision delivers it or is refused;
/// it does not leave it out (etcd 18089 and 19179).
pub async fn watch_after_a_compacted_delete_is_not_missing_it(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let deleted = delete(&store, "/a").await;
    put(&store, "/b", "1").await;
    compact(&store, deleted).await;
    let request = WatchRequest::new(KeyRange::all()).after(created);
    match store.watch(request).await {
        Err(error) => assert_compacted(Err::<(), _>(error), deleted),
        Ok(_) => {
            let mut watch = Collected::after(&store, created).await;
            watch.wait_until_or_end(deleted.next()).await;
            match &watch.end {
                Some(end) => assert_eq!(*end, WatchEnd::Compacted { oldest: deleted }),
                None => watch.assert_told(&["deleted /a was 1", "created /b=1"]),
            }
        }
    }
    let mut watch = Collected::after(&store, deleted).await;
    watch.wait_for(1).await;
    watch.assert_told(&["created /b=1"]);
}

/// Deletions after the compacted revision are all in the history that is left (etcd 18089).
pub async fn deletions_after_the_compacted_revision_are_replayed(store: Arc<dyn Store>) {
    for n in 0..6 {
        put(&store, format!("/{n}"), "1").await;
    }
    delete(&store, "/0").await;
    let oldest = delete(&store, "/1").await;
    delete(&store, "/2").await;
    put(&store, "/2", "2").await;
    delete(&store, "/2").await;
    delete(&store, "/3").await;
    compact(&store, oldest).await;
    let mut watch = Collected::after(&store, oldest).await;
    watch.wait_for(4).await;
    watch.assert_told(&[
        "deleted /2 was 1",
        "created /2=2",
        "deleted /2 was 2",
        "deleted /3 was 1",
    ]);
}

/// A watch that has kept up does not notice compaction.
pub async fn a_running_watch_does_not_notice_compaction(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    for n in 0..5 {
        put(&store, "/a", n.to_string()).await;
        let revision = put(&store, "/b", n.to_string()).await;
        watch.wait_for(2 * n + 2).await;
        compact(&store, revision).await;
    }
    let deleted = delete(&store, "/a").await;
    compact(&store, deleted).await;
    watch.wait_for(11).await;
    assert_eq!(watch.told()[10], "deleted /a was 4");
    watch.stays_silent().await;
}

/// A watch that compaction overtakes delivers everything, or ends and says so: no silent gap.
pub async fn a_watch_that_compaction_overtakes_has_no_gap(store: Arc<dyn Store>) {
    let start = put(&store, "/a", "0").await;
    let mut watch = Collected::after(&store, start).await;
    let mut last = start;
    for n in 1..=300_u32 {
        last = put(&store, "/a", n.to_string()).await;
    }
    compact(&store, last).await;
    watch.wait_until_or_end(last).await;
    let revisions: Vec<u64> = watch.events.iter().map(|event| event.revision().0).collect();
    let expected: Vec<u64> = (start.0 + 1..).take(revisions.len()).collect();
    assert_eq!(revisions, expected, "delivered without a gap, as far as it goes");
    match &watch.end {
        None => assert_eq!(revisions.len(), 300),
        Some(end) => assert_eq!(*end, WatchEnd::Compacted { oldest: last }),
    }
}

/// Readers of the past, while it is compacted, get the exact state or an error.
pub async fn reads_during_compaction_are_exact_or_fail(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    for n in 1..=200_u64 {
        put(&store, format!("/{}", n % 3), n.to_string()).await;
    }
    let compactor = store.clone();
    let compacting = tokio::spawn(async move {
        for step in (10..=200).step_by(10) {
            compact(&compactor, Revision(start.0 + step)).await;
            tokio::task::yield_now().await;
        }
    });
    let mut readers = Vec::new();
    for reader in 0..2 {
        let store = store.clone();
        readers.push(tokio::spawn(async move {
            for n in (3..=200_u64).rev().cycle().skip(reader * 60).take(400) {
                read_exactly(&store, start, n).await;
            }
        }));
    }
    for reader in readers {
        reader.await.expect("the reader ends");
    }
    compacting.await.expect("the compactor ends");
}

async fn read_exactly(store: &Shared, start: Revision, n: u64) {
    let at = At::Revision(Revision(start.0 + n));
    match store.range(RangeRequest::new(KeyRange::all()).at(at)).await {
        Err(Error::Compacted { oldest }) => assert!(oldest.0 > start.0 + n, "{oldest} for {n}"),
        Err(error) => panic!("reading at {at:?}: {error}"),
        Ok(found) => {
            let mut numbers: Vec<u64> = found.records.iter().map(number).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, [n - 2, n - 1, n], "the state at {at:?}");
        }
    }
}

/// Compacting while clients write disturbs no write, and the present stays whole.
pub async fn compaction_among_writers_disturbs_none(store: Arc<dyn Store>) {
    let writer = |client: u64| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..60_u64 {
                put(&store, format!("/{client}"), n.to_string()).await;
            }
        })
    };
    let writers: Vec<_> = (0..4).map(writer).collect();
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        let revision = newest(&store).await;
        match store.compact(revision).await {
            Ok(()) | Err(Error::Compacted { .. }) => {}
            Err(error) => panic!("compacting at {revision}: {error}"),
        }
        tokio::task::yield_now().await;
    }
    for writer in writers {
        writer.await.expect("the writer ends");
    }
    assert_eq!(pairs(&everything(&store).await), ["/0=59", "/1=59", "/2=59", "/3=59"]);
}
