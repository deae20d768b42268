//! The writes, made again in the order that their revisions say.
//!
//! Each revision must be explained by exactly one transaction that changed something: one that was
//! acknowledged with that revision, or one whose outcome is unknown. Where several could explain
//! it, each is tried until everything that was observed later fits.

use std::collections::BTreeMap;

use bytes::Bytes;
use orlop_storage::{Action, Event, KeyRange, Outcome, Record, Revision, Txn};

use super::observation::{Observation, commits_without_change};
use super::{Answer, Call, History, Request, Violation, violation};
use crate::model::{Keys, apply, holds};

/// How many revisions are tried in all, before a history counts as too uncertain.
const STEPS_MAX: usize = 2_000_000;

/// What must have happened.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The revision before the first change.
    pub start: Revision,
    /// The changes of each revision after that.
    pub changes: BTreeMap<Revision, Vec<Event>>,
}

impl Replay {
    /// All changes in a range after one revision, up to and including another.
    pub fn between<'a>(
        &'a self,
        range: &'a KeyRange,
        after: Revision,
        until: Revision,
    ) -> impl Iterator<Item = &'a Event> {
        let revisions = self.changes.range(after.next()..=until.max(after.next()));
        let changes = revisions.filter(move |(revision, _)| **revision <= until);
        changes.flat_map(|(_, events)| events).filter(|event| range.contains(event.key()))
    }

    /// The change that one revision made to one key.
    #[must_use]
    pub fn change(&self, revision: Revision, key: &[u8]) -> Option<&Event> {
        self.changes.get(&revision)?.iter().find(|event| event.key() == key)
    }
}

/// Makes the writes of a history again and holds everything observed against them.
///
/// # Errors
/// If no order of the writes explains what was observed.
pub fn replay(history: &History) -> Result<Replay, Violation> {
    Search::new(history)?.run()
}

struct Write<'a> {
    txn: &'a Txn,
    /// The newest revision that anybody had seen when it began: it happened after that.
    floor: Revision,
    /// What it was acknowledged with.
    revision: Option<Revision>,
    call: &'a Call,
}

struct Search<'a> {
    start: Revision,
    end: Revision,
    initial: Keys,
    /// Acknowledged transactions first by revision, then by beginning.
    acknowledged: BTreeMap<Revision, Vec<Write<'a>>>,
    unknown: Vec<Write<'a>>,
    observed: BTreeMap<Revision, Vec<Observation<'a>>>,
}

/// One way to explain a revision.
struct Step {
    revision: Revision,
    before: Keys,
    /// What else could explain it, as indices; see [`Search::candidates`].
    untried: Vec<usize>,
    /// Which unknown write explains it now.
    used: Option<usize>,
}

impl<'a> Search<'a> {
    fn new(history: &'a History) -> Result<Self, Violation> {
        let initial = history.start.records.iter();
        let initial = initial.map(|record| (Bytes::copy_from_slice(record.key()), record.clone()));
        let mut search = Self {
            start: history.start.revision,
            end: history.end.revision,
            initial: initial.collect(),
            acknowledged: BTreeMap::new(),
            unknown: Vec::new(),
            observed: BTreeMap::new(),
        };
        for (call, floor) in real_time(history)? {
            let Request::Commit(txn) = &call.request else {
                continue;
            };
            let write = |revision| Write { txn, floor, revision, call };
            match &call.answer {
                Answer::Outcome(Outcome::Committed { revision }) => {
                    let at = search.acknowledged.entry(*revision).or_default();
                    at.push(write(Some(*revision)));
                }
                Answer::Unknown => search.unknown.push(write(None)),
                _ => {}
            }
        }
        for (revision, observation) in Observation::all(history) {
            search.observed.entry(revision).or_default().push(observation);
        }
        search.refuse_revisions_outside()?;
        Ok(search)
    }

    /// Nothing can be acknowledged or observed before the start or after the end.
    fn refuse_revisions_outside(&self) -> Result<(), Violation> {
        let acknowledged = self.acknowledged.keys().map(|revision| (*revision, "acknowledged"));
        let observed = self.observed.keys().map(|revision| (*revision, "observed"));
        for (revision, what) in acknowledged.chain(observed) {
            if revision > self.end {
                return violation(format!("{revision} was {what}, the store ends at {}", self.end));
            }
            if revision < self.start && what == "acknowledged" {
                return violation(format!(
                    "{revision} was {what}, the run began at {}",
                    self.start
                ));
            }
        }
        Ok(())
    }

