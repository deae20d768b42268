//! The order of the keys of a map in YAML: that in which people count. After go-yaml's `sorter.go`.

use std::cmp::Ordering;

use crate::value::Value;

/// Sorts entries by their keys. The order has circles (`1a`, `2`, `12`), and merging is the way of
/// sorting that minds least.
pub(super) fn sort<'a>(mut entries: Vec<(&'a str, &'a Value)>) -> Vec<(&'a str, &'a Value)> {
    if entries.is_sorted_by(|a, b| compare_keys(a.0, b.0).is_le()) {
        return entries;
    }
    let right = sort(entries.split_off(entries.len() / 2)).into_iter();
    let left = sort(entries).into_iter();
    let mut sorted = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.peekable(), right.peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if compare_keys(a.0, b.0).is_le() { left.next() } else { right.next() };
        sorted.extend(next);
    }
    sorted.extend(left.chain(right));
    sorted
}

/// The order of keys: letters after everything else, numbers by their size.
fn compare_keys(a: &str, b: &str) -> Ordering {
    let mut pairs = a.char_indices().zip(b.chars());
    let Some(((at, a_char), b_char)) = pairs.find(|((_, a), b)| a != b) else {
        return a.len().cmp(&b.len());
    };
    match (a_char.is_alphabetic(), b_char.is_alphabetic()) {
        (true, true) => return a_char.cmp(&b_char),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero counts only after another digit: 1 in front of both makes it count.
    let mut start = 0;
    if a_char == '0' || b_char == '0' {
        let mut digits = a[..at].bytes().rev().take_while(u8::is_ascii_digit);
        start = i64::from(digits.any(|digit| digit != b'0'));
    }
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit);
        digits.fold((start, 0), |(number, count), digit| {
            (number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), count + 1)
        })
    };
    number(&a[at..]).cmp(&number(&b[at..])).then(a_char.cmp(&b_char))
}
