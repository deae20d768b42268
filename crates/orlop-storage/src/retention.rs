//! How much history an in-process engine keeps.

use std::collections::VecDeque;
use std::time::Duration;

use crate::Revision;
use crate::state::State;

/// What is kept at least as long as there is room for it.
#[derive(Clone, Copy, Debug)]
pub struct HistoryLimits {
    /// History younger than this is kept. The default is five minutes, as Kubernetes has it.
    pub keep: Duration,
    /// History is given up earlier when its keys and values take more bytes than this.
    pub bytes_max: usize,
    /// History is given up earlier when it has more transactions than this.
    pub transactions_max: usize,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            keep: Duration::from_secs(5 * 60),
            bytes_max: 256 << 20,
            transactions_max: 1_000_000,
        }
    }
}

/// Remembers when which revision was the newest, and says what has become too old.
#[derive(Debug)]
pub(crate) struct Retention {
    limits: HistoryLimits,
    /// Ascending in both; at most [`Retention::MARKS`] in the time that is kept.
    marks: VecDeque<(Duration, Revision)>,
}

impl Retention {
    const MARKS: u32 = 64;

    pub(crate) fn new(limits: HistoryLimits) -> Self {
        Self { limits, marks: VecDeque::new() }
    }

    /// Forgets revisions after this one, which were taken back and will come again.
    pub(crate) fn roll_back(&mut self, newest: Revision) {
        for (_, revision) in &mut self.marks {
            *revision = newest.min(*revision);
        }
    }

    /// The revision to compact to now, if any.
    pub(crate) fn due(&mut self, now: Duration, state: &State) -> Option<Revision> {
        let mut due = None;
        while let Some(&(time, revision)) = self.marks.front()
            && time.saturating_add(self.limits.keep) <= now
        {
            due = Some(revision);
            self.marks.pop_front();
        }
        let step = self.limits.keep / Self::MARKS;
        if self.marks.back().is_none_or(|(time, _)| *time + step <= now) {
            self.marks.push_back((now, state.revision()));
        }
        if state.history_bytes() > self.limits.bytes_max
            || state.history_commits() > self.limits.transactions_max
        {
            due = due.max(state.middle_of_history());
        }
        // Marks may be of revisions that a full disk has taken back.
        let due = due.map(|revision| revision.min(state.revision()));
        due.filter(|revision| *revision > state.compacted() && state.history_commits() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expect, Txn};

    fn put(state: &mut State, value: usize) {
        let txn = Txn::new().put("key", vec![0; value], Expect::Anything);
        state.apply(&txn).expect("no lease");
    }

    #[test]
    fn history_is_given_up_when_it_is_old_enough() {
        let limits = HistoryLimits { keep: Duration::from_secs(64), ..Default::default() };
        let mut retention = Retention::new(limits);
        let mut state = State::new();
        put(&mut state, 1);
        assert_eq!(retention.due(Duration::from_secs(100), &state), None);
        put(&mut state, 1);
        assert_eq!(retention.due(Duration::from_secs(163), &state), None);
        assert_eq!(retention.due(Duration::from_secs(164), &state), Some(Revision(2)));
    }

    #[test]
    fn half_of_a_history_that_is_too_large_is_given_up() {
        let limits = HistoryLimits { bytes_max: 10_000, ..Default::default() };
        let mut retention = Retention::new(limits);
        let mut state = State::new();
        for _ in 0..12 {
            put(&mut state, 1000);
        }
        let due = retention.due(Duration::ZERO, &state).expect("eleven old versions are too many");
        state.compact(due).expect("it is in the past");
        state.sweep(usize::MAX);
        assert!(state.history_bytes() < 10_000);
    }
}
