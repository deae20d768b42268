//! IsCreate: a change is a creation exactly if the key was not there before.

use orlop_storage::Event;

use super::{Checked, Replay, WatchLog, violation};

/// Each event is told as a creation if and only if it was one.
///
/// # Errors
/// The first event that was told wrongly.
pub fn is_create(watch: &WatchLog, replay: &Replay) -> Checked {
    for event in watch.events() {
        let Some(happened) = replay.change(event.revision(), event.key()) else {
            continue;
        };
        let told = matches!(event, Event::Created { .. });
        let was = happened.record().is_some() && happened.previous().is_none();
        if told != was {
            let (key, revision) = (event.key().escape_ascii(), event.revision());
            let not = if was { "" } else { "not " };
            return violation(format!("{key} was {not}created at revision {revision}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(watch: &WatchLog, expect: &str) {
        assert_eq!(verdict(is_create(watch, &truth())), expect);
    }

    #[test]
    fn creations_told_as_such_are_fine() {
        let all = [created("/a", 1), updated("/a", 1, 1, 3), deleted("/a", 1, 3, 5)];
        check(&watch(0, &[events(&all)]), "kept");
    }

    #[test]
    fn an_update_told_as_a_creation_is_found() {
        let wrong = Event::Created { record: record("/a", 1, 3) };
        check(&watch(0, &[events(&[wrong])]), "/a was not created at revision 3");
    }

    #[test]
    fn a_creation_told_as_an_update_is_found() {
        let wrong = Event::Updated { record: record("/a", 1, 1), previous: record("/a", 0, 0) };
        check(&watch(0, &[events(&[wrong])]), "/a was created at revision 1");
    }
}
