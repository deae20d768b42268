//! A field that holds a whole number or text, mostly a port by number or name, or a count that may
//! be a percentage.
//!
//! Behaviour follows `staging/src/k8s.io/apimachinery/pkg/util/intstr/intstr.go`. In an object it
//! is a plain [`Value`]; this is how to read one. Percentages of more than 53 bits are computed
//! exactly here, with floats upstream.

use std::fmt;
use std::num::IntErrorKind;

use crate::text::quote;
use crate::value::Value;

/// A number or a text of an object.
///
/// ```
/// use orlop_machinery::{Value, int_or_string::IntOrString};
///
/// let value = Value::from("25%");
/// let surge = IntOrString::of(&value);
/// assert_eq!(surge.scaled_value(10, true), Ok(3));
/// assert_eq!(surge.scaled_value(10, false), Ok(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOrString<'a> {
    /// It is not set.
    None,
    /// A number.
    Int(i64),
    /// A text.
    String(&'a str),
}

/// What is counted: as it is, or in hundredths of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOrPercent {
    /// That many.
    Int(i64),
    /// That many of a hundred.
    Percent(i64),
}

/// Why there is no number in it. In upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntOrStringError {
    /// It is not set.
    #[error("nil value for IntOrString")]
    Missing,
    /// The text does not end with a percent sign.
    #[error("invalid value for IntOrString: invalid type: string is not a percentage")]
    NoPercentage,
    /// There is no number before the percent sign.
    #[error(
        "invalid value for IntOrString: invalid value {}: strconv.Atoi: parsing {}: {reason}",
        quote(text),
        quote(number)
    )]
    NoNumber {
        /// The whole text.
        text: String,
        /// What should be a number.
        number: String,
        /// What Go says about it.
        reason: &'static str,
    },
}

impl<'a> IntOrString<'a> {
    /// Reads a field.
    #[must_use]
    pub fn of(value: &'a Value) -> IntOrString<'a> {
        match value {
            Value::Int(number) => IntOrString::Int(*number),
            Value::String(text) => IntOrString::String(text),
            _ => IntOrString::None,
        }
    }

    /// Reads what a command line or a URL has: a number of 32 bits if it is one, else text.
    #[must_use]
    pub fn parse(text: &'a str) -> IntOrString<'a> {
        let number = text.parse::<i32>();
        number.map_or(IntOrString::String(text), |number| IntOrString::Int(number.into()))
    }

    /// The number, also when it stands in text; 0 if there is none.
    #[must_use]
    pub fn int_value(self) -> i64 {
        match self {
            IntOrString::None => 0,
            IntOrString::Int(number) => number,
            IntOrString::String(text) => text.parse().unwrap_or_default(),
        }
    }

    /// The number, and whether it is a percentage: text has to be one.
    ///
    /// # Errors
    ///
    /// When it is not set, or text that is no percentage.
    pub fn int_value_or_percent(self) -> Result<IntOrPercent, IntOrStringError> {
        let text = match self {
            IntOrString::None => return Err(IntOrStringError::Missing),
            IntOrString::Int(number) => return Ok(IntOrPercent::Int(number)),
            IntOrString::String(text) => text,
        };
        let number = text.strip_suffix('%').ok_or(IntOrStringError::NoPercentage)?;
        let percent = number.parse().map_err(|error: std::num::ParseIntError| {
            let reason = match error.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            IntOrStringError::NoNumber { text: text.to_owned(), number: number.to_owned(), reason }
        })?;
        Ok(IntOrPercent::Percent(percent))
    }

    /// The number, or the percentage of a total, rounded up or down.
    ///
    /// # Errors
    ///
    /// When it is not set, or text that is no percentage.
    pub fn scaled_value(self, total: i64, round_up: bool) -> Result<i64, IntOrStringError> {
        let percent = match self.int_value_or_percent()? {
            IntOrPercent::Int(number) => return Ok(number),
            IntOrPercent::Percent(percent) => percent,
        };
        let hundredths = i128::from(percent) * i128::from(total);
        let whole = hundredths.div_euclid(100);
        let whole = if round_up && hundredths.rem_euclid(100) != 0 { whole + 1 } else { whole };
        let bound = if whole < 0 { i64::MIN } else { i64::MAX };
        Ok(i64::try_from(whole).unwrap_or(bound))
    }
}

impl fmt::Display for IntOrString<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrString::None => out.write_str("<nil>"),
            IntOrString::Int(number) => write!(out, "{number}"),
            IntOrString::String(text) => out.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(value: impl Into<Value>, total: i64, round_up: bool, expect: &str) {
        let value = value.into();
        let seen = match IntOrString::of(&value).scaled_value(total, round_up) {
            Ok(number) => number.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expect, "{value:?} of {total}");
    }

    #[test]
    fn percentages_are_scaled_and_numbers_are_not() {
        check(7, 100, true, "7");
        check("90%", 100, true, "90");
        check("90%", 95, true, "86");
        check("90%", 95, false, "85");
        check("-50%", 5, true, "-2");
        check("-50%", 5, false, "-3");
        check("+5%", 100, false, "5");
        check("100%", i64::MAX, true, "9223372036854775807");
        check("1000%", i64::MIN, true, "-9223372036854775808");
    }

    #[test]
    fn what_is_no_number_says_so_in_upstreams_words() {
        let invalid = "invalid value for IntOrString: ";
        check(Value::Null, 1, true, "nil value for IntOrString");
        check("5", 1, true, &format!("{invalid}invalid type: string is not a percentage"));
        check("", 1, true, &format!("{invalid}invalid type: string is not a percentage"));
        check(
            "%",
            1,
            true,
            &format!("{invalid}invalid value \"%\": strconv.Atoi: parsing \"\": invalid syntax"),
        );
        check(
            "a%%",
            1,
            true,
            &format!(
                "{invalid}invalid value \"a%%\": strconv.Atoi: parsing \"a%\": invalid syntax"
            ),
        );
        check(
            "99999999999999999999%",
            1,
            true,
            &format!(
                "{invalid}invalid value \"99999999999999999999%\": \
                 strconv.Atoi: parsing \"99999999999999999999\": value out of range"
            ),
        );
    }

    #[test]
    fn text_with_a_number_is_one_when_asked() {
        assert_eq!(IntOrString::String("80").int_value(), 80);
        assert_eq!(IntOrString::String("http").int_value(), 0);
        assert_eq!(IntOrString::parse("80"), IntOrString::Int(80));
        assert_eq!(IntOrString::parse("4294967296"), IntOrString::String("4294967296"));
        assert_eq!(IntOrString::of(&Value::Null).to_string(), "<nil>");
        assert_eq!(IntOrString::of(&Value::from("a")).to_string(), "a");
    }

    proptest! {
        #[test]
        fn percentages_are_those_of_floats(percent in -1000..1000_i32, total in any::<i32>()) {
            let value = Value::from(format!("{percent}%"));
            let exact = f64::from(percent) * f64::from(total) / 100.0;
            let scaled = |round_up| IntOrString::of(&value).scaled_value(total.into(), round_up);
            prop_assert_eq!(scaled(true).unwrap().to_string(), format!("{}", exact.ceil() + 0.0));
            prop_assert_eq!(scaled(false).unwrap().to_string(), format!("{}", exact.floor() + 0.0));
        }
    }
}
