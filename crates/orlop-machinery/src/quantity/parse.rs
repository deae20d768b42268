//! Reading a quantity, and the text that an object keeps of it.
//!
//! Numbers of up to 18 digits that need no rounding are read without an allocation; upstream has
//! the same two ways, and only the first one may keep the text as it was written.

use super::amount::{Amount, DIGITS_MAX};
use super::print::{BINARY_SUFFIXES, DECIMAL_SUFFIXES, write_exponent};
use super::{Format, NANO, Quantity, QuantityError, Scale};
use crate::value::Str;

/// Every number of so many digits is a number of 64 bits.
const NARROW_DIGITS_MAX: usize = 18;

/// The largest number that may have a binary suffix.
const BINARY_MAX: u128 = i64::MAX as u128;

/// What upstream prints for a quantity that was read from this text.
///
/// Canonical text stays as it is. So does, as upstream, some that is not canonical: a plus sign,
/// zeros in front, an upper case `E`, and a fraction of three digits.
///
/// ```
/// use orlop_machinery::quantity::canonicalize;
///
/// assert_eq!(canonicalize("1024Mi").unwrap(), "1Gi");
/// assert_eq!(canonicalize("0.5").unwrap(), "500m");
/// assert_eq!(canonicalize("1.500").unwrap(), "1.500");
/// ```
///
/// # Errors
///
/// When the text is no quantity.
pub fn canonicalize(text: &str) -> Result<Str, QuantityError> {
    let parts = match read(text)? {
        Read::Canonical(_) => return Ok(Str::new(text)),
        Read::Other(quantity) => return Ok(compact_str::format_compact!("{quantity}")),
        Read::Wide(parts) => parts,
    };
    if parts.format == Format::BinarySi {
        return Ok(compact_str::format_compact!("{}", wide_quantity(&parts)?));
    }
    let number = Digits::of(&parts)?;
    if number.digits.is_empty() {
        return Ok(Str::const_new("0"));
    }
    let mut out = Str::with_capacity(number.digits.len() + 16);
    if parts.is_negative {
        out.push('-');
    }
    out.push_str(&number.digits);
    write_exponent(number.scale, parts.format, &mut out).expect("a string grows");
    Ok(out)
}

pub(super) fn parse(text: &str) -> Result<Quantity, QuantityError> {
    match read(text)? {
        Read::Canonical(quantity) | Read::Other(quantity) => Ok(quantity),
        Read::Wide(parts) => wide_quantity(&parts),
    }
}

/// What was read.
enum Read<'a> {
    /// The text is to be kept.
    Canonical(Quantity),
    Other(Quantity),
    /// Too many digits, or too small: the slow way.
    Wide(Parts<'a>),
}

/// A quantity taken apart.
struct Parts<'a> {
    is_negative: bool,
    /// Whether there is a digit before the suffix.
    has_digits: bool,
    /// The digits before the point, without zeros in front, but never none.
    whole: &'a str,
    /// The digits after the point.
    fraction: &'a str,
    /// Of ten, or of two in the binary format.
    exponent: Scale,
    format: Format,
}

fn read(text: &str) -> Result<Read<'_>, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Format);
    }
    if text == "0" {
        return Ok(Read::Canonical(Quantity::ZERO));
    }
    let parts = split(text)?;
    let digits = parts.whole.len() + parts.fraction.len();
    let (scale, factor, is_narrow) = match parts.format {
        Format::BinarySi => {
            // Upstream's guess at what surely fits: three digits for each power of 1024.
            let digits_max = 14 - parts.exponent / 10 * 3;
            let is_narrow = parts.fraction.is_empty()
                && i32::try_from(digits).is_ok_and(|digits| digits <= digits_max);
            (0, 1_i64 << parts.exponent, is_narrow)
        }
        Format::DecimalSi | Format::DecimalExponent => {
            let is_narrow = digits <= NARROW_DIGITS_MAX;
            let fraction = i32::try_from(parts.fraction.len()).unwrap_or(i32::MAX);
            (parts.exponent.saturating_sub(fraction), 1, is_narrow)
        }
    };
    if !is_narrow || scale < NANO {
        return Ok(Read::Wide(parts));
    }
    let digits = parts.whole.bytes().chain(parts.fraction.bytes());
    let number = digits.fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'));
    let sign = if parts.is_negative { -1 } else { 1 };
    let amount = Amount::new(number * factor * sign, scale);
    let quantity = Quantity { amount, format: parts.format };
    let is_kept = match parts.format {
        // The first is upstream's rule; the second saves printing the same text again.
        Format::BinarySi => number & 7 != 0 || (number & 1023 != 0 && is_plain(text, &parts)),
        Format::DecimalSi | Format::DecimalExponent => {
            scale % 3 == 0 && number % 1000 != 0 && !parts.whole.starts_with('0')
        }
    };
    Ok(if is_kept { Read::Canonical(quantity) } else { Read::Other(quantity) })
}

/// Whether a binary quantity was written without a plus sign and zeros in front.
fn is_plain(text: &str, parts: &Parts<'_>) -> bool {
    text.len() == usize::from(parts.is_negative) + parts.whole.len() + "Ki".len()
}

/// Takes the text apart. Nothing before the suffix counts as zero.
fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    let is_negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, rest) = split_digits(unsigned);
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let letters = suffix.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let (_, after) = split_digits(letters.strip_prefix(['-', '+']).unwrap_or(letters));
    if !after.is_empty() {
        return Err(QuantityError::Format);
    }
    let (exponent, format) = read_suffix(suffix).ok_or(QuantityError::Suffix)?;
    Ok(Parts { is_negative, has_digits, whole, fraction, exponent, format })
}

