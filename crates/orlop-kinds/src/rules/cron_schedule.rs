//! When a CronJob runs: `*/5 8-18 * * mon-fri`, `@daily`, `@every 1h30m`.
//!
//! The syntax and the errors are those of `ParseStandard` in `github.com/robfig/cron/v3`, as
//! `pkg/util/parsers` calls it: five fields (minute, hour, day of month, month, day of week), or a
//! word with `@`, and before them `TZ=` or `CRON_TZ=` with a time zone. When the next run is does
//! not stand here; [`CronSchedule`] has all that is needed to find it.

use orlop_machinery::Str;
use orlop_machinery::duration::Duration;
use orlop_machinery::text::quote;

use super::time_zone;

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CronSchedule {
    /// At moments of a calendar.
    Calendar {
        /// The time zone that the schedule itself names.
        time_zone: Option<Str>,
        /// Of an hour.
        minute: CronField,
        /// Of a day.
        hour: CronField,
        /// Of a month.
        day_of_month: CronField,
        /// Of a year.
        month: CronField,
        /// Of a week; Sunday is 0.
        day_of_week: CronField,
    },
    /// Again and again, after so many seconds.
    Every {
        /// At least 1.
        seconds: i64,
    },
}

/// The values of one field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CronField {
    /// The bit `1 << value` for each value.
    pub values: u64,
    /// It was `*` or `?`: says nothing, rather than all values. A day has to match both its fields
    /// if one of them says nothing, and one of them otherwise.
    pub is_any: bool,
}

/// What a field may hold.
struct Bounds {
    min: u64,
    max: u64,
    /// Names for values, the first of them for `min`.
    names: &'static [&'static str],
}

const MINUTES: Bounds = Bounds { min: 0, max: 59, names: &[] };
const HOURS: Bounds = Bounds { min: 0, max: 23, names: &[] };
const DAYS_OF_MONTH: Bounds = Bounds { min: 1, max: 31, names: &[] };
const MONTHS: Bounds = Bounds {
    min: 1,
    max: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
const DAYS_OF_WEEK: Bounds =
    Bounds { min: 0, max: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

/// Words, and the five fields that they stand for.
const DESCRIPTORS: [(&str, [&str; 5]); 7] = [
    ("@yearly", ["0", "0", "1", "1", "*"]),
    ("@annually", ["0", "0", "1", "1", "*"]),
    ("@monthly", ["0", "0", "1", "*", "*"]),
    ("@weekly", ["0", "0", "*", "*", "0"]),
    ("@daily", ["0", "0", "*", "*", "*"]),
    ("@midnight", ["0", "0", "*", "*", "*"]),
    ("@hourly", ["0", "*", "*", "*", "*"]),
];

const EVERY: &str = "@every ";
const NANOS: i64 = 1_000_000_000;

impl CronSchedule {
    /// Reads a schedule.
    ///
    /// # Errors
    ///
    /// In upstream's words, when it is none.
    pub fn parse(text: &str) -> Result<CronSchedule, String> {
        if text.is_empty() {
            return Err("empty spec string".to_owned());
        }
        let (time_zone, rest) = split_time_zone(text)?;
        if !rest.starts_with('@') {
            let fields: Vec<&str> = rest.split_whitespace().collect();
            return match <[&str; 5]>::try_from(fields) {
                Ok(fields) => CronSchedule::from_fields(time_zone, fields),
                Err(fields) => {
                    let (count, fields) = (fields.len(), fields.join(" "));
                    Err(format!("expected exactly 5 fields, found {count}: [{fields}]"))
                }
            };
        }
        if let Some((_, fields)) = DESCRIPTORS.iter().find(|(word, _)| *word == rest) {
            return CronSchedule::from_fields(time_zone, *fields);
        }
        let Some(duration) = rest.strip_prefix(EVERY) else {
            return Err(format!("unrecognized descriptor: {rest}"));
        };
        match duration.parse::<Duration>() {
            Ok(duration) => {
                Ok(CronSchedule::Every { seconds: (duration.as_nanos() / NANOS).max(1) })
            }
            Err(error) => Err(format!("failed to parse duration {rest}: {error}")),
        }
    }

    fn from_fields(time_zone: Option<Str>, fields: [&str; 5]) -> Result<CronSchedule, String> {
        let [minute, hour, day_of_month, month, day_of_week] = fields;
        Ok(CronSchedule::Calendar {
            time_zone,
            minute: parse_field(minute, &MINUTES)?,
            hour: parse_field(hour, &HOURS)?,
            day_of_month: parse_field(day_of_month, &DAYS_OF_MONTH)?,
            month: parse_field(month, &MONTHS)?,
            day_of_week: parse_field(day_of_week, &DAYS_OF_WEEK)?,
        })
    }
}

fn split_time_zone(text: &str) -> Result<(Option<Str>, &str), String> {
    let prefixes = ["TZ=", "CRON_TZ="];
    let Some(rest) = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)) else {
        return Ok((None, text));
    };
    // Where the zone does not end, upstream's parser breaks off in the middle.
    let Some((zone, rest)) = rest.split_once(' ') else {
        let error = "invalid schedule format: runtime error: slice bounds out of range [:-1]";
        return Err(error.to_owned());
    };
    match time_zone::load(zone) {
        Ok(()) => Ok((Some(Str::new(zone)), rest.trim())),
        Err(error) => Err(format!("provided bad location {zone}: {error}")),
    }
}

