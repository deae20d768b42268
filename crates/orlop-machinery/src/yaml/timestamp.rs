//! What looks like a moment in YAML 1.1.
//!
//! Nothing is made of it: a value that looks like a moment stays text. But text that looks like one
//! is printed in quotes. The forms are those of `allowedTimestampFormats` in go-yaml's
//! `resolve.go`, read as Go's `time.Parse` reads them.

/// Whether a text is a date, alone or with a time.
pub(super) fn is_timestamp(text: &str) -> bool {
    let mut rest = text.as_bytes();
    let Some(year) = digits(&mut rest, 4, 4).filter(|_| rest.first() == Some(&b'-')) else {
        return false;
    };
    let Some((month, day)) = date(&mut rest) else { return false };
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return false;
    }
    match rest {
        [] => true,
        [b' ', time @ ..] => time_end(time).is_some_and(<[u8]>::is_empty),
        [b'T' | b't', time @ ..] => time_end(time).is_some_and(is_offset),
        _ => false,
    }
}

fn date(rest: &mut &[u8]) -> Option<(u32, u32)> {
    let month = digits(after(rest, b'-')?, 1, 2)?;
    let day = digits(after(rest, b'-')?, 1, 2)?;
    Some((month, day))
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What follows a time of day, if there is one.
fn time_end(mut rest: &[u8]) -> Option<&[u8]> {
    let rest = &mut rest;
    let hour = digits(rest, 1, 2)?;
    let minute = digits(after(rest, b':')?, 1, 2)?;
    let second = digits(after(rest, b':')?, 1, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    if let [b'.' | b',', fraction @ ..] = rest
        && fraction.first().is_some_and(u8::is_ascii_digit)
    {
        let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        *rest = &fraction[count..];
    }
    Some(rest)
}

fn is_offset(text: &[u8]) -> bool {
    match text {
        b"Z" => true,
        [b'+' | b'-', a, b, b':', c, d] => {
            let number = |high: &u8, low: &u8| {
                let is_number = high.is_ascii_digit() && low.is_ascii_digit();
                is_number.then(|| u32::from(high - b'0') * 10 + u32::from(low - b'0'))
            };
            // Go lets these be one too large.
            number(a, b).is_some_and(|hours| hours <= 24)
                && number(c, d).is_some_and(|minutes| minutes <= 60)
        }
        _ => false,
    }
}

/// Takes a number of some digits; as many as there are.
fn digits(rest: &mut &[u8], min: usize, max: usize) -> Option<u32> {
    let count = rest.iter().take(max).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at(count);
    *rest = after;
    let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    (count >= min).then_some(number)
}

fn after<'a, 'b>(rest: &'a mut &'b [u8], byte: u8) -> Option<&'a mut &'b [u8]> {
    *rest = rest.strip_prefix(&[byte])?;
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_told_from_other_text() {
        for text in [
            "2001-01-01",
            "2001-1-2",
            "2000-02-29",
            "2001-12-14T21:59:43Z",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14 21:59:43.10",
            "2001-12-14 1:2:3",
            "2001-12-14T21:59:43,5+24:60",
        ] {
            assert!(is_timestamp(text), "{text}");
        }
        for text in [
            "",
            "2001",
            "2001-",
            "20011-01-01",
            "201-01-01",
            "2001-13-01",
            "2001-02-29",
            "2001-00-01",
            "2001-01-01x",
            "2001-12-14T21:59:43",
            "2001-12-14 21:59:43Z",
            "2001-12-14 21:59",
            "2001-12-14T24:00:00Z",
            "2001-12-14T21:59:43.Z",
            "2001-12-14T21:59:43+2500",
        ] {
            assert!(!is_timestamp(text), "{text}");
        }
    }
}
