//! Watching: what is delivered, to whom, and what it carries.

use std::sync::Arc;

use orlop_storage::{Event, Expect, KeyRange, Revision, Store, Txn, WatchRequest};

use super::collected::Collected;
use super::fixture::*;

/// A watch from now delivers what follows and nothing that was before.
pub async fn a_watch_from_now_delivers_what_follows(store: Arc<dyn Store>) {
    put(&store, "/a", "before").await;
    put(&store, "/b", "before").await;
    let mut watch = Collected::from_now(&store).await;
    put(&store, "/a", "after").await;
    watch.wait_for(1).await;
    watch.assert_told(&["updated /a=after was before"]);
    watch.stays_silent().await;
}

/// Creation, update and deletion are told apart, and carry what was and what is.
pub async fn creation_update_and_deletion_are_told_apart(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    let created = put(&store, "/a", "1").await;
    let first = must_get(&store, "/a").await;
    let updated = put(&store, "/a", "2").await;
    let second = must_get(&store, "/a").await;
    let deleted = delete(&store, "/a").await;
    let expected = [
        Event::Created { record: first.clone() },
        Event::Updated { record: second.clone(), previous: first },
        Event::Deleted { revision: deleted, previous: second },
    ];
    assert_eq!(watch.wait_for(3).await, expected);
    let revisions: Vec<Revision> = watch.events.iter().map(Event::revision).collect();
    assert_eq!(revisions, [created, updated, deleted]);
}

/// A key that is made again after its deletion is created, not updated.
pub async fn a_recreated_key_is_created_again(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    put(&store, "/a", "1").await;
    delete(&store, "/a").await;
    put(&store, "/a", "2").await;
    put(&store, "/a", "3").await;
    watch.wait_for(4).await;
    watch.assert_told(&["created /a=1", "deleted /a was 1", "created /a=2", "updated /a=3 was 2"]);
}

/// Events of the past carry previous values as those of the present do.
pub async fn replayed_events_carry_previous_values(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    put(&store, "/a", "1").await;
    put(&store, "/a", "2").await;
    delete(&store, "/a").await;
    put(&store, "/a", "3").await;
    delete(&store, "/a").await;
    let mut watch = Collected::after(&store, start).await;
    watch.wait_for(5).await;
    watch.assert_told(&[
        "created /a=1",
        "updated /a=2 was 1",
        "deleted /a was 2",
        "created /a=3",
        "deleted /a was 3",
    ]);
}

/// A deletion has its own revision, later than that of the record that it carries.
pub async fn a_deletion_has_its_own_revision(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let modified = put(&store, "/a", "2").await;
    put(&store, "/other", "x").await;
    let deleted = delete(&store, "/a").await;
    let request = WatchRequest::new(KeyRange::key("/a")).after(modified);
    let mut watch = Collected::start(&store, request).await;
    let [Event::Deleted { revision, previous }] = watch.wait_for(1).await else {
        panic!("one deletion, got {:?}", watch.events);
    };
    assert_eq!(*revision, deleted);
    assert_record(previous, "/a", "2", (created, modified));
}

/// A watch after a revision delivers everything after it, and not that revision itself.
pub async fn a_watch_after_a_revision_delivers_exactly_the_rest(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let mut revisions = vec![start];
    for n in 0..10 {
        revisions.push(put(&store, format!("/{}", n % 3), n.to_string()).await);
    }
    for (seen, after) in revisions.iter().enumerate() {
        let mut watch = Collected::after(&store, *after).await;
        watch.wait_for(10 - seen).await;
        let delivered: Vec<Revision> = watch.events.iter().map(Event::revision).collect();
        assert_eq!(delivered, revisions[seen + 1..], "after {after}");
    }
}

/// A watch after zero delivers all history of a store that was never compacted.
pub async fn a_watch_after_zero_delivers_all_history(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    delete(&store, "/a").await;
    let mut watch = Collected::after(&store, Revision::ZERO).await;
    put(&store, "/b", "2").await;
    watch.wait_for(3).await;
    watch.assert_told(&["created /a=1", "deleted /a was 1", "created /b=2"]);
}

/// Between history and present there is no gap and no double.
pub async fn history_goes_over_into_the_present(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    for n in 0..100 {
        put(&store, "/a", n.to_string()).await;
    }
    let mut watch = Collected::after(&store, start).await;
    for n in 100..200 {
        put(&store, "/a", n.to_string()).await;
    }
    watch.wait_for(200).await;
    let values: Vec<u64> =
        watch.events.iter().map(|event| number(event.record().expect("a put"))).collect();
    assert_eq!(values, (0..200).collect::<Vec<u64>>());
}

