//! Points in time: seconds since 1970 and billionths, between the years 1 and 9999.
//!
//! Read and printed as Go reads and prints `time.RFC3339Nano`. A point keeps the offset that it was
//! written with, which shows when it is printed and nowhere else.

use std::cmp::Ordering;
use std::fmt;

use orlop_machinery::duration::Duration;

/// A point in time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
    offset_minutes: i16,
}

/// The first second of the year 1.
pub const SECONDS_MIN: i64 = -62_135_596_800;
/// The last second of the year 9999.
pub const SECONDS_MAX: i64 = 253_402_300_799;

const DAY: i64 = 86_400;
const NANOS: i64 = 1_000_000_000;

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// Such as 2026.
    pub year: i64,
    /// From 1.
    pub month: i64,
    /// From 1.
    pub day: i64,
    /// From 0.
    pub day_of_year: i64,
    /// From 0, which is Sunday.
    pub weekday: i64,
    /// From 0.
    pub hour: i64,
    /// From 0.
    pub minute: i64,
    /// From 0.
    pub second: i64,
}

impl Timestamp {
    /// So many seconds and billionths after 1970, if it is between the years 1 and 9999.
    #[must_use]
    pub fn new(seconds: i64, nanos: u32) -> Option<Timestamp> {
        let fits = (SECONDS_MIN..=SECONDS_MAX).contains(&seconds) && i64::from(nanos) < NANOS;
        fits.then_some(Timestamp { seconds, nanos, offset_minutes: 0 })
    }

    /// Reads `2026-04-22T12:00:00.5+02:00`.
    ///
    /// # Errors
    ///
    /// When it is no such text, or not between the years 1 and 9999.
    pub fn parse(text: &str) -> Result<Timestamp, TimestampError> {
        let moment = Reader { rest: text.as_bytes() }.moment(Zone::Required);
        moment.ok_or(TimestampError::Invalid)?.in_range()
    }

    /// The same, also without a zone: what the format `date-time` takes.
    ///
    /// # Errors
    ///
    /// As for [`Timestamp::parse`].
    pub fn parse_date_time(text: &str) -> Result<Timestamp, TimestampError> {
        if text.is_empty() {
            return Ok(Timestamp::default());
        }
        let moment = Reader { rest: text.as_bytes() }.moment(Zone::Optional);
        moment.ok_or(TimestampError::Invalid)?.in_range()
    }

    /// Reads a day, `2026-04-22`: its first second, UTC.
    ///
    /// # Errors
    ///
    /// When it is no day.
    pub fn parse_date(text: &str) -> Result<Timestamp, TimestampError> {
        let mut reader = Reader { rest: text.as_bytes() };
        let days = reader.date().filter(|_| reader.rest.is_empty());
        let seconds = days.ok_or(TimestampError::Invalid)? * DAY;
        Timestamp { seconds, nanos: 0, offset_minutes: 0 }.in_range()
    }

    fn in_range(self) -> Result<Timestamp, TimestampError> {
        Timestamp::new(self.seconds, self.nanos).map(|_| self).ok_or(TimestampError::OutOfRange)
    }

    /// Since 1970.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Billionths on top of the seconds.
    #[must_use]
    pub fn nanos(self) -> u32 {
        self.nanos
    }

    /// Later by a span of time; none when that is after the year 9999 or before the year 1.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Option<Timestamp> {
        self.shift(i128::from(duration.as_nanos()))
    }

    /// Earlier by a span of time.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Option<Timestamp> {
        self.shift(-i128::from(duration.as_nanos()))
    }

    /// The time between two points; none when it is longer than a span can be.
    #[must_use]
    pub fn since(self, other: Timestamp) -> Option<Duration> {
        i64::try_from(self.total_nanos() - other.total_nanos()).ok().map(Duration::from_nanos)
    }

    fn shift(self, nanos: i128) -> Option<Timestamp> {
        let total = self.total_nanos() + nanos;
        let seconds = i64::try_from(total.div_euclid(i128::from(NANOS))).ok()?;
        let nanos = u32::try_from(total.rem_euclid(i128::from(NANOS))).ok()?;
        let moment = Timestamp::new(seconds, nanos)?;
        Some(Timestamp { offset_minutes: self.offset_minutes, ..moment })
    }

    fn total_nanos(self) -> i128 {
        i128::from(self.seconds) * i128::from(NANOS) + i128::from(self.nanos)
    }

    /// Date and time of day where clocks are so many seconds ahead of UTC.
    #[must_use]
    pub fn civil(self, offset_seconds: i64) -> Civil {
        let local = self.seconds + offset_seconds;
        let (days, second_of_day) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        Civil {
            year,
            month,
            day,
            day_of_year: days - days_until(year, 1, 1),
            weekday: (days + 4).rem_euclid(7),
            hour: second_of_day / 3600,
            minute: second_of_day / 60 % 60,
            second: second_of_day % 60,
        }
    }
}

/// Why a text is no timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimestampError {
    /// It is not written as one.
    #[error("not a time as RFC 3339 has it")]
    Invalid,
    /// It is not between the years 1 and 9999.
    #[error("timestamp overflow")]
    OutOfRange,
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Timestamp) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Timestamp) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Timestamp) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = i64::from(self.offset_minutes);
        let at = self.civil(offset * 60);
        write!(f, "{:04}-{:02}-{:02}T", at.year, at.month, at.day)?;
        write!(f, "{:02}:{:02}:{:02}", at.hour, at.minute, at.second)?;
        if self.nanos > 0 {
            let digits = format!("{:09}", self.nanos);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        if offset == 0 {
            return f.write_str("Z");
        }
        let sign = if offset < 0 { '-' } else { '+' };
        write!(f, "{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60)
    }
}

