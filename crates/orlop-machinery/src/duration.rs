//! Spans of time as Go has them: `1h0m0s`, `1.5s`, `100ms`.
//!
//! Behaviour follows `ParseDuration` and `Duration.String` of Go's package `time`: a whole number
//! of billionths of a second, of 64 bits with a sign.

use std::fmt;
use std::str::FromStr;

use crate::text::quote_bytes;
use crate::value::Str;

/// A span of time, up to 292 years in either direction.
///
/// ```
/// use orlop_machinery::duration::Duration;
///
/// let duration: Duration = "1.5h".parse().unwrap();
/// assert_eq!(duration.to_string(), "1h30m0s");
/// assert_eq!(duration.as_nanos(), 5_400_000_000_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    nanos: i64,
}

/// Why a text is no duration. In Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It is not a list of numbers with units, or too long a time.
    #[error("time: invalid duration {}", quote_bytes(text))]
    Invalid {
        /// The whole text.
        text: String,
    },
    /// A number has no unit.
    #[error("time: missing unit in duration {}", quote_bytes(text))]
    MissingUnit {
        /// The whole text.
        text: String,
    },
    /// There is no such unit.
    #[error("time: unknown unit {} in duration {}", quote_bytes(unit), quote_bytes(text))]
    UnknownUnit {
        /// What stands in place of a unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

const SECOND: u64 = 1_000_000_000;

/// The most billionths that a duration can have, without their sign.
const LIMIT: u64 = 1 << 63;

impl Duration {
    /// The longest there is.
    pub const MAX: Duration = Duration { nanos: i64::MAX };

    /// So many billionths of a second.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Duration {
        Duration { nanos }
    }

    /// So many seconds; the longest there is when that is less.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Duration {
        Duration { nanos: seconds.saturating_mul(SECOND as i64) }
    }

    /// Billionths of a second.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.nanos
    }

    /// Seconds, nearly.
    #[must_use]
    pub fn as_seconds_f64(self) -> f64 {
        let second = 1_000_000_000;
        #[allow(clippy::cast_precision_loss, reason = "as Go does: both parts on their own")]
        let (seconds, nanos) = ((self.nanos / second) as f64, (self.nanos % second) as f64);
        seconds + nanos / 1e9
    }
}

/// The text that an object keeps of a duration.
///
/// # Errors
///
/// When Go's `time.ParseDuration` refuses it, in its words.
pub fn canonicalize(text: &str) -> Result<Str, DurationError> {
    let duration: Duration = text.parse()?;
    Ok(compact_str::format_compact!("{duration}"))
}

impl FromStr for Duration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Duration, DurationError> {
        let invalid = || DurationError::Invalid { text: text.to_owned() };
        let is_negative = text.starts_with('-');
        let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
        if rest == "0" {
            return Ok(Duration::default());
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut nanos = 0_u64;
        while !rest.is_empty() {
            let (part, after) = read_part(rest).map_err(|fault| match fault {
                Fault::Invalid => invalid(),
                Fault::MissingUnit => DurationError::MissingUnit { text: text.to_owned() },
                Fault::UnknownUnit(unit) => {
                    DurationError::UnknownUnit { unit: unit.to_owned(), text: text.to_owned() }
                }
            })?;
            // Go wraps around here too, when both are at the limit.
            nanos = nanos.wrapping_add(part);
            if nanos > LIMIT {
                return Err(invalid());
            }
            rest = after;
        }
        if is_negative {
            return Ok(Duration { nanos: 0_i64.wrapping_sub_unsigned(nanos) });
        }
        i64::try_from(nanos).map(Duration::from_nanos).map_err(|_| invalid())
    }
}

/// What is wrong with a part.
enum Fault<'a> {
    Invalid,
    MissingUnit,
    UnknownUnit(&'a str),
}

/// Reads one number with its unit; its billionths of a second, and what follows.
fn read_part(text: &str) -> Result<(u64, &str), Fault<'_>> {
    let (digits, rest) = split_digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    let whole = digits.bytes().try_fold(0_u64, |whole, digit| {
        let whole = whole.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        (whole <= LIMIT).then_some(whole)
    });
    let Some(whole) = whole.filter(|_| !digits.is_empty() || !fraction.is_empty()) else {
        return Err(Fault::Invalid);
    };
    let is_number = |byte: u8| byte == b'.' || byte.is_ascii_digit();
    let end = rest.bytes().position(is_number).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    if name.is_empty() {
        return Err(Fault::MissingUnit);
    }
    let unit = unit_nanos(name).ok_or(Fault::UnknownUnit(name))?;
    if whole > LIMIT / unit {
        return Err(Fault::Invalid);
    }
    let nanos = whole * unit + fraction_nanos(fraction, unit);
    if nanos > LIMIT { Err(Fault::Invalid) } else { Ok((nanos, rest)) }
}

