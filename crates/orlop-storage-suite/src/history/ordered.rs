//! Ordered: a watch never goes back.

use orlop_storage::Revision;

use super::{Checked, WatchLog, violation};

/// Events come in order of revisions, within a delivery and between them.
///
/// # Errors
/// The first event that came after a later one.
pub fn ordered(watch: &WatchLog) -> Checked {
    let mut last = Revision::ZERO;
    for event in watch.events() {
        let revision = event.revision();
        if revision < last {
            return violation(format!("revision {revision} was delivered after {last}"));
        }
        last = revision;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(watch: &WatchLog, expect: &str) {
        assert_eq!(verdict(ordered(watch)), expect);
    }

    #[test]
    fn events_in_order_are_fine() {
        let (one, two) = (created("/a", 1), created("/b", 2));
        check(&watch(0, &[events(&[one]), events(&[two])]), "kept");
    }

    #[test]
    fn an_event_that_comes_too_late_is_found() {
        let (one, two) = (|| created("/a", 1), || created("/b", 2));
        let late = "revision 1 was delivered after 2";
        check(&watch(0, &[events(&[two()]), events(&[one()])]), late);
        check(&watch(0, &[events(&[two(), one()])]), late);
    }
}
