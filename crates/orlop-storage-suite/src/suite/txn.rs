//! Transactions over several keys.

use std::sync::Arc;

use orlop_storage::{Expect, Revision, Store, Txn};

use super::fixture::*;

/// All writes of a transaction carry the same, single new revision.
pub async fn several_writes_are_one_revision(store: Arc<dyn Store>) {
    let before = put(&store, "/a", "old").await;
    let txn = Txn::new()
        .put("/c", "3", Expect::Absent)
        .put("/a", "1", Expect::Revision(before))
        .put("/b", "2", Expect::Anything);
    let revision = commit(&store, txn).await;
    assert_eq!(revision, before.next());
    assert_record(&must_get(&store, "/a").await, "/a", "1", (before, revision));
    assert_record(&must_get(&store, "/b").await, "/b", "2", (revision, revision));
    assert_record(&must_get(&store, "/c").await, "/c", "3", (revision, revision));
    assert_eq!(newest(&store).await, revision);
}

/// Puts and deletes go together.
pub async fn puts_and_deletes_mix_in_one_transaction(store: Arc<dyn Store>) {
    put(&store, "/old", "1").await;
    let before = put(&store, "/kept", "1").await;
    let txn = Txn::new().delete("/old", Expect::Anything).put("/new", "1", Expect::Absent);
    let revision = commit(&store, txn).await;
    assert_eq!(revision, before.next());
    assert_eq!(pairs(&everything(&store).await), ["/kept=1", "/new=1"]);
    assert_eq!(pairs(&everything_at(&store, before).await), ["/kept=1", "/old=1"]);
}

/// One failed expectation, wherever it stands, leaves everything as it was.
pub async fn one_failed_expectation_changes_nothing(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    let revision = put(&store, "/b", "2").await;
    let before = pairs(&everything(&store).await);
    for failing in 0..3 {
        let expect = |n: usize| {
            if n == failing { Expect::Absent } else { Expect::Anything }
        };
        let txn = Txn::new().put("/a", "x", expect(0)).delete("/b", expect(1));
        let txn = match failing {
            2 => txn.put("/c", "x", Expect::Revision(revision)),
            _ => txn.put("/c", "x", Expect::Absent),
        };
        conflict(&store, txn).await;
        assert_eq!(pairs(&everything(&store).await), before, "write {failing} failed");
        assert_eq!(newest(&store).await, revision, "write {failing} failed");
    }
}

/// A conflict shows every key of the transaction as it is, in the order of the writes.
pub async fn a_conflict_carries_the_current_records_in_order(store: Arc<dyn Store>) {
    let a = put(&store, "/a", "1").await;
    let b = put(&store, "/b", "2").await;
    let later = put(&store, "/other", "3").await;
    let txn = Txn::new()
        .put("/z", "x", Expect::Absent)
        .delete("/b", Expect::Revision(b))
        .check("/missing", Expect::Anything)
        .put("/a", "x", Expect::Revision(b))
        .check("/other", Expect::Absent);
    let (current, revision) = conflict(&store, txn).await;
    assert_eq!(revision, later, "the revision at which they were read");
    assert_eq!(current.len(), 5, "one for each write");
    assert_eq!((&current[0], &current[2]), (&None, &None));
    assert_record(current[1].as_ref().expect("/b exists"), "/b", "2", (b, b));
    assert_record(current[3].as_ref().expect("/a exists"), "/a", "1", (a, a));
    assert_record(current[4].as_ref().expect("/other exists"), "/other", "3", (later, later));
}

/// A conflict can be resolved with what it carries.
pub async fn a_conflict_is_enough_to_try_again(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    put(&store, "/a", "2").await;
    let (current, _) = conflict(&store, Txn::new().put("/a", "3", Expect::Absent)).await;
    let seen = current[0].as_ref().expect("/a exists").modified();
    commit(&store, Txn::new().put("/a", "3", Expect::Revision(seen))).await;
}

/// Failed transactions do not use up revisions.
pub async fn failed_transactions_do_not_move_the_revision(store: Arc<dyn Store>) {
    let before = put(&store, "/a", "1").await;
    for _ in 0..10 {
        let (_, revision) = conflict(&store, Txn::new().put("/a", "2", Expect::Absent)).await;
        assert_eq!(revision, before);
    }
    assert_eq!(put(&store, "/b", "1").await, before.next());
}

/// A check lets the other writes through if it holds, and stops them if not.
pub async fn a_check_guards_the_other_writes(store: Arc<dyn Store>) {
    let guard = put(&store, "/guard", "1").await;
    let guarded = |expect| Txn::new().check("/guard", expect).put("/a", "1", Expect::Anything);
    let revision = commit(&store, guarded(Expect::Revision(guard))).await;
    assert_eq!(revision, guard.next());
    let untouched = must_get(&store, "/guard").await;
    assert_record(&untouched, "/guard", "1", (guard, guard));
    conflict(&store, guarded(Expect::Absent)).await;
    conflict(&store, guarded(Expect::Revision(revision))).await;
    let a = must_get(&store, "/a").await;
    assert_eq!(a.modified(), revision, "a conflict writes nothing");
}

