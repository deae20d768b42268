//! Watching while many write: order, wholeness, and nothing lost or twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use orlop_storage::{
    Event, Expect, KeyRange, RangeRequest, Record, Revision, Store, Txn, WatchRequest,
};
use tokio::task::JoinHandle;

use super::collected::{Collected, told};
use super::fixture::*;

/// `clients` tasks that each make `count` changes to a few shared keys.
fn writers(store: &Shared, clients: usize, count: usize) -> Vec<JoinHandle<()>> {
    let writer = |client: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..count {
                let key = format!("/{}", (client + n) % 5);
                let any = Expect::Anything;
                let value = format!("{client}-{n}");
                commit(
                    &store,
                    match n % 6 {
                        5 => Txn::new().delete(key, any),
                        4 => Txn::new().put(key, value.clone(), any).put("/both", value, any),
                        _ => Txn::new().put(key, value, any),
                    },
                )
                .await;
            }
        })
    };
    (0..clients).map(writer).collect()
}

async fn end(writers: Vec<JoinHandle<()>>) {
    for writer in writers {
        writer.await.expect("the writer ends");
    }
}

/// What a list becomes by the events after it.
fn replay(mut state: BTreeMap<Vec<u8>, Record>, events: &[Event]) -> BTreeMap<Vec<u8>, Record> {
    for event in events {
        match event.record() {
            Some(record) => state.insert(event.key().to_vec(), record.clone()),
            None => state.remove(event.key()),
        };
    }
    state
}

fn by_key(records: &[Record]) -> BTreeMap<Vec<u8>, Record> {
    records.iter().map(|record| (record.key().to_vec(), record.clone())).collect()
}

/// Revisions come in order and each at most once, however many write.
pub async fn events_come_in_order_under_concurrent_writers(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    end(writers(&store, 6, 60)).await;
    let last = put(&store, "/last", "x").await;
    watch.wait_until(last).await;
    watch.assert_whole_and_in_order();
}

/// No change is delivered twice, also when the same content is written again (etcd 17247: a
/// cached answer of a transaction was delivered again).
pub async fn no_change_is_delivered_twice(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let mut live = Collected::from_now(&store).await;
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    put(&store, "/same", "same").await;
                }
            })
        })
        .collect();
    end(writers).await;
    let mut replayed = Collected::after(&store, start).await;
    for watch in [&mut live, &mut replayed] {
        watch.wait_for(200).await;
        let distinct: BTreeSet<Revision> = watch.events.iter().map(Event::revision).collect();
        assert_eq!(distinct.len(), 200, "a revision came twice");
        watch.stays_silent().await;
    }
}

/// Every event says what the one before it left, key by key.
pub async fn each_event_follows_from_the_one_before(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let mut live = Collected::from_now(&store).await;
    end(writers(&store, 4, 60)).await;
    let last = put(&store, "/last", "x").await;
    let mut replayed = Collected::after(&store, start).await;
    for watch in [&mut live, &mut replayed] {
        watch.wait_until(last).await;
        let mut state: BTreeMap<&[u8], &Record> = BTreeMap::new();
        for event in &watch.events {
            let before = state.get(event.key()).copied();
            assert_eq!(event.previous(), before, "{:?}", told(std::slice::from_ref(event)));
            match event.record() {
                Some(record) => state.insert(event.key(), record),
                None => state.remove(event.key()),
            };
        }
    }
}

/// A list, and a watch after its revision, together are the state: nothing falls in between
/// (what every Kubernetes client relies on).
pub async fn a_list_and_a_watch_after_it_are_the_state(store: Arc<dyn Store>) {
    let writers = writers(&store, 4, 80);
    let mut followed = Vec::new();
    for _ in 0..10 {
        let list = everything(&store).await;
        let watch = Collected::after(&store, list.revision).await;
        followed.push((by_key(&list.records), watch));
        tokio::task::yield_now().await;
    }
    end(writers).await;
    let last = put(&store, "/last", "x").await;
    let expected = by_key(&everything(&store).await.records);
    for (list, mut watch) in followed {
        watch.wait_until(last).await;
        watch.assert_whole_and_in_order();
        assert_eq!(replay(list, &watch.events), expected);
    }
}

