//! What every engine refuses, and how far it goes before.

use std::sync::Arc;

use orlop_storage::{At, Expect, KeyRange, Revision, Store, Txn, WatchRequest};

use super::collected::Collected;
use super::fixture::*;

/// A refused transaction leaves the store as it was.
async fn refused(store: &Shared, txn: Txn, what: &str) {
    let before = everything(store).await;
    assert_invalid(store.commit(txn).await, what);
    let after = everything(store).await;
    assert_eq!(after.revision, before.revision, "{what} must not move the revision");
    assert_eq!(pairs(&after), pairs(&before), "{what} must change nothing");
}

/// A transaction without writes is refused.
pub async fn an_empty_transaction_is_refused(store: Arc<dyn Store>) {
    refused(&store, Txn::new(), "an empty transaction").await;
}

/// A key may stand only once in a transaction, whatever is done to it.
pub async fn a_key_named_twice_is_refused(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    let any = Expect::Anything;
    let once = Txn::new().put("/a", "2", any).put("/b", "2", any);
    refused(&store, once.clone().put("/a", "3", any), "two puts of a key").await;
    refused(&store, once.clone().delete("/a", any), "a put and a delete of a key").await;
    refused(&store, once.check("/a", any), "a put and a check of a key").await;
}

/// The empty key cannot be written, deleted or checked.
pub async fn an_empty_key_is_refused(store: Arc<dyn Store>) {
    let any = Expect::Anything;
    refused(&store, Txn::new().put("", "1", any), "a put of the empty key").await;
    refused(&store, Txn::new().delete("", any), "a delete of the empty key").await;
    refused(&store, Txn::new().check("", any), "a check of the empty key").await;
    let beside = Txn::new().put("/a", "1", any).put("", "1", any);
    refused(&store, beside, "the empty key beside another").await;
}

/// One write more than a transaction may hold is refused.
pub async fn too_many_writes_are_refused(store: Arc<dyn Store>) {
    refused(&store, wide("/wide/", Txn::WRITES_MAX + 1, "x"), "too many writes").await;
}

/// More bytes than a transaction may hold are refused, in one value or in many.
pub async fn too_large_a_transaction_is_refused(store: Arc<dyn Store>) {
    let any = Expect::Anything;
    let value = "x".repeat(Txn::BYTES_MAX);
    refused(&store, Txn::new().put("/a", value.clone(), any), "too large a value").await;
    let half = value[..Txn::BYTES_MAX / 2].to_string();
    let two = Txn::new().put("/a", half.clone(), any).put("/b", half, any);
    refused(&store, two, "two values that are too large together").await;
    refused(&store, Txn::new().put(value, "1", any), "too large a key").await;
}

/// Somewhat less than the most bytes are taken, as one value and as many.
pub async fn a_transaction_just_below_the_limit_commits(store: Arc<dyn Store>) {
    let value = "x".repeat(Txn::BYTES_MAX - 16 * 1024);
    put(&store, "/large", value.clone()).await;
    assert_eq!(must_get(&store, "/large").await.value().len(), value.len());
    let each = "y".repeat((Txn::BYTES_MAX - 64 * 1024) / Txn::WRITES_MAX);
    commit(&store, wide("/wide/", Txn::WRITES_MAX, &each)).await;
    assert_eq!(everything(&store).await.count, Txn::WRITES_MAX as u64 + 1);
}

/// A store that refused a request serves the next one.
pub async fn a_refusal_harms_nobody_else(store: Arc<dyn Store>) {
    let mut watch = Collected::from_now(&store).await;
    assert_invalid(store.commit(Txn::new()).await, "an empty transaction");
    put(&store, "/a", "1").await;
    assert_invalid(store.commit(wide("/w/", Txn::WRITES_MAX + 1, "x")).await, "too many writes");
    put(&store, "/b", "2").await;
    watch.wait_for(2).await;
    watch.assert_told(&["created /a=1", "created /b=2"]);
}

/// Revisions as large as a number can be are answered like any other that is wrong.
pub async fn absurd_revisions_are_answered(store: Arc<dyn Store>) {
    let now = put(&store, "/a", "1").await;
    for absurd in [Revision(u64::MAX), Revision(i64::MAX as u64), Revision(1 << 63)] {
        assert_future(store.get(b"/a", At::Revision(absurd)).await, absurd, now);
        assert_future(store.compact(absurd).await, absurd, now);
        conflict(&store, Txn::new().put("/a", "2", Expect::Revision(absurd))).await;
        let request = WatchRequest::new(KeyRange::all()).after(absurd);
        if let Ok(watch) = store.watch(request).await {
            drop(watch);
        }
    }
    put(&store, "/a", "2").await;
}