/// Whether a zone must be there.
#[derive(Clone, Copy, PartialEq)]
enum Zone {
    Required,
    Optional,
}

/// Reads from the front of a text.
struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn moment(&mut self, zone: Zone) -> Option<Timestamp> {
        let days = self.date()?;
        self.sign(b'T')?;
        // Go takes an hour of one digit too.
        let hour = self.number(2, 23).or_else(|| self.number(1, 9))?;
        self.sign(b':')?;
        let minute = self.number(2, 59)?;
        self.sign(b':')?;
        let second = self.number(2, 59)?;
        let nanos = self.fraction();
        let is_local = zone == Zone::Optional && self.rest.is_empty();
        let offset = if is_local { 0 } else { self.zone()? };
        if !self.rest.is_empty() {
            return None;
        }
        let seconds = days * DAY + hour * 3600 + minute * 60 + second - offset * 60;
        Some(Timestamp { seconds, nanos, offset_minutes: i16::try_from(offset).ok()? })
    }

    fn date(&mut self) -> Option<i64> {
        let year = self.number(4, 9999)?;
        self.sign(b'-')?;
        let month = self.number(2, 12).filter(|month| *month > 0)?;
        self.sign(b'-')?;
        let day = self.number(2, 31).filter(|day| *day > 0)?;
        let days = days_until(year, month, day);
        // The 30th of February would be a day of March.
        (date_of(days) == (year, month, day)).then_some(days)
    }

    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', digits @ ..] = self.rest else { return 0 };
        let count = digits.iter().take_while(|digit| digit.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        let digit = |at: usize| digits[..count].get(at).map_or(0, |digit| u32::from(digit - b'0'));
        self.rest = &digits[count..];
        (0..9).fold(0, |nanos, at| nanos * 10 + digit(at))
    }

    fn zone(&mut self) -> Option<i64> {
        let sign = match self.take()? {
            b'Z' => return Some(0),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = self.number(2, 24)?;
        self.sign(b':')?;
        Some(sign * (hours * 60 + self.number(2, 60)?))
    }

    fn number(&mut self, digits: usize, max: i64) -> Option<i64> {
        let (front, rest) = self.rest.split_at_checked(digits)?;
        let digit = |number: i64, sign: &u8| {
            sign.is_ascii_digit().then(|| number * 10 + i64::from(sign - b'0'))
        };
        let number = front.iter().try_fold(0, digit).filter(|number| *number <= max)?;
        self.rest = rest;
        Some(number)
    }

    fn sign(&mut self, wanted: u8) -> Option<()> {
        (self.take()? == wanted).then_some(())
    }

    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }
}

/// Days from 1970 to a date. Years are counted from March, so that a leap day ends one.
fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date so many days after 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let read = Timestamp::parse(text);
        assert_eq!(read.map_or_else(|error| error.to_string(), |time| time.to_string()), expect);
    }

    #[test]
    fn text_reads_and_prints_as_in_go() {
        check("2009-02-13T23:31:30Z", "2009-02-13T23:31:30Z");
        check("2009-02-13T23:31:30.5+02:30", "2009-02-13T23:31:30.5+02:30");
        check("2009-02-13T23:31:30.123456789Z", "2009-02-13T23:31:30.123456789Z");
        check("2009-02-13T23:31:30,25-00:30", "2009-02-13T23:31:30.25-00:30");
        check("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z");
        check("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z");
        check("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let invalid = "not a time as RFC 3339 has it";
        for text in [
            "",
            "2009",
            "2009-02-13",
            "2009-02-30T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2009-02-13 23:31:30Z",
            "2009-02-13T23:31:60Z",
            "2009-02-13T24:31:30Z",
            "2009-02-13T23:31:30",
            "2009-02-13T23:31:30.Z",
            "2009-02-13T23:31:30Zz",
            "2009-02-13T23:31:30+0200",
        ] {
            check(text, invalid);
        }
        check("0000-12-31T23:59:59Z", "timestamp overflow");
        check("9999-12-31T23:59:59-01:00", "timestamp overflow");
    }

    #[test]
    fn days_have_their_parts() {
        let time = Timestamp::parse("2009-02-13T23:31:30Z").unwrap();
        assert_eq!(time.seconds(), 1_234_567_890);
        let civil = time.civil(-8 * 3600);
        assert_eq!((civil.year, civil.month, civil.day, civil.hour), (2009, 2, 13, 15));
        assert_eq!((civil.day_of_year, civil.weekday), (43, 5));
    }

    #[test]
    fn arithmetic_stops_at_the_ends() {
        let last = Timestamp::new(SECONDS_MAX, 0).unwrap();
        assert_eq!(last.plus(Duration::from_seconds(1)), None);
        let first = Timestamp::new(SECONDS_MIN, 0).unwrap();
        assert_eq!(first.minus(Duration::from_nanos(1)), None);
        assert_eq!(last.since(first), None);
        let later = first.plus(Duration::from_nanos(-5).max(Duration::from_nanos(5))).unwrap();
        assert_eq!(later.since(first), Some(Duration::from_nanos(5)));
    }
}
