//! Random operations, held against the model one by one.
//!
//! Few keys and few values, so that operations meet. Revisions and expectations are drawn relative
//! to what the model knows, so that a sequence keeps its meaning while it is shrunk and whatever
//! revision the store starts at.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use orlop_storage::{
    At, Delivery, Error, Event, Expect, KeyRange, Outcome, Range, RangeRequest, Record, Revision,
    Select, Store, Txn, Watch, WatchRequest,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::Model;

/// The keys that are written; several begin like others.
const KEYS: [&[u8]; 7] = [b"/a", b"/a/", b"/a/1", b"/a/2", b"/a0", b"/b", b"\xff\0"];

/// One operation of a random sequence.
#[derive(Clone, Debug)]
pub enum Op {
    /// A transaction: what happens to which key.
    Commit(Vec<(usize, Expected, Change)>),
    /// A read of one key.
    Get(usize, When),
    /// A read of many keys.
    Range {
        /// One of a few ranges.
        range: usize,
        /// Where in history.
        when: When,
        /// The most records; zero is no limit.
        limit: usize,
        /// How much of them.
        select: Select,
    },
    /// A compaction.
    Compact(When),
    /// A watch of one of a few ranges, from a point in history to now.
    Replay(usize, When),
}

/// A point in history, relative to the newest revision.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// The newest state, whatever its revision.
    Latest,
    /// This many revisions ago; the newest one is zero.
    Ago(u64),
    /// This many revisions ahead.
    Ahead(u64),
}

/// What a write expects of its key.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    /// Nothing.
    Anything,
    /// That it does not exist.
    Absent,
    /// The revision it has, or absence if it does not exist: this holds.
    Right,
    /// A revision it may have had before.
    Old(u64),
}

/// What happens to a key.
#[derive(Clone, Debug)]
pub enum Change {
    /// It gets this value.
    Put(Vec<u8>),
    /// It goes away.
    Delete,
    /// Nothing.
    Keep,
}

/// Sequences of up to `length` operations.
pub fn sequences(length: usize) -> impl Strategy<Value = Vec<Op>> {
    vec(op(), 1..length)
}

fn op() -> impl Strategy<Value = Op> {
    let change = (expected(), change());
    let writes = btree_map(0..KEYS.len(), change, 1..4)
        .prop_map(|writes| writes.into_iter().map(|(key, (e, c))| (key, e, c)).collect());
    let select =
        prop_oneof![3 => Just(Select::Records), 1 => Just(Select::Keys), 1 => Just(Select::Count)];
    let limit = prop_oneof![2 => Just(0_usize), 3 => 1..4_usize];
    prop_oneof![
        10 => writes.prop_map(Op::Commit),
        4 => (0..KEYS.len(), when()).prop_map(|(key, when)| Op::Get(key, when)),
        5 => (0..ranges().len(), when(), limit, select).prop_map(|(range, when, limit, select)| {
            Op::Range { range, when, limit, select }
        }),
        1 => when().prop_map(Op::Compact),
        2 => (0..ranges().len(), when()).prop_map(|(range, when)| Op::Replay(range, when)),
    ]
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        4 => Just(When::Latest),
        6 => (0..12_u64).prop_map(When::Ago),
        1 => (1..3_u64).prop_map(When::Ahead),
    ]
}

fn expected() -> impl Strategy<Value = Expected> {
    prop_oneof![
        4 => Just(Expected::Anything),
        2 => Just(Expected::Absent),
        6 => Just(Expected::Right),
        1 => (0..6_u64).prop_map(Expected::Old),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        5 => vec(any::<u8>(), 0..4).prop_map(Change::Put),
        3 => Just(Change::Delete),
        1 => Just(Change::Keep),
    ]
}

/// The ranges that are read and watched.
fn ranges() -> Vec<KeyRange> {
    vec![
        KeyRange::all(),
        KeyRange::prefix("/a/"),
        KeyRange::prefix("/a"),
        KeyRange::key("/a/1"),
        KeyRange::new("/a/1", "/b"),
        KeyRange::prefix(&b"\xff"[..]),
        KeyRange::new("b", "a"),
        KeyRange::all().after(b"/a/1"),
    ]
}

/// Does the operations to an empty store and to the model, and compares every answer; a watch that
/// runs beside them must have told the model's whole history in the end.
///
/// # Errors
/// Says which operation was answered differently, and how.
pub async fn check_against_model(store: Arc<dyn Store>, ops: &[Op]) -> Result<(), String> {
    let start = store.revision().await.map_err(|error| error.to_string())?;
    let request = WatchRequest::new(KeyRange::all()).after(start);
    let mut watch = store.watch(request).await.map_err(|error| error.to_string())?;
    let mut model = Model::empty_at(start);
    let mut seen = start;
    for (n, op) in ops.iter().enumerate() {
        if matches!(op, Op::Compact(_)) {
            // A watch that compaction overtakes may end; this one keeps up.
            catch_up(&mut watch, &model, &mut seen).await?;
        }
        let same = step(&store, &mut model, op).await;
        same.map_err(|difference| format!("operation {n}, {op:?}: {difference}"))?;
    }
    catch_up(&mut watch, &model, &mut seen).await
}

/// Reads the watch beside up to the newest revision of the model, from the one that it has seen.
async fn catch_up(watch: &mut Watch, model: &Model, seen: &mut Revision) -> Result<(), String> {
    let expected = model.events_after(&KeyRange::all(), *seen);
    *seen = model.revision();
    compare("the watch beside", &told(watch, &expected).await?, &in_key_order(expected))
}

