//! Moments: what `metav1.Time` and `metav1.MicroTime` are, without a clock.
//!
//! Behaviour follows `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/{time,micro_time}.go` and
//! Go's `time.Parse`. A [`Time`] is a whole second, a [`MicroTime`] a whole microsecond: what
//! objects keep of them. Offsets are accepted and forgotten; text is always in UTC.
//!
//! Go's zero time, `0001-01-01T00:00:00Z`, stands for none: it is null in JSON.
//!
//! Deliberately not here: time zones by name, and what time it is.

mod calendar;
mod parse;

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use crate::duration::Duration;
use crate::value::Str;

use parse::Moment;
pub use parse::TimeError;

/// A moment to the second.
///
/// ```
/// use orlop_machinery::{duration::Duration, time::Time};
///
/// let time: Time = "2026-04-22T12:00:00.5+02:00".parse().unwrap();
/// assert_eq!(time.to_string(), "2026-04-22T10:00:00Z");
/// assert_eq!((time + Duration::from_seconds(90)).to_string(), "2026-04-22T10:01:30Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Since the start of 1970 in UTC.
    seconds: i64,
}

/// A moment to the microsecond.
///
/// ```
/// use orlop_machinery::time::MicroTime;
///
/// let time: MicroTime = "2026-04-22T12:00:00.250000+02:00".parse().unwrap();
/// assert_eq!(time.to_string(), "2026-04-22T10:00:00.250000Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime {
    /// Since the start of 1970 in UTC.
    micros: i64,
}

/// The first second of the year 1.
const ZERO_SECONDS: i64 = -62_135_596_800;
const MICROS: i64 = 1_000_000;
const NANOS: i64 = 1_000_000_000;

impl Time {
    /// What stands for no time at all.
    pub const ZERO: Time = Time { seconds: ZERO_SECONDS };

    /// So many seconds after the start of 1970.
    #[must_use]
    pub const fn from_unix(seconds: i64) -> Time {
        Time { seconds }
    }

    /// Seconds since the start of 1970.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.seconds
    }

    /// Whether it stands for no time at all.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Time::ZERO
    }
}

impl MicroTime {
    /// What stands for no time at all.
    pub const ZERO: MicroTime = MicroTime { micros: ZERO_SECONDS * MICROS };

    /// So many seconds and billionths after the start of 1970. What is beyond microseconds is
    /// dropped.
    #[must_use]
    pub fn from_unix(seconds: i64, nanos: i32) -> MicroTime {
        let micros = seconds.saturating_mul(MICROS);
        MicroTime { micros: micros.saturating_add(i64::from(nanos).div_euclid(1000)) }
    }

    /// Whole seconds since the start of 1970, and billionths of a second after those.
    #[must_use]
    pub fn unix(self) -> (i64, i32) {
        let nanos = self.micros.rem_euclid(MICROS) * 1000;
        (self.micros.div_euclid(MICROS), i32::try_from(nanos).expect("below one second"))
    }

    /// Whether it stands for no time at all.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == MicroTime::ZERO
    }
}

/// The text that an object keeps of a [`Time`]; none for the zero time. Text that is already right
/// is returned as it is, without an allocation.
///
/// # Errors
///
/// When Go's `time.Parse` refuses it, in its words.
pub fn canonicalize(text: &str) -> Result<Option<Str>, TimeError> {
    if let Some(moment) = parse::read_canonical(text, parse::SECONDS) {
        return Ok((!is_zero(moment)).then(|| Str::new(text)));
    }
    let moment = parse::parse(text, parse::SECONDS)?;
    Ok((!is_zero(moment)).then(|| compact_str::format_compact!("{}", Time::from(moment))))
}

