//! Exact numbers with a suffix, such as `100m`, `1.5Gi` or `12e6`: amounts of resources.
//!
//! Behaviour follows `staging/src/k8s.io/apimachinery/pkg/api/resource`. A quantity is a whole
//! number of 128 bits times a power of ten, never a float, and remembers which family of suffixes
//! it was written with. Nothing smaller than a billionth exists: what is smaller is rounded away
//! from zero, so who asks for something gets something.
//!
//! Two forms of text have to be told apart:
//!
//! - [`canonicalize`] is what an object holds after it was decoded. Like upstream it keeps some
//!   texts as they were written although they are not canonical, such as `1.500` and `+5`.
//! - [`Quantity`] prints the one canonical form of its value, what upstream prints after any
//!   arithmetic.
//!
//! Deliberately different, all of it outside of what a cluster can hold:
//!
//! - Arithmetic is exact up to 38 digits and rounds away from zero beyond; upstream's numbers grow
//!   without limit. Text of any length is still canonicalized exactly.
//! - [`Quantity::value`] and its like stop at the ends of their range, where upstream wraps around
//!   or answers 0, and always round away from zero, which upstream does not for negative fractions
//!   with a binary suffix.
//!
//! As upstream, decimal numbers of 10^21 and more lose their zeros when they are printed
//! (`1000E` becomes `1`), because there is no suffix for them.

mod amount;
mod parse;
mod print;

use std::cmp::Ordering;
use std::str::FromStr;

use crate::value::{Str, Value};

use amount::Amount;
pub use parse::canonicalize;

/// An exact number and how to write it.
///
/// Two quantities are equal when they are the same number, however they are written.
///
/// ```
/// use orlop_machinery::quantity::Quantity;
///
/// let mut memory: Quantity = "1.5Gi".parse().unwrap();
/// assert_eq!(memory.to_string(), "1536Mi");
/// memory.add("512Mi".parse().unwrap());
/// assert_eq!(memory.to_string(), "2Gi");
/// assert_eq!("1".parse::<Quantity>(), "1000m".parse());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    amount: Amount,
    format: Format,
}

/// The family of suffixes of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `12e6`
    DecimalExponent,
    /// `12Mi`: powers of 1024.
    BinarySi,
    /// `12M`: powers of 1000.
    DecimalSi,
}

/// A power of ten: what a number is counted in.
pub type Scale = i32;

/// Billionths: the smallest scale.
pub const NANO: Scale = -9;
/// Millionths.
pub const MICRO: Scale = -6;
/// Thousandths.
pub const MILLI: Scale = -3;

