//! What the API does not say, put into a history, so that the checkers of stores can judge it.
//!
//! Nothing here makes a wrong answer right: what is filled in is what a server that keeps its
//! promises must have meant.
//!
//! - **Revisions are counted anew.** A cluster writes more than its clients do, and a replay wants
//!   to explain every revision. So only those are counted that changed a key of the history; every
//!   other one says the same as the last counted one before it.
//! - **Creation**: the first version with the same UID. It was seen: whoever made a second version
//!   or deleted the object had to name the first.
//! - **The newest revision** of reads that do not say it: at least what anybody had been told
//!   before the read began. Had the key changed by then, the answer was stale, and the replay finds
//!   that out.
//! - **What was before** an event: the version before it. What a deletion shows must be that.
//!
//! The run must have begun with no key.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;
use orlop_storage::{
    Action, At, Delivery, Event, Expect, Get, Outcome, Range, RangeRequest, Record, Revision, Txn,
    Write,
};
use orlop_storage_suite::history::{Answer, Call, History, Request, WatchLog};

use crate::api_store::Notes;

/// Completes a history that was recorded over the API.
///
/// # Panics
/// If the run did not begin with no key.
#[must_use]
pub fn complete(history: &History, notes: &Notes) -> History {
    assert!(history.start.records.is_empty(), "the run began with records");
    let known = Known::new(history, notes);
    let range = |range: &Range| known.range(range, Revision::ZERO);
    History {
        start: range(&history.start),
        calls: known.calls(history),
        watches: history.watches.iter().map(|watch| known.watch(watch)).collect(),
        end: range(&history.end),
    }
}

/// What a history as a whole says about keys and revisions.
struct Known {
    start: Revision,
    /// The revisions that count, all after the start.
    changes: Vec<Revision>,
    /// The versions of each key, with their creation, in the old count.
    versions: BTreeMap<Bytes, BTreeMap<Revision, Record>>,
}

impl Known {
    fn new(history: &History, notes: &Notes) -> Self {
        let mut changes: BTreeSet<Revision> = deletions(history).collect();
        let mut values: BTreeMap<Bytes, BTreeMap<Revision, Bytes>> = BTreeMap::new();
        each_version(history, |key, modified, value| {
            changes.insert(modified);
            values.entry(key).or_default().insert(modified, value);
        });
        let start = history.start.revision;
        let changes = changes.into_iter().filter(|revision| *revision > start).collect();
        let with_creation = |(key, values): (Bytes, BTreeMap<Revision, Bytes>)| {
            let mut first = HashMap::new();
            let versions = values.into_iter().map(|(modified, value)| {
                let created = *first.entry(notes.uid(&key, modified)).or_insert(modified);
                (modified, Record::new(&key, &value, created, modified, None))
            });
            let versions = versions.collect();
            (key, versions)
        };
        Self { start, changes, versions: values.into_iter().map(with_creation).collect() }
    }

    /// A revision in the new count. The start is one, and everything before it zero.
    fn count(&self, revision: Revision) -> Revision {
        if revision < self.start {
            return Revision::ZERO;
        }
        let before = self.changes.partition_point(|change| *change <= revision);
        Revision(1 + before as u64)
    }

    /// What somebody was shown as a version.
    fn record(&self, shown: &Record) -> Record {
        let versions = self.versions.get(shown.key());
        self.counted(shown, versions.and_then(|versions| versions.get(&shown.modified())))
    }

    /// What somebody was shown as the version before a revision.
    fn before(&self, shown: &Record, revision: Revision) -> Record {
        let versions = self.versions.get(shown.key());
        let before = versions.and_then(|versions| versions.range(..revision).next_back());
        self.counted(shown, before.map(|(_, version)| version))
    }

    /// The version before a revision of a key, of which nobody was shown anything.
    fn not_shown(&self, key: &[u8], revision: Revision) -> Option<Record> {
        let versions = self.versions.get(key)?;
        let (_, version) = versions.range(..revision).next_back()?;
        Some(self.counted(version, Some(version)))
    }

    /// A value that was shown, with the revisions of its version in the new count.
    fn counted(&self, shown: &Record, version: Option<&Record>) -> Record {
        let version = version.unwrap_or(shown);
        let (created, modified) = (self.count(version.created()), self.count(version.modified()));
        Record::new(shown.key(), shown.value(), created, modified, None)
    }

    fn range(&self, range: &Range, floor: Revision) -> Range {
        let records = range.records.iter().map(|record| self.record(record)).collect();
        Range { records, count: range.count, revision: self.count(range.revision.max(floor)) }
    }

    fn get(&self, get: &Get, floor: Revision) -> Get {
        let record = get.record.as_ref().map(|record| self.record(record));
        Get { record, revision: self.count(get.revision.max(floor)) }
    }

    /// All calls, each with the newest revision that anybody had been told when it began.
    fn calls(&self, history: &History) -> Vec<Call> {
        let told = |call: &Call| Some((call.returned?, call.answer.revision()?));
        let mut told: Vec<(u64, Revision)> = history.calls.iter().filter_map(told).collect();
        told.sort_unstable();
        let mut told = told.into_iter().peekable();
        let mut floor = history.start.revision;
        let mut calls = Vec::with_capacity(history.calls.len());
        for call in &history.calls {
            while let Some((_, revision)) = told.next_if(|(at, _)| *at < call.invoked) {
                floor = floor.max(revision);
            }
            calls.push(self.call(call, floor));
        }
        calls
    }