    fn run(&self) -> Result<Replay, Violation> {
        let mut replay = Replay { start: self.start, changes: BTreeMap::new() };
        let mut state = self.initial.clone();
        self.settle(self.start, &state, &[], None)?;
        let mut steps: Vec<Step> = Vec::new();
        let mut revision = self.start.next();
        let mut deepest = Violation(String::new());
        for _ in 0..STEPS_MAX {
            if revision > self.end {
                return Ok(replay);
            }
            let used: Vec<usize> = steps.iter().filter_map(|step| step.used).collect();
            let untried = self.candidates(revision, &state, &used);
            steps.push(Step { revision, before: state, untried, used: None });
            loop {
                let Some(step) = steps.last_mut() else {
                    return Err(deepest);
                };
                match self.explain(step) {
                    Ok((after, events)) => {
                        revision = step.revision.next();
                        replay.changes.insert(step.revision, events);
                        state = after;
                        break;
                    }
                    Err(Some(failed)) => deepest = furthest(deepest, failed),
                    Err(None) => drop(steps.pop()),
                }
            }
        }
        violation(format!("too uncertain: {STEPS_MAX} steps do not explain it; {deepest}"))
    }

    /// Tries the next way to explain a revision: a state, a failure, or nothing left to try.
    fn explain(&self, step: &mut Step) -> Result<(Keys, Vec<Event>), Option<Violation>> {
        let Step { revision, before, untried, used } = step;
        let Some(candidate) = untried.pop() else {
            return Err(None);
        };
        if candidate == NOTHING {
            let acknowledged = self.acknowledged.get(revision).map_or(0, Vec::len);
            let text = format!(
                "revision {revision} cannot be explained: {acknowledged} acknowledged writes carry \
                 it, none of which can have made it, and no write of unknown outcome can"
            );
            return Err(Some(Violation(text)));
        }
        let acknowledged = self.acknowledged.get(revision).map_or(&[][..], Vec::as_slice);
        let chosen = acknowledged.get(candidate);
        *used = candidate.checked_sub(acknowledged.len()).filter(|_| chosen.is_none());
        let write = chosen.unwrap_or_else(|| &self.unknown[candidate - acknowledged.len()]);
        let (after, events) = apply(before, write.txn, *revision);
        self.settle(*revision, &after, &events, Some(write)).map_err(Some)?;
        Ok((after, events))
    }

    /// Which writes can have made a revision: indices of the acknowledged ones with that revision,
    /// followed by the unknown ones. The most likely one is last.
    fn candidates(&self, revision: Revision, state: &Keys, used: &[usize]) -> Vec<usize> {
        let acknowledged = self.acknowledged.get(&revision).map_or(&[][..], Vec::as_slice);
        let possible = |write: &Write<'_>| {
            write.floor < revision
                && write.txn.writes.iter().all(|w| holds(w.expect, state.get(&w.key)))
                && changes(state, write.txn)
        };
        let known = (0..acknowledged.len()).filter(|n| possible(&acknowledged[*n]));
        // A put that was acknowledged has surely made its revision.
        let sure = acknowledged.iter().any(|write| changes(&Keys::new(), write.txn));
        let unknown = (0..self.unknown.len())
            .filter(|n| !sure && !used.contains(n) && possible(&self.unknown[*n]))
            .map(|n| acknowledged.len() + n);
        let mut candidates: Vec<usize> = known.chain(unknown).collect();
        candidates.push(NOTHING);
        candidates.reverse();
        candidates
    }

    /// Whether everything that is known about a revision fits its state.
    fn settle(
        &self,
        revision: Revision,
        state: &Keys,
        events: &[Event],
        made_by: Option<&Write<'_>>,
    ) -> Result<(), Violation> {
        let acknowledged = self.acknowledged.get(&revision).map_or(&[][..], Vec::as_slice);
        for write in acknowledged {
            let made = made_by.is_some_and(|by| std::ptr::eq(by.call, write.call));
            let idle = write.floor <= revision && commits_without_change(state, write.txn);
            if !made && !idle {
                let (client, revision) = (write.call.client, write.revision);
                return violation(format!(
                    "client {client}: a write acknowledged with {revision:?} cannot have happened \
                     there: {:?}",
                    write.txn
                ));
            }
        }
        for observation in self.observed.get(&revision).map_or(&[][..], Vec::as_slice) {
            if !observation.agrees(state, events) {
                return violation(format!(
                    "at revision {revision}, the state was {} but {observation:?} was observed",
                    summary(state)
                ));
            }
        }
        Ok(())
    }
}

