//! Times as headers of HTTP write them: `Mon, 15 Nov 2027 20:25:52 GMT`.

use std::time::Duration;

use http::HeaderValue;

const DAY: u64 = 24 * 60 * 60;
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A time since the Unix epoch as a header.
pub(super) fn header_value(since_epoch: Duration) -> HeaderValue {
    HeaderValue::try_from(text(since_epoch.as_secs())).expect("a date has no strange characters")
}

fn text(seconds: u64) -> String {
    let (days, of_day) = (seconds / DAY, seconds % DAY);
    let weekday = WEEKDAYS[usize::try_from(days % 7).unwrap_or_default()];
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Year, month and day of a number of days since the epoch, in the Gregorian calendar.
fn date(days: u64) -> (u64, &'static str, u64) {
    // The year begins in March here, so that the day that comes and goes is the last one.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = era * 400 + year_of_era + u64::from(month < 2);
    (year, MONTHS[usize::try_from(month).unwrap_or_default()], day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: u64, expect: &str) {
        assert_eq!(text(seconds), expect);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        check(0, "Thu, 01 Jan 1970 00:00:00 GMT");
        check(784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT");
        check(951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT");
        check(1_804_278_352, "Fri, 05 Mar 2027 20:25:52 GMT");
        check(4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT");
        check(4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT");
    }
}
