//! Reading one key, now and in the past.

use std::sync::Arc;

use bytes::Bytes;
use orlop_storage::{At, Expect, Revision, Store, Txn};

use super::fixture::*;

/// A key that was never written has no record, and the answer names the newest revision.
pub async fn a_missing_key_has_no_record(store: Arc<dyn Store>) {
    let revision = put(&store, "/b", "1").await;
    let got = store.get(b"/a", At::Latest).await.expect("get /a");
    assert_eq!(got.record, None);
    assert_eq!(got.revision, revision);
}

/// Key, value and both revisions come back as they were written.
pub async fn a_written_key_is_read_back_whole(store: Arc<dyn Store>) {
    let revision = put(&store, "/a", "1").await;
    let got = store.get(b"/a", At::Latest).await.expect("get /a");
    let record = got.record.expect("/a exists");
    assert_record(&record, "/a", "1", (revision, revision));
    assert_eq!(record.lease(), None);
    assert_eq!(record.value_bytes(), Bytes::from("1"));
    assert_eq!(got.revision, revision);
}

/// A client sees its own writes at once, each time.
pub async fn a_read_sees_the_write_acknowledged_before_it(store: Arc<dyn Store>) {
    for n in 0..50 {
        let revision = put(&store, "/a", n.to_string()).await;
        let record = must_get(&store, "/a").await;
        assert_eq!((number(&record), record.modified()), (n, revision));
    }
}

/// A write acknowledged to one task is seen by a read that another task starts afterwards.
pub async fn a_read_sees_the_writes_of_others(store: Arc<dyn Store>) {
    for n in 0..30_u64 {
        let writer = store.clone();
        let written = tokio::spawn(async move { put(&writer, "/a", n.to_string()).await });
        let revision = written.await.expect("the writer ends");
        let reader = store.clone();
        let read = tokio::spawn(async move { must_get(&reader, "/a").await });
        let record = read.await.expect("the reader ends");
        assert_eq!((number(&record), record.modified()), (n, revision));
    }
}

/// Each old value can be read at its revision and at every revision until the next value.
pub async fn a_key_can_be_read_at_each_revision_of_its_past(store: Arc<dyn Store>) {
    let mut written = Vec::new();
    for n in 0..20 {
        written.push((put(&store, "/a", n.to_string()).await, n));
        put(&store, "/other", n.to_string()).await;
    }
    let created = written[0].0;
    for (revision, n) in written {
        for at in [revision, revision.next()] {
            let record = get_at(&store, "/a", at).await.expect("/a exists");
            assert_record(&record, "/a", &n.to_string(), (created, revision));
        }
    }
}

/// Before its creation a key is not there, though the revision can be read.
pub async fn a_key_is_absent_at_revisions_before_its_creation(store: Arc<dyn Store>) {
    let before = put(&store, "/other", "1").await;
    put(&store, "/a", "1").await;
    assert_eq!(get_at(&store, "/a", before).await, None);
}

/// A deleted key is gone at its deletion, and there before it.
pub async fn a_deleted_key_is_still_there_in_the_past(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let deleted = delete(&store, "/a").await;
    let later = put(&store, "/other", "1").await;
    assert_eq!(value_at(&store, "/a", created).await.as_deref(), Some("1"));
    assert_eq!(value_at(&store, "/a", deleted).await, None);
    assert_eq!(value_at(&store, "/a", later).await, None);
    assert_eq!(get(&store, "/a").await, None);
}

/// Each life of a key that is deleted and made again stands apart in the past.
pub async fn each_life_of_a_recreated_key_can_be_read(store: Arc<dyn Store>) {
    let first = put(&store, "/a", "first").await;
    let gone = delete(&store, "/a").await;
    let second = put(&store, "/a", "second").await;
    let changed = put(&store, "/a", "changed").await;
    let gone_again = delete(&store, "/a").await;
    let third = put(&store, "/a", "third").await;
    let at = |revision| get_at(&store, "/a", revision);
    assert_record(&at(first).await.expect("first life"), "/a", "first", (first, first));
    assert_eq!(at(gone).await, None);
    assert_record(&at(second).await.expect("second life"), "/a", "second", (second, second));
    assert_record(&at(changed).await.expect("second life"), "/a", "changed", (second, changed));
    assert_eq!(at(gone_again).await, None);
    assert_record(&at(third).await.expect("third life"), "/a", "third", (third, third));
}