/// Whether a transaction whose expectations hold changes this state.
fn changes(state: &Keys, txn: &Txn) -> bool {
    txn.writes.iter().any(|write| match write.action {
        Action::Put { .. } => true,
        Action::Delete => state.contains_key(&write.key),
        Action::Keep => false,
    })
}

/// Stands for "no write explains this", tried last so that the failure gets a text.
const NOTHING: usize = usize::MAX;

/// Every call with the newest revision that any call had seen and returned when it began; a call
/// that then sees an older one has gone back in time.
fn real_time(history: &History) -> Result<Vec<(&Call, Revision)>, Violation> {
    let mut returns: Vec<(u64, Revision)> = history
        .calls
        .iter()
        .filter_map(|call| Some((call.returned?, call.answer.revision()?)))
        .collect();
    returns.sort_unstable();
    let mut returns = returns.into_iter().peekable();
    let mut floor = history.start.revision;
    let mut calls = Vec::new();
    for call in &history.calls {
        while let Some((_, seen)) = returns.next_if(|(returned, _)| *returned < call.invoked) {
            floor = floor.max(seen);
        }
        match call.answer.revision() {
            Some(seen) if seen < floor => {
                let client = call.client;
                return violation(format!(
                    "client {client} was answered revision {seen}, but {floor} had been seen \
                     before it asked: {:?}",
                    call.request
                ));
            }
            _ => calls.push((call, floor)),
        }
    }
    for (_, seen) in returns {
        floor = floor.max(seen);
    }
    if history.end.revision < floor {
        let end = history.end.revision;
        return violation(format!("the store ends at {end}, but {floor} had been seen"));
    }
    Ok(calls)
}

/// Of two failures the one that came later in the history says more.
fn furthest(known: Violation, new: Violation) -> Violation {
    if known.0.is_empty() || !new.0.contains("cannot be explained") { new } else { known }
}

