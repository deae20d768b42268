//! Resumable: a watch after a revision begins with the first change after it.

use orlop_storage::Event;

use super::{Checked, Replay, WatchLog, violation};

/// Nothing up to the start comes, and nothing right after the start is missing.
///
/// # Errors
/// What came too early or is missing at the beginning.
pub fn resumable(watch: &WatchLog, replay: &Replay) -> Checked {
    let Some(after) = watch.after else {
        return Ok(());
    };
    let Some(first) = watch.events().map(Event::revision).min() else {
        return Ok(());
    };
    if first <= after {
        return violation(format!("revision {first} was delivered, not after {after}"));
    }
    if let Some(event) = replay.between(&watch.range, after, first).next()
        && event.revision() < first
    {
        let (key, revision) = (event.key().escape_ascii(), event.revision());
        return violation(format!("{key} at revision {revision} is missing at the beginning"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(watch: &WatchLog, expect: &str) {
        assert_eq!(verdict(resumable(watch, &truth())), expect);
    }

    #[test]
    fn the_first_change_after_the_start_is_fine() {
        check(&watch(2, &[events(&[updated("/a", 1, 1, 3)])]), "kept");
        check(&watch(3, &[events(&[deleted("/a", 1, 3, 5)])]), "kept");
    }

    #[test]
    fn a_missing_beginning_is_found() {
        let late = watch(2, &[events(&[deleted("/a", 1, 3, 5)])]);
        check(&late, "/a at revision 3 is missing at the beginning");
    }

    #[test]
    fn an_event_from_before_the_start_is_found() {
        let old = watch(3, &[events(&[updated("/a", 1, 1, 3)])]);
        check(&old, "revision 3 was delivered, not after 3");
    }
}