/// A watch that is dropped and resumed again and again among writers misses nothing and repeats
/// nothing.
pub async fn a_watch_resumed_among_writers_is_complete(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let mut whole = Collected::from_now(&store).await;
    let writers = writers(&store, 4, 60);
    let (mut position, mut pieces) = (start, Vec::new());
    while !writers.iter().all(JoinHandle::is_finished) {
        let mut piece = Collected::after(&store, position).await;
        if newest(&store).await > position {
            piece.wait_until(position.next()).await;
            position = piece.events.last().expect("an event").revision();
            pieces.extend(piece.events);
        }
    }
    end(writers).await;
    let last = put(&store, "/last", "x").await;
    let mut piece = Collected::after(&store, position).await;
    piece.wait_until(last).await;
    pieces.extend(piece.events);
    assert_eq!(told(&pieces), told(whole.wait_until(last).await));
}

/// Watches started one after the other from the same old revision, while writers go on, are all
/// complete (etcd 17529: events were lost when many watches shared a stream).
pub async fn many_watches_of_the_past_are_complete(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let writers = writers(&store, 3, 80);
    let mut watches = Vec::new();
    for _ in 0..30 {
        watches.push(Collected::after(&store, start).await);
        tokio::task::yield_now().await;
    }
    end(writers).await;
    let last = put(&store, "/last", "x").await;
    let expected = watches[0].wait_until(last).await.to_vec();
    let revisions: BTreeSet<u64> = expected.iter().map(|event| event.revision().0).collect();
    assert_eq!(revisions, (start.0 + 1..=last.0).collect(), "every revision was delivered");
    for watch in &mut watches {
        watch.wait_until(last).await;
        assert_eq!(told(&watch.events), told(&expected));
    }
}

/// Transactions stay whole under load, in the present and in the past.
pub async fn transactions_stay_whole_under_load(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let mut live = Collected::from_now(&store).await;
    let writer = |client: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..15 {
                commit(&store, wide(&format!("/{client}/"), 20, &n.to_string())).await;
            }
        })
    };
    end((0..4).map(writer).collect()).await;
    let mut replayed = Collected::after(&store, start).await;
    for watch in [&mut live, &mut replayed] {
        watch.wait_for(4 * 15 * 20).await;
        watch.assert_whole_and_in_order();
        for events in watch.events.chunks(20) {
            assert!(events.iter().all(|event| event.revision() == events[0].revision()));
        }
    }
}

/// A watcher is told of a write soon after, and never before it can be read.
pub async fn an_event_can_be_read_when_it_is_delivered(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        for n in 0..100 {
            put(&writer, "/a", n.to_string()).await;
        }
    });
    for n in 1..=100 {
        if watch.events.len() < n {
            let next = watch.events.last().map_or(Revision::ZERO, Event::revision).next();
            watch.wait_until(next).await;
        }
        let delivered = watch.events.last().expect("an event").revision();
        let read = everything(&store).await;
        assert!(read.revision >= delivered, "{delivered} was delivered, {} read", read.revision);
        assert!(must_get(&store, "/a").await.modified() >= delivered);
    }
    writing.await.expect("the writer ends");
}

/// What watches of single keys are told adds up to what a watch of all keys is told.
pub async fn watches_of_single_keys_add_up_to_the_whole(store: Arc<dyn Store>) {
    let mut whole = Collected::from_now(&store).await;
    let mut parts = Vec::new();
    for n in 0..5 {
        let range = KeyRange::key(format!("/{n}"));
        parts.push(Collected::start(&store, WatchRequest::new(range)).await);
    }
    parts.push(Collected::start(&store, WatchRequest::new(KeyRange::key("/both"))).await);
    end(writers(&store, 3, 60)).await;
    let keys = ["/0", "/1", "/2", "/3", "/4", "/both"];
    let closing = keys.iter().fold(Txn::new(), |txn, key| txn.put(*key, "last", Expect::Anything));
    let last = commit(&store, closing).await;
    let expected = told(whole.wait_until(last).await);
    let mut sum = Vec::new();
    for part in &mut parts {
        sum.extend(part.wait_until(last).await.to_vec());
    }
    assert_eq!(told(&sum), expected);
    let listed = range(&store, RangeRequest::new(KeyRange::all())).await;
    assert_eq!(replay(BTreeMap::new(), &whole.events), by_key(&listed.records));
}
