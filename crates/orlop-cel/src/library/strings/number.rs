//! Numbers as `string.format` writes them: with the signs of the locale `en_US`.
//!
//! After what Go's `golang.org/x/text/message` makes of the verbs `%f` and `%e`, with its bounds:
//! what asks for too many digits is no verb, and the numbers of digits and of places are kept in
//! one and two bytes.

/// A larger number, without its last digit, makes a clause no verb.
const LARGE: usize = 1_000_000;
const NO_VERB: &str = "%!(NOVERB)";
/// No double has more digits behind the point.
const FRACTION_MAX: usize = 1074;
/// Places of 16 bits.
const WIDTH_LIMIT: usize = 1 << 16;
/// Digits of 8 bits.
const PRECISION_LIMIT: usize = 1 << 8;

/// As `%f`: `1,234.500000`.
pub(super) fn fixed(number: f64, precision: usize) -> String {
    if precision / 10 > LARGE {
        return NO_VERB.to_owned();
    }
    if let Some(text) = unusual(number) {
        return text.to_owned();
    }
    let text = format!("{number:.*}", precision.min(FRACTION_MAX));
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    // Beyond what is kept of their number, zeros at the end are not written.
    let kept = precision % PRECISION_LIMIT;
    let mut fraction = fraction.to_owned();
    if precision >= PRECISION_LIMIT {
        fraction.truncate(fraction.trim_end_matches('0').len());
        fraction.extend(std::iter::repeat_n('0', kept.saturating_sub(fraction.len())));
    }
    let whole = grouped(if number == 0.0 { "0" } else { whole });
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// As `%e`: `1.500000` times a power of ten. Upstream takes the precision for a number of places.
pub(super) fn scientific(number: f64, width: usize) -> String {
    if width / 10 > LARGE {
        return NO_VERB.to_owned();
    }
    let text = match unusual(number) {
        Some(text) => text.to_owned(),
        None => {
            let number = if number == 0.0 { 0.0 } else { number };
            let text = format!("{number:.6e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{digits}\u{d7}10{}", raised(exponent))
        }
    };
    let width = width % WIDTH_LIMIT;
    let missing = width.saturating_sub(text.chars().count());
    " ".repeat(missing) + &text
}

/// A double inside a list or map.
pub(super) fn part(number: f64) -> String {
    if number.is_nan() {
        "\"NaN\"".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "\"+Inf\"" } else { "\"-Inf\"" }.to_owned()
    } else {
        format!("{number:.6}")
    }
}

/// A span of time: its seconds, with as many digits as it needs.
pub(super) fn seconds(nanos: i64) -> String {
    const NANOS: u64 = 1_000_000_000;
    let sign = if nanos < 0 { "-" } else { "" };
    let (whole, rest) = (nanos.unsigned_abs() / NANOS, nanos.unsigned_abs() % NANOS);
    // As upstream: by way of a floating-point number.
    #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
    let number = whole as f64 + rest as f64 / NANOS as f64;
    format!("{sign}{number}s")
}

fn unusual(number: f64) -> Option<&'static str> {
    match number {
        f64::INFINITY => Some("\u{221e}"),
        f64::NEG_INFINITY => Some("-\u{221e}"),
        number if number.is_nan() => Some("NaN"),
        _ => None,
    }
}

/// With a comma between each three digits.
fn grouped(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut out = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// An exponent of at least two digits, above the line.
fn raised(exponent: &str) -> String {
    const DIGITS: [char; 10] = [
        '\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}',
        '\u{2078}', '\u{2079}',
    ];
    let (sign, digits) = exponent.strip_prefix('-').map_or(("", exponent), |it| ("\u{207b}", it));
    let digits = format!("{digits:0>2}");
    let raise = |c: char| c.to_digit(10).and_then(|at| DIGITS.get(at as usize)).copied();
    sign.chars().chain(digits.chars().filter_map(raise)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_with_the_signs_of_the_locale() {
        let check = |number: f64, precision: usize, expect: &str| {
            assert_eq!(fixed(number, precision), expect, "{number} {precision}");
        };
        check(1_234_567.5, 6, "1,234,567.500000");
        check(-1234.56, 1, "-1,234.6");
        check(-123.0, 6, "-123.000000");
        check(0.5, 0, "0");
        check(1.5, 0, "2");
        check(2.5, 0, "2");
        check(2.675, 2, "2.67");
        check(-0.0, 6, "0.000000");
        check(-0.4, 0, "-0");
        check(-1e-10, 6, "-0.000000");
        check(0.1, 30, "0.100000000000000005551115123126");
        check(0.1, 300, "0.1000000000000000055511151231257827021181583404541015625");
        check(1.5, 256, "1.5");
        check(1.0, 299, &format!("1.{}", "0".repeat(43)));
        check(1.5, 1_000_000, &format!("1.5{}", "0".repeat(63)));
        check(1.5, 10_000_009, &format!("1.5{}", "0".repeat(136)));
        check(1.5, 100_000_000, "%!(NOVERB)");
        check(f64::INFINITY, 6, "\u{221e}");
        check(f64::NEG_INFINITY, 6, "-\u{221e}");
        check(f64::NAN, 6, "NaN");
    }

    #[test]
    fn powers_of_ten_stand_above_the_line() {
        let check = |number: f64, width: usize, expect: &str| {
            assert_eq!(scientific(number, width), expect, "{number} {width}");
        };
        check(1_052.032_911_275, 6, "1.052033\u{d7}10\u{2070}\u{b3}");
        check(-1.5e-10, 6, "-1.500000\u{d7}10\u{207b}\u{b9}\u{2070}");
        check(1e100, 6, "1.000000\u{d7}10\u{b9}\u{2070}\u{2070}");
        check(-0.0, 0, "0.000000\u{d7}10\u{2070}\u{2070}");
        check(1.5, 15, "  1.500000\u{d7}10\u{2070}\u{2070}");
        check(f64::NEG_INFINITY, 6, "    -\u{221e}");
        check(1.5, 65_536, "1.500000\u{d7}10\u{2070}\u{2070}");
        assert_eq!(scientific(1.5, 10_000_000).chars().count(), 38_528);
        check(1.5, 100_000_000, "%!(NOVERB)");
    }

    #[test]
    fn spans_of_time_are_seconds() {
        let check = |nanos: i64, expect: &str| assert_eq!(seconds(nanos), expect);
        check(5_401_500_000_000, "5401.5s");
        check(0, "0s");
        check(-1, "-0.000000001s");
        check(i64::MAX, "9223372036.854776s");
    }
}
