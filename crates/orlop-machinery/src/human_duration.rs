//! How long ago something was, as people read it: `5m12s`, `3d4h`, `<invalid>`.
//!
//! The longer the span, the coarser the text. Behaviour follows
//! `staging/src/k8s.io/apimachinery/pkg/util/duration/duration.go`. Spans are whole seconds:
//! nothing that is shown is finer, and upstream drops what is.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// A span with two units where the first alone would be too coarse. What columns show.
///
/// ```
/// use orlop_machinery::human_duration::human_duration;
///
/// assert_eq!(human_duration(312), "5m12s");
/// assert_eq!(human_duration(-5), "<invalid>");
/// ```
#[must_use]
pub fn human_duration(seconds: i64) -> String {
    match seconds {
        // Clocks of two machines may differ by a little.
        ..-1 => "<invalid>".into(),
        -1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two_units(seconds, (MINUTE, 'm'), (1, 's')),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two_units(seconds, (HOUR, 'h'), (MINUTE, 'm')),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two_units(seconds, (DAY, 'd'), (HOUR, 'h')),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two_units(seconds, (YEAR, 'y'), (DAY, 'd')),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// A span in one unit.
///
/// ```
/// assert_eq!(orlop_machinery::human_duration::short_human_duration(312), "5m");
/// ```
#[must_use]
pub fn short_human_duration(seconds: i64) -> String {
    match seconds {
        ..-1 => "<invalid>".into(),
        -1 => "0s".into(),
        0..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h", seconds / HOUR),
        DAY..YEAR => format!("{}d", seconds / DAY),
        YEAR.. => format!("{}y", seconds / YEAR),
    }
}

/// The larger unit, and the smaller one unless there are none of it.
fn two_units(seconds: i64, large: (i64, char), small: (i64, char)) -> String {
    let rest = seconds % large.0 / small.0;
    let count = seconds / large.0;
    if rest == 0 {
        format!("{count}{}", large.1)
    } else {
        format!("{count}{}{rest}{}", large.1, small.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_span_is_shown_coarsely() {
        for (seconds, expect) in [
            (i64::MIN, "<invalid>"),
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (2 * MINUTE, "2m"),
            (2 * MINUTE + 1, "2m1s"),
            (10 * MINUTE - 1, "9m59s"),
            (10 * MINUTE + 1, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + MINUTE, "3h1m"),
            (8 * HOUR - 1, "7h59m"),
            (8 * HOUR + 59 * MINUTE, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY + 23 * HOUR, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR + DAY - 1, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR + 364 * DAY, "8y"),
        ] {
            assert_eq!(human_duration(seconds), expect, "{seconds}");
        }
    }

    #[test]
    fn a_short_form_has_one_unit() {
        for (seconds, expect) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (59, "59s"),
            (MINUTE, "1m"),
            (HOUR - 1, "59m"),
            (DAY - 1, "23h"),
            (YEAR - 1, "364d"),
            (2 * YEAR - 1, "1y"),
        ] {
            assert_eq!(short_human_duration(seconds), expect, "{seconds}");
        }
    }
}