/// A list of ranges. A list without ranges has no values, and nobody minds.
fn parse_field(text: &str, bounds: &Bounds) -> Result<CronField, String> {
    let mut field = CronField::default();
    for range in text.split(',').filter(|range| !range.is_empty()) {
        let range = parse_range(range, bounds)?;
        field.values |= range.values;
        field.is_any |= range.is_any;
    }
    Ok(field)
}

/// `*`, `2`, `2-4`, and each of them with `/3`: every third of them.
fn parse_range(text: &str, bounds: &Bounds) -> Result<CronField, String> {
    let mut parts = text.split('/');
    let range = parts.next().unwrap_or_default();
    let (step, has_more) = (parts.next(), parts.next().is_some());
    let mut limits = range.split('-');
    let (first, last) = (limits.next().unwrap_or_default(), limits.next());
    let mut is_any = matches!(first, "*" | "?");
    let (start, mut end) = if is_any {
        (bounds.min, bounds.max)
    } else {
        let start = parse_value(first, bounds)?;
        if limits.next().is_some() {
            return Err(format!("too many hyphens: {text}"));
        }
        (start, last.map_or(Ok(start), |last| parse_value(last, bounds))?)
    };
    if has_more {
        return Err(format!("too many slashes: {text}"));
    }
    let step = match step {
        None => 1,
        Some(step) => {
            // A single value with a step goes on to the end.
            if last.is_none() {
                end = bounds.max;
            }
            parse_number(step)?
        }
    };
    is_any &= step <= 1;
    let Bounds { min, max, .. } = bounds;
    if start < *min {
        return Err(format!("beginning of range ({start}) below minimum ({min}): {text}"));
    }
    if end > *max {
        return Err(format!("end of range ({end}) above maximum ({max}): {text}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    let values = (start..=end).filter(|value| (value - start).is_multiple_of(step));
    Ok(CronField { values: values.fold(0, |bits, value| bits | 1 << value), is_any })
}

/// A number, or the name of one.
fn parse_value(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let named = bounds.names.iter().position(|name| name.eq_ignore_ascii_case(text));
    match named.and_then(|at| u64::try_from(at).ok()) {
        Some(at) => Ok(bounds.min + at),
        None => parse_number(text),
    }
}

fn parse_number(text: &str) -> Result<u64, String> {
    let number = text.parse::<i64>().map_err(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let reason = if is_number { "value out of range" } else { "invalid syntax" };
        format!("failed to parse int from {text}: strconv.Atoi: parsing {}: {reason}", quote(text))
    })?;
    u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check_error(text: &str, expect: &str) {
        assert_eq!(CronSchedule::parse(text), Err(expect.to_owned()), "{text:?}");
    }

    /// The values of the five fields.
    fn check(text: &str, expect: [&[u32]; 5]) {
        let schedule = CronSchedule::parse(text);
        let Ok(CronSchedule::Calendar { minute, hour, day_of_month, month, day_of_week, .. }) =
            schedule
        else {
            panic!("{text:?}: {schedule:?}")
        };
        let fields = [minute, hour, day_of_month, month, day_of_week];
        for (field, expect) in fields.iter().zip(expect) {
            let values: Vec<u32> = (0..64).filter(|at| field.values & 1 << at != 0).collect();
            assert_eq!(values, expect, "{text:?}");
        }
    }

    const ANY_MONTH: &[u32] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    const ANY_DAY: &[u32] = &[0, 1, 2, 3, 4, 5, 6];

    #[test]
    fn fields_are_lists_of_ranges_with_steps() {
        check("0 12 1 * *", [&[0], &[12], &[1], ANY_MONTH, ANY_DAY]);
        check("*/20 20/2 1-3 2,4 ?", [&[0, 20, 40], &[20, 22], &[1, 2, 3], &[2, 4], ANY_DAY]);
        check("5-15/5 0 31 jan,DEC mon-Wed", [&[5, 10, 15], &[0], &[31], &[1, 12], &[1, 2, 3]]);
        check("0,0, 1 1 1 ,", [&[0], &[1], &[1], &[1], &[]]);
        check("\t0  0\n1 1 +1 ", [&[0], &[0], &[1], &[1], &[1]]);
        let minutes: Vec<u32> = (0..60).collect();
        check("*-nonsense 0 1 1 1", [&minutes, &[0], &[1], &[1], &[1]]);
    }

    #[test]
    fn words_stand_for_fields() {
        check("@yearly", [&[0], &[0], &[1], &[1], ANY_DAY]);
        let days: Vec<u32> = (1..32).collect();
        check("@weekly", [&[0], &[0], &days, ANY_MONTH, &[0]]);
        let daily = CronSchedule::parse("0 0 * * *");
        assert_eq!(CronSchedule::parse("@daily"), daily);
        assert_eq!(CronSchedule::parse("@midnight"), daily);
    }

    #[test]
    fn a_field_without_a_choice_says_so() {
        let day_of_week = |text| match parse_field(text, &DAYS_OF_WEEK) {
            Ok(field) => field.is_any,
            Err(error) => panic!("{error}"),
        };
        assert!(day_of_week("*"));
        assert!(day_of_week("?"));
        assert!(day_of_week("*/1"));
        assert!(day_of_week("1,*"));
        assert!(!day_of_week("*/2"));
        assert!(!day_of_week("0-6"));
    }

    #[test]
    fn spans_are_whole_seconds() {
        let check = |text: &str, seconds| {
            assert_eq!(CronSchedule::parse(text), Ok(CronSchedule::Every { seconds }), "{text}");
        };
        check("@every 1h30m", 5400);
        check("@every 1.7s", 1);
        check("@every 5ms", 1);
        check("@every -5m", 1);
    }

    #[test]
    fn a_schedule_may_name_its_time_zone() {
        let zone = |text| match CronSchedule::parse(text) {
            Ok(CronSchedule::Calendar { time_zone, .. }) => time_zone,
            other => panic!("{other:?}"),
        };
        assert_eq!(zone("0 0 * * *"), None);
        assert_eq!(zone("TZ=Europe/Berlin 0 0 * * *").as_deref(), Some("Europe/Berlin"));
        assert_eq!(zone("CRON_TZ=UTC   @daily").as_deref(), Some("UTC"));
        assert_eq!(zone("TZ= 0 0 * * *").as_deref(), Some(""));
        check_error(
            "TZ=Mars/Phobos 0 0 * * *",
            "provided bad location Mars/Phobos: unknown time zone Mars/Phobos",
        );
        check_error(
            "TZ=0",
            "invalid schedule format: runtime error: slice bounds out of range [:-1]",
        );
    }

    #[test]
    fn what_is_wrong_is_said_in_upstreams_words() {
        check_error("", "empty spec string");
        check_error(" ", "expected exactly 5 fields, found 0: []");
        check_error("0 0 * *", "expected exactly 5 fields, found 4: [0 0 * *]");
        check_error("0 0 0 * * *", "expected exactly 5 fields, found 6: [0 0 0 * * *]");
        check_error("60 * * * *", "end of range (60) above maximum (59): 60");
        check_error("* * 0 * *", "beginning of range (0) below minimum (1): 0");
        check_error("* * * * 7", "end of range (7) above maximum (6): 7");
        check_error("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3");
        check_error("60/5 * * * *", "beginning of range (60) beyond end of range (59): 60/5");
        check_error("1-2-3 * * * *", "too many hyphens: 1-2-3");
        check_error("1-a-3 * * * *", "too many hyphens: 1-a-3");
        check_error("1/2/3 * * * *", "too many slashes: 1/2/3");
        check_error("*/0 * * * *", "step of range should be a positive number: */0");
        check_error("*/-5 * * * *", "negative number (-5) not allowed: -5");
        check_error(
            "a * * * *",
            "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax",
        );
        check_error(
            "-1 * * * *",
            "failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax",
        );
        check_error(
            "99999999999999999999 * * * *",
            "failed to parse int from 99999999999999999999: strconv.Atoi: parsing \
             \"99999999999999999999\": value out of range",
        );
        check_error("@never", "unrecognized descriptor: @never");
        check_error("@daily ", "unrecognized descriptor: @daily ");
        check_error(
            "@every day",
            "failed to parse duration @every day: time: invalid duration \"day\"",
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(text in ".*") {
            let _ = CronSchedule::parse(&text);
        }

        #[test]
        fn values_stay_in_their_bounds(text in "[0-9*,/-]{1,12}") {
            if let Ok(field) = parse_field(&text, &DAYS_OF_MONTH) {
                prop_assert_eq!(field.values & !0xffff_fffe, 0);
            }
        }
    }
}
