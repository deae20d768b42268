//! Reading RFC 3339 as Go's `time.Parse` does: what it accepts, and its errors.
//!
//! A layout is walked element by element, as Go walks its example `2006-01-02T15:04:05Z07:00`.
//! Text that is already in canonical form takes a shorter way.

use std::fmt;

use super::calendar::{DAY_SECONDS, days_in, days_until};
use crate::text::quote_bytes;

/// A moment to the billionth of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) seconds: i64,
    pub(super) nanos: i32,
}

/// Why a text is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// An element of the layout is not there.
    #[error(
        "parsing time {} as \"{layout}\": cannot parse {} as \"{element}\"",
        quote_bytes(text),
        quote_bytes(rest)
    )]
    Element {
        /// The whole text.
        text: String,
        /// The layout that it should have, as Go writes layouts.
        layout: &'static str,
        /// What stands where the element should be.
        rest: String,
        /// The element, as in the layout.
        element: &'static str,
    },
    /// A number is too large, or a month has fewer days.
    #[error("parsing time {}: {what} out of range", quote_bytes(text))]
    Range {
        /// The whole text.
        text: String,
        /// Which number.
        what: &'static str,
    },
    /// There is more after the time.
    #[error("parsing time {}: extra text: {}", quote_bytes(text), quote_bytes(rest))]
    Extra {
        /// The whole text.
        text: String,
        /// What is too much.
        rest: String,
    },
}

/// How a time is written.
pub(super) struct Layout {
    text: &'static str,
    elements: &'static [(&'static str, Element)],
    /// The length of canonical text.
    length: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Element {
    Sign(u8),
    Year,
    Month,
    Day,
    Hour,
    Minute,
    /// With any fraction, which Go accepts after it.
    SecondAndFraction,
    Second,
    SixDigits,
    Zone,
}

/// `metav1.Time`
pub(super) const SECONDS: &Layout = &Layout {
    text: "2006-01-02T15:04:05Z07:00",
    elements: &[
        ("2006", Element::Year),
        ("-", Element::Sign(b'-')),
        ("01", Element::Month),
        ("-", Element::Sign(b'-')),
        ("02", Element::Day),
        ("T", Element::Sign(b'T')),
        ("15", Element::Hour),
        (":", Element::Sign(b':')),
        ("04", Element::Minute),
        (":", Element::Sign(b':')),
        ("05", Element::SecondAndFraction),
        ("Z07:00", Element::Zone),
    ],
    length: 20,
};

/// `metav1.MicroTime`
pub(super) const MICROSECONDS: &Layout = &Layout {
    text: "2006-01-02T15:04:05.000000Z07:00",
    elements: &[
        ("2006", Element::Year),
        ("-", Element::Sign(b'-')),
        ("01", Element::Month),
        ("-", Element::Sign(b'-')),
        ("02", Element::Day),
        ("T", Element::Sign(b'T')),
        ("15", Element::Hour),
        (":", Element::Sign(b':')),
        ("04", Element::Minute),
        (":", Element::Sign(b':')),
        ("05", Element::Second),
        (".000000", Element::SixDigits),
        ("Z07:00", Element::Zone),
    ],
    length: 27,
};

/// The moment, if the text is exactly as it would be printed.
pub(super) fn read_canonical(text: &str, layout: &Layout) -> Option<Moment> {
    let bytes = text.as_bytes();
    if bytes.len() != layout.length || bytes.last() != Some(&b'Z') {
        return None;
    }
    let signs = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if signs.iter().any(|&(at, sign)| bytes[at] != sign) {
        return None;
    }
    let nanos = match bytes.get(19) {
        Some(b'.') => number(&bytes[20..26])? * 1000,
        _ => 0,
    };
    let fields = Fields {
        year: number(&bytes[0..4])?,
        month: number(&bytes[5..7]).filter(|month| (1..=12).contains(month))?,
        day: number(&bytes[8..10])?,
        hour: number(&bytes[11..13]).filter(|hour| *hour < 24)?,
        minute: number(&bytes[14..16]).filter(|minute| *minute < 60)?,
        second: number(&bytes[17..19]).filter(|second| *second < 60)?,
        nanos,
        offset: 0,
    };
    fields.moment()
}

/// Reads a time.
pub(super) fn parse(text: &str, layout: &Layout) -> Result<Moment, TimeError> {
    if let Some(moment) = read_canonical(text, layout) {
        return Ok(moment);
    }
    let mut fields = Fields::default();
    let mut rest = text;
    for &(name, element) in layout.elements {
        rest = fields.read(element, rest).map_err(|fault| match fault {
            Fault::Missing(rest) => TimeError::Element {
                text: text.to_owned(),
                layout: layout.text,
                rest: rest.to_owned(),
                element: name,
            },
            Fault::Range(what) => TimeError::Range { text: text.to_owned(), what },
        })?;
    }
    if !rest.is_empty() {
        return Err(TimeError::Extra { text: text.to_owned(), rest: rest.to_owned() });
    }
    fields.moment().ok_or_else(|| TimeError::Range { text: text.to_owned(), what: "day" })
}