fn summary(state: &Keys) -> String {
    let pair = |r: &Record| {
        let (key, value) = (r.key().escape_ascii(), r.value().escape_ascii());
        format!("{key}={value}@{}", r.modified())
    };
    let shown: Vec<String> = state.values().take(20).map(pair).collect();
    format!("{} keys ({})", state.len(), shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;
    use orlop_storage::Expect;

    /// `expect` is how the verdict begins.
    #[track_caller]
    fn check(history: &History, expect: &str) {
        let found = verdict(replay(history).map(|_| ()));
        assert!(found.starts_with(expect), "found: {found}");
    }

    fn at(revision: u64) -> Expect {
        Expect::Revision(Revision(revision))
    }

    #[test]
    fn a_history_that_follows_its_revisions_is_explained() {
        let calls = vec![
            put("/a", "v1", 1),
            read("/a", got(Some(record("/a", 1, 1)), 1)),
            expecting("/a", "v2", at(1), committed(2)),
            expecting("/a", "v3", Expect::Absent, conflict(&[Some(record("/a", 1, 2))], 2)),
            delete("/a", committed(3)),
            delete("/a", committed(3)),
            read("/a", got(None, 3)),
        ];
        check(&history(calls, &[], 3), "kept");
    }

    #[test]
    fn a_lost_write_is_found() {
        let calls = vec![put("/a", "v1", 1), put("/b", "v2", 2)];
        check(&history(calls.clone(), &[record("/a", 1, 1)], 1), "the store ends at 1, but 2");
        check(&history(calls, &[record("/a", 1, 1)], 2), "at revision 2, the state was 2 keys");
    }

    #[test]
    fn an_invented_write_is_found() {
        let end = [record("/a", 1, 1), record("/b", 2, 2)];
        check(&history(vec![put("/a", "v1", 1)], &end, 2), "revision 2 cannot be explained");
    }

    #[test]
    fn a_revision_given_twice_is_found() {
        let calls = vec![put("/a", "v1", 1), put("/b", "v1", 1)];
        let end = [record("/a", 1, 1), record("/b", 1, 1)];
        check(&history(calls.clone(), &end, 1), "client 0: a write acknowledged with");
        let history = lasting(history(calls, &end, 1), 0, 1);
        check(&history, "client 0: a write acknowledged with");
    }

    #[test]
    fn a_stale_read_is_found() {
        let calls = vec![put("/a", "v1", 1), put("/a", "v2", 2), read("/a", got(None, 0))];
        check(&history(calls, &[record("/a", 1, 2)], 2), "client 1 was answered revision 0");
        let old = got(Some(record("/a", 1, 1)), 2);
        let calls = vec![put("/a", "v1", 1), put("/a", "v2", 2), read("/a", old)];
        check(&history(calls, &[record("/a", 1, 2)], 2), "at revision 2, the state was");
    }

    #[test]
    fn a_revision_that_goes_back_is_found() {
        let calls = vec![put("/a", "v2", 2), put("/b", "v1", 1)];
        let end = [record("/a", 2, 2), record("/b", 1, 1)];
        check(&history(calls.clone(), &end, 2), "client 0 was answered revision 1, but 2");
        check(&lasting(history(calls, &end, 2), 0, 1), "kept");
    }

    #[test]
    fn an_update_that_should_have_failed_is_found() {
        let calls = vec![
            put("/a", "v1", 1),
            expecting("/a", "v2", at(1), committed(2)),
            expecting("/a", "v3", at(1), committed(3)),
        ];
        check(&history(calls, &[record("/a", 1, 3)], 3), "revision 3 cannot be explained");
    }

    #[test]
    fn a_conflict_that_should_have_committed_is_found() {
        let wrong = conflict(&[Some(record("/a", 1, 1))], 1);
        let calls = vec![put("/a", "v1", 1), expecting("/a", "v2", at(1), wrong)];
        check(&history(calls, &[record("/a", 1, 1)], 1), "at revision 1, the state was");
    }

    #[test]
    fn a_write_of_unknown_outcome_may_have_happened_later_or_never() {
        let unknown = || expecting("/a", "v2", Expect::Anything, Answer::Unknown);
        let calls = || vec![unknown(), put("/b", "v1", 1)];
        check(&history(calls(), &[record("/b", 1, 1)], 1), "kept");
        let end = [record("/a", 2, 2), record("/b", 1, 1)];
        check(&history(calls(), &end, 2), "kept");
        check(&history(vec![put("/b", "v1", 1)], &end, 2), "revision 2 cannot be explained");
    }

    #[test]
    fn a_write_of_unknown_outcome_did_not_happen_before_it_began() {
        let calls = vec![
            put("/b", "v1", 1),
            read("/b", got(Some(record("/b", 1, 1)), 2)),
            expecting("/a", "v2", Expect::Anything, Answer::Unknown),
        ];
        let end = [record("/a", 2, 2), record("/b", 1, 1)];
        check(&history(calls, &end, 2), "revision 2 cannot be explained");
    }

    #[test]
    fn the_right_one_of_several_unknown_writes_is_found() {
        let unknown = |key, value| expecting(key, value, Expect::Anything, Answer::Unknown);
        let calls = vec![unknown("/a", "v9"), unknown("/b", "v1"), unknown("/a", "v2")];
        let end = [record("/a", 2, 2), record("/b", 1, 1)];
        check(&history(calls, &end, 2), "kept");
    }

    #[test]
    fn an_event_of_something_that_did_not_happen_is_found() {
        let mut history = history(vec![put("/a", "v1", 1)], &[record("/a", 1, 1)], 1);
        history.watches.push(watch(0, &[events(&[created("/b", 1)])]));
        check(&history, "at revision 1, the state was");
    }
}
