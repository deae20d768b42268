//! Bookmarkable: progress means that everything up to it was delivered.

use std::collections::BTreeSet;

use orlop_storage::{Delivery, Revision};

use super::{Checked, Replay, WatchLog, violation};

/// Before a progress everything up to it has come, and after it nothing does; it goes forward.
///
/// # Errors
/// The first progress that promised too much.
pub fn bookmarkable(watch: &WatchLog, replay: &Replay) -> Checked {
    let mut floor = watch.after;
    let mut promised = Revision::ZERO;
    let mut delivered = BTreeSet::new();
    for delivery in &watch.deliveries {
        match delivery {
            Delivery::Events(events) => {
                for event in events.iter() {
                    let revision = event.revision();
                    if revision <= promised {
                        return violation(format!(
                            "revision {revision} was delivered after progress {promised}"
                        ));
                    }
                    floor = floor.or(Some(Revision(revision.0 - 1)));
                    delivered.insert((revision, event.key()));
                }
            }
            Delivery::Progress(revision) => {
                if *revision < promised {
                    return violation(format!("progress {revision} came after {promised}"));
                }
                promised = *revision;
                let Some(floor) = floor else { continue };
                let mut due = replay.between(&watch.range, floor, promised);
                let missing = due.find(|e| !delivered.contains(&(e.revision(), e.key())));
                if let Some(event) = missing {
                    let (key, at) = (event.key().escape_ascii(), event.revision());
                    return violation(format!("progress {promised} came without {key} at {at}"));
                }
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
        assert_eq!(verdict(bookmarkable(watch, &truth())), expect);
    }

    #[test]
    fn progress_after_everything_is_fine() {
        let both = events(&[created("/b", 2), created("/c", 2)]);
        let update = events(&[updated("/a", 1, 1, 3)]);
        check(&watch(1, &[progress(1), both, update, progress(4), progress(4)]), "kept");
    }

    #[test]
    fn progress_that_overtakes_an_event_is_found() {
        let late = [progress(1), events(&[created("/a", 1)])];
        check(&watch(1, &late), "revision 1 was delivered after progress 1");
        let missing = "progress 3 came without /a at 3";
        check(&watch(2, &[progress(3)]), missing);
        check(&watch(2, &[progress(3), events(&[updated("/a", 1, 1, 3)])]), missing);
    }

    #[test]
    fn progress_that_goes_back_is_found() {
        check(&watch(5, &[progress(7), progress(6)]), "progress 6 came after 7");
    }
}
