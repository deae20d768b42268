//! Formats of texts that are no names, as OpenAPI calls them.
//!
//! After `pkg/validation/strfmt` of kube-openapi.

/// A UUID; its dashes may be missing.
pub(super) fn uuid(text: &str) -> Vec<String> {
    let mut rest = text;
    for (at, digits) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
        match rest.split_at_checked(digits) {
            Some((part, after)) if is_number(part) => rest = after,
            _ => return report(false, "does not match the UUID format"),
        }
    }
    report(rest.is_empty(), "does not match the UUID format")
}

/// Bytes in base64, but not none.
pub(super) fn byte(text: &str) -> Vec<String> {
    let plain = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let is_fine = !text.is_empty() && text.len().is_multiple_of(4) && plain.bytes().all(is_digit);
    report(is_fine, "invalid base64")
}

/// A day.
pub(super) fn date(text: &str) -> Vec<String> {
    report(is_date(text), "invalid date")
}

/// A day and a time on it.
pub(super) fn date_time(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let is_fine = match (parts.next(), parts.next()) {
        (Some(date), Some(time)) => is_date(date) && is_time(time),
        _ => false,
    };
    report(is_fine, "invalid datetime")
}

fn is_date(text: &str) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return false };
    let number = |digits: &[u8]| {
        let digit =
            |sum: u32, byte: &u8| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0'));
        digits.iter().try_fold(0, digit)
    };
    let (Some(year), Some(month), Some(day)) =
        (number(&[y1, y2, y3, y4]), number(&[m1, m2]), number(&[d1, d2]))
    else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(is_leap),
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// A time of day, perhaps with a fraction behind any sign, and where it is.
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let &[h1, h2, b':', m1, m2, b':', s1, s2] = clock.as_bytes() else { return false };
    let is_clock = [h1, h2, m1, m2, s1, s2].iter().all(u8::is_ascii_digit)
        && [h1, h2] <= *b"23"
        && [m1, m2] <= *b"59"
        && [s1, s2] <= *b"59";
    is_clock && (is_zone(rest) || without_fraction(rest).is_some_and(is_zone))
}

/// What follows a sign and at least one digit.
fn without_fraction(text: &str) -> Option<&str> {
    let mut characters = text.chars();
    characters.next().filter(|sign| *sign != '\n')?;
    let digits = characters.as_str();
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < digits.len()).then_some(rest)
}

fn is_zone(text: &str) -> bool {
    match text.as_bytes() {
        b"z" => true,
        &[b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

fn report(is_fine: bool, message: &str) -> Vec<String> {
    if is_fine { Vec::new() } else { vec![message.to_owned()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&str) -> Vec<String>, fine: &[&str], wrong: &[&str]) {
        for text in fine {
            assert_eq!(rule(text), Vec::<String>::new(), "{text}");
        }
        for text in wrong {
            assert_eq!(rule(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn texts_have_formats() {
        check(
            uuid,
            &["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3a456426614174000"],
            &[
                "",
                "123e4567-e89b-12d3-a456-42661417400",
                "123e4567-e89b-12d3-a456-4266141740000",
                "g23e4567-e89b-12d3-a456-426614174000",
                "123e4567--e89b-12d3-a456-42661417400\u{e9}",
            ],
        );
        check(
            byte,
            &["aGVsbG8=", "aGk=", "aA==", "aGVs"],
            &["", "a", "aGVsbG8", "a===", "====", "aG=s"],
        );
        check(
            date,
            &["2021-01-01", "2024-02-29", "0000-01-01"],
            &[
                "",
                "2021-1-1",
                "2021-13-01",
                "2023-02-29",
                "2021-01-32",
                "2021-01-00",
                "2021-01-01 ",
            ],
        );
        check(
            date_time,
            &[
                "2021-01-01T00:00:00Z",
                "2021-01-01t23:59:59.123+01:00",
                "2021-01-01T00:00:00x5z",
                "2021-01-01T00:00:00Zt",
            ],
            &[
                "",
                "2021-01-01",
                "2021-01-01T00:00:00",
                "2021-01-01T24:00:00Z",
                "2021-01-01T00:60:00Z",
                "2021-01-01T00:00:00.Z",
                "2021-01-01 00:00:00Z",
                "2021-01-01T00:00:00+1:00",
            ],
        );
    }
}
