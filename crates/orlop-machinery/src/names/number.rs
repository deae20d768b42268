//! Numbers, and texts that are numbers.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go` and
//! `.../pkg/api/validate/content/decimal_int.go`.

use super::{empty_error, inclusive_range_error, min_error, regex_error};

const PORT_MAX: i64 = 65535;
const ID_MAX: i64 = i32::MAX as i64;
const PERCENT_MESSAGE: &str =
    "a valid percent string must be a numeric string followed by an ending '%'";

/// The number of a port, which is not 0.
#[must_use]
pub fn port_number(value: i64) -> Vec<String> {
    in_range(value, 1, PORT_MAX)
}

/// The number of a port, or 0 for any.
#[must_use]
pub fn port_number_or_zero(value: i64) -> Vec<String> {
    in_range(value, 0, PORT_MAX)
}

/// A number of a group of users.
#[must_use]
pub fn group_id(value: i64) -> Vec<String> {
    in_range(value, 0, ID_MAX)
}

/// A number of a user.
#[must_use]
pub fn user_id(value: i64) -> Vec<String> {
    in_range(value, 0, ID_MAX)
}

/// A number from `low` to `high`.
#[must_use]
pub fn in_range(value: i64, low: i64, high: i64) -> Vec<String> {
    if (low..=high).contains(&value) {
        return Vec::new();
    }
    vec![inclusive_range_error(low, high)]
}

/// A number that is not below 0.
#[must_use]
pub fn non_negative(value: i64) -> Vec<String> {
    if value >= 0 { Vec::new() } else { vec![min_error(0)] }
}

/// Digits and `%`.
#[must_use]
pub fn percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    vec![regex_error(PERCENT_MESSAGE, "[0-9]+%", &["1%", "93%"])]
}

/// A whole number as one writes it: no plus sign, no leading zero, no `-0`.
#[must_use]
pub fn decimal_integer(value: &str) -> Vec<String> {
    if value.is_empty() {
        return vec![empty_error()];
    }
    let digits = value.strip_prefix('-').unwrap_or(value);
    let is_fine = value == "0"
        || (digits.starts_with(|c: char| ('1'..='9').contains(&c))
            && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_fine {
        return Vec::new();
    }
    vec!["must be a valid decimal integer in canonical form".to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_between_its_bounds() {
        let check = |rule: fn(i64) -> Vec<String>, low: i64, high: i64, expect: &str| {
            assert!(rule(low).is_empty() && rule(high).is_empty());
            assert_eq!(rule(low - 1), [expect]);
            assert_eq!(rule(high + 1), [expect]);
        };
        check(port_number, 1, 65535, "must be between 1 and 65535, inclusive");
        check(port_number_or_zero, 0, 65535, "must be between 0 and 65535, inclusive");
        check(group_id, 0, 2_147_483_647, "must be between 0 and 2147483647, inclusive");
        check(user_id, 0, 2_147_483_647, "must be between 0 and 2147483647, inclusive");
        check(|value| in_range(value, -3, 4), -3, 4, "must be between -3 and 4, inclusive");
        assert!(non_negative(0).is_empty());
        assert_eq!(non_negative(-1), ["must be greater than or equal to 0"]);
    }

    #[test]
    fn a_percentage_is_digits_and_a_percent_sign() {
        for value in ["0%", "1%", "100%", "007%"] {
            assert!(percent(value).is_empty(), "{value:?}");
        }
        let expect = "a valid percent string must be a numeric string followed by an ending '%' \
                      (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
        for value in ["", "%", "1", "-1%", "1%%", "1.5%", "1 %"] {
            assert_eq!(percent(value), [expect], "{value:?}");
        }
    }

    #[test]
    fn a_decimal_integer_is_written_in_one_way() {
        for value in ["0", "1", "-1", "10", "-999999999999999999999"] {
            assert!(decimal_integer(value).is_empty(), "{value:?}");
        }
        for value in ["-", "-0", "00", "01", "+1", "1.0", "1e3", " 1", "a", "0x1", "1_0"] {
            let expect = "must be a valid decimal integer in canonical form";
            assert_eq!(decimal_integer(value), [expect], "{value:?}");
        }
        assert_eq!(decimal_integer(""), ["must be non-empty"]);
    }
}
