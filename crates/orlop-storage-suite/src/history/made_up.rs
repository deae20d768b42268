//! Small histories, written by hand, for the tests that show that a checker can fail.

use bytes::Bytes;
use orlop_storage::{
    At, Delivery, Event, Expect, Get, KeyRange, Outcome, Range, Record, Revision, Txn,
};

use super::{Answer, Call, Checked, History, Replay, Request, Violation, WatchLog};

/// A record of a key; its value is `v` and the revision that wrote it.
pub(super) fn record(key: &str, created: u64, modified: u64) -> Record {
    let value = format!("v{modified}");
    Record::new(key.as_bytes(), value.as_bytes(), Revision(created), Revision(modified), None)
}

pub(super) fn created(key: &str, revision: u64) -> Event {
    Event::Created { record: record(key, revision, revision) }
}

pub(super) fn updated(key: &str, created: u64, previous: u64, revision: u64) -> Event {
    let previous = record(key, created, previous);
    Event::Updated { record: record(key, created, revision), previous }
}

pub(super) fn deleted(key: &str, created: u64, previous: u64, revision: u64) -> Event {
    Event::Deleted { revision: Revision(revision), previous: record(key, created, previous) }
}

pub(super) fn events(events: &[Event]) -> Delivery {
    Delivery::Events(events.into())
}

pub(super) fn progress(revision: u64) -> Delivery {
    Delivery::Progress(Revision(revision))
}

/// A watch of the keys below `/` after a revision.
pub(super) fn watch(after: u64, deliveries: &[Delivery]) -> WatchLog {
    WatchLog {
        client: 0,
        range: KeyRange::prefix("/"),
        after: Some(Revision(after)),
        deliveries: deliveries.to_vec(),
        end: None,
    }
}

/// What really happened: revision 1 creates `/a`, 2 creates `/b` and `/c` together, 3 updates
/// `/a`, 4 writes outside the watched range, 5 deletes `/a`.
pub(super) fn truth() -> Replay {
    let changes = [
        vec![created("/a", 1)],
        vec![created("/b", 2), created("/c", 2)],
        vec![updated("/a", 1, 1, 3)],
        vec![created("outside", 4)],
        vec![deleted("/a", 1, 3, 5)],
    ];
    let changes = changes.into_iter().map(|events| (events[0].revision(), events)).collect();
    Replay { start: Revision::ZERO, changes }
}

/// A call of a client; [`history`] gives it its time.
pub(super) fn call(client: usize, request: Request, answer: Answer) -> Call {
    let returned = (!matches!(answer, Answer::Unknown)).then_some(0);
    Call { client, invoked: 0, returned, request, answer }
}

/// An unconditional put of `/a`, or whichever key, acknowledged.
pub(super) fn put(key: &'static str, value: &'static str, revision: u64) -> Call {
    expecting(key, value, Expect::Anything, committed(revision))
}

pub(super) fn expecting(
    key: &'static str,
    value: &'static str,
    expect: Expect,
    answer: Answer,
) -> Call {
    call(0, Request::Commit(Txn::new().put(key, value, expect)), answer)
}

pub(super) fn delete(key: &'static str, answer: Answer) -> Call {
    call(0, Request::Commit(Txn::new().delete(key, Expect::Anything)), answer)
}

pub(super) fn read(key: &'static str, answer: Answer) -> Call {
    call(1, Request::Get(Bytes::from(key), At::Latest), answer)
}

pub(super) fn committed(revision: u64) -> Answer {
    Answer::Outcome(Outcome::Committed { revision: Revision(revision) })
}

pub(super) fn conflict(current: &[Option<Record>], revision: u64) -> Answer {
    let (current, revision) = (current.to_vec(), Revision(revision));
    Answer::Outcome(Outcome::Conflict { current, revision })
}

pub(super) fn got(record: Option<Record>, revision: u64) -> Answer {
    Answer::Get(Get { record, revision: Revision(revision) })
}

/// Calls one after the other on an empty store, which ends with `records` at `revision`.
pub(super) fn history(calls: Vec<Call>, records: &[Record], revision: u64) -> History {
    let at = |mut call: Call, n: usize| {
        call.invoked = 10 * n as u64;
        call.returned = call.returned.map(|_| 10 * n as u64 + 5);
        call
    };
    let range = |records: &[Record], revision| Range {
        records: records.to_vec(),
        count: records.len() as u64,
        revision: Revision(revision),
    };
    History {
        start: range(&[], 0),
        calls: calls.into_iter().enumerate().map(|(n, call)| at(call, n)).collect(),
        watches: Vec::new(),
        end: range(records, revision),
    }
}

/// Makes a call last until just before the call with this number is answered.
pub(super) fn lasting(mut history: History, call: usize, until: usize) -> History {
    history.calls[call].returned = Some(10 * until as u64 + 4);
    history
}

/// A verdict as text.
pub(super) fn verdict(checked: Checked) -> String {
    match checked {
        Ok(()) => "kept".into(),
        Err(Violation(what)) => what,
    }
}
