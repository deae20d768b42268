//! A whole number of 128 bits times a power of ten.
//!
//! The scale stays as it came, so `1000m` and `1` are equal but not the same: upstream tells them
//! apart in `AsInt64`. Everything takes a bounded number of steps whatever the scale is.

use std::cmp::Ordering;

use super::Scale;

/// `unscaled * 10^scale`
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    unscaled: i128,
    scale: Scale,
}

/// Every number of so many digits fits.
pub(super) const DIGITS_MAX: usize = 38;

impl Amount {
    pub(super) const fn new(value: i64, scale: Scale) -> Amount {
        // A cast in a constant function; it widens.
        Amount { unscaled: value as i128, scale }
    }

    pub(super) const fn wide(unscaled: i128, scale: Scale) -> Amount {
        Amount { unscaled, scale }
    }

    pub(super) fn unscaled(&self) -> i128 {
        self.unscaled
    }

    pub(super) fn scale(&self) -> Scale {
        self.scale
    }

    pub(super) fn is_zero(&self) -> bool {
        self.unscaled == 0
    }

    pub(super) fn sign(&self) -> i32 {
        match self.unscaled.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// Whether the number without its scale has 64 bits.
    pub(super) fn is_narrow(&self) -> bool {
        i64::try_from(self.unscaled).is_ok()
    }

    pub(super) fn neg(self) -> Amount {
        Amount { unscaled: self.unscaled.saturating_neg(), ..self }
    }

    pub(super) fn add(self, other: Amount) -> Amount {
        if other.is_zero() {
            return self;
        }
        if self.is_zero() {
            return other;
        }
        let (low, high) = if self.scale <= other.scale { (self, other) } else { (other, self) };
        let high = high.shifted_towards(low.scale);
        // When they are far apart, the last digits of the finer one are lost, if they are no zeros.
        let low = low.round_up(high.scale).0;
        match low.unscaled.checked_add(high.unscaled) {
            Some(unscaled) => Amount { unscaled, scale: low.scale },
            None => {
                let (low, high) = (low.coarser(), high.coarser());
                Amount { unscaled: low.unscaled + high.unscaled, scale: low.scale }
            }
        }
    }

    pub(super) fn mul(self, by: i64) -> Amount {
        if by == 0 || self.is_zero() {
            return Amount::new(0, 0);
        }
        let by = i128::from(by);
        if let Some(unscaled) = self.unscaled.checked_mul(by) {
            return Amount { unscaled, ..self };
        }
        // In two halves, neither of which can overflow.
        let half = 10_i128.pow(19);
        let high = Amount::wide(self.unscaled / half * by, self.scale.saturating_add(19));
        high.add(Amount::wide(self.unscaled % half * by, self.scale))
    }

    /// Rounds away from zero to a multiple of `10^scale`; whether nothing was lost.
    pub(super) fn round_up(self, scale: Scale) -> (Amount, bool) {
        let Some(places) = places_between(self.scale, scale) else { return (self, true) };
        let divisor = power_of_ten(places);
        let (quotient, remainder) = match divisor {
            Some(divisor) => (self.unscaled / divisor, self.unscaled % divisor),
            None => (0, self.unscaled),
        };
        let away = if remainder == 0 { 0 } else { remainder.signum() };
        (Amount { unscaled: quotient + away, scale }, away == 0)
    }

    /// The number counted in `10^scale`, rounded away from zero, within its range.
    pub(super) fn scaled(self, scale: Scale) -> i64 {
        let (rounded, _) = self.round_up(scale);
        let places = places_between(scale, rounded.scale).unwrap_or(0);
        let scaled = power_of_ten(places).and_then(|factor| rounded.unscaled.checked_mul(factor));
        let bound = if rounded.unscaled < 0 { i64::MIN } else { i64::MAX };
        match scaled {
            _ if self.is_zero() => 0,
            Some(scaled) => i64::try_from(scaled).unwrap_or(bound),
            None => bound,
        }
    }

    pub(super) fn as_i64(self) -> Option<i64> {
        let factor = power_of_ten(u32::try_from(self.scale).ok()?);
        match factor.and_then(|factor| self.unscaled.checked_mul(factor)) {
            _ if self.is_zero() => Some(0),
            Some(whole) => i64::try_from(whole).ok(),
            None => None,
        }
    }

    pub(super) fn as_f64(self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "nearly is what is asked for")]
        let unscaled = self.unscaled as f64;
        if self.scale == 0 || self.is_zero() {
            return unscaled;
        }
        // Reading a number is the one way to a power of ten that is rounded only once.
        let power = compact_str::format_compact!("1e{}", self.scale);
        unscaled * power.parse::<f64>().unwrap_or_default()
    }

    /// The whole number, if it is one and fits.
    pub(super) fn as_whole(self) -> Option<i128> {
        let (rounded, is_exact) = self.round_up(0);
        let factor = power_of_ten(u32::try_from(rounded.scale).ok()?)?;
        rounded.unscaled.checked_mul(factor).filter(|_| is_exact)
    }

    /// Without zeros at its end.
    pub(super) fn without_zeros(mut self) -> Amount {
        if self.is_zero() {
            return self;
        }
        // Division of short numbers is much faster, and nearly all are.
        while !self.is_narrow() && self.unscaled % 10 == 0 && self.scale < Scale::MAX {
            self.unscaled /= 10;
            self.scale += 1;
        }
        if let Ok(mut short) = i64::try_from(self.unscaled) {
            while short % 10 == 0 && self.scale < Scale::MAX {
                short /= 10;
                self.scale += 1;
            }
            self.unscaled = short.into();
        }
        self
    }

    /// The same number at a smaller scale, as near to `scale` as it fits.
    pub(super) fn shifted_towards(mut self, scale: Scale) -> Amount {
        while self.scale > scale {
            let Some(unscaled) = self.unscaled.checked_mul(10) else { break };
            self.unscaled = unscaled;
            self.scale -= 1;
            if unscaled == 0 {
                self.scale = scale;
            }
        }
        self
    }

    /// One digit less, rounded away from zero.
    fn coarser(self) -> Amount {
        let away = (self.unscaled % 10).signum();
        Amount { unscaled: self.unscaled / 10 + away, scale: self.scale.saturating_add(1) }
    }

    /// Where its first digit stands, counted in powers of ten. It must not be zero.
    fn magnitude(&self) -> i64 {
        i64::from(self.unscaled.unsigned_abs().ilog10()) + i64::from(self.scale)
    }

    /// Compares the sizes of two numbers that are not zero.
    fn cmp_size(&self, other: &Amount) -> Ordering {
        let by_magnitude = self.magnitude().cmp(&other.magnitude());
        if by_magnitude != Ordering::Equal {
            return by_magnitude;
        }
        // The first digits stand at the same place, so the scales are at most 38 apart.
        let (a, b) = (self.unscaled.unsigned_abs(), other.unscaled.unsigned_abs());
        let factor = 10_u128.pow(self.scale.abs_diff(other.scale));
        if self.scale >= other.scale {
            a.checked_mul(factor).map_or(Ordering::Greater, |a| a.cmp(&b))
        } else {
            b.checked_mul(factor).map_or(Ordering::Less, |b| a.cmp(&b))
        }
    }

    pub(super) fn cmp(&self, other: &Amount) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        match self.sign() {
            _ if by_sign != Ordering::Equal => by_sign,
            0 => Ordering::Equal,
            _ if self.scale == other.scale => self.unscaled.cmp(&other.unscaled),
            1 => self.cmp_size(other),
            _ => other.cmp_size(self),
        }
    }
}

/// How far it is up from one scale to a larger one; none if it is not larger.
fn places_between(from: Scale, to: Scale) -> Option<u32> {
    (to > from).then(|| to.abs_diff(from))
}

/// None beyond what 128 bits hold.
fn power_of_ten(places: u32) -> Option<i128> {
    10_i128.checked_pow(places)
}
