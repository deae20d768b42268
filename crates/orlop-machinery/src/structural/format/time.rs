//! Moments and spans of time.
//!
//! After `date.go`, `time.go` and `duration.go` of `kube-openapi/pkg/validation/strfmt`.

use crate::duration::Duration;

/// Year, month and day, as there were.
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let number = |from: usize, to: usize| {
        let digits = &bytes[from..to];
        let is_number = digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| digits.iter().fold(0, |n, digit| n * 10 + u32::from(digit - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// A date, the letter T, and a time with its zone. What comes after a second T is not looked at.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time.as_bytes())
}

fn is_time(time: &[u8]) -> bool {
    let Some((clock, mut rest)) = time.split_at_checked(8) else { return false };
    let is_pair = |at: usize, max: u8| {
        let (tens, ones) = (clock[at], clock[at + 1]);
        tens.is_ascii_digit() && ones.is_ascii_digit() && (tens - b'0') * 10 + (ones - b'0') <= max
    };
    let is_clock = clock[2] == b':' && clock[5] == b':';
    if !is_clock || !is_pair(0, 23) || !is_pair(3, 59) || !is_pair(6, 59) {
        return false;
    }
    // A fraction is any one character and digits: the dot stands for all in the pattern.
    if is_zone(rest) {
        return true;
    }
    let Some(first) = std::str::from_utf8(rest).ok().and_then(|text| text.chars().next()) else {
        return false;
    };
    rest = &rest[first.len_utf8()..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    first != '\n' && digits > 0 && is_zone(&rest[digits..])
}

fn is_zone(zone: &[u8]) -> bool {
    match zone {
        b"z" => true,
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

/// Units by their names; a unit may also begin with the last one.
const UNITS: [&[&str]; 8] = [
    &["ns", "nano"],
    &["us", "\u{b5}s", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

/// A duration as Go writes it, or numbers with units, of which one is known.
pub(super) fn is_duration(text: &str) -> bool {
    text.parse::<Duration>().is_ok() || has_known_unit(text)
}

fn has_known_unit(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '\u{b5}';
    let mut has_unit = false;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let is_space = |c: char| matches!(c, '\t' | '\n' | '\u{c}' | '\r' | ' ');
        let unit_at = after.trim_start_matches(is_space);
        let unit_end = unit_at.find(|c: char| !is_letter(c)).unwrap_or(unit_at.len());
        let (unit, after) = unit_at.split_at(unit_end);
        rest = after;
        if unit.is_empty() {
            continue;
        }
        // A number that does not fit is an error.
        if number.parse::<i64>().is_err() {
            return false;
        }
        has_unit |= is_unit(&unit.to_lowercase());
    }
    has_unit
}

fn is_unit(unit: &str) -> bool {
    UNITS.iter().any(|names| {
        let long = names.last().is_some_and(|last| unit.starts_with(last));
        long || names.contains(&unit)
    })
}
