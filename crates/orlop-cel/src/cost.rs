//! What calls cost: numbers that the static estimate and the run-time tally share.
//!
//! After `common/cost.go`, `checker/cost.go` and `interpreter/runtimecost.go` of cel-go. Sums stop
//! at the largest number instead of wrapping.

use crate::ast::Literal;
use crate::ty::Type;
use crate::value::Value;

/// Looking at one character of a string.
pub const STRING_TRAVERSAL_FACTOR: f64 = 0.1;
/// One character of a regular expression.
pub const REGEX_LENGTH_FACTOR: f64 = 0.25;
/// Reading a field or a variable.
pub const SELECT_AND_IDENT: u64 = 1;
/// Making a list.
pub const LIST_CREATE: u64 = 10;
/// Making a map.
pub const MAP_CREATE: u64 = 30;
/// Making an object.
pub const STRUCT_CREATE: u64 = 40;

/// The least and the most that something can cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostEstimate {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

/// The least and the most that something can be large: characters, items, entries; 1 for scalars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeEstimate {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

/// What a call costs before it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallEstimate {
    /// Without what its arguments cost.
    pub cost: CostEstimate,
    /// How large its result is, where it is known.
    pub result_size: Option<SizeEstimate>,
}

/// A call as the estimator sees it. Argument 0 of a member function is its target.
pub trait CallSite {
    /// How many arguments there are.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How large an argument is; 0 to the largest number where nothing is known.
    fn size(&self, argument: usize) -> SizeEstimate;
    /// How large the items of an argument are that is a list, or the values of a map.
    fn element_size(&self, argument: usize) -> SizeEstimate;
    /// The argument's type as checked.
    fn ty(&self, argument: usize) -> &Type;
    /// The argument, when it is a literal.
    fn literal(&self, argument: usize) -> Option<&Literal>;
}

impl CostEstimate {
    /// No more and no less.
    #[must_use]
    pub const fn fixed(cost: u64) -> CostEstimate {
        CostEstimate { min: cost, max: cost }
    }

    /// Both.
    #[must_use]
    pub fn plus(self, other: CostEstimate) -> CostEstimate {
        CostEstimate {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    /// As often as the other says.
    #[must_use]
    pub fn times(self, other: CostEstimate) -> CostEstimate {
        CostEstimate {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// By a factor, rounded up.
    #[must_use]
    pub fn scaled(self, factor: f64) -> CostEstimate {
        CostEstimate { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    /// Either of both.
    #[must_use]
    pub fn union(self, other: CostEstimate) -> CostEstimate {
        CostEstimate { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

impl SizeEstimate {
    /// Nothing is known.
    pub const UNKNOWN: SizeEstimate = SizeEstimate { min: 0, max: u64::MAX };

    /// No more and no less.
    #[must_use]
    pub const fn fixed(size: u64) -> SizeEstimate {
        SizeEstimate { min: size, max: size }
    }

    /// Both.
    #[must_use]
    pub fn plus(self, other: SizeEstimate) -> SizeEstimate {
        SizeEstimate {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    /// One multiplied with the other.
    #[must_use]
    pub fn times(self, other: SizeEstimate) -> SizeEstimate {
        SizeEstimate {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Either of both.
    #[must_use]
    pub fn union(self, other: SizeEstimate) -> SizeEstimate {
        SizeEstimate { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// What it costs to look at all of it at this price for a piece, rounded up.
    #[must_use]
    pub fn traversal(self, factor: f64) -> CostEstimate {
        CostEstimate { min: scale(self.min, factor), max: scale(self.max, factor) }
    }
}

/// How large a value is: characters of a text, bytes, items, entries; 1 for almost everything else.
#[must_use]
pub fn size_of(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => text.chars().count() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::List(list) => list.len() as u64,
        Value::Map(map) => map.len() as u64,
        Value::Optional(Some(value)) => size_of(value),
        Value::Opaque(value) => value.size(),
        _ => 1,
    }
}

/// A number times a factor, rounded up; stops at the largest number.
#[must_use]
pub fn scale(number: u64, factor: f64) -> u64 {
    #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
    let scaled = (number as f64 * factor).ceil();
    #[allow(clippy::cast_precision_loss, reason = "a bound")]
    if scaled >= u64::MAX as f64 {
        return u64::MAX;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above")]
    let rounded = scaled as u64;
    rounded
}
