//! Reliable: between the first and the last event of a watch, nothing is missing and nothing is
//! made up.

use std::collections::{BTreeMap, BTreeSet};

use orlop_storage::{Event, Revision};

use super::{Checked, Replay, WatchLog, violation};

/// What was delivered is exactly what happened in between.
///
/// # Errors
/// The first change that is missing, or that is not what happened.
pub fn reliable(watch: &WatchLog, replay: &Replay) -> Checked {
    let revisions: BTreeSet<Revision> = watch.events().map(Event::revision).collect();
    let (Some(first), Some(last)) = (revisions.first(), revisions.last()) else {
        return Ok(());
    };
    let delivered: BTreeMap<_, _> = watch.events().map(|e| ((e.revision(), e.key()), e)).collect();
    for event in watch.events() {
        let (key, revision) = (event.key().escape_ascii(), event.revision());
        let happened = replay.change(revision, event.key()).and_then(Event::record);
        if replay.change(revision, event.key()).is_none() || happened != event.record() {
            return violation(format!("{key} at revision {revision} is not what happened"));
        }
    }
    for event in replay.between(&watch.range, Revision(first.0 - 1), *last) {
        let (key, revision) = (event.key(), event.revision());
        if !delivered.contains_key(&(revision, key)) {
            return violation(format!("{} at revision {revision} is missing", key.escape_ascii()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(watch: &WatchLog, expect: &str) {
        assert_eq!(verdict(reliable(watch, &truth())), expect);
    }

    #[test]
    fn everything_in_between_is_fine() {
        let both = events(&[created("/b", 2), created("/c", 2)]);
        check(&watch(0, &[both, events(&[updated("/a", 1, 1, 3)])]), "kept");
    }

    #[test]
    fn a_gap_is_found() {
        let gap = [events(&[created("/a", 1)]), events(&[updated("/a", 1, 1, 3)])];
        check(&watch(0, &gap), "/b at revision 2 is missing");
    }

    #[test]
    fn an_invented_event_is_found() {
        check(&watch(0, &[events(&[created("/z", 1)])]), "/z at revision 1 is not what happened");
        let wrong_value = events(&[updated("/a", 3, 3, 3)]);
        check(&watch(0, &[wrong_value]), "/a at revision 3 is not what happened");
    }
}
