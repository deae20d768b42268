//! PrevKV: an event carries what the key was before.

use super::{Checked, Replay, WatchLog, violation};

/// The previous record of each event is the one that the revision before had.
///
/// # Errors
/// The first event whose previous record is another.
pub fn previous(watch: &WatchLog, replay: &Replay) -> Checked {
    for event in watch.events() {
        let Some(happened) = replay.change(event.revision(), event.key()) else {
            continue;
        };
        if event.previous().is_some() && event.previous() != happened.previous() {
            let (key, revision) = (event.key().escape_ascii(), event.revision());
            let (found, was) = (event.previous(), happened.previous());
            return violation(format!(
                "{key} at revision {revision} was {was:?} before, not {found:?}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(watch: &WatchLog, expect: &str) {
        assert_eq!(verdict(previous(watch, &truth())), expect);
    }

    #[test]
    fn the_record_before_is_fine() {
        let all = [created("/a", 1), updated("/a", 1, 1, 3), deleted("/a", 1, 3, 5)];
        check(&watch(0, &[events(&all)]), "kept");
    }

    #[test]
    fn another_record_is_found() {
        for wrong in [updated("/a", 1, 2, 3), deleted("/a", 1, 1, 5)] {
            let found = previous(&watch(0, &[events(&[wrong])]), &truth());
            assert!(found.is_err());
        }
    }
}
