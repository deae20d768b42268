//! How long to wait before something is tried again that failed.

use std::time::Duration;

/// The first wait. Each after it is twice as long.
const FIRST: Duration = Duration::from_millis(5);
/// The longest wait.
const LAST: Duration = Duration::from_secs(60);

/// See the module's documentation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// How long to wait after one more failure.
    pub(super) fn next(&mut self) -> Duration {
        let wait = FIRST.saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX));
        self.failures = self.failures.saturating_add(1);
        wait.min(LAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..40).map(|_| backoff.next().as_millis()).collect();
        assert_eq!(waits[..4], [5, 10, 20, 40]);
        assert_eq!(waits[13..15], [40_960, 60_000]);
        assert_eq!(waits[39], 60_000);
    }
}
