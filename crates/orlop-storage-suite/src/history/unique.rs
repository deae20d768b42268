//! Unique: a watch tells each change once.

use std::collections::BTreeSet;

use super::{Checked, WatchLog, violation};

/// No change of a key is delivered twice.
///
/// # Errors
/// The first change that was.
pub fn unique(watch: &WatchLog) -> Checked {
    let mut seen = BTreeSet::new();
    for event in watch.events() {
        if !seen.insert((event.revision(), event.key())) {
            let (key, revision) = (event.key().escape_ascii(), event.revision());
            return violation(format!("{key} at revision {revision} was delivered twice"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(watch: &WatchLog, expect: &str) {
        assert_eq!(verdict(unique(watch)), expect);
    }

    #[test]
    fn different_keys_and_revisions_are_different() {
        let both = events(&[created("/b", 2), created("/c", 2)]);
        check(&watch(0, &[events(&[created("/a", 1)]), both]), "kept");
    }

    #[test]
    fn a_repeated_event_is_found() {
        let one = events(&[created("/a", 1)]);
        check(&watch(0, &[one.clone(), one]), "/a at revision 1 was delivered twice");
    }
}