/// The digits at the start, and the rest.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn unit_nanos(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        // Also with the micro sign and with the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        _ => return None,
    })
}

/// The billionths of a second in a fraction of a unit, cut off. Computed with floats in Go's order,
/// so that the last digit is Go's too.
fn fraction_nanos(fraction: &str, unit: u64) -> u64 {
    let mut number = 0_u64;
    let mut scale = 1.0;
    for digit in fraction.bytes() {
        // What does not fit makes no difference any more.
        let Some(next) = number.checked_mul(10) else { break };
        let next = next + u64::from(digit - b'0');
        if number > (LIMIT - 1) / 10 || next > LIMIT {
            break;
        }
        number = next;
        scale *= 10.0;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as Go cuts it off")]
    #[allow(clippy::cast_precision_loss, reason = "as Go computes it")]
    let nanos = (number as f64 * (unit as f64 / scale)) as u64;
    nanos
}

impl fmt::Display for Duration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos < 0 {
            out.write_str("-")?;
        }
        let nanos = self.nanos.unsigned_abs();
        match nanos {
            0 => return out.write_str("0s"),
            1..1_000 => return write!(out, "{nanos}ns"),
            1_000..1_000_000 => {
                write_fraction(nanos, 3, out)?;
                return out.write_str("\u{b5}s");
            }
            1_000_000..SECOND => {
                write_fraction(nanos, 6, out)?;
                return out.write_str("ms");
            }
            _ => {}
        }
        let minutes = nanos / SECOND / 60;
        if minutes >= 60 {
            write!(out, "{}h", minutes / 60)?;
        }
        if minutes > 0 {
            write!(out, "{}m", minutes % 60)?;
        }
        write_fraction(nanos % (60 * SECOND), 9, out)?;
        out.write_str("s")
    }
}

/// Writes a number with so many digits after the point, without zeros at the end.
fn write_fraction(number: u64, places: u32, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let unit = 10_u64.pow(places);
    write!(out, "{}", number / unit)?;
    let (mut fraction, mut width) = (number % unit, places as usize);
    if fraction == 0 {
        return Ok(());
    }
    while fraction % 10 == 0 {
        fraction /= 10;
        width -= 1;
    }
    write!(out, ".{fraction:0width$}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &str) {
        let seen = canonicalize(text).map_or_else(|error| error.to_string(), |text| text.into());
        assert_eq!(seen, expect, "{text}");
    }

    #[test]
    fn text_becomes_gos_text() {
        check("0", "0s");
        check("-0", "0s");
        check("5s", "5s");
        check("1h", "1h0m0s");
        check("60s", "1m0s");
        check("+1.5s", "1.5s");
        check("-1.5h", "-1h30m0s");
        check("100ms", "100ms");
        check("1.1ms", "1.1ms");
        check("10us", "10\u{b5}s");
        check("10.5\u{3bc}s", "10.5\u{b5}s");
        check("1ns", "1ns");
        check("2h45m.5s", "2h45m0.5s");
        check("1m1.020s", "1m1.02s");
        check("0.3333333333333333333h", "20m0s");
        check("0.100000000000000000000h", "6m0s");
        check("0.9223372036854775808h", "55m20.413933267s");
        check("9223372036854775807ns", "2562047h47m16.854775807s");
        check("-9223372036854775808ns", "-2562047h47m16.854775808s");
    }

    #[test]
    fn what_is_no_duration_says_so_in_gos_words() {
        check("", "time: invalid duration \"\"");
        check("-", "time: invalid duration \"-\"");
        check("s", "time: invalid duration \"s\"");
        check(".", "time: invalid duration \".\"");
        check("-.s", "time: invalid duration \"-.s\"");
        check("3", "time: missing unit in duration \"3\"");
        check("3.5.5s", "time: missing unit in duration \"3.5.5s\"");
        check("1d", "time: unknown unit \"d\" in duration \"1d\"");
        check("1 s", "time: unknown unit \" s\" in duration \"1 s\"");
        check("1\u{e9}\"", r#"time: unknown unit "\xc3\xa9\"" in duration "1\xc3\xa9\"""#);
        check("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\"");
        check("-9223372036854775809ns", "time: invalid duration \"-9223372036854775809ns\"");
        check("3000000h", "time: invalid duration \"3000000h\"");
    }

    proptest! {
        #[test]
        fn printed_durations_read_as_the_same(nanos in any::<i64>(), shift in 0..64_u32) {
            let duration = Duration::from_nanos(nanos >> shift);
            prop_assert_eq!(duration.to_string().parse::<Duration>().unwrap(), duration);
        }

        #[test]
        fn no_text_is_a_panic(text in "[-+]?([0-9]{0,25}[.]?[0-9]{0,25}(ns|us|ms|s|m|h|x)?){0,3}") {
            let _ = canonicalize(&text);
        }
    }
}
