//! Changing many entries of a map at once.
//!
//! A [`Map`] is a sorted vector, so changing entries one by one takes time that grows with the
//! product of both sizes. Here it grows with their sum: both sides are sorted, and are walked
//! side by side.

use crate::value::{Map, Str, Value};

/// Up to here entries are changed one by one, in place.
const FEW: usize = 16;

/// Changes entries of a map: `change` gets the key, the value that the map has, and what goes with
/// the key; it returns the new value, or nothing when the key goes away.
///
/// The changes are sorted by key. A key may stand several times: its changes follow each other.
pub(super) fn update<T, E>(
    map: &mut Map,
    changes: Vec<(Str, T)>,
    mut change: impl FnMut(&str, Option<Value>, T) -> Result<Option<Value>, E>,
) -> Result<(), E> {
    debug_assert!(changes.is_sorted_by(|a, b| a.0 <= b.0));
    if changes.len() > FEW {
        return update_all(map, changes, change);
    }
    for (key, with) in changes {
        let old = map.get_mut(&key).map(Value::take);
        let is_there = old.is_some();
        match change(&key, old, with)? {
            Some(new) => {
                map.insert(key, new);
            }
            None if is_there => {
                map.remove(&key);
            }
            None => {}
        }
    }
    Ok(())
}

fn update_all<T, E>(
    map: &mut Map,
    changes: Vec<(Str, T)>,
    mut change: impl FnMut(&str, Option<Value>, T) -> Result<Option<Value>, E>,
) -> Result<(), E> {
    let mut entries = Vec::with_capacity(map.len() + changes.len());
    let mut old = std::mem::take(map).into_iter().peekable();
    for (key, with) in changes {
        while let Some(entry) = old.next_if(|(known, _)| *known < key) {
            entries.push(entry);
        }
        let same = old.next_if(|(known, _)| *known == key);
        let same = same.or_else(|| entries.pop_if(|(known, _)| *known == key));
        if let Some(new) = change(&key, same.map(|(_, value)| value), with)? {
            entries.push((key, new));
        }
    }
    entries.extend(old);
    *map = Map::from_unsorted(entries);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    /// Adds numbers; what becomes 0 goes away.
    fn add(_: &str, old: Option<Value>, new: i64) -> Result<Option<Value>, Infallible> {
        let sum = old.map_or(0, |old| old.int()) + new;
        Ok((sum != 0).then_some(Value::Int(sum)))
    }

    proptest! {
        #[test]
        fn many_changes_at_once_do_what_one_after_the_other_does(
            before in prop::collection::btree_map("[a-f]{1,2}", 1i64..4, 0..30),
            mut changes in prop::collection::vec(("[a-f]{1,2}", -3i64..4), 0..60),
        ) {
            changes.sort();
            let to_map = |(key, value): (&String, &i64)| (Str::new(key), Value::Int(*value));
            let before: Map = before.iter().map(to_map).collect();
            let changes: Vec<_> = changes.iter().map(|(key, by)| (Str::new(key), *by)).collect();
            let mut at_once = before.clone();
            let Ok(()) = update_all(&mut at_once, changes.clone(), add);
            let mut one_by_one = before;
            for change in changes {
                let Ok(()) = update(&mut one_by_one, vec![change], add);
            }
            prop_assert_eq!(at_once, one_by_one);
        }
    }
}
