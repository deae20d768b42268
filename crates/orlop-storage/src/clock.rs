//! Time, as an argument.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where a store gets the time from, for leases and for compaction by age.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Time since the Unix epoch.
    fn now(&self) -> Duration;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}
