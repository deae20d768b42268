//! The classic search for a linear order (Wing and Gong, with Lowe's memory of what was tried).
//!
//! It looks at one key at a time, as linearizability allows, and at values only: a revision is a
//! name for the value it was written with, and neither its size nor its order is believed. Each key
//! is a register with compare-and-set. Reads of the past and limited ranges are left to the replay.

use std::collections::{BTreeSet, HashMap, HashSet};

use bytes::Bytes;
use orlop_storage::{Action, At, Expect, Outcome, Record, Revision, Select};

use super::{Answer, Call, Checked, History, Request, violation};

/// How many orders are tried for one key before the search gives up without a verdict.
const TRIES_MAX: usize = 1_000_000;

/// What a register holds.
type Value = Option<Bytes>;

/// Looks for a linear order of the calls, key by key.
///
/// # Errors
/// The first key for which there is none.
pub fn search(history: &History) -> Checked {
    let mut keys = BTreeSet::new();
    for call in &history.calls {
        match &call.request {
            Request::Commit(txn) => keys.extend(txn.writes.iter().map(|write| write.key.clone())),
            Request::Get(key, At::Latest) => drop(keys.insert(key.clone())),
            _ => {}
        }
    }
    for key in keys {
        let operations = Projection::new(history, &key).operations();
        let initial = find(&history.start.records, &key).map(Record::value_bytes);
        if !linearizable(&operations, initial) {
            let count = operations.len();
            return violation(format!(
                "no order of the {count} operations on {} explains what they saw",
                key.escape_ascii()
            ));
        }
    }
    Ok(())
}

/// One operation on a register.
#[derive(Clone, Debug)]
struct Operation {
    invoked: u64,
    /// None if its outcome is unknown: then it may take effect at any time later, or never.
    returned: Option<u64>,
    effect: Effect,
}

#[derive(Clone, Debug)]
enum Effect {
    /// The register held this.
    Read(Value),
    /// The register held what was expected, and then this.
    Write(Condition, Value),
}

#[derive(Clone, Debug)]
enum Condition {
    Anything,
    Is(Value),
    Never,
}

impl Effect {
    /// What the register holds after this, if this can happen now.
    fn apply(&self, now: &Value) -> Option<Value> {
        match self {
            Self::Read(seen) => (seen == now).then(|| now.clone()),
            Self::Write(Condition::Anything, after) => Some(after.clone()),
            Self::Write(Condition::Is(expected), after) => (expected == now).then(|| after.clone()),
            Self::Write(Condition::Never, _) => None,
        }
    }
}

/// What a history says about one key.
struct Projection<'a> {
    history: &'a History,
    key: &'a Bytes,
    /// Which value each revision of the key was written with, as far as anybody knows.
    values: HashMap<Revision, Bytes>,
}

impl<'a> Projection<'a> {
    fn new(history: &'a History, key: &'a Bytes) -> Self {
        let mut values = HashMap::new();
        let mut know = |record: &Record| {
            if record.key() == &key[..] {
                values.insert(record.modified(), record.value_bytes());
            }
        };
        history.start.records.iter().for_each(&mut know);
        history.end.records.iter().for_each(&mut know);
        let events = history.watches.iter().flat_map(|watch| watch.events());
        events.filter_map(|event| event.record()).for_each(&mut know);
        for call in &history.calls {
            match &call.answer {
                Answer::Get(got) => got.record.iter().for_each(&mut know),
                Answer::Range(found) if !keys_only(call) => {
                    found.records.iter().for_each(&mut know);
                }
                Answer::Outcome(Outcome::Conflict { current, .. }) => {
                    current.iter().flatten().for_each(&mut know);
                }
                _ => {}
            }
        }
        for call in &history.calls {
            let Answer::Outcome(Outcome::Committed { revision }) = call.answer else {
                continue;
            };
            if let Some(Action::Put { value, .. }) = action(call, key).map(|(_, action)| action) {
                values.insert(revision, value.clone());
            }
        }
        Self { history, key, values }
    }

    fn operations(&self) -> Vec<Operation> {
        let mut operations: Vec<Operation> =
            self.history.calls.iter().filter_map(|call| self.operation(call)).collect();
        operations.sort_by_key(|operation| operation.invoked);
        let end = find(&self.history.end.records, self.key).map(Record::value_bytes);
        let (invoked, returned) = (u64::MAX - 1, Some(u64::MAX));
        operations.push(Operation { invoked, returned, effect: Effect::Read(end) });
        operations
    }

    fn operation(&self, call: &Call) -> Option<Operation> {
        let effect = match (&call.request, &call.answer) {
            (Request::Get(key, At::Latest), Answer::Get(got)) if key == self.key => {
                Effect::Read(got.record.as_ref().map(Record::value_bytes))
            }
            (Request::Range(request), Answer::Range(found))
                if (request.at, request.select, request.limit)
                    == (At::Latest, Select::Records, 0)
                    && request.range.contains(self.key) =>
            {
                Effect::Read(find(&found.records, self.key).map(Record::value_bytes))
            }
            (Request::Commit(txn), Answer::Outcome(Outcome::Conflict { current, .. })) => {
                let place = txn.writes.iter().position(|write| write.key == *self.key)?;
                Effect::Read(current.get(place)?.as_ref().map(Record::value_bytes))
            }
            (Request::Commit(_), Answer::Outcome(_) | Answer::Unknown) => self.write(call)?,
            _ => return None,
        };
        Some(Operation { invoked: call.invoked, returned: call.returned, effect })
    }

