//! One counter, moved by one for each change, and one winner for each step of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use orlop_storage::{At, Expect, KeyRange, RangeRequest, Revision, Store, Txn};
use tokio::task::JoinHandle;

use super::fixture::*;

async fn all<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut ended = Vec::new();
    for task in tasks {
        ended.push(task.await.expect("the client ends without a panic"));
    }
    ended
}

/// Creates, updates and deletes, of one key or several, are one step each.
pub async fn each_change_moves_the_revision_by_one(store: Arc<dyn Store>) {
    let mut last = newest(&store).await;
    for n in 0..10 {
        let txn = match n % 3 {
            0 => Txn::new().put("/a", "1", Expect::Absent),
            1 => wide("/wide/", 10, "x").put("/a", "2", Expect::Revision(last)),
            _ => Txn::new().delete("/a", Expect::Revision(last)),
        };
        let revision = commit(&store, txn).await;
        assert_eq!(revision, last.next());
        assert_eq!(newest(&store).await, revision);
        last = revision;
    }
}

/// Looking changes nothing.
pub async fn reads_do_not_move_the_revision(store: Arc<dyn Store>) {
    let before = put(&store, "/a", "1").await;
    get(&store, "/a").await;
    get(&store, "/none").await;
    get_at(&store, "/a", before).await;
    everything(&store).await;
    range(&store, RangeRequest::new(KeyRange::all()).limit(1)).await;
    let _watch = store.watch(orlop_storage::WatchRequest::new(KeyRange::all())).await;
    store.health().await.expect("the store is healthy");
    assert_eq!(newest(&store).await, before);
}

/// The newest revision is at least that of every write acknowledged before, in all answers.
pub async fn the_newest_revision_includes_acknowledged_writes(store: Arc<dyn Store>) {
    for n in 0..30 {
        let revision = put(&store, format!("/{}", n % 3), "x").await;
        assert_eq!(newest(&store).await, revision);
        let got = store.get(b"/none", At::Latest).await.expect("get");
        assert_eq!(got.revision, revision);
        assert_eq!(everything(&store).await.revision, revision);
    }
}

/// Many writers of different keys get different revisions, and none is left out.
pub async fn revisions_are_neither_reused_nor_skipped(store: Arc<dyn Store>) {
    let before = newest(&store).await;
    let writer = |client: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut revisions = Vec::new();
            for n in 0..40 {
                revisions.push(put(&store, format!("/{client}/{n}"), "x").await);
            }
            assert!(revisions.is_sorted(), "a client's own writes are in order");
            revisions
        })
    };
    let revisions = all((0..8).map(writer).collect()).await.concat();
    let distinct: BTreeSet<Revision> = revisions.iter().copied().collect();
    assert_eq!(distinct.len(), 320, "a revision was given out twice");
    let first_and_last = (distinct.first().copied(), distinct.last().copied());
    assert_eq!(first_and_last, (Some(before.next()), Some(Revision(before.0 + 320))));
}

/// Of many clients that update the same version of a key, exactly one wins, each time.
pub async fn one_update_wins_each_version(store: Arc<dyn Store>) {
    let mut version = put(&store, "/a", "start").await;
    for round in 0..10 {
        let contender = |client: usize| {
            let store = store.clone();
            let txn = Txn::new().put("/a", format!("{round}/{client}"), Expect::Revision(version));
            tokio::spawn(async move { store.commit(txn).await.expect("an update").committed() })
        };
        let won = all((0..8).map(contender).collect()).await;
        let winners: Vec<usize> = (0..8).filter(|client| won[*client].is_some()).collect();
        assert_eq!(winners.len(), 1, "round {round}: the winners are {winners:?}");
        let record = must_get(&store, "/a").await;
        assert_eq!(text(record.value()), format!("{round}/{}", winners[0]));
        assert_eq!(Some(record.modified()), won[winners[0]]);
        version = record.modified();
    }
}

/// Of many clients that create the same key, exactly one succeeds.
pub async fn one_create_wins(store: Arc<dyn Store>) {
    for round in 0..10 {
        let contender = |client: usize| {
            let store = store.clone();
            let txn = Txn::new().put(format!("/{round}"), client.to_string(), Expect::Absent);
            tokio::spawn(async move { store.commit(txn).await.expect("a create").committed() })
        };
        let won = all((0..8).map(contender).collect()).await;
        assert_eq!(won.iter().flatten().count(), 1, "round {round}: {won:?}");
    }
}

/// Of many clients that delete the same version of a key, exactly one succeeds.
pub async fn one_delete_wins(store: Arc<dyn Store>) {
    for round in 0..10 {
        let version = put(&store, "/a", round.to_string()).await;
        let contender = |_| {
            let store = store.clone();
            let txn = Txn::new().delete("/a", Expect::Revision(version));
            tokio::spawn(async move { store.commit(txn).await.expect("a delete").committed() })
        };
        let won = all((0..8).map(contender).collect()).await;
        let winners: Vec<&Revision> = won.iter().flatten().collect();
        assert_eq!(winners, [&version.next()], "round {round}");
    }
}

/// Increments by many clients, each tried until it succeeds, all count.
pub async fn concurrent_increments_all_count(store: Arc<dyn Store>) {
    put(&store, "/counter", "0").await;
    let client = |_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..25 {
                increment(&store).await;
            }
        })
    };
    all((0..6).map(client).collect()).await;
    assert_eq!(number(&must_get(&store, "/counter").await), 150);
}

async fn increment(store: &Shared) {
    let mut seen = must_get(store, "/counter").await;
    loop {
        let next = (number(&seen) + 1).to_string();
        let txn = Txn::new().put("/counter", next, Expect::Revision(seen.modified()));
        match store.commit(txn).await.expect("an increment") {
            orlop_storage::Outcome::Committed { .. } => return,
            orlop_storage::Outcome::Conflict { mut current, .. } => {
                seen = current.remove(0).expect("the counter exists");
            }
        }
    }
}

/// A reader never sees the store go back, neither its revision nor a key.
pub async fn a_reader_never_goes_back_in_time(store: Arc<dyn Store>) {
    put(&store, "/a", "0").await;
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        for n in 1..300 {
            put(&writer, "/a", n.to_string()).await;
        }
    });
    let (mut revision, mut value) = (Revision::ZERO, 0);
    while !writing.is_finished() {
        let got = store.get(b"/a", At::Latest).await.expect("get /a");
        let record = got.record.expect("/a exists");
        assert!(got.revision >= revision, "{} after {revision}", got.revision);
        assert!(number(&record) >= value, "{} after {value}", number(&record));
        assert!(record.modified() <= got.revision, "a record newer than the store");
        (revision, value) = (got.revision, number(&record));
        tokio::task::yield_now().await;
    }
    writing.await.expect("the writer ends");
}

/// A store that serves says so.
pub async fn a_store_that_serves_is_healthy(store: Arc<dyn Store>) {
    store.health().await.expect("an empty store is healthy");
    put(&store, "/a", "1").await;
    store.health().await.expect("a store with records is healthy");
}

/// What several tasks do through one handle is what they would do through their own.
pub async fn a_store_is_shared_by_many_tasks(store: Arc<dyn Store>) {
    let client = |n: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            let key = format!("/own/{n}");
            for round in 0..20_u64 {
                put(&store, key.clone(), round.to_string()).await;
                assert_eq!(number(&must_get(&store, &key).await), round);
            }
        })
    };
    all((0..16).map(client).collect()).await;
    assert_eq!(everything(&store).await.count, 16);
}
