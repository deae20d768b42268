//! The canonical text of a quantity: no fraction, no digit lost, the largest suffix that fits.

use std::fmt;

use super::amount::Amount;
use super::{Format, Quantity};

/// The suffixes of powers of 1000, from a billionth up.
pub(super) const DECIMAL_SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// The suffixes of powers of 1024, from 1 up.
pub(super) const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return out.write_str("0");
        }
        match (self.format, whole_binary(&self.amount)) {
            (Format::BinarySi, Some(whole)) => write_binary(whole, out),
            // What is small or has a fraction loses nothing in the other family.
            (Format::BinarySi, None) => write_decimal(&self.amount, Format::DecimalSi, out),
            (format, _) => write_decimal(&self.amount, format, out),
        }
    }
}

/// The number, if it is written with a binary suffix.
fn whole_binary(amount: &Amount) -> Option<i128> {
    amount.as_whole().filter(|whole| whole.unsigned_abs() >= 1024)
}

fn write_binary(whole: i128, out: &mut impl fmt::Write) -> fmt::Result {
    // It is not zero, so it has a last bit that is set.
    let exponent = whole.trailing_zeros() / 10;
    let suffix = BINARY_SUFFIXES.get(exponent as usize).unwrap_or(&"");
    write_number(whole >> (10 * exponent), out)?;
    out.write_str(suffix)
}

fn write_decimal(amount: &Amount, format: Format, out: &mut impl fmt::Write) -> fmt::Result {
    let amount = amount.without_zeros();
    write_number(amount.unscaled(), out)?;
    write_exponent(amount.scale().into(), format, out)
}

/// Most numbers are short, and those are written faster.
fn write_number(number: i128, out: &mut impl fmt::Write) -> fmt::Result {
    match i64::try_from(number) {
        Ok(number) => write!(out, "{number}"),
        Err(_) => write!(out, "{number}"),
    }
}

/// Writes what follows digits without zeros at their end: up to two zeros, so that the exponent is
/// a multiple of three, and the suffix for that.
pub(super) fn write_exponent(
    exponent: i64,
    format: Format,
    out: &mut impl fmt::Write,
) -> fmt::Result {
    let zeros = exponent.rem_euclid(3);
    let exponent = exponent - zeros;
    out.write_str(["", "0", "00"][usize::try_from(zeros).expect("below three")])?;
    match format {
        Format::DecimalExponent if exponent == 0 => Ok(()),
        Format::DecimalExponent => write!(out, "e{exponent}"),
        // As upstream: without a suffix when there is none.
        Format::DecimalSi | Format::BinarySi => {
            let position = usize::try_from(exponent / 3 + 3).ok();
            let suffix = position.and_then(|at| DECIMAL_SUFFIXES.get(at));
            out.write_str(suffix.unwrap_or(&""))
        }
    }
}
