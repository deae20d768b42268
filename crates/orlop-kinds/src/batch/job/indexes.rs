//! Indexes of a job as text: `0,2-4,7`.
//!
//! After `validateIndexesFormat` and `validateFailedIndexesNotOverlapCompleted` in
//! `pkg/apis/batch/validation/validation.go`. Indexes are below the number of completions, which
//! has 32 bits, so sums of them fit.

use orlop_machinery::text::quote;

/// How many indexes there are, all of them below the number of completions. The error is in
/// upstream's words.
pub(super) fn count(text: &str, completions: i64) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let mut last = None;
    let mut total = 0;
    for interval in text.split(',') {
        let (first, end) = parse_interval(interval, completions)?;
        if let Some(previous) = last.filter(|last| *last >= first) {
            return Err(not_increasing(previous, first));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// The first index that is in both lists. Intervals that cannot be read are passed over: they are
/// reported elsewhere.
pub(super) fn first_in_both(a: &str, b: &str, completions: i64) -> Option<i64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let intervals = |text: &'_ str| -> Vec<(i64, i64)> {
        text.split(',').filter_map(|part| parse_interval(part, completions).ok()).collect()
    };
    let (a, b) = (intervals(a), intervals(b));
    let (mut at_a, mut at_b) = (0, 0);
    while let (Some(a), Some(b)) = (a.get(at_a), b.get(at_b)) {
        if a.0 <= b.1 && b.0 <= a.1 {
            return Some(a.0.max(b.0));
        }
        if a.0 <= b.0 {
            at_a += 1;
        } else {
            at_b += 1;
        }
    }
    None
}

/// The first and the last index of `2-4`, or of `2`.
fn parse_interval(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let mut parts = text.split('-');
    let (first, last) = (parts.next().unwrap_or_default(), parts.next());
    if parts.next().is_some() {
        return Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most \
             two parts separated by '-'",
            quote(text)
        ));
    }
    let first = parse_index(first, completions)?;
    let Some(last) = last else { return Ok((first, first)) };
    let last = parse_index(last, completions)?;
    if first >= last {
        return Err(not_increasing(first, last));
    }
    Ok((first, last))
}

fn parse_index(text: &str, completions: i64) -> Result<i64, String> {
    match text.parse::<i64>() {
        Err(_) => Err(format!("cannot convert string to integer for index: {}", quote(text))),
        Ok(index) if index >= completions => Err(format!("too large index: {}", quote(text))),
        Ok(index) => Ok(index),
    }
}

fn not_increasing(previous: i64, current: i64) -> String {
    format!("non-increasing order, previous: {previous}, current: {current}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &str) {
        let seen = count(text, 10).map_or_else(|error| error, |total| total.to_string());
        assert_eq!(seen, expect, "{text:?}");
    }

    #[test]
    fn intervals_are_counted() {
        check("", "0");
        check("3", "1");
        check("0-9", "10");
        check("0,2-4,9", "5");
        check("+1", "1");
    }

    #[test]
    fn what_is_wrong_is_said_in_upstreams_words() {
        check("a", "cannot convert string to integer for index: \"a\"");
        check("1-b", "cannot convert string to integer for index: \"b\"");
        check("-1", "cannot convert string to integer for index: \"\"");
        check("1,", "cannot convert string to integer for index: \"\"");
        check("10", "too large index: \"10\"");
        check("2-10", "too large index: \"10\"");
        check("2,1", "non-increasing order, previous: 2, current: 1");
        check("2-2", "non-increasing order, previous: 2, current: 2");
        check("0-3,3", "non-increasing order, previous: 3, current: 3");
        check(
            "1-2-3",
            "the fragment \"1-2-3\" violates the requirement that an index interval can have at \
             most two parts separated by '-'",
        );
    }

    #[test]
    fn the_first_common_index_is_found() {
        assert_eq!(first_in_both("0-2,5", "3-5", 10), Some(5));
        assert_eq!(first_in_both("0-5", "2-3", 10), Some(2));
        assert_eq!(first_in_both("1,3", "2,4", 10), None);
        assert_eq!(first_in_both("x,3", "y,3", 10), Some(3));
        assert_eq!(first_in_both("", "1", 10), None);
    }

    /// A set of indexes as text, with intervals where they can be.
    fn text_of(set: &[bool]) -> String {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < set.len() {
            let length = set[at..].iter().take_while(|is_in| **is_in).count();
            match length {
                0 => {}
                1 => parts.push(at.to_string()),
                length => parts.push(format!("{at}-{}", at + length - 1)),
            }
            at += length.max(1);
        }
        parts.join(",")
    }

    proptest! {
        #[test]
        fn sets_are_read_as_they_were_written(
            a in proptest::collection::vec(any::<bool>(), 20),
            b in proptest::collection::vec(any::<bool>(), 20),
        ) {
            let size = i64::try_from(a.iter().filter(|is_in| **is_in).count()).ok();
            prop_assert_eq!(count(&text_of(&a), 20).ok(), size);
            let both = a.iter().zip(&b).position(|(a, b)| *a && *b);
            let both = both.and_then(|at| i64::try_from(at).ok());
            prop_assert_eq!(first_in_both(&text_of(&a), &text_of(&b), 20), both);
        }

        #[test]
        fn no_text_makes_it_fail(text in ".*", other in ".*", completions: i32) {
            let _ = count(&text, completions.into());
            let _ = first_in_both(&text, &other, completions.into());
        }
    }
}
