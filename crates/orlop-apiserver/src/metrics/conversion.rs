//! How long conversion webhooks take, and how they fail.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/metrics.go`.

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use orlop_machinery::Str;

use super::series::Histogram;
use super::{SharedMap, find};

/// Of calls, in nanoseconds and in seconds.
const CALLS: [(u64, &str); 15] = [
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (20_000_000, "0.02"),
    (50_000_000, "0.05"),
    (100_000_000, "0.1"),
    (200_000_000, "0.2"),
    (500_000_000, "0.5"),
    (1_000_000_000, "1"),
    (2_000_000_000, "2"),
    (5_000_000_000, "5"),
    (10_000_000_000, "10"),
    (20_000_000_000, "20"),
    (30_000_000_000, "30"),
    (45_000_000_000, "45"),
    (60_000_000_000, "60"),
];

/// Of conversions, in nanoseconds and in seconds: each twice the one before.
const CONVERSIONS: [(u64, &str); 15] = [
    (1_000_000, "0.001"),
    (2_000_000, "0.002"),
    (4_000_000, "0.004"),
    (8_000_000, "0.008"),
    (16_000_000, "0.016"),
    (32_000_000, "0.032"),
    (64_000_000, "0.064"),
    (128_000_000, "0.128"),
    (256_000_000, "0.256"),
    (512_000_000, "0.512"),
    (1_024_000_000, "1.024"),
    (2_048_000_000, "2.048"),
    (4_096_000_000, "4.096"),
    (8_192_000_000, "8.192"),
    (16_384_000_000, "16.384"),
];

/// How many resources and pairs of versions are told apart. Resources come and go; whatever comes
/// when there is no place is not measured.
const CONVERSIONS_MAX: usize = 10_000;

/// The times of all calls.
#[derive(Default)]
pub struct ConversionTimes {
    calls: SharedMap<&'static str, Histogram>,
    conversions: SharedMap<Conversion, Histogram>,
}

/// Resource, version before, version after, and whether it went well.
type Conversion = ([Str; 3], bool);

/// Why a call came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConversionFailure {
    Call,
    MalformedResponse,
    PartialResponse,
    InvalidObject,
}

impl ConversionFailure {
    fn name(self) -> &'static str {
        match self {
            ConversionFailure::Call => "conversion_webhook_call_failure",
            ConversionFailure::MalformedResponse => "conversion_webhook_malformed_response_failure",
            ConversionFailure::PartialResponse => "conversion_webhook_partial_response_failure",
            ConversionFailure::InvalidObject => {
                "conversion_webhook_invalid_converted_object_failure"
            }
        }
    }
}

impl ConversionTimes {
    pub(crate) fn succeed(&self, took: Duration) {
        self.call("", took);
    }

    pub(crate) fn fail(&self, failure: ConversionFailure, took: Duration) {
        self.call(failure.name(), took);
    }

    fn call(&self, failure: &'static str, took: Duration) {
        observe(&find(&self.calls, failure, || Histogram::new(&CALLS)), took);
    }

    /// Notes a conversion: the resource, the version before and the one after.
    pub(crate) fn convert(&self, labels: [&str; 3], has_succeeded: bool, took: Duration) {
        let place = (labels.map(Str::new), has_succeeded);
        let map = self.conversions.read().unwrap_or_else(PoisonError::into_inner);
        let is_new = !map.contains_key(&place);
        if is_new && map.len() >= CONVERSIONS_MAX {
            return;
        }
        drop(map);
        observe(&find(&self.conversions, place, || Histogram::new(&CONVERSIONS)), took);
    }

    /// The times of calls by the sort of their failure, which is empty for those without.
    pub(super) fn calls(&self) -> Vec<(&'static str, Arc<Histogram>)> {
        sorted(&self.calls)
    }

    /// The times of conversions by resource, version before, version after, and success.
    pub(super) fn conversions(&self) -> Vec<(Conversion, Arc<Histogram>)> {
        sorted(&self.conversions)
    }
}

impl fmt::Debug for ConversionTimes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ConversionTimes").finish_non_exhaustive()
    }
}

fn observe(histogram: &Histogram, took: Duration) {
    histogram.observe(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
}

fn sorted<K: Clone + Ord>(map: &SharedMap<K, Histogram>) -> Vec<(K, Arc<Histogram>)> {
    let map = map.read().unwrap_or_else(PoisonError::into_inner);
    let mut all: Vec<_> = map.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    all.sort_by(|(left, _), (right, _)| left.cmp(right));
    all
}

#[cfg(test)]
mod tests {
    use super::super::{Metrics, Snapshot};
    use super::*;
    use crate::version::Version;

    #[test]
    fn calls_and_conversions_are_told_under_upstreams_names() {
        let metrics = Metrics::new(Version::of_build());
        let times = metrics.conversions();
        times.succeed(Duration::from_millis(7));
        times.fail(ConversionFailure::Call, Duration::from_secs(30));
        times.convert(["foos.example.com", "v1", "v2"], true, Duration::from_millis(7));
        let text = metrics.encode(&Snapshot::default());
        for line in [
            "apiserver_conversion_webhook_request_total{failure_type=\"\",result=\"success\"} 1",
            "apiserver_conversion_webhook_request_total{failure_type=\
             \"conversion_webhook_call_failure\",result=\"failure\"} 1",
            "apiserver_conversion_webhook_duration_seconds_bucket{failure_type=\"\",\
             result=\"success\",le=\"0.01\"} 1",
            "apiserver_crd_conversion_webhook_duration_seconds_bucket{crd_name=\
             \"foos.example.com\",from_version=\"v1\",succeeded=\"true\",to_version=\"v2\",\
             le=\"0.008\"} 1",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
    }
}