/// A watch of a key is not told of keys that begin like it.
pub async fn a_watch_of_a_key_is_told_of_that_key(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let request = WatchRequest::new(KeyRange::key("/a"));
    let mut live = Collected::start(&store, request.clone()).await;
    for key in ["/", "/a", "/a/b", "/a\0", "/aa", "/b"] {
        put(&store, key, "1").await;
    }
    delete(&store, "/a").await;
    let mut replayed = Collected::start(&store, request.after(start)).await;
    for watch in [&mut live, &mut replayed] {
        watch.wait_for(2).await;
        watch.assert_told(&["created /a=1", "deleted /a was 1"]);
    }
    live.stays_silent().await;
}

/// A watch of a prefix is not told of its neighbours, in the past or in the present.
pub async fn a_watch_of_a_prefix_ignores_its_neighbours(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let request = WatchRequest::new(KeyRange::prefix("/registry/pods/"));
    let mut live = Collected::start(&store, request.clone()).await;
    put(&store, "/registry/podtemplates/x", "1").await;
    put(&store, "/registry/pods/x", "2").await;
    put(&store, "/registry/pods", "3").await;
    put(&store, "/registry/pods0", "4").await;
    delete(&store, "/registry/podtemplates/x").await;
    put(&store, "/registry/pods/y", "5").await;
    let mut replayed = Collected::start(&store, request.after(start)).await;
    for watch in [&mut live, &mut replayed] {
        watch.wait_for(2).await;
        watch.assert_told(&["created /registry/pods/x=2", "created /registry/pods/y=5"]);
        watch.stays_silent().await;
    }
}

/// A watch of a range between two keys follows its bounds.
pub async fn a_watch_of_a_range_follows_its_bounds(store: Arc<dyn Store>) {
    let mut inside = Collected::start(&store, WatchRequest::new(KeyRange::new("b", "d"))).await;
    let mut open =
        Collected::start(&store, WatchRequest::new(KeyRange::prefix(&b"\xff"[..]))).await;
    for key in [&b"a"[..], b"b", b"c\xff", b"d", b"\xfe", b"\xff", b"\xff\xff"] {
        put(&store, key.to_vec(), "1").await;
    }
    inside.wait_for(2).await;
    inside.assert_told(&["created b=1", "created c\\xff=1"]);
    open.wait_for(2).await;
    open.assert_told(&["created \\xff=1", "created \\xff\\xff=1"]);
}

/// A watch of a range without keys is told nothing, and does not end.
pub async fn a_watch_of_an_empty_range_stays_silent(store: Arc<dyn Store>) {
    let mut watches = Vec::new();
    for (start, end) in [("b", "a"), ("b", ""), ("b", "\0"), ("", "\0")] {
        let request = WatchRequest::new(KeyRange::new(start, end));
        watches.push(Collected::start(&store, request).await);
    }
    put(&store, "a", "1").await;
    put(&store, "b", "1").await;
    for watch in &mut watches {
        watch.stays_silent().await;
    }
}

/// All watchers of a range are told the same.
pub async fn all_watchers_are_told_the_same(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    let mut watches = Vec::new();
    for _ in 0..20 {
        watches.push(Collected::from_now(&store).await);
    }
    for n in 0..30_u64 {
        match n % 5 {
            4 => delete(&store, format!("/{}", n % 3)).await,
            _ => put(&store, format!("/{}", n % 3), n.to_string()).await,
        };
    }
    watches.push(Collected::after(&store, start).await);
    let last = put(&store, "/last", "x").await;
    let expected = watches[0].wait_until(last).await.to_vec();
    assert!(expected.len() > 25, "most of the writes were changes");
    for watch in &mut watches {
        assert_eq!(watch.wait_until(last).await, expected);
    }
}

/// Watches of different ranges share nothing but the store.
pub async fn watches_of_different_ranges_are_apart(store: Arc<dyn Store>) {
    let mut watches = Vec::new();
    for n in 0..5 {
        let range = KeyRange::prefix(format!("/{n}/"));
        watches.push(Collected::start(&store, WatchRequest::new(range)).await);
    }
    for round in 0..4 {
        for n in 0..5 {
            put(&store, format!("/{n}/{round}"), "x").await;
        }
    }
    for (n, watch) in watches.iter_mut().enumerate() {
        watch.wait_for(4).await;
        let expected: Vec<String> = (0..4).map(|round| format!("created /{n}/{round}=x")).collect();
        assert_eq!(watch.told(), expected);
    }
}

/// What changes nothing is not told.
pub async fn what_changes_nothing_is_not_told(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    let mut watch = Collected::from_now(&store).await;
    conflict(&store, Txn::new().put("/a", "2", Expect::Absent)).await;
    delete(&store, "/none").await;
    commit(&store, Txn::new().check("/a", Expect::Anything)).await;
    let beside = Txn::new().delete("/none", Expect::Anything).check("/a", Expect::Anything);
    commit(&store, beside.put("/b", "1", Expect::Absent)).await;
    watch.wait_for(1).await;
    watch.assert_told(&["created /b=1"]);
    watch.stays_silent().await;
}

