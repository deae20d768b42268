//! Filter: a watch tells only of its own keys.

use super::{Checked, WatchLog, violation};

/// Every event is of a key in the range that was asked for.
///
/// # Errors
/// The first event that is not.
pub fn filter(watch: &WatchLog) -> Checked {
    for event in watch.events() {
        if !watch.range.contains(event.key()) {
            let key = event.key().escape_ascii();
            return violation(format!("{key} is outside the range"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn check(watch: &WatchLog, expect: &str) {
        assert_eq!(verdict(filter(watch)), expect);
    }

    #[test]
    fn keys_of_the_range_are_fine() {
        check(&watch(0, &[events(&[created("/a", 1)])]), "kept");
    }

    #[test]
    fn a_key_outside_the_range_is_found() {
        check(&watch(0, &[events(&[created("outside", 4)])]), "outside is outside the range");
    }
}
