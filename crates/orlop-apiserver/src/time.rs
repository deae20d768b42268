//! Times of objects out of the time of the server's clock.

use std::time::Duration;

use orlop_machinery::time::{MicroTime, Time};

/// A moment to the second.
pub(crate) fn to_time(since_epoch: Duration) -> Time {
    Time::from_unix(i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX))
}

/// A moment to the microsecond.
pub(crate) fn to_micro_time(since_epoch: Duration) -> MicroTime {
    let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX);
    MicroTime::from_unix(seconds, i32::try_from(since_epoch.subsec_nanos()).unwrap_or(0))
}