/// The text that an object keeps of a [`MicroTime`]; none for the zero time.
///
/// # Errors
///
/// When Go's `time.Parse` refuses it, in its words.
pub fn canonicalize_micro(text: &str) -> Result<Option<Str>, TimeError> {
    if let Some(moment) = parse::read_canonical(text, parse::MICROSECONDS) {
        return Ok((!is_zero(moment)).then(|| Str::new(text)));
    }
    let moment = parse::parse(text, parse::MICROSECONDS)?;
    Ok((!is_zero(moment)).then(|| compact_str::format_compact!("{}", MicroTime::from(moment))))
}

fn is_zero(moment: Moment) -> bool {
    moment.seconds == ZERO_SECONDS && moment.nanos == 0
}

impl From<Moment> for Time {
    fn from(moment: Moment) -> Time {
        Time { seconds: moment.seconds }
    }
}

impl From<Moment> for MicroTime {
    fn from(moment: Moment) -> MicroTime {
        MicroTime::from_unix(moment.seconds, moment.nanos)
    }
}

impl From<Time> for MicroTime {
    fn from(time: Time) -> MicroTime {
        MicroTime::from_unix(time.seconds, 0)
    }
}

impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Time, TimeError> {
        parse::parse(text, parse::SECONDS).map(Time::from)
    }
}

impl FromStr for MicroTime {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<MicroTime, TimeError> {
        parse::parse(text, parse::MICROSECONDS).map(MicroTime::from)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(self.seconds, out)?;
        out.write_str("Z")
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(self.micros.div_euclid(MICROS), out)?;
        write!(out, ".{:06}Z", self.micros.rem_euclid(MICROS))
    }
}

fn write_seconds(seconds: i64, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (year, month, day) = calendar::date_of(seconds.div_euclid(calendar::DAY_SECONDS));
    let second = seconds.rem_euclid(calendar::DAY_SECONDS);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    if !(0..=9999).contains(&year) {
        let sign = if year < 0 { "-" } else { "" };
        write!(out, "{sign}{:04}-{month:02}-{day:02}T", year.unsigned_abs())?;
        return write!(out, "{hour:02}:{minute:02}:{second:02}");
    }
    // Every object has times, and writing each number on its own takes five times as long.
    let mut text = *b"0000-00-00T00:00:00";
    let pairs = [year / 100, year % 100, month, day, hour, minute, second];
    for (pair, at) in pairs.into_iter().zip([0, 2, 5, 8, 11, 14, 17]) {
        let pair = u8::try_from(pair).expect("below a hundred");
        text[at] += pair / 10;
        text[at + 1] += pair % 10;
    }
    out.write_str(std::str::from_utf8(&text).expect("digits are ASCII"))
}

impl Add<Duration> for Time {
    type Output = Time;

    /// The second in which that time has passed.
    fn add(self, duration: Duration) -> Time {
        let seconds = duration.as_nanos().div_euclid(NANOS);
        Time { seconds: self.seconds.saturating_add(seconds) }
    }
}

impl Sub<Duration> for Time {
    type Output = Time;

    fn sub(self, duration: Duration) -> Time {
        // Turned around after rounding, so that the smallest duration does not overflow.
        let nanos = i128::from(duration.as_nanos());
        let seconds = (-nanos).div_euclid(i128::from(NANOS));
        let seconds = i64::try_from(seconds).expect("fewer than the nanoseconds");
        Time { seconds: self.seconds.saturating_add(seconds) }
    }
}

impl Sub for Time {
    type Output = Duration;

    /// The time between the two; the longest there is when it is longer.
    fn sub(self, earlier: Time) -> Duration {
        let seconds = self.seconds.saturating_sub(earlier.seconds);
        Duration::from_nanos(seconds.saturating_mul(NANOS))
    }
}

impl Add<Duration> for MicroTime {
    type Output = MicroTime;

    /// The microsecond in which that time has passed.
    fn add(self, duration: Duration) -> MicroTime {
        let micros = duration.as_nanos().div_euclid(1000);
        MicroTime { micros: self.micros.saturating_add(micros) }
    }
}

