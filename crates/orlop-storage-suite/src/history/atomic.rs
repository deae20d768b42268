//! Atomic: a transaction is delivered whole or not at all.

use std::collections::BTreeSet;

use orlop_storage::{Delivery, Event, Revision};

use super::{Checked, Replay, WatchLog, violation};

/// All changes of one revision in the range come in one delivery.
///
/// # Errors
/// The first revision that did not.
pub fn atomic(watch: &WatchLog, replay: &Replay) -> Checked {
    let mut done = BTreeSet::new();
    for delivery in &watch.deliveries {
        let Delivery::Events(events) = delivery else {
            continue;
        };
        let revisions: BTreeSet<Revision> = events.iter().map(Event::revision).collect();
        for revision in revisions {
            if !done.insert(revision) {
                return violation(format!("revision {revision} was split between deliveries"));
            }
            let before = Revision(revision.0.saturating_sub(1));
            let whole = replay.between(&watch.range, before, revision).count();
            let found = events.iter().filter(|event| event.revision() == revision).count();
            if found < whole {
                return violation(format!(
                    "{found} of {whole} changes of revision {revision} came"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(watch: &WatchLog, expect: &str) {
        assert_eq!(verdict(atomic(watch, &truth())), expect);
    }

    #[test]
    fn a_whole_transaction_is_fine() {
        let both = events(&[created("/a", 1), created("/b", 2), created("/c", 2)]);
        check(&watch(0, &[both]), "kept");
    }

    #[test]
    fn a_split_transaction_is_found() {
        let split = [events(&[created("/b", 2)]), events(&[created("/c", 2)])];
        check(&watch(0, &split), "1 of 2 changes of revision 2 came");
        let repeated = events(&[created("/b", 2), created("/c", 2)]);
        let split = [repeated, events(&[created("/c", 2)])];
        check(&watch(0, &split), "revision 2 was split between deliveries");
    }

    #[test]
    fn half_a_transaction_at_the_end_is_found() {
        let half = [events(&[created("/a", 1), created("/c", 2)])];
        check(&watch(0, &half), "1 of 2 changes of revision 2 came");
    }
}