/// Why a text is no quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// It is not a number with a suffix.
    #[error(
        "quantities must match the regular expression \
         '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// There is no number before the suffix.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// There is no such suffix.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Quantity = Quantity::new(0, Format::DecimalSi);

    /// A whole number.
    #[must_use]
    pub const fn new(value: i64, format: Format) -> Quantity {
        Quantity { amount: Amount::new(value, 0), format }
    }

    /// So many thousandths.
    #[must_use]
    pub const fn from_milli(value: i64, format: Format) -> Quantity {
        Quantity { amount: Amount::new(value, MILLI), format }
    }

    /// A number times a power of ten.
    #[must_use]
    pub const fn from_scaled(value: i64, scale: Scale) -> Quantity {
        Quantity { amount: Amount::new(value, scale), format: Format::DecimalSi }
    }

    /// A quantity as it stands in JSON: text, perhaps with space around it, or a number. Null is
    /// zero.
    ///
    /// # Errors
    ///
    /// When the text or the value is no quantity.
    pub fn from_value(value: &Value) -> Result<Quantity, QuantityError> {
        match value {
            Value::Null => Ok(Quantity::ZERO),
            Value::Int(number) => Ok(Quantity::new(*number, Format::DecimalSi)),
            Value::String(text) => text.trim().parse(),
            Value::Float(_) => number_text(value).parse(),
            Value::Bool(_) | Value::List(_) | Value::Map(_) => Err(QuantityError::Format),
        }
    }

    /// The family of suffixes that it is printed with.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The same number in another family.
    #[must_use]
    pub fn with_format(self, format: Format) -> Quantity {
        Quantity { format, ..self }
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.amount.is_zero()
    }

    /// -1, 0 or 1.
    #[must_use]
    pub fn sign(&self) -> i32 {
        self.amount.sign()
    }

    /// The whole number, rounded away from zero; the ends of the range for what is beyond.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// The number of thousandths, rounded away from zero.
    #[must_use]
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(MILLI)
    }

    /// The number counted in a power of ten, rounded away from zero.
    #[must_use]
    pub fn scaled_value(&self, scale: Scale) -> i64 {
        self.amount.scaled(scale)
    }

    /// The whole number, if it was written as one and fits. As upstream, `1000m` is none.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.amount.as_i64()
    }

    /// Nearly the number; infinite when it is too large.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        self.amount.as_f64()
    }

    /// Adds another quantity. Zero takes the other's format.
    pub fn add(&mut self, other: Quantity) {
        if self.is_zero() {
            self.format = other.format;
        }
        self.amount = self.amount.add(other.amount);
    }

    /// Takes another quantity away. Zero takes the other's format.
    pub fn sub(&mut self, other: Quantity) {
        if self.is_zero() {
            self.format = other.format;
        }
        self.amount = self.amount.add(other.amount.neg());
    }

    /// Multiplies; whether the result is still a number of 64 bits at its scale.
    pub fn mul(&mut self, by: i64) -> bool {
        self.amount = self.amount.mul(by);
        self.amount.is_narrow()
    }

    /// Turns the sign.
    pub fn neg(&mut self) {
        self.amount = self.amount.neg();
    }

    /// Rounds away from zero to a multiple of a power of ten; whether nothing was lost.
    pub fn round_up(&mut self, scale: Scale) -> bool {
        let (rounded, is_exact) = self.amount.round_up(scale);
        self.amount = rounded;
        is_exact
    }

    /// How it compares with a whole number.
    #[must_use]
    pub fn cmp_i64(&self, other: i64) -> Ordering {
        self.amount.cmp(&Amount::new(other, 0))
    }
}

/// What an object holds where the JSON value of a quantity stood: upstream's text of it.
///
/// # Errors
///
/// When the text or the value is no quantity.
pub fn canonicalize_value(value: &Value) -> Result<Str, QuantityError> {
    match value {
        Value::Null => Ok(Str::const_new("0")),
        Value::String(text) => canonicalize(text.trim()),
        Value::Int(_) | Value::Float(_) => canonicalize(&number_text(value)),
        Value::Bool(_) | Value::List(_) | Value::Map(_) => Err(QuantityError::Format),
    }
}

/// A number as JSON has it.
fn number_text(value: &Value) -> String {
    crate::json::to_string(value)
}