/// A check alone commits at the newest revision and changes nothing.
pub async fn a_check_alone_changes_nothing(store: Arc<dyn Store>) {
    let a = put(&store, "/a", "1").await;
    let newest_before = put(&store, "/b", "1").await;
    for txn in [
        Txn::new().check("/a", Expect::Revision(a)),
        Txn::new().check("/none", Expect::Absent),
        Txn::new().check("/a", Expect::Anything).check("/none", Expect::Anything),
    ] {
        assert_eq!(commit(&store, txn).await, newest_before);
    }
    assert_eq!(newest(&store).await, newest_before);
    let (current, revision) = conflict(&store, Txn::new().check("/a", Expect::Absent)).await;
    assert_eq!((current, revision), (vec![get(&store, "/a").await], newest_before));
}

/// Deleting what is not there, beside a put, is no obstacle and leaves no trace.
pub async fn a_needless_delete_beside_a_put_is_harmless(store: Arc<dyn Store>) {
    let before = put(&store, "/a", "1").await;
    let txn = Txn::new().delete("/none", Expect::Anything).put("/a", "2", Expect::Anything);
    assert_eq!(commit(&store, txn).await, before.next());
    assert_eq!(pairs(&everything(&store).await), ["/a=2"]);
}

/// A transaction of deletes that find nothing does not move the revision.
pub async fn needless_deletes_alone_change_nothing(store: Arc<dyn Store>) {
    let before = put(&store, "/a", "1").await;
    let txn = Txn::new().delete("/x", Expect::Absent).delete("/y", Expect::Anything);
    assert_eq!(commit(&store, txn).await, before);
    assert_eq!(newest(&store).await, before);
}

/// Expectations are judged against the state before, not between the writes.
pub async fn expectations_are_judged_against_the_state_before(store: Arc<dyn Store>) {
    let a = put(&store, "/a", "1").await;
    let b = put(&store, "/b", "2").await;
    let swap = Txn::new().put("/a", "2", Expect::Revision(a)).put("/b", "1", Expect::Revision(b));
    let revision = commit(&store, swap).await;
    assert_eq!(pairs(&everything(&store).await), ["/a=2", "/b=1"]);
    let next = revision.next();
    let guess = Txn::new().put("/a", "x", Expect::Anything).put("/b", "x", Expect::Revision(next));
    conflict(&store, guess).await;
}

/// The most writes that a transaction may hold are one revision.
pub async fn a_transaction_of_the_most_writes_commits(store: Arc<dyn Store>) {
    let before = newest(&store).await;
    let revision = commit(&store, wide("/wide/", Txn::WRITES_MAX, "x")).await;
    assert_eq!(revision, before.next());
    let found = everything(&store).await;
    assert_eq!(found.count, Txn::WRITES_MAX as u64);
    assert!(found.records.iter().all(|record| record.modified() == revision));
}

/// Transactions that name the same keys in opposite order do not block or split each other.
pub async fn opposite_orders_of_keys_do_not_deadlock(store: Arc<dyn Store>) {
    let writer = |keys: [&'static str; 2], name: &'static str| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..50 {
                let value = format!("{name}{n}");
                let txn = Txn::new().put(keys[0], value.clone(), Expect::Anything);
                commit(&store, txn.put(keys[1], value, Expect::Anything)).await;
            }
        })
    };
    let (one, two) = (writer(["/x", "/y"], "one"), writer(["/y", "/x"], "two"));
    one.await.expect("the first writer ends");
    two.await.expect("the second writer ends");
    let (x, y) = (must_get(&store, "/x").await, must_get(&store, "/y").await);
    assert_eq!((x.value(), x.modified()), (y.value(), y.modified()));
}

/// Money moved between accounts by many clients at once is neither made nor lost.
pub async fn concurrent_transfers_keep_the_sum(store: Arc<dyn Store>) {
    for n in 0..4 {
        put(&store, format!("/account/{n}"), "100").await;
    }
    let transfer = |client: u64| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..25 {
                let (from, to) = ((client + n) % 4, (client + n + 1 + n % 3) % 4);
                move_one(&store, from, to).await;
            }
        })
    };
    let clients: Vec<_> = (0..4).map(transfer).collect();
    for client in clients {
        client.await.expect("the client ends");
    }
    let sum: u64 = everything(&store).await.records.iter().map(number).sum();
    assert_eq!(sum, 400);
}

async fn move_one(store: &Shared, from: u64, to: u64) -> Revision {
    let (from, to) = (format!("/account/{from}"), format!("/account/{to}"));
    loop {
        let (a, b) = (must_get(store, &from).await, must_get(store, &to).await);
        let (less, more) = ((number(&a) - 1).to_string(), (number(&b) + 1).to_string());
        let txn = Txn::new().put(from.clone(), less, Expect::Revision(a.modified()));
        let txn = txn.put(to.clone(), more, Expect::Revision(b.modified()));
        let outcome = store.commit(txn).await.expect("a transfer");
        if let Some(revision) = outcome.committed() {
            return revision;
        }
    }
}