/// What was read so far.
#[derive(Default)]
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
    /// Seconds east of UTC.
    offset: i64,
}

/// Why an element cannot be read.
enum Fault<'a> {
    /// This stands in its place.
    Missing(&'a str),
    Range(&'static str),
}

impl Fields {
    /// Reads one element; what follows it.
    fn read<'a>(&mut self, element: Element, text: &'a str) -> Result<&'a str, Fault<'a>> {
        let missing = || Fault::Missing(text);
        if let Element::Zone = element {
            return self.read_zone(text);
        }
        let end = match element {
            Element::Year => 4,
            Element::Hour if !text.as_bytes().get(1).is_some_and(u8::is_ascii_digit) => 1,
            Element::SixDigits => 7,
            Element::Sign(_) => 1,
            _ => 2,
        };
        let bytes = text.as_bytes().get(..end).ok_or_else(missing)?;
        match element {
            Element::Sign(sign) if bytes == [sign] => {}
            Element::Sign(_) => return Err(missing()),
            Element::SixDigits => self.nanos = six_digits(bytes).ok_or_else(missing)?? * 1000,
            element => {
                let number = number(bytes).ok_or_else(missing)?;
                self.set(element, number)?;
            }
        }
        let rest = &text[end..];
        Ok(match element {
            Element::SecondAndFraction => self.read_fraction(rest),
            _ => rest,
        })
    }

    fn set<'a>(&mut self, element: Element, number: i64) -> Result<(), Fault<'a>> {
        let (field, range, what) = match element {
            Element::Year => (&mut self.year, 0..10_000, "year"),
            Element::Month => (&mut self.month, 1..13, "month"),
            // How many days there are is known when all was read.
            Element::Day => (&mut self.day, 0..100, "day"),
            Element::Hour => (&mut self.hour, 0..24, "hour"),
            Element::Minute => (&mut self.minute, 0..60, "minute"),
            _ => (&mut self.second, 0..60, "second"),
        };
        *field = number;
        if range.contains(&number) { Ok(()) } else { Err(Fault::Range(what)) }
    }

    /// Takes a fraction of a second, if there is one. Digits after the ninth do not count.
    fn read_fraction<'a>(&mut self, text: &'a str) -> &'a str {
        let Some(digits) = text.strip_prefix(['.', ',']) else { return text };
        let end = digits.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
        if end == 0 {
            return text;
        }
        let counted = digits.bytes().take(end.min(9)).chain(std::iter::repeat(b'0')).take(9);
        self.nanos = counted.fold(0, |nanos, digit| nanos * 10 + i64::from(digit - b'0'));
        &digits[end..]
    }

    /// `Z` or an offset such as `-07:00`.
    fn read_zone<'a>(&mut self, text: &'a str) -> Result<&'a str, Fault<'a>> {
        if let Some(rest) = text.strip_prefix('Z') {
            return Ok(rest);
        }
        let missing = || Fault::Missing(text);
        let bytes = text.as_bytes().get(..6).ok_or_else(missing)?;
        if bytes[3] != b':' {
            return Err(missing());
        }
        let hours = number(&bytes[1..3]);
        let minutes = hours.and_then(|_| number(&bytes[4..6]));
        // As Go: too large comes before the wrong sign, and 24 hours and 60 minutes may be.
        if hours.is_some_and(|hours| hours > 24) && minutes.is_none_or(|minutes| minutes <= 60) {
            return Err(Fault::Range("time zone offset hour"));
        }
        if minutes.is_some_and(|minutes| minutes > 60) {
            return Err(Fault::Range("time zone offset minute"));
        }
        let offset = hours.zip(minutes).map(|(hours, minutes)| (hours * 60 + minutes) * 60);
        self.offset = match (bytes[0], offset) {
            (b'+', Some(offset)) => offset,
            (b'-', Some(offset)) => -offset,
            _ => return Err(missing()),
        };
        Ok(&text[6..])
    }

    /// None if there is no such day.
    fn moment(&self) -> Option<Moment> {
        if !(1..=days_in(self.year, self.month)).contains(&self.day) {
            return None;
        }
        let days = days_until(self.year, self.month, self.day);
        let second = (self.hour * 60 + self.minute) * 60 + self.second;
        let seconds = days * DAY_SECONDS + second - self.offset;
        Some(Moment { seconds, nanos: i32::try_from(self.nanos).ok()? })
    }
}

/// Digits and nothing else.
fn number(bytes: &[u8]) -> Option<i64> {
    let mut number = 0;
    for byte in bytes {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(byte - b'0');
    }
    Some(number)
}

/// Microseconds: a point or comma and six digits, or as Go a sign and five.
fn six_digits<'a>(bytes: &[u8]) -> Option<Result<i64, Fault<'a>>> {
    let (separator, digits) = bytes.split_first()?;
    if !matches!(separator, b'.' | b',') {
        return None;
    }
    match digits.split_first()? {
        (b'+', digits) => number(digits).map(Ok),
        (b'-', digits) => number(digits).map(|micros| match micros {
            0 => Ok(0),
            _ => Err(Fault::Range("fractional second")),
        }),
        _ => number(digits).map(Ok),
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text)
    }
}
