//! The two numbers of the contract that must not be mixed up.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::Error;

/// A point in the history of the store: the number of the transaction that made it.
///
/// Zero is before the first transaction; no record carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// Before the first transaction.
    pub const ZERO: Self = Self(0);

    /// The revision of the transaction that follows.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A lease: records written under it are deleted when it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub NonZeroU64);

impl LeaseId {
    /// The shortest and the longest life of a lease.
    const TTL: RangeInclusive<Duration> =
        Duration::from_secs(1)..=Duration::from_secs(365 * 24 * 60 * 60);

    /// What every engine refuses in the same words.
    pub(crate) fn validate_ttl(ttl: Duration) -> Result<(), Error> {
        if Self::TTL.contains(&ttl) {
            return Ok(());
        }
        let reason = format!("a lease of {ttl:?} is not between a second and 365 days");
        Err(Error::Invalid { reason })
    }

    /// The lease with this number; zero stands for "no lease" on the wire and on disk.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The number of an optional lease as it stands on the wire and on disk.
    #[must_use]
    pub fn number(lease: Option<Self>) -> u64 {
        lease.map_or(0, |lease| lease.0.get())
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}