/// A transaction is delivered whole, with all its events in one delivery.
pub async fn a_transaction_is_delivered_whole(store: Arc<dyn Store>) {
    put(&store, "/w/0000", "old").await;
    put(&store, "/gone", "old").await;
    let start = newest(&store).await;
    let mut live = Collected::from_now(&store).await;
    let txn = wide("/w/", 100, "new").delete("/gone", Expect::Anything);
    let revision = commit(&store, txn).await;
    put(&store, "/after", "x").await;
    let mut replayed = Collected::after(&store, start).await;
    for watch in [&mut live, &mut replayed] {
        watch.wait_for(102).await;
        watch.assert_whole_and_in_order();
        assert!(watch.events[..101].iter().all(|event| event.revision() == revision));
        assert!(watch.told().contains(&"updated /w/0000=new was old".to_string()));
        assert!(watch.told().contains(&"deleted /gone was old".to_string()));
    }
}

/// Of a transaction that touches more than the range, a watch is told the part in its range.
pub async fn a_watch_is_told_its_part_of_a_transaction(store: Arc<dyn Store>) {
    let request = WatchRequest::new(KeyRange::prefix("/in/"));
    let mut watch = Collected::start(&store, request).await;
    let any = Expect::Anything;
    commit(&store, Txn::new().put("/out/1", "x", any).put("/out/2", "x", any)).await;
    let txn = Txn::new().put("/out/1", "y", any).put("/in/1", "y", any);
    commit(&store, txn.delete("/out/2", any).put("/in/2", "y", any)).await;
    watch.wait_for(2).await;
    watch.assert_told(&["created /in/1=y", "created /in/2=y"]);
    watch.assert_whole_and_in_order();
}

/// Bytes and sizes that records may have, events may have.
pub async fn events_carry_any_bytes(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    let large = vec![0xfe_u8; 1 << 20];
    put(&store, &b"\xff\0"[..], &b"\0\xff\n"[..]).await;
    put(&store, "/empty", "").await;
    put(&store, "/large", large.clone()).await;
    put(&store, "/large", "").await;
    let events = watch.wait_for(4).await;
    let value = |n: usize| events[n].record().expect("a put").value();
    assert_eq!((events[0].key(), value(0)), (&b"\xff\0"[..], &b"\0\xff\n"[..]));
    assert_eq!(value(1), b"");
    assert!(value(2) == large, "the large value differs");
    assert_eq!(value(3), b"");
    assert!(events[3].previous().expect("an update").value() == large, "previous differs");
}

/// Hundreds of watches at once each get everything.
pub async fn hundreds_of_watches_are_served(store: Arc<dyn Store>) {
    let mut watches = Vec::new();
    for n in 0..300 {
        let range = if n % 2 == 0 { KeyRange::all() } else { KeyRange::key("/3") };
        watches.push(Collected::start(&store, WatchRequest::new(range)).await);
    }
    for n in 0..10 {
        put(&store, format!("/{n}"), "x").await;
    }
    for (n, watch) in watches.iter_mut().enumerate() {
        watch.wait_for(if n % 2 == 0 { 10 } else { 1 }).await;
    }
}

/// Dropping a watch disturbs neither the store nor the other watches.
pub async fn a_dropped_watch_disturbs_nobody(store: Arc<dyn Store>) {
    let mut stays = Collected::from_now(&store).await;
    for n in 0..50 {
        let leaves = Collected::from_now(&store).await;
        put(&store, "/a", n.to_string()).await;
        drop(leaves);
    }
    put(&store, "/last", "x").await;
    stays.wait_for(51).await;
}

/// Giving up on waiting for a delivery loses nothing.
pub async fn waiting_can_be_given_up_without_loss(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        for n in 0..100 {
            put(&writer, "/a", n.to_string()).await;
            tokio::task::yield_now().await;
        }
    });
    while !writing.is_finished() {
        watch.give_up_waiting(5).await;
    }
    writing.await.expect("the writer ends");
    if watch.events.len() < 100 {
        watch.wait_for(100).await;
    }
    let values: Vec<u64> =
        watch.events.iter().map(|event| number(event.record().expect("a put"))).collect();
    assert_eq!(values, (0..100).collect::<Vec<u64>>());
}

/// A watch that was dropped and started again after its last revision goes on without loss or
/// double, wherever it was dropped.
pub async fn a_watch_resumes_where_it_was_dropped(store: Arc<dyn Store>) {
    let start = newest(&store).await;
    for n in 0..60 {
        put(&store, format!("/{}", n % 7), n.to_string()).await;
    }
    let (mut position, mut values) = (start, Vec::new());
    for written in 60..80 {
        put(&store, "/more", written.to_string()).await;
        let mut watch = Collected::after(&store, position).await;
        watch.wait_until(position.next()).await;
        values.extend(watch.events.iter().map(|event| number(event.record().expect("a put"))));
        position = watch.events.last().expect("an event").revision();
    }
    let expected: Vec<u64> = (0..80).take(values.len()).collect();
    assert_eq!(values, expected, "without loss or double, as far as it went");
    assert!(values.len() >= 20, "each watch delivered something");
}