impl Sub for MicroTime {
    type Output = Duration;

    /// The time between the two; the longest there is when it is longer.
    fn sub(self, earlier: MicroTime) -> Duration {
        let micros = self.micros.saturating_sub(earlier.micros);
        Duration::from_nanos(micros.saturating_mul(1000))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &str) {
        let seen = match canonicalize(text) {
            Ok(Some(kept)) => {
                assert_eq!(text.parse::<Time>().unwrap().to_string(), kept);
                kept.to_string()
            }
            Ok(None) => "null".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expect, "{text}");
    }

    fn check_micro(text: &str, expect: &str) {
        let seen = match canonicalize_micro(text) {
            Ok(kept) => kept.map_or("null".to_owned(), |kept| kept.to_string()),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expect, "{text}");
    }

    #[test]
    fn text_becomes_utc_seconds() {
        check("2006-01-02T15:04:05Z", "2006-01-02T15:04:05Z");
        check("2006-01-02T15:04:05.999999999999Z", "2006-01-02T15:04:05Z");
        check("2006-01-02T15:04:05,5Z", "2006-01-02T15:04:05Z");
        check("2006-01-02T15:04:05+07:00", "2006-01-02T08:04:05Z");
        check("2006-01-02T15:04:05.25-07:30", "2006-01-02T22:34:05Z");
        check("2006-01-02T15:04:05+24:60", "2006-01-01T14:04:05Z");
        check("2006-01-02T5:04:05Z", "2006-01-02T05:04:05Z");
        check("2000-02-29T23:59:59Z", "2000-02-29T23:59:59Z");
        check("0000-01-01T00:00:00+00:01", "-0001-12-31T23:59:00Z");
        check("9999-12-31T23:59:59-00:01", "10000-01-01T00:00:59Z");
        check("0001-01-01T00:00:00Z", "null");
        check("0001-01-01T02:00:00+02:00", "null");
        check("0001-01-01T00:00:00.5Z", "0001-01-01T00:00:00Z");
    }

    #[test]
    fn what_is_no_time_says_so_in_gos_words() {
        let as_layout = |value: &str, rest: &str, element: &str| {
            let layout = "2006-01-02T15:04:05Z07:00";
            let expect = format!(
                "parsing time \"{value}\" as \"{layout}\": cannot parse \"{rest}\" as \"{element}\""
            );
            check(value, &expect);
        };
        as_layout("x", "x", "2006");
        as_layout("", "", "2006");
        as_layout("200", "200", "2006");
        as_layout("20x6-01-02T15:04:05Z", "20x6-01-02T15:04:05Z", "2006");
        as_layout("2006", "", "-");
        as_layout("2006/01", "/01", "-");
        as_layout("2006-1-02T15:04:05Z", "1-02T15:04:05Z", "01");
        as_layout("2006-01-2T15:04:05Z", "2T15:04:05Z", "02");
        as_layout("2006-01-02 15:04:05Z", " 15:04:05Z", "T");
        as_layout("2006-01-02Tx", "x", "15");
        as_layout("2006-01-02T15:4:05Z", "4:05Z", "04");
        as_layout("2006-01-02T15:04:5Z", "5Z", "05");
        as_layout("2006-01-02T15:04:05", "", "Z07:00");
        as_layout("2006-01-02T15:04:05.Z", ".Z", "Z07:00");
        as_layout("2006-01-02T15:04:05z", "z", "Z07:00");
        as_layout("2006-01-02T15:04:05+0700", "+0700", "Z07:00");
        as_layout("2006-01-02T15:04:05*07:00", "*07:00", "Z07:00");
        check("2006-13-02T15:04:05Z", "parsing time \"2006-13-02T15:04:05Z\": month out of range");
        check("2006-02-29T15:04:05Z", "parsing time \"2006-02-29T15:04:05Z\": day out of range");
        check("2006-01-00T15:04:05Z", "parsing time \"2006-01-00T15:04:05Z\": day out of range");
        check("2006-01-02T24:04:05Z", "parsing time \"2006-01-02T24:04:05Z\": hour out of range");
        check("2006-01-02T15:60:05Z", "parsing time \"2006-01-02T15:60:05Z\": minute out of range");
        check("2006-01-02T15:04:60Z", "parsing time \"2006-01-02T15:04:60Z\": second out of range");
        check(
            "2006-01-02T15:04:05+25:00",
            "parsing time \"2006-01-02T15:04:05+25:00\": time zone offset hour out of range",
        );
        check(
            "2006-01-02T15:04:05Zx\u{e9}",
            r#"parsing time "2006-01-02T15:04:05Zx\xc3\xa9": extra text: "x\xc3\xa9""#,
        );
    }

