//! Time zones: an offset such as `-02:30`, or a name of the IANA database such as `US/Central`.
//!
//! The database is inside the program, so that nothing depends on the machine. After `timeZone` in
//! `common/types/timestamp.go` of cel-go.

use std::sync::LazyLock;

use jiff::tz::TimeZoneDatabase;

use crate::error::EvalError;
use crate::timestamp::Timestamp;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// How many seconds clocks in a zone are ahead of UTC at some time.
pub(super) fn offset_seconds(time: Timestamp, zone: &str) -> Result<i64, EvalError> {
    match zone.split_once(':') {
        Some((hours, minutes)) => fixed_offset(hours, minutes),
        None => named_offset(time, zone),
    }
}

fn fixed_offset(hours: &str, minutes: &str) -> Result<i64, EvalError> {
    let (hour, minute) = (number(hours)?, number(minutes)?);
    let total = if hours.starts_with('-') {
        hour.saturating_mul(60).saturating_sub(minute)
    } else {
        hour.saturating_mul(60).saturating_add(minute)
    };
    // As far as clocks can be apart; whatever is more is no offset.
    Ok(total.clamp(-DAYS_MINUTES, DAYS_MINUTES) * 60)
}

/// A hundred days.
const DAYS_MINUTES: i64 = 100 * 24 * 60;

fn number(text: &str) -> Result<i64, EvalError> {
    text.parse()
        .map_err(|_| EvalError::new(format!("strconv.Atoi: parsing {text:?}: invalid syntax")))
}

fn named_offset(time: Timestamp, zone: &str) -> Result<i64, EvalError> {
    if matches!(zone, "" | "UTC") {
        return Ok(0);
    }
    let unknown = || EvalError::new(format!("unknown time zone {zone}"));
    let zone = ZONES.get(zone).map_err(|_| unknown())?;
    let instant = jiff::Timestamp::from_second(time.seconds()).map_err(|_| unknown())?;
    Ok(i64::from(zone.to_offset(instant).seconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(zone: &str, expect: &str) {
        let time = Timestamp::parse("2009-02-13T23:31:30Z").unwrap();
        let offset = offset_seconds(time, zone);
        let text = offset.map_or_else(|error| error.to_string(), |offset| offset.to_string());
        assert_eq!(text, expect);
    }

    #[test]
    fn zones_have_offsets() {
        check("", "0");
        check("UTC", "0");
        check("02:00", "7200");
        check("+05:45", "20700");
        check("-02:30", "-9000");
        check("US/Central", "-21600");
        check("Australia/Sydney", "39600");
        check("Europe/Nowhere", "unknown time zone Europe/Nowhere");
        check("x:00", "strconv.Atoi: parsing \"x\": invalid syntax");
        check("99999999999999:00", "8640000");
    }
}
