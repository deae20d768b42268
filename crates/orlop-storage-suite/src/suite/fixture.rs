//! Short words for what the cases say again and again. They panic with the step that failed.

use std::sync::Arc;

use bytes::Bytes;
use orlop_storage::{
    At, Error, Expect, KeyRange, Outcome, Range, RangeRequest, Record, Revision, Store, Txn,
};

pub(super) type Shared = Arc<dyn Store>;

/// Commits what must not conflict.
pub(super) async fn commit(store: &Shared, txn: Txn) -> Revision {
    let what = describe(&txn);
    match store.commit(txn).await {
        Ok(Outcome::Committed { revision }) => revision,
        Ok(conflict @ Outcome::Conflict { .. }) => panic!("{what} must commit, got {conflict:?}"),
        Err(error) => panic!("{what} must commit, got the error: {error}"),
    }
}

/// Commits what must conflict.
pub(super) async fn conflict(store: &Shared, txn: Txn) -> (Vec<Option<Record>>, Revision) {
    let what = describe(&txn);
    match store.commit(txn).await {
        Ok(Outcome::Conflict { current, revision }) => (current, revision),
        other => panic!("{what} must conflict, got {other:?}"),
    }
}

/// Writes a key, whatever it was.
pub(super) async fn put(
    store: &Shared,
    key: impl Into<Bytes>,
    value: impl Into<Bytes>,
) -> Revision {
    commit(store, Txn::new().put(key, value, Expect::Anything)).await
}

/// Deletes a key, whatever it was.
pub(super) async fn delete(store: &Shared, key: impl Into<Bytes>) -> Revision {
    commit(store, Txn::new().delete(key, Expect::Anything)).await
}

/// Reads a key at the newest state.
pub(super) async fn get(store: &Shared, key: impl AsRef<[u8]>) -> Option<Record> {
    let key = key.as_ref();
    let got = store.get(key, At::Latest).await;
    got.unwrap_or_else(|error| panic!("get {} failed: {error}", key.escape_ascii())).record
}

/// Reads a key that must exist.
pub(super) async fn must_get(store: &Shared, key: impl AsRef<[u8]>) -> Record {
    let key = key.as_ref();
    get(store, key).await.unwrap_or_else(|| panic!("{} must exist", key.escape_ascii()))
}

/// Reads a key at a revision.
pub(super) async fn get_at(store: &Shared, key: &str, at: Revision) -> Option<Record> {
    let got = store.get(key.as_bytes(), At::Revision(at)).await;
    got.unwrap_or_else(|error| panic!("get {key} at revision {at} failed: {error}")).record
}

/// The value of a key at a revision, as text.
pub(super) async fn value_at(store: &Shared, key: &str, at: Revision) -> Option<String> {
    get_at(store, key, at).await.map(|record| text(record.value()))
}

/// Makes a range read that must work.
pub(super) async fn range(store: &Shared, request: RangeRequest) -> Range {
    let what = format!("{request:?}");
    store.range(request).await.unwrap_or_else(|error| panic!("{what} failed: {error}"))
}

/// All records of the store.
pub(super) async fn everything(store: &Shared) -> Range {
    range(store, RangeRequest::new(KeyRange::all())).await
}

/// All records of the store at a revision.
pub(super) async fn everything_at(store: &Shared, at: Revision) -> Range {
    range(store, RangeRequest::new(KeyRange::all()).at(At::Revision(at))).await
}

/// The newest revision.
pub(super) async fn newest(store: &Shared) -> Revision {
    store.revision().await.unwrap_or_else(|error| panic!("revision failed: {error}"))
}

/// Compacts at a revision, which must work.
pub(super) async fn compact(store: &Shared, at: Revision) {
    let compacted = store.compact(at).await;
    compacted.unwrap_or_else(|error| panic!("compacting at {at} failed: {error}"));
}

/// The answer must be that the history is gone, and where it begins.
#[track_caller]
pub(super) fn assert_compacted<T>(answer: Result<T, Error>, oldest: Revision) {
    match answer {
        Err(Error::Compacted { oldest: found }) => {
            assert_eq!(found, oldest, "the error must name the oldest revision kept");
        }
        Err(error) => panic!("expected compacted at {oldest}, got the error: {error}"),
        Ok(_) => panic!("expected compacted at {oldest}, got an answer"),
    }
}

/// The answer must be that the revision is not there yet.
#[track_caller]
pub(super) fn assert_future<T>(answer: Result<T, Error>, wanted: Revision, newest: Revision) {
    match answer {
        Err(Error::FutureRevision { requested, current }) => {
            assert_eq!((requested, current), (wanted, newest), "(requested, current)");
        }
        Err(error) => panic!("expected a future revision {wanted}, got the error: {error}"),
        Ok(_) => panic!("expected a future revision {wanted}, got an answer"),
    }
}

/// The answer must be that the request is malformed.
#[track_caller]
pub(super) fn assert_invalid<T>(answer: Result<T, Error>, what: &str) {
    match answer {
        Err(Error::Invalid { .. }) => {}
        Err(error) => panic!("{what} must be refused as invalid, got the error: {error}"),
        Ok(_) => panic!("{what} must be refused as invalid, got an answer"),
    }
}

/// The record must be exactly this.
#[track_caller]
pub(super) fn assert_record(
    record: &Record,
    key: &str,
    value: &str,
    (created, modified): (Revision, Revision),
) {
    assert_eq!(text(record.key()), key, "key");
    assert_eq!(text(record.value()), value, "value of {key}");
    assert_eq!(record.created(), created, "created revision of {key}");
    assert_eq!(record.modified(), modified, "modified revision of {key}");
}

/// `key=value` of each record, in order.
pub(super) fn pairs(range: &Range) -> Vec<String> {
    let pair = |r: &Record| format!("{}={}", text(r.key()), text(r.value()));
    range.records.iter().map(pair).collect()
}

/// Bytes for a message.
pub(super) fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// A number in a value.
pub(super) fn number(record: &Record) -> u64 {
    let value = text(record.value());
    value.parse().unwrap_or_else(|_| panic!("{value} is not a number"))
}

/// A transaction that puts `value` at `count` keys below `prefix`.
pub(super) fn wide(prefix: &str, count: usize, value: &str) -> Txn {
    (0..count).fold(Txn::new(), |txn, n| {
        txn.put(format!("{prefix}{n:04}"), value.to_string(), Expect::Anything)
    })
}

fn describe(txn: &Txn) -> String {
    let keys: Vec<String> = txn.writes.iter().take(4).map(|w| text(&w.key)).collect();
    format!("a transaction of {} writes ({}..)", txn.writes.len(), keys.join(", "))
}