    #[test]
    fn micro_times_have_six_digits() {
        let layout = "2006-01-02T15:04:05.000000Z07:00";
        let refuse = |value: &str, rest: &str, element: &str| {
            let expect = format!(
                "parsing time \"{value}\" as \"{layout}\": cannot parse \"{rest}\" as \"{element}\""
            );
            check_micro(value, &expect);
        };
        check_micro("2006-01-02T15:04:05.123456Z", "2006-01-02T15:04:05.123456Z");
        check_micro("2006-01-02T15:04:05,123456+01:00", "2006-01-02T14:04:05.123456Z");
        check_micro("2006-01-02T15:04:05,123456Z", "2006-01-02T15:04:05.123456Z");
        check_micro("0001-01-01T00:00:00.000000Z", "null");
        check_micro("0001-01-01T00:00:00.000001Z", "0001-01-01T00:00:00.000001Z");
        check_micro("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z");
        refuse("2006-01-02T15:04:05Z", "Z", ".000000");
        refuse("2006-01-02T15:04:05.12345Z", ".12345Z", ".000000");
        refuse("2006-01-02T15:04:05.1234567Z", "7Z", "Z07:00");
    }

    #[test]
    fn times_count_seconds() {
        let epoch = Time::from_unix(0);
        assert_eq!(epoch.to_string(), "1970-01-01T00:00:00Z");
        assert_eq!((epoch + "-1ns".parse().unwrap()).unix_seconds(), -1);
        assert_eq!((epoch - Duration::from_nanos(1_500_000_000)).unix_seconds(), -2);
        assert_eq!((Time::from_unix(90) - epoch).to_string(), "1m30s");
        assert_eq!(Time::from_unix(i64::MAX) - epoch, Duration::MAX);
        assert_eq!(MicroTime::from_unix(1, 999).unix(), (1, 0));
        assert_eq!(MicroTime::from_unix(-1, 1000).unix(), (-1, 1000));
        assert_eq!((MicroTime::from(epoch) + Duration::from_nanos(2500)).unix(), (0, 2000));
        // No moment is too far to be printed.
        assert!(Time::from_unix(i64::MIN).to_string().starts_with("-292277022"));
    }

    proptest! {
        #[test]
        fn printed_times_read_as_the_same(seconds in ZERO_SECONDS + 1..253_402_300_800_i64) {
            let time = Time::from_unix(seconds);
            let text = time.to_string();
            prop_assert_eq!(text.parse::<Time>().unwrap(), time);
            prop_assert_eq!(canonicalize(&text).unwrap().unwrap(), text);
        }

        #[test]
        fn later_times_have_later_text(a in 0..9_000_000_000_i64, b in 0..9_000_000_000_i64) {
            let text = |seconds| Time::from_unix(seconds).to_string();
            prop_assert_eq!(text(a).cmp(&text(b)), a.cmp(&b));
        }

        #[test]
        fn no_text_is_a_panic(text in "[0-9Tz:.,+-]{0,30}\\PC{0,3}") {
            let _ = (canonicalize(&text), canonicalize_micro(&text));
        }
    }
}
