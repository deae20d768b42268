//! Lists, sets and maps that may only be so large.
//!
//! After `validateSlice`, `validateSet` and `validateMap` in
//! `pkg/apis/resource/validation/validation.go`. What is too large is not looked at any further.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;
use orlop_machinery::{Str, Value};

/// What to check of one item.
pub(super) type ItemRule<'a> = &'a mut dyn FnMut(&Node<'_>, &mut Errors);

/// A list of at most `max` items.
pub(super) fn validate_list(
    list: &Node<'_>,
    max: usize,
    validate_item: ItemRule<'_>,
    errors: &mut Errors,
) -> bool {
    if list.len() > max {
        errors.too_many(list, list.len(), max);
        return false;
    }
    for item in list.items() {
        validate_item(&item, errors);
    }
    true
}

/// The same without items that have the same text in `key`; of a list of text, the text itself.
pub(super) fn validate_set(
    list: &Node<'_>,
    max: usize,
    key: &str,
    validate_item: ItemRule<'_>,
    errors: &mut Errors,
) {
    if !validate_list(list, max, validate_item, errors) {
        return;
    }
    let mut known = BTreeSet::new();
    for item in list.items() {
        let text = match item.value() {
            Value::String(text) => text.as_str(),
            fields => fields.at(key).str(),
        };
        if !known.insert(Str::new(text)) {
            errors.duplicate_value(&item, text);
        }
    }
}

/// A map of at most `max` entries. Errors about a key are about the map; what an error about an
/// entry shows of its key has at most `shown` bytes.
pub(super) fn validate_map(
    map: &Node<'_>,
    (max, shown): (usize, usize),
    validate_key: &dyn Fn(&Node<'_>, &mut Errors),
    validate_value: ItemRule<'_>,
    errors: &mut Errors,
) {
    if map.len() > max {
        errors.too_many(map, map.len(), max);
        return;
    }
    for (key, value) in map.map().iter() {
        let text = Value::from(key);
        validate_key(&Node::new(&text, *map.path()), errors);
        let key = shorten(key, shown);
        validate_value(&Node::new(value, map.path().key(&key)), errors);
    }
}

/// Leaves out the middle of a text of more than `max` bytes.
fn shorten(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let kept = max - "...".len();
    let mut start = kept.div_ceil(2);
    let mut end = text.len() - kept / 2;
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    format!("{}...{}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_key_loses_its_middle() {
        assert_eq!(shorten("abc", 16), "abc");
        assert_eq!(shorten("0123456789abcdefg", 16), "0123456...bcdefg");
        assert_eq!(shorten(&"\u{e9}".repeat(9), 16), "\u{e9}\u{e9}\u{e9}...\u{e9}\u{e9}\u{e9}");
    }
}
