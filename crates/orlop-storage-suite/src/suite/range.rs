//! Reading many keys, in order.

use std::sync::Arc;

use orlop_storage::{At, Expect, KeyRange, RangeRequest, Revision, Select, Store, Txn};

use super::fixture::*;

async fn put_all<const N: usize>(store: &Shared, keys: [&'static str; N]) {
    for (n, key) in keys.into_iter().enumerate() {
        put(store, key, n.to_string()).await;
    }
}

async fn keys_of(store: &Shared, wanted: KeyRange) -> Vec<String> {
    let found = range(store, RangeRequest::new(wanted)).await;
    assert_eq!(found.count, found.records.len() as u64, "without a limit, all are returned");
    assert!(!found.more(), "without a limit, there is no more");
    found.records.iter().map(|record| text(record.key())).collect()
}

/// Nothing is found in a store that holds nothing.
pub async fn an_empty_store_has_an_empty_range(store: Arc<dyn Store>) {
    let found = everything(&store).await;
    assert_eq!((found.records.len(), found.count, found.more()), (0, 0, false));
    assert_eq!(found.revision, newest(&store).await);
}

/// Records come ordered by the bytes of their keys, however they were written.
pub async fn a_range_is_ordered_by_the_bytes_of_its_keys(store: Arc<dyn Store>) {
    let keys: [&[u8]; 8] = [b"b", b"a", b"\xff", b"a\0", b"B", b"ab", b"\x7f", b"a/b"];
    for key in keys {
        put(&store, key.to_vec(), "1").await;
    }
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    let expected: Vec<String> = sorted.into_iter().map(text).collect();
    assert_eq!(keys_of(&store, KeyRange::all()).await, expected);
}

/// Pods are not pod templates.
pub async fn a_prefix_does_not_take_its_neighbours(store: Arc<dyn Store>) {
    put_all(
        &store,
        [
            "/registry/pod",
            "/registry/pods",
            "/registry/pods/",
            "/registry/pods/a/x",
            "/registry/pods/b",
            "/registry/pods0",
            "/registry/podtemplates/a/x",
            "/registry/services/a",
        ],
    )
    .await;
    assert_eq!(
        keys_of(&store, KeyRange::prefix("/registry/pods/")).await,
        ["/registry/pods/", "/registry/pods/a/x", "/registry/pods/b"]
    );
    assert_eq!(keys_of(&store, KeyRange::prefix("/registry/pod")).await.len(), 7);
}

/// A prefix that ends in the highest byte has no byte to count up, and still ends rightly.
pub async fn a_prefix_of_highest_bytes_ends_rightly(store: Arc<dyn Store>) {
    for key in [&b"a"[..], b"a\xff", b"a\xff\x00", b"a\xff\xff", b"b", b"\xff", b"\xff\xff"] {
        put(&store, key.to_vec(), "1").await;
    }
    assert_eq!(
        keys_of(&store, KeyRange::prefix(&b"a\xff"[..])).await,
        ["a\\xff", "a\\xff\\x00", "a\\xff\\xff"]
    );
    assert_eq!(keys_of(&store, KeyRange::prefix(&b"\xff"[..])).await, ["\\xff", "\\xff\\xff"]);
    assert_eq!(keys_of(&store, KeyRange::prefix(&b"\xff\xff"[..])).await, ["\\xff\\xff"]);
}

/// The start is in the range, the end is not.
pub async fn a_range_holds_its_start_and_not_its_end(store: Arc<dyn Store>) {
    put_all(&store, ["a", "b", "b\0", "c", "d"]).await;
    assert_eq!(keys_of(&store, KeyRange::new("b", "d")).await, ["b", "b\\x00", "c"]);
    assert_eq!(keys_of(&store, KeyRange::new("aa", "cc")).await, ["b", "b\\x00", "c"]);
}

/// The range of one key holds that key alone.
pub async fn a_range_of_one_key_is_alone(store: Arc<dyn Store>) {
    put_all(&store, ["/a", "/a/b", "/a\0", "/"]).await;
    assert_eq!(keys_of(&store, KeyRange::key("/a")).await, ["/a"]);
    assert!(keys_of(&store, KeyRange::key("/b")).await.is_empty());
    assert!(keys_of(&store, KeyRange::key("")).await.is_empty());
}

/// All keys, the empty prefix and a range from the empty key begin at the first key.
pub async fn the_empty_key_is_where_all_keys_begin(store: Arc<dyn Store>) {
    put_all(&store, ["\0", "a", "b"]).await;
    assert_eq!(keys_of(&store, KeyRange::all()).await, ["\\x00", "a", "b"]);
    assert_eq!(keys_of(&store, KeyRange::prefix("")).await, ["\\x00", "a", "b"]);
    assert_eq!(keys_of(&store, KeyRange::new("", "b")).await, ["\\x00", "a"]);
    assert_eq!(keys_of(&store, KeyRange::all().after(b"a")).await, ["b"]);
}

/// A range that ends where or before it starts holds nothing, whatever its end looks like.
pub async fn a_range_that_ends_before_it_starts_is_empty(store: Arc<dyn Store>) {
    put_all(&store, ["a", "b", "c"]).await;
    for (start, end) in [("c", "a"), ("b", "b"), ("b", ""), ("b", "\0"), ("", ""), ("", "\0")] {
        let found = range(&store, RangeRequest::new(KeyRange::new(start, end))).await;
        assert_eq!((found.records.len(), found.count), (0, 0), "from {start:?} to {end:?}");
        assert_eq!(found.revision, newest(&store).await);
    }
}

/// A limit returns the first keys and says that there are more.
pub async fn a_limit_cuts_and_says_that_there_is_more(store: Arc<dyn Store>) {
    put_all(&store, ["/a", "/b", "/c", "/d", "/e"]).await;
    let found = range(&store, RangeRequest::new(KeyRange::all()).limit(2)).await;
    assert_eq!(pairs(&found), ["/a=0", "/b=1"]);
    assert_eq!(found.count, 5, "the count is that of the range, whatever the limit");
    assert!(found.more());
}

/// A limit that is not reached, or just reached, leaves nothing; zero is no limit.
pub async fn a_limit_that_is_large_enough_leaves_no_more(store: Arc<dyn Store>) {
    put_all(&store, ["/a", "/b", "/c"]).await;
    for limit in [0, 3, 4, 1_000_000] {
        let found = range(&store, RangeRequest::new(KeyRange::all()).limit(limit)).await;
        assert_eq!(pairs(&found), ["/a=0", "/b=1", "/c=2"], "limit {limit}");
        assert_eq!((found.count, found.more()), (3, false), "limit {limit}");
    }
}

/// A count returns the number alone, whatever the limit.
pub async fn a_count_returns_no_records(store: Arc<dyn Store>) {
    put_all(&store, ["/a/1", "/a/2", "/a/3", "/b/1"]).await;
    for limit in [0, 1, 10] {
        let request = RangeRequest::new(KeyRange::prefix("/a/")).select(Select::Count);
        let found = range(&store, request.limit(limit)).await;
        assert_eq!((found.records.len(), found.count), (0, 3), "limit {limit}");
    }
}

/// Asked for keys only, a range tells keys and revisions, with a limit or without.
pub async fn keys_alone_keep_their_revisions(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let modified = put(&store, "/a", "2").await;
    let second = put(&store, "/b", "3").await;
    let request = RangeRequest::new(KeyRange::all()).select(Select::Keys);
    let found = range(&store, request.clone()).await;
    let told: Vec<_> =
        found.records.iter().map(|r| (text(r.key()), r.created(), r.modified())).collect();
    assert_eq!(told, [("/a".into(), created, modified), ("/b".into(), second, second)]);
    let first = range(&store, request.limit(1)).await;
    assert_eq!((first.records.len(), first.count, first.more()), (1, 2, true));
    assert_eq!(first.records[0].key(), b"/a");
}

/// Every state of the past is found again, whole.
pub async fn a_range_at_an_old_revision_is_exact(store: Arc<dyn Store>) {
    let mut states = Vec::new();
    for n in 0..30_u64 {
        let key = format!("/{}", n * 7 % 5);
        match n % 4 {
            3 => delete(&store, key).await,
            _ => put(&store, key, n.to_string()).await,
        };
        let now = everything(&store).await;
        states.push((now.revision, pairs(&now)));
    }
    for (revision, expected) in states {
        assert_eq!(pairs(&everything_at(&store, revision).await), expected, "at {revision}");
    }
}

/// Counts and limits of the past are those of the past.
pub async fn counts_and_limits_of_the_past_are_exact(store: Arc<dyn Store>) {
    put_all(&store, ["/a", "/b", "/c"]).await;
    let three = newest(&store).await;
    delete(&store, "/a").await;
    let two = delete(&store, "/b").await;
    put_all(&store, ["/a", "/d", "/e"]).await;
    for (revision, count, first) in [(three, 3, "/a=0"), (two, 1, "/c=2")] {
        let request = RangeRequest::new(KeyRange::all()).at(At::Revision(revision));
        let counted = range(&store, request.clone().select(Select::Count)).await;
        assert_eq!(counted.count, count, "count at {revision}");
        let limited = range(&store, request.limit(1)).await;
        assert_eq!((limited.count, limited.more()), (count, count > 1), "limited at {revision}");
        assert_eq!(pairs(&limited), [first], "limited at {revision}");
    }
}

/// A range is exact also at a revision before keys that have come, and gone again, since.
pub async fn a_range_before_keys_that_came_and_went_is_exact(store: Arc<dyn Store>) {
    let before = put(&store, "/other", "1").await;
    put_all(&store, ["/a/1", "/a/2", "/a/3"]).await;
    delete(&store, "/a/1").await;
    delete(&store, "/a/2").await;
    let request = RangeRequest::new(KeyRange::prefix("/a/")).at(At::Revision(before));
    for request in [request.clone(), request.clone().limit(1), request.select(Select::Count)] {
        let found = range(&store, request).await;
        assert_eq!((found.records.len(), found.count, found.more()), (0, 0, false));
    }
}

/// The revision of an answer is the newest one, also for a range of the past and a count.
pub async fn a_range_of_the_past_names_the_newest_revision(store: Arc<dyn Store>) {
    let old = put(&store, "/a", "1").await;
    let newest = put(&store, "/b", "2").await;
    for select in [Select::Records, Select::Keys, Select::Count] {
        let request = RangeRequest::new(KeyRange::all()).select(select);
        let past = range(&store, request.clone().at(At::Revision(old))).await;
        assert_eq!((past.count, past.revision), (1, newest), "{select:?} in the past");
        assert_eq!(range(&store, request).await.revision, newest, "{select:?} now");
    }
}

/// Ranges refuse revisions as single reads do, also when nothing could be found.
pub async fn ranges_refuse_future_revisions_and_zero(store: Arc<dyn Store>) {
    let newest = put(&store, "/a", "1").await;
    for select in [Select::Records, Select::Keys, Select::Count] {
        let request = RangeRequest::new(KeyRange::prefix("/none/")).select(select);
        let future = store.range(request.clone().at(At::Revision(newest.next()))).await;
        assert_future(future, newest.next(), newest);
        let zero = store.range(request.at(At::Revision(Revision::ZERO))).await;
        assert_invalid(zero, "a range at zero");
    }
}

/// The pages of a list at one revision are one snapshot, though writers change everything.
pub async fn pages_of_one_revision_are_one_snapshot(store: Arc<dyn Store>) {
    for n in 0..50 {
        put(&store, format!("/list/{n:03}"), n.to_string()).await;
    }
    let prefix = KeyRange::prefix("/list/");
    let first = range(&store, RangeRequest::new(prefix.clone()).limit(7)).await;
    let at = At::Revision(first.revision);
    let (mut page, mut listed) = (first.clone(), pairs(&first));
    let mut rest = first.count;
    while page.more() {
        let n = listed.len();
        delete(&store, format!("/list/{n:03}")).await;
        put(&store, format!("/list/{:03}", n + 1), "changed").await;
        put(&store, format!("/list/{n:03}-new"), "new").await;
        rest -= page.records.len() as u64;
        let last = page.records[page.records.len() - 1].clone();
        page = range(&store, RangeRequest::new(prefix.after(last.key())).at(at).limit(7)).await;
        assert_eq!(page.count, rest, "the count is that of the rest of the range");
        listed.extend(pairs(&page));
    }
    let expected: Vec<String> = (0..50).map(|n| format!("/list/{n:03}={n}")).collect();
    assert_eq!(listed, expected);
}

/// A list of thousands of keys is complete and in order.
pub async fn a_large_range_is_complete(store: Arc<dyn Store>) {
    for n in 0..40 {
        commit(&store, wide(&format!("/{n:02}/"), 100, "x")).await;
    }
    let found = everything(&store).await;
    assert_eq!((found.records.len(), found.count), (4000, 4000));
    assert!(found.records.is_sorted_by(|a, b| a.key() < b.key()), "in order, without doubles");
    let one = range(&store, RangeRequest::new(KeyRange::prefix("/17/"))).await;
    assert_eq!(one.count, 100);
}

/// Two keys that always change together are never seen apart.
pub async fn a_range_is_one_snapshot_while_transactions_run(store: Arc<dyn Store>) {
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        for n in 0..200 {
            let value = n.to_string();
            let txn = Txn::new().put("/x", value.clone(), Expect::Anything);
            commit(&writer, txn.put("/y", value, Expect::Anything)).await;
        }
    });
    while !writing.is_finished() {
        let found = everything(&store).await;
        let values: Vec<&[u8]> = found.records.iter().map(|record| record.value()).collect();
        assert!(values.is_empty() || values.len() == 2 && values[0] == values[1], "{values:?}");
        tokio::task::yield_now().await;
    }
    writing.await.expect("the writer ends");
}