async fn step(store: &Arc<dyn Store>, model: &mut Model, op: &Op) -> Result<(), String> {
    match op {
        Op::Commit(writes) => {
            let txn = transaction(model, writes);
            let expected = model.commit(&txn);
            compare_answers(store.commit(txn).await, expected, compare::<Outcome>)?;
        }
        Op::Get(key, when) => {
            let at = point(model, *when);
            let found = store.get(KEYS[*key], at).await.map(|got| (got.record, got.revision));
            let expected = model.get(KEYS[*key], at).map(|got| (got.record, got.revision));
            compare_answers(found, expected, compare)?;
        }
        Op::Range { range, when, limit, select } => {
            let request = RangeRequest::new(ranges()[*range].clone()).at(point(model, *when));
            let request = request.limit(*limit).select(*select);
            let expected = model.range(&request);
            compare_answers(store.range(request).await, expected, |what, found, expected| {
                compare(what, &whole(found, *select), &whole(expected, *select))
            })?;
        }
        Op::Compact(when) => {
            let revision = revision(model, *when);
            if revision > Revision::ZERO {
                compare_answers(store.compact(revision).await, model.compact(revision), compare)?;
            }
        }
        Op::Replay(range, when) => {
            replay(store, model, &ranges()[*range], revision(model, *when)).await?;
        }
    }
    let newest = store.revision().await.map_err(|error| error.to_string())?;
    compare("the newest revision", &newest, &model.revision())
}

/// Watches the history of a range from a revision that still has one.
async fn replay(
    store: &Arc<dyn Store>,
    model: &Model,
    range: &KeyRange,
    after: Revision,
) -> Result<(), String> {
    let after = after.max(model.oldest());
    let expected = model.events_after(range, after);
    let request = WatchRequest::new(range.clone()).after(after);
    let mut watch = store.watch(request).await.map_err(|error| error.to_string())?;
    compare("the history", &told(&mut watch, &expected).await?, &in_key_order(expected))
}

/// As many events as are expected, in order of revisions and, within one, of keys.
async fn told(watch: &mut Watch, expected: &[Event]) -> Result<Vec<Event>, String> {
    let mut events: Vec<Event> = Vec::new();
    while events.len() < expected.len() {
        let next = tokio::time::timeout(Duration::from_secs(10), watch.next()).await;
        match next {
            Err(_) => {
                return Err(format!("{} of {} events came", events.len(), expected.len()));
            }
            Ok(Err(end)) => return Err(format!("after {} events: {end}", events.len())),
            Ok(Ok(Delivery::Progress(_))) => {}
            Ok(Ok(Delivery::Events(next))) => events.extend(next.iter().cloned()),
        }
    }
    let ordered = events.is_sorted_by_key(Event::revision);
    if ordered { Ok(in_key_order(events)) } else { Err(format!("out of order: {events:?}")) }
}

fn in_key_order(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by(|a, b| (a.revision(), a.key()).cmp(&(b.revision(), b.key())));
    events
}

fn transaction(model: &Model, writes: &[(usize, Expected, Change)]) -> Txn {
    writes.iter().fold(Txn::new(), |txn, (key, expected, change)| {
        let key = Bytes::from_static(KEYS[*key]);
        let current = model.keys().get(&key).map(Record::modified);
        let expect = match expected {
            Expected::Anything => Expect::Anything,
            Expected::Absent => Expect::Absent,
            Expected::Right => current.map_or(Expect::Absent, Expect::Revision),
            Expected::Old(ago) => Expect::Revision(revision(model, When::Ago(*ago))),
        };
        match change {
            Change::Put(value) => txn.put(key, value.clone(), expect),
            Change::Delete => txn.delete(key, expect),
            Change::Keep => txn.check(key, expect),
        }
    })
}

fn point(model: &Model, when: When) -> At {
    match when {
        When::Latest => At::Latest,
        When::Ago(_) | When::Ahead(_) => At::Revision(revision(model, when)),
    }
}

fn revision(model: &Model, when: When) -> Revision {
    let newest = model.revision().0;
    Revision(match when {
        When::Latest => newest,
        When::Ago(ago) => newest.saturating_sub(ago),
        When::Ahead(ahead) => newest + ahead,
    })
}

/// A range answer with values, or without if they were not asked for.
type Whole = (Vec<(Vec<u8>, Vec<u8>, Revision, Revision)>, u64, Revision);

fn whole(range: &Range, select: Select) -> Whole {
    let value = |r: &Record| {
        if select == Select::Keys { vec![] } else { r.value().to_vec() }
    };
    let record = |r: &Record| (r.key().to_vec(), value(r), r.created(), r.modified());
    (range.records.iter().map(record).collect(), range.count, range.revision)
}

fn compare<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} differs:\n  found    {found:?}\n  expected {expected:?}"))
}

/// Compares two answers, or two errors by their kind and numbers.
fn compare_answers<T: std::fmt::Debug>(
    found: Result<T, Error>,
    expected: Result<T, Error>,
    same: impl FnOnce(&str, &T, &T) -> Result<(), String>,
) -> Result<(), String> {
    match (found, expected) {
        (Ok(found), Ok(expected)) => same("the answer", &found, &expected),
        (Err(found), Err(expected)) => compare("the error", &kind(&found), &kind(&expected)),
        (found, expected) => Err(format!("found {found:?}, expected {expected:?}")),
    }
}

fn kind(error: &Error) -> String {
    match error {
        Error::Invalid { .. } => "invalid".into(),
        other => other.to_string(),
    }
}