    fn call(&self, call: &Call, floor: Revision) -> Call {
        let request = match &call.request {
            Request::Get(key, at) => Request::Get(key.clone(), self.at(*at)),
            Request::Range(request) => {
                Request::Range(RangeRequest { at: self.at(request.at), ..request.clone() })
            }
            Request::Commit(txn) => Request::Commit(self.txn(txn)),
            Request::Compact(revision) => Request::Compact(self.count(*revision)),
            Request::Revision => Request::Revision,
        };
        // Whoever says the newest revision is taken at its word.
        let floor = if says_newest(call) { Revision::ZERO } else { floor };
        let answer = match &call.answer {
            Answer::Get(get) => Answer::Get(self.get(get, floor)),
            Answer::Range(range) => Answer::Range(self.range(range, floor)),
            Answer::Outcome(Outcome::Committed { revision }) => {
                Answer::Outcome(Outcome::Committed { revision: self.count(*revision) })
            }
            Answer::Outcome(Outcome::Conflict { current, revision }) => {
                let record = |record: &Option<Record>| record.as_ref().map(|r| self.record(r));
                let current = current.iter().map(record).collect();
                Answer::Outcome(Outcome::Conflict { current, revision: self.count(*revision) })
            }
            Answer::Revision(revision) => Answer::Revision(self.count(*revision)),
            other => other.clone(),
        };
        Call { request, answer, ..call.clone() }
    }

    fn at(&self, at: At) -> At {
        match at {
            At::Latest => At::Latest,
            At::Revision(revision) => At::Revision(self.count(revision)),
        }
    }

    fn txn(&self, txn: &Txn) -> Txn {
        let mut txn = txn.clone();
        for write in &mut txn.writes {
            if let Expect::Revision(revision) = write.expect {
                write.expect = Expect::Revision(self.count(revision));
            }
        }
        txn
    }

    fn watch(&self, watch: &WatchLog) -> WatchLog {
        let delivery = |delivery: &Delivery| match delivery {
            Delivery::Events(events) => {
                Delivery::Events(events.iter().map(|event| self.event(event)).collect())
            }
            Delivery::Progress(revision) => Delivery::Progress(self.count(*revision)),
        };
        WatchLog {
            client: watch.client,
            range: watch.range.clone(),
            after: watch.after.map(|after| self.count(after)),
            deliveries: watch.deliveries.iter().map(delivery).collect(),
            end: watch.end.clone(),
        }
    }

    fn event(&self, event: &Event) -> Event {
        match event {
            Event::Created { record } => Event::Created { record: self.record(record) },
            Event::Updated { record, previous } => {
                let before = self.not_shown(record.key(), record.modified());
                let previous = before.unwrap_or_else(|| previous.clone());
                Event::Updated { record: self.record(record), previous }
            }
            Event::Deleted { revision, previous } => Event::Deleted {
                revision: self.count(*revision),
                previous: self.before(previous, *revision),
            },
        }
    }
}

/// Whether an answer is of the newest revision, as far as it has one.
fn says_newest(call: &Call) -> bool {
    match (&call.request, &call.answer) {
        // That something is not there, a list has said.
        (Request::Get(_, At::Latest), Answer::Get(get)) => get.record.is_none(),
        (Request::Get(..), _) => false,
        (Request::Range(request), _) => request.at == At::Latest,
        _ => true,
    }
}

/// Shows every version of every key that anybody was shown or has written.
fn each_version(history: &History, mut show: impl FnMut(Bytes, Revision, Bytes)) {
    let mut show_record = |record: &Record| {
        show(Bytes::copy_from_slice(record.key()), record.modified(), record.value_bytes());
    };
    history.end.records.iter().for_each(&mut show_record);
    let events = history.watches.iter().flat_map(WatchLog::events);
    events.filter_map(Event::record).for_each(&mut show_record);
    for call in &history.calls {
        match &call.answer {
            Answer::Get(get) => get.record.iter().for_each(&mut show_record),
            Answer::Range(range) => range.records.iter().for_each(&mut show_record),
            Answer::Outcome(Outcome::Conflict { current, .. }) => {
                current.iter().flatten().for_each(&mut show_record);
            }
            _ => {}
        }
    }
    for call in &history.calls {
        if let (Request::Commit(txn), Answer::Outcome(Outcome::Committed { revision })) =
            (&call.request, &call.answer)
            && let [Write { key, action: Action::Put { value, .. }, .. }] = &txn.writes[..]
        {
            show(key.clone(), *revision, value.clone());
        }
    }
}

/// The revisions at which something is known to have been deleted.
fn deletions(history: &History) -> impl Iterator<Item = Revision> {
    let events = history.watches.iter().flat_map(WatchLog::events).map(Event::revision);
    let committed = history.calls.iter().filter_map(|call| match &call.answer {
        Answer::Outcome(Outcome::Committed { revision }) => Some(*revision),
        _ => None,
    });
    events.chain(committed)
}
