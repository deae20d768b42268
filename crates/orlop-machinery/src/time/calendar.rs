//! Days of the Gregorian calendar, for every year that fits.

/// Seconds in a day.
pub(super) const DAY_SECONDS: i64 = 86_400;
/// Days in 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;
/// From the first of March of the year 0 to the start of 1970.
const EPOCH_DAYS: i64 = 719_468;

/// How many days a month has. Months count from 1.
pub(super) fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the start of 1970 to a day. Years start in March here, so that the day that not every
/// year has is their last.
pub(super) fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - EPOCH_DAYS
}

/// Year, month and day of a day counted from the start of 1970.
pub(super) fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let (era, day_of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_hundred_years_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1569, 12, 31);
        for days in days_until(1570, 1, 1)..days_until(2370, 1, 1) {
            day += 1;
            if day > days_in(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
            assert_eq!(date_of(days), (year, month, day));
            assert_eq!(days_until(year, month, day), days);
        }
        assert_eq!(days_until(1970, 1, 1), 0);
    }
}