    fn write(&self, call: &Call) -> Option<Effect> {
        let (expect, action) = action(call, self.key)?;
        let expected = match expect {
            Expect::Anything => None,
            Expect::Absent => Some(None),
            Expect::Revision(revision) => match self.values.get(&revision) {
                Some(value) => Some(Some(value.clone())),
                None => return Some(Effect::Write(Condition::Never, None)),
            },
        };
        Some(match (action, expected) {
            (Action::Put { value, .. }, None) => {
                Effect::Write(Condition::Anything, Some(value.clone()))
            }
            (Action::Put { value, .. }, Some(expected)) => {
                Effect::Write(Condition::Is(expected), Some(value.clone()))
            }
            (Action::Delete, None) => Effect::Write(Condition::Anything, None),
            (Action::Delete, Some(expected)) => Effect::Write(Condition::Is(expected), None),
            (Action::Keep, None) => return None,
            (Action::Keep, Some(expected)) => Effect::Read(expected),
        })
    }
}

fn action<'a>(call: &'a Call, key: &Bytes) -> Option<(Expect, &'a Action)> {
    let Request::Commit(txn) = &call.request else {
        return None;
    };
    let write = txn.writes.iter().find(|write| write.key == *key)?;
    Some((write.expect, &write.action))
}

fn keys_only(call: &Call) -> bool {
    matches!(&call.request, Request::Range(request) if request.select == Select::Keys)
}

fn find<'a>(records: &'a [Record], key: &[u8]) -> Option<&'a Record> {
    records.iter().find(|record| record.key() == key)
}

/// Whether some order of the operations, which respects real time, explains them. They are sorted
/// by their beginning. Gives the benefit of the doubt after [`TRIES_MAX`] tries.
fn linearizable(operations: &[Operation], initial: Value) -> bool {
    let nothing_done = vec![0_u64; operations.len().div_ceil(64)];
    let mut stack = vec![(nothing_done, initial)];
    let mut tried = HashSet::new();
    while let Some((done, value)) = stack.pop() {
        let is_done = |n: usize| done[n / 64] & (1 << (n % 64)) != 0;
        let left = || (0..operations.len()).filter(|n| !is_done(*n));
        if left().all(|n| operations[n].returned.is_none()) || tried.len() > TRIES_MAX {
            return true;
        }
        // Whatever began after some other operation had ended cannot come before that one.
        let mut ended = u64::MAX;
        let mut next = Vec::new();
        for n in left() {
            if operations[n].invoked > ended {
                break;
            }
            ended = ended.min(operations[n].returned.unwrap_or(u64::MAX));
            next.push(n);
        }
        for n in next.into_iter().rev().filter(|n| operations[*n].invoked < ended) {
            let Some(after) = operations[n].effect.apply(&value) else {
                continue;
            };
            let mut done = done.clone();
            done[n / 64] |= 1 << (n % 64);
            if tried.insert((done.clone(), after.clone())) {
                stack.push((done, after));
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(history: &History, expect: &str) {
        assert_eq!(verdict(search(history)), expect);
    }

    fn none(count: usize) -> String {
        format!("no order of the {count} operations on /a explains what they saw")
    }

    fn seen(revision: u64) -> Answer {
        got(Some(record("/a", 1, revision)), revision)
    }

    fn end() -> [Record; 1] {
        [record("/a", 1, 2)]
    }

    #[test]
    fn calls_one_after_the_other_have_their_order() {
        let calls = vec![
            read("/a", got(None, 0)),
            put("/a", "v1", 1),
            read("/a", seen(1)),
            put("/a", "v2", 2),
            read("/a", seen(2)),
        ];
        check(&history(calls, &end(), 2), "kept");
    }

    #[test]
    fn a_stale_read_is_found() {
        let calls = || vec![put("/a", "v1", 1), put("/a", "v2", 2), read("/a", seen(1))];
        check(&history(calls(), &end(), 2), &none(4));
        check(&lasting(history(calls(), &end(), 2), 1, 2), "kept");
    }

    #[test]
    fn reads_that_disagree_about_the_order_are_found() {
        let calls = vec![
            put("/a", "v1", 1),
            put("/a", "v2", 2),
            read("/a", seen(1)),
            read("/a", seen(2)),
            read("/a", seen(1)),
        ];
        let history = lasting(lasting(history(calls, &end(), 2), 0, 5), 1, 5);
        check(&history, &none(6));
    }

    #[test]
    fn two_winners_of_one_version_are_found() {
        let expect = || Expect::Revision(Revision(1));
        let calls = vec![
            put("/a", "v1", 1),
            expecting("/a", "v2", expect(), committed(2)),
            expecting("/a", "v3", expect(), committed(3)),
        ];
        let history = lasting(history(calls, &[record("/a", 1, 3)], 3), 1, 2);
        check(&history, &none(4));
    }

    #[test]
    fn a_lost_write_is_found() {
        let calls = || vec![put("/a", "v2", 2), put("/a", "v1", 1)];
        check(&history(calls(), &end(), 2), &none(3));
        check(&lasting(history(calls(), &end(), 2), 0, 1), "kept");
    }

    #[test]
    fn an_unknown_write_explains_a_value_or_nothing() {
        let unknown = || expecting("/a", "v2", Expect::Anything, Answer::Unknown);
        check(&history(vec![unknown(), put("/a", "v1", 1)], &end(), 2), "kept");
        let first = [record("/a", 1, 1)];
        check(&history(vec![unknown(), put("/a", "v1", 1)], &first, 1), "kept");
        check(&history(vec![put("/a", "v1", 1)], &end(), 2), &none(2));
    }
}