/// The revision of an answer is the newest one, not the one that was read.
pub async fn a_read_of_the_past_names_the_newest_revision(store: Arc<dyn Store>) {
    let old = put(&store, "/a", "1").await;
    let newest = put(&store, "/a", "2").await;
    let got = store.get(b"/a", At::Revision(old)).await.expect("get /a in the past");
    assert_eq!(got.revision, newest);
}

/// Reading at the newest revision is reading the latest state.
pub async fn a_read_at_the_newest_revision_is_a_read_of_the_latest(store: Arc<dyn Store>) {
    put(&store, "/a", "1").await;
    delete(&store, "/a").await;
    put(&store, "/a", "2").await;
    let revision = put(&store, "/b", "3").await;
    for key in ["/a", "/b", "/c"] {
        assert_eq!(get_at(&store, key, revision).await, get(&store, key).await, "{key}");
    }
}

/// A revision that is not there yet is refused, with both revisions named.
pub async fn a_future_revision_cannot_be_read(store: Arc<dyn Store>) {
    let newest = put(&store, "/a", "1").await;
    for wanted in [newest.next(), Revision(newest.0 + 1000)] {
        assert_future(store.get(b"/a", At::Revision(wanted)).await, wanted, newest);
    }
}

/// Zero is not a revision that can be read; it does not mean the latest.
pub async fn revision_zero_cannot_be_read(store: Arc<dyn Store>) {
    assert_invalid(store.get(b"/a", At::Revision(Revision::ZERO)).await, "a read at zero");
    put(&store, "/a", "1").await;
    assert_invalid(store.get(b"/a", At::Revision(Revision::ZERO)).await, "a read at zero");
}

/// A key that begins like another is another key.
pub async fn keys_that_begin_alike_are_different(store: Arc<dyn Store>) {
    let keys = ["/a", "/a/", "/a/b", "/a\0", "/aa", "/"];
    for key in keys {
        put(&store, key, format!("value of {}", text(key.as_bytes()))).await;
    }
    for key in keys {
        let record = must_get(&store, key).await;
        assert_eq!(record.key(), key.as_bytes());
        assert_eq!(
            text(record.value()),
            text(format!("value of {}", text(key.as_bytes())).as_bytes())
        );
    }
    assert_eq!(get(&store, "/a/b/c").await, None);
}

/// Keys and values are bytes: every byte is kept.
pub async fn binary_keys_and_values_are_kept_exactly(store: Arc<dyn Store>) {
    let all: Vec<u8> = (0..=255).collect();
    let keys: [&[u8]; 6] = [b"\0", b"\0\0", b"\xff", b"\xff\xff\0", &all, b"/\xc3\x28\n"];
    for key in keys {
        put(&store, key.to_vec(), [key, &all].concat()).await;
    }
    for key in keys {
        let record = must_get(&store, key).await;
        assert_eq!(record.key(), key);
        assert_eq!(record.value(), [key, &all].concat());
    }
}

/// A key without bytes in its value exists.
pub async fn an_empty_value_is_a_value(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "").await;
    assert_record(&must_get(&store, "/a").await, "/a", "", (created, created));
    let again = store.put("/a".into(), "x".into(), Expect::Absent).await.expect("put /a");
    assert_eq!(again.committed(), None, "a key with an empty value is not absent");
    let modified = commit(&store, Txn::new().put("/a", "", Expect::Revision(created))).await;
    assert_record(&must_get(&store, "/a").await, "/a", "", (created, modified));
}

/// One mebibyte, the most that Kubernetes puts into a record, comes back unharmed.
pub async fn a_value_of_one_mebibyte_is_kept(store: Arc<dyn Store>) {
    let value: Vec<u8> = (0..1 << 20).map(|n: u32| (n % 251) as u8).collect();
    let revision = put(&store, "/large", value.clone()).await;
    put(&store, "/large", "small").await;
    let old = get_at(&store, "/large", revision).await.expect("/large exists");
    assert!(old.value() == value, "the large value differs");
    assert_eq!(must_get(&store, "/large").await.value(), b"small");
}

/// A key of some kilobytes is a key.
pub async fn a_long_key_is_kept(store: Arc<dyn Store>) {
    let key = "/registry/".to_string() + &"x".repeat(4096);
    let revision = put(&store, key.clone(), "1").await;
    assert_record(&must_get(&store, &key).await, &key, "1", (revision, revision));
    assert_eq!(get(&store, &key[..key.len() - 1]).await, None);
}