impl Default for Quantity {
    fn default() -> Quantity {
        Quantity::ZERO
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Quantity, QuantityError> {
        parse::parse(text)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Quantity) -> Ordering {
        self.amount.cmp(&other.amount)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Quantity {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// Lines of `text => kept text, canonical text, format`, as upstream has them.
    #[test]
    fn text_becomes_what_upstream_prints() {
        use Format::{BinarySi, DecimalExponent, DecimalSi};
        let table = [
            ("0", "0", "0", DecimalSi),
            ("00", "0", "0", DecimalSi),
            ("0n", "0", "0", DecimalSi),
            ("0Ki", "0", "0", BinarySi),
            ("0.0Ki", "0", "0", BinarySi),
            ("-0", "0", "0", DecimalSi),
            ("1", "1", "1", DecimalSi),
            ("1Ki", "1Ki", "1Ki", BinarySi),
            ("8Ki", "8Ki", "8Ki", BinarySi),
            ("1024Mi", "1Gi", "1Gi", BinarySi),
            ("307200Ki", "300Mi", "300Mi", BinarySi),
            ("4Pi", "4Pi", "4Pi", BinarySi),
            ("3Ei", "3Ei", "3Ei", BinarySi),
            ("9Ei", "9223372036854775807", "9223372036854775807", BinarySi),
            ("9223372036854775807Ki", "9223372036854775807", "9223372036854775807", BinarySi),
            ("-9Ei", "-9223372036854775807", "-9223372036854775807", BinarySi),
            ("100.035Ki", "102435840m", "102435840m", BinarySi),
            ("0.5Mi", "512Ki", "512Ki", BinarySi),
            ("0.05Gi", "53687091200m", "53687091200m", BinarySi),
            ("0.000000000001Ki", "2n", "2n", DecimalSi),
            (".001Ki", "1024m", "1024m", BinarySi),
            ("5n", "5n", "5n", DecimalSi),
            ("1000m", "1", "1", DecimalSi),
            ("1000M", "1G", "1G", DecimalSi),
            ("12E", "12E", "12E", DecimalSi),
            ("0.001T", "1G", "1G", DecimalSi),
            ("1.08", "1080m", "1080m", DecimalSi),
            ("1080000000n", "1080m", "1080m", DecimalSi),
            ("0.5e0", "500e-3", "500e-3", DecimalExponent),
            (".001e12", "1e9", "1e9", DecimalExponent),
            ("1.3E+6", "1300e3", "1300e3", DecimalExponent),
            ("1E-3", "1E-3", "1e-3", DecimalExponent),
            ("1e14", "100e12", "100e12", DecimalExponent),
            ("1e1000", "10e999", "10e999", DecimalExponent),
            ("3.001n", "4n", "4n", DecimalSi),
            ("0.0000000001", "1n", "1n", DecimalSi),
            ("0.00000012354", "124n", "124n", DecimalSi),
            ("0.5e-9", "1e-9", "1e-9", DecimalExponent),
            ("1e-2147483648", "1e-9", "1e-9", DecimalExponent),
            ("1.", "1.", "1", DecimalSi),
            ("1.G", "1.G", "1G", DecimalSi),
            // Kept as it was written, though it is not canonical.
            ("1.500", "1.500", "1500m", DecimalSi),
            ("100.035k", "100.035k", "100035", DecimalSi),
            ("+5", "+5", "5", DecimalSi),
            ("007", "007", "7", DecimalSi),
            ("1e4294967296", "1e4294967296", "1", DecimalExponent),
            // There is no suffix for these.
            ("1000E", "1", "1", DecimalSi),
            ("1000000000000000000000", "1", "1", DecimalSi),
            // A number may be missing.
            (".", "0", "0", DecimalSi),
            ("+", "0", "0", DecimalSi),
            ("m", "0", "0", DecimalSi),
            ("Ki", "0", "0", BinarySi),
        ];
        for (text, kept, canonical, format) in table {
            assert_eq!(canonicalize(text).unwrap(), kept, "{text} kept");
            assert_eq!(parse(text).to_string(), canonical, "{text}");
            assert_eq!(parse(text).format(), format, "{text}");
        }
    }

    #[test]
    fn text_of_any_length_is_canonicalized() {
        let long = "1234567890".repeat(6);
        assert_eq!(canonicalize(&long).unwrap(), format!("{}0", &long[..59]));
        assert_eq!(canonicalize(&format!("-{long}")).unwrap(), format!("-{long}"));
        let (nines, zeros) = ("9".repeat(40), "0".repeat(36));
        assert_eq!(canonicalize(&format!("{nines}.9999999999e-6")).unwrap(), "10e33");
        assert_eq!(canonicalize(&format!("1{zeros}1.{nines}m")).unwrap(), format!("1{zeros}2m"));
        assert_eq!(parse(&nines), parse("1e40"));
        assert_eq!(canonicalize(&"9".repeat(100_000)).unwrap().len(), 100_000);
        let fraction = format!("0.{}1Ei", "0".repeat(100_000));
        assert_eq!(canonicalize(&fraction).unwrap(), "1n");
    }

    #[test]
    fn what_is_no_quantity_says_so_in_upstreams_words() {
        let table = [
            ("", QuantityError::Format),
            ("1.1.M", QuantityError::Format),
            ("1+1.0M", QuantityError::Format),
            ("0.1am", QuantityError::Format),
            ("aoeu", QuantityError::Format),
            (" 1", QuantityError::Format),
            ("1 ", QuantityError::Format),
            ("1\u{e9}", QuantityError::Format),
            ("0.1mi", QuantityError::Suffix),
            (".5i", QuantityError::Suffix),
            ("1i", QuantityError::Suffix),
            ("1-", QuantityError::Suffix),
            ("-3.01e-", QuantityError::Suffix),
            ("1e9223372036854775808", QuantityError::Suffix),
            (".e-20", QuantityError::Numeric),
            ("Pi", QuantityError::Numeric),
        ];
        for (text, error) in table {
            assert_eq!(text.parse::<Quantity>(), Err(error), "{text}");
            assert_eq!(canonicalize(text), Err(error), "{text}");
        }
        assert_eq!(
            QuantityError::Format.to_string(),
            "quantities must match the regular expression \
             '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        );
    }

    #[test]
    fn json_may_hold_text_and_numbers() {
        let table = [
            (Value::Null, "0"),
            (Value::Int(-1), "-1"),
            (Value::Int(1000), "1k"),
            (Value::Float(0.5), "500m"),
            (Value::from(" 1 "), "1"),
        ];
        for (value, expect) in table {
            assert_eq!(canonicalize_value(&value).unwrap(), expect);
            assert_eq!(Quantity::from_value(&value).unwrap().to_string(), expect);
        }
        assert_eq!(Quantity::from_value(&Value::Bool(true)), Err(QuantityError::Format));
        assert_eq!(canonicalize_value(&Value::List(Vec::new())), Err(QuantityError::Format));
    }

    #[test]
    fn numbers_are_rounded_away_from_zero_and_stay_in_range() {
        let table = [
            ("1", 1, 1000, Some(1)),
            ("1500m", 2, 1500, None),
            ("-1500m", -2, -1500, None),
            ("1000m", 1, 1000, None),
            ("1n", 1, 1, None),
            ("50k", 50_000, 50_000_000, Some(50_000)),
            ("1Pi", 1 << 50, 1_125_899_906_842_624_000, None),
            ("0.3Ki", 308, 307_200, None),
            ("-0.3Ki", -308, -307_200, None),
            ("12E", i64::MAX, i64::MAX, None),
            ("-1e1000000", i64::MIN, i64::MIN, None),
            ("0e1000000", 0, 0, Some(0)),
        ];
        for (text, value, milli, whole) in table {
            let quantity = parse(text);
            assert_eq!(quantity.value(), value, "{text}");
            assert_eq!(quantity.milli_value(), milli, "{text}");
            assert_eq!(quantity.as_i64(), whole, "{text}");
        }
    }

    #[test]
    fn floats_are_upstreams() {
        let table = [
            ("0", 0.0),
            ("1500m", 1.5),
            ("0.3Ki", 307.200_000_000_000_05),
            ("9Ei", 9.223_372_036_854_776e18),
            ("1e30", 1e30),
            ("1e1000", f64::INFINITY),
            ("-1e1000", f64::NEG_INFINITY),
        ];
        for (text, expect) in table {
            assert_eq!(parse(text).as_f64().to_bits(), f64::to_bits(expect), "{text}");
        }
    }

    #[test]
    fn rounding_tells_whether_something_was_lost() {
        let table = [
            ("9.01", -3, "9010m", true),
            ("9.01", -1, "9100m", false),
            ("9.01", 1, "10", false),
            ("9.01", 2, "100", false),
            ("-9.01", 0, "-10", false),
            ("9.01", 1000, "10e999", false),
        ];
        for (text, scale, expect, is_exact) in table {
            let mut quantity = parse(text);
            if scale == 1000 {
                quantity = quantity.with_format(Format::DecimalExponent);
            }
            assert_eq!(quantity.round_up(scale), is_exact, "{text} {scale}");
            assert_eq!(quantity.to_string(), expect, "{text} {scale}");
        }
    }

    #[test]
    fn arithmetic_is_exact_and_zero_takes_the_format() {
        let table = [
            ("0", "1Gi", "1Gi", "-1Gi"),
            ("1Gi", "0", "1Gi", "1Gi"),
            ("1Ki", "1k", "2024", "24"),
            ("100m", "1", "1100m", "-900m"),
            ("9Ei", "9Ei", "18446744073709551614", "0"),
            ("1e20", "1n", "100000000000000000000000000001e-9", "99999999999999999999999999999e-9"),
        ];
        for (a, b, sum, difference) in table {
            let mut added = parse(a);
            added.add(parse(b));
            let mut taken = parse(a);
            taken.sub(parse(b));
            assert_eq!((added.to_string().as_str(), taken.to_string().as_str()), (sum, difference));
        }
        // More digits than there are: the result is rounded away from zero.
        let mut far = parse("1e40");
        far.add(parse("1n"));
        assert!(far > parse("1e40") && far < parse("1.0000000001e40"));
        let mut quantity = parse("3Mi");
        assert!(quantity.mul(-5));
        assert_eq!(quantity.to_string(), "-15Mi");
        assert!(!quantity.mul(i64::MAX));
        let mut large = parse(&"9".repeat(38));
        assert!(!large.mul(i64::MAX));
        // The first 38 digits of the product, rounded up.
        assert_eq!(large, parse("9223372036854775807e38"));
    }

    fn quantities() -> impl Strategy<Value = Quantity> {
        let format = prop_oneof![
            Just(Format::DecimalSi),
            Just(Format::BinarySi),
            Just(Format::DecimalExponent)
        ];
        let number = prop_oneof![any::<i64>(), -2000..2000_i64];
        (number, NANO..1, format, 0..4_u32).prop_map(|(number, scale, format, shift)| {
            let mut quantity = Quantity::from_scaled(number, scale).with_format(format);
            quantity.mul(1 << (10 * shift));
            quantity
        })
    }

    /// The exact number of billionths, which has few enough digits here.
    fn nanos(quantity: &Quantity) -> i128 {
        let scale = u32::try_from(quantity.amount.scale() - NANO).unwrap();
        quantity.amount.unscaled() * 10_i128.pow(scale)
    }

    proptest! {
        #[test]
        fn printed_text_reads_as_the_same_number(quantity in quantities()) {
            let text = quantity.to_string();
            // Binary quantities are capped when they are read.
            if quantity.format != Format::BinarySi || quantity.as_f64().abs() < 9e18 {
                prop_assert_eq!(parse(&text), quantity);
            }
            if quantity.as_f64().abs() < 9e18 {
                prop_assert_eq!(canonicalize(&text).unwrap(), text);
            }
        }

        #[test]
        fn one_number_has_one_text(a in quantities(), shift in 0..9_i32) {
            let b = Quantity { amount: a.amount.shifted_towards(a.amount.scale() - shift), ..a };
            prop_assert_eq!(a, b);
            prop_assert_eq!(a.to_string(), b.to_string());
        }

        #[test]
        fn order_is_that_of_the_numbers(a in quantities(), b in quantities()) {
            prop_assert_eq!(a.cmp(&b), nanos(&a).cmp(&nanos(&b)));
            prop_assert_eq!(b.cmp(&a), a.cmp(&b).reverse());
        }

        #[test]
        fn sums_are_those_of_the_numbers(a in quantities(), b in quantities()) {
            let mut result = a;
            result.add(b);
            prop_assert_eq!(nanos(&result), nanos(&a) + nanos(&b));
            result.sub(b);
            prop_assert_eq!(result, a);
        }

        #[test]
        fn no_text_is_a_panic(text in "[+-]?[0-9.]{0,50}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,12}") {
            if let Ok(quantity) = text.parse::<Quantity>() {
                let _ = (quantity.to_string(), quantity.value(), quantity.as_f64());
                let mut other = quantity;
                other.add(parse("1n"));
                other.mul(i64::MIN);
                prop_assert!(canonicalize(&text).is_ok());
            }
        }
    }
}