/// The digits at the start, and the rest.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn read_suffix(suffix: &str) -> Option<(Scale, Format)> {
    if let Some(position) = DECIMAL_SUFFIXES.iter().position(|known| *known == suffix) {
        return Some((i32::try_from(position).ok()? * 3 + NANO, Format::DecimalSi));
    }
    if let Some(position) = BINARY_SUFFIXES.iter().position(|known| *known == suffix) {
        return Some((i32::try_from(position).ok()? * 10, Format::BinarySi));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    #[allow(clippy::cast_possible_truncation, reason = "as Go truncates it")]
    Some((exponent as i32, Format::DecimalExponent))
}

/// The slow way: any number of digits, rounding, and the limit of binary quantities.
fn wide_quantity(parts: &Parts<'_>) -> Result<Quantity, QuantityError> {
    if !parts.has_digits {
        return Err(QuantityError::Numeric);
    }
    if parts.format != Format::BinarySi {
        let amount = Digits::of(parts)?.amount(parts.is_negative);
        return Ok(Quantity { amount, format: parts.format });
    }
    let nanos = binary_nanos(parts);
    let signed = i128::try_from(nanos).expect("limited to 63 bits and nine digits");
    let amount = Amount::wide(if parts.is_negative { -signed } else { signed }, NANO);
    // Below 1 there is no binary suffix.
    let format = if (1..NANOS).contains(&nanos) { Format::DecimalSi } else { Format::BinarySi };
    Ok(Quantity { amount, format })
}

/// Billionths in one.
const NANOS: u128 = 1_000_000_000;

/// The billionths of a binary quantity without its sign, rounded up, at most what is allowed.
fn binary_nanos(parts: &Parts<'_>) -> u128 {
    // Written multiplication, from the last digit of the fraction: one digit of the product each,
    // of which only the nine first ones are kept, and whether there was anything behind them.
    let mut carry = 0_u128;
    let mut fraction = 0;
    let mut has_more = false;
    let mut unit = 1;
    for (at, digit) in parts.fraction.bytes().enumerate().rev() {
        let product = (u128::from(digit - b'0') << parts.exponent) + carry;
        carry = product / 10;
        let digit = product % 10;
        if at >= 9 {
            has_more |= digit != 0;
        } else {
            fraction += digit * unit;
            unit *= 10;
        }
    }
    // Less than nine digits: the rest are zeros.
    let missing = u32::try_from(9_usize.saturating_sub(parts.fraction.len())).expect("at most 9");
    fraction *= 10_u128.pow(missing);
    let whole = match parts.whole.parse::<u64>() {
        Ok(whole) => (u128::from(whole) << parts.exponent).saturating_add(carry),
        Err(_) => BINARY_MAX,
    };
    let nanos = whole.saturating_mul(NANOS).saturating_add(fraction + u128::from(has_more));
    nanos.min(BINARY_MAX * NANOS)
}

/// A decimal number of any length, rounded up to billionths: digits without zeros at either end,
/// times a power of ten.
struct Digits {
    digits: String,
    scale: i64,
}

impl Digits {
    fn of(parts: &Parts<'_>) -> Result<Digits, QuantityError> {
        if !parts.has_digits {
            return Err(QuantityError::Numeric);
        }
        let mut digits = String::with_capacity(parts.whole.len() + parts.fraction.len() + 1);
        digits.push_str(parts.whole);
        digits.push_str(parts.fraction);
        let fraction = i64::try_from(parts.fraction.len()).unwrap_or(i64::MAX);
        let mut number = Digits { digits, scale: i64::from(parts.exponent) - fraction };
        number.round_up(NANO.into());
        number.trim();
        Ok(number)
    }

    fn amount(mut self, is_negative: bool) -> Amount {
        let excess = self.digits.len().saturating_sub(DIGITS_MAX);
        self.round_up(self.scale + i64::try_from(excess).unwrap_or(i64::MAX));
        self.trim();
        let unscaled: i128 = self.digits.parse().unwrap_or_default();
        let scale = Scale::try_from(self.scale).unwrap_or(Scale::MAX);
        let amount = Amount::wide(if is_negative { -unscaled } else { unscaled }, scale);
        // Upstream counts these in billionths, so that they do not count as written whole.
        amount.shifted_towards(NANO)
    }

    /// Drops the digits below a scale; the rest grows by one if any of them was not 0.
    fn round_up(&mut self, scale: i64) {
        let Ok(drop) = usize::try_from(scale - self.scale) else { return };
        let keep = self.digits.len().saturating_sub(drop);
        let has_more = self.digits.bytes().skip(keep).any(|digit| digit != b'0');
        self.digits.truncate(keep);
        self.scale = scale;
        if !has_more {
            return;
        }
        let kept = self.digits.trim_end_matches('9').len();
        self.scale += i64::try_from(self.digits.len() - kept).unwrap_or(i64::MAX);
        self.digits.truncate(kept);
        let last = self.digits.pop().and_then(|digit| digit.to_digit(10)).unwrap_or(0);
        self.digits.push(char::from_digit(last + 1, 10).expect("nines were taken away"));
    }

    fn trim(&mut self) {
        let kept = self.digits.trim_end_matches('0').len();
        self.scale += i64::try_from(self.digits.len() - kept).unwrap_or(i64::MAX);
        self.digits.truncate(kept);
        let zeros = self.digits.len() - self.digits.trim_start_matches('0').len();
        self.digits.drain(..zeros);
    }
}
