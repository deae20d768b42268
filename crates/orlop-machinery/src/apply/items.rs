//! The items of a list by what identifies them.
//!
//! Only for lists that passed the check against their schema: items that nothing identifies are
//! left out, and the check makes sure that there are none.

use super::field_path::PathElement;
use super::typing::{Shape, item_element};
use crate::value::Value;

/// Items with the same element, in the order of their list.
pub(super) enum Same<'a> {
    One(&'a Value),
    Several(Vec<&'a Value>),
}

/// Every item with its element, in the order of the list.
pub(super) fn listed_items<'a>(
    items: &'a [Value],
    shape: &Shape<'_>,
) -> Vec<(PathElement, &'a Value)> {
    let mut pairs = Vec::with_capacity(items.len());
    for item in items {
        if let Ok(element) = item_element(shape, item) {
            pairs.push((element, item));
        }
    }
    pairs
}

/// Every element once, in the order of elements, with the items that have it.
pub(super) fn sorted_items<'a>(
    items: &'a [Value],
    shape: &Shape<'_>,
) -> impl Iterator<Item = (PathElement, Same<'a>)> {
    let mut pairs = listed_items(items, shape);
    // Stable, so that the first of several comes first.
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    let mut pairs = pairs.into_iter().peekable();
    std::iter::from_fn(move || {
        let (element, first) = pairs.next()?;
        let mut same = Same::One(first);
        while let Some((_, item)) = pairs.next_if(|(next, _)| *next == element) {
            same = match same {
                Same::One(first) => Same::Several(vec![first, item]),
                Same::Several(mut items) => {
                    items.push(item);
                    Same::Several(items)
                }
            };
        }
        Some((element, same))
    })
}
