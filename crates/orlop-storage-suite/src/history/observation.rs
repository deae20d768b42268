//! What one answer says about the state at one revision.

use orlop_storage::{
    At, Event, KeyRange, Outcome, Range, RangeRequest, Record, Revision, Select, Txn,
};

use super::{Answer, Call, History, Request};
use crate::model::{Keys, apply, holds};

/// Something that a client was told about one revision.
#[derive(Clone, Copy, Debug)]
pub(super) enum Observation<'a> {
    /// A key was this.
    Get(&'a [u8], Option<&'a Record>),
    /// A range was this.
    Range(&'a RangeRequest, &'a Range),
    /// Every record was this.
    Everything(&'a Range),
    /// The transaction conflicted with these records.
    Conflict(&'a Txn, &'a [Option<Record>]),
    /// The revision made this change.
    Event(&'a Event),
}

impl<'a> Observation<'a> {
    /// All observations of a history, with the revision that each is about. Committed
    /// transactions are not among them.
    pub(super) fn all(history: &'a History) -> Vec<(Revision, Self)> {
        let calls = history.calls.iter().filter_map(Self::of_call);
        let watched = history.watches.iter().flat_map(|watch| watch.events());
        let watched = watched.map(|event| (event.revision(), Self::Event(event)));
        let end = (history.end.revision, Self::Everything(&history.end));
        calls.chain(watched).chain([end]).collect()
    }

    fn of_call(call: &'a Call) -> Option<(Revision, Self)> {
        let point = |at: At, newest: Revision| match at {
            At::Latest => newest,
            At::Revision(revision) => revision,
        };
        match (&call.request, &call.answer) {
            (Request::Get(key, at), Answer::Get(got)) => {
                Some((point(*at, got.revision), Self::Get(key, got.record.as_ref())))
            }
            (Request::Range(request), Answer::Range(found)) => {
                Some((point(request.at, found.revision), Self::Range(request, found)))
            }
            (Request::Commit(txn), Answer::Outcome(Outcome::Conflict { current, revision })) => {
                Some((*revision, Self::Conflict(txn, current)))
            }
            _ => None,
        }
    }

    /// Whether this can have been observed of a state that was made by these changes.
    pub(super) fn agrees(&self, state: &Keys, changes: &[Event]) -> bool {
        match self {
            Self::Get(key, record) => state.get(*key) == *record,
            Self::Range(request, found) => range_agrees(state, request, found),
            Self::Everything(found) => {
                range_agrees(state, &RangeRequest::new(KeyRange::all()), found)
            }
            Self::Conflict(txn, current) => {
                let found = txn.writes.iter().map(|write| state.get(&write.key));
                let failed = txn.writes.iter().any(|w| !holds(w.expect, state.get(&w.key)));
                failed && found.eq(current.iter().map(Option::as_ref))
            }
            // What it was before is for the guarantees of watches to judge.
            Self::Event(event) => changes
                .iter()
                .any(|change| (change.key(), change.record()) == (event.key(), event.record())),
        }
    }
}

/// Whether a transaction commits in this state without changing it.
pub(super) fn commits_without_change(state: &Keys, txn: &Txn) -> bool {
    let all_hold = txn.writes.iter().all(|write| holds(write.expect, state.get(&write.key)));
    all_hold && apply(state, txn, Revision(u64::MAX)).1.is_empty()
}

fn range_agrees(state: &Keys, request: &RangeRequest, found: &Range) -> bool {
    let expected: Vec<&Record> =
        state.values().filter(|record| request.range.contains(record.key())).collect();
    let limit = if request.limit == 0 { usize::MAX } else { request.limit };
    let shown = match request.select {
        Select::Count => 0,
        Select::Records | Select::Keys => expected.len().min(limit),
    };
    let same = |(a, b): (&Record, &&Record)| match request.select {
        Select::Keys => {
            (a.key(), a.created(), a.modified()) == (b.key(), b.created(), b.modified())
        }
        Select::Records | Select::Count => a == *b,
    };
    found.count == expected.len() as u64
        && found.records.len() == shown
        && found.records.iter().zip(&expected).all(same)
}
