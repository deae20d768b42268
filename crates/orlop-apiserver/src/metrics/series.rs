//! The numbers of one set of labels.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of buckets of a histogram, in its smallest unit and as text. They grow.
pub(super) type Bounds = [(u64, &'static str)];

/// Of durations of requests, in nanoseconds and in seconds.
pub(super) const DURATIONS: [(u64, &str); 23] = [
    (5_000_000, "0.005"),
    (25_000_000, "0.025"),
    (50_000_000, "0.05"),
    (100_000_000, "0.1"),
    (200_000_000, "0.2"),
    (400_000_000, "0.4"),
    (600_000_000, "0.6"),
    (800_000_000, "0.8"),
    (1_000_000_000, "1"),
    (1_250_000_000, "1.25"),
    (1_500_000_000, "1.5"),
    (2_000_000_000, "2"),
    (3_000_000_000, "3"),
    (4_000_000_000, "4"),
    (5_000_000_000, "5"),
    (6_000_000_000, "6"),
    (8_000_000_000, "8"),
    (10_000_000_000, "10"),
    (15_000_000_000, "15"),
    (20_000_000_000, "20"),
    (30_000_000_000, "30"),
    (45_000_000_000, "45"),
    (60_000_000_000, "60"),
];

/// How many of the first buckets of [`DURATIONS`] `apiserver_request_sli_duration_seconds` has not.
pub(super) const SLI_SKIPPED: usize = 2;

/// Of sizes of answers, in bytes.
pub(super) const RESPONSE_SIZES: [(u64, &str); 7] = [
    (1000, "1000"),
    (10_000, "10000"),
    (100_000, "100000"),
    (1_000_000, "1e+06"),
    (10_000_000, "1e+07"),
    (100_000_000, "1e+08"),
    (1_000_000_000, "1e+09"),
];

/// Of sizes of events, in bytes.
pub(super) const WATCH_EVENT_SIZES: [(u64, &str); 8] = [
    (1024, "1024"),
    (2048, "2048"),
    (4096, "4096"),
    (8192, "8192"),
    (16_384, "16384"),
    (32_768, "32768"),
    (65_536, "65536"),
    (131_072, "131072"),
];

/// How many different codes the answers of one series may have.
const CODES: usize = 16;

/// The numbers of requests with the same labels.
pub(super) struct Series {
    codes: [CodeCount; CODES],
    /// Answers whose code found no place.
    pub other_codes: AtomicU64,
    /// Requests without an answer.
    pub aborts: AtomicU64,
    pub durations: Histogram,
    pub sizes: Histogram,
    /// Those that are under way, where they may take as long as the client likes.
    pub long_running: AtomicI64,
}

#[derive(Default)]
struct CodeCount {
    /// The code, or zero as long as the place is free.
    code: AtomicU64,
    count: AtomicU64,
}

/// How often a value was in which bucket. The sum may lag behind the counts for a moment.
pub(super) struct Histogram {
    pub bounds: &'static Bounds,
    /// One for each bound, and one for what is greater than all.
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Default for Series {
    fn default() -> Series {
        Series {
            codes: Default::default(),
            other_codes: AtomicU64::new(0),
            aborts: AtomicU64::new(0),
            durations: Histogram::new(&DURATIONS),
            sizes: Histogram::new(&RESPONSE_SIZES),
            long_running: AtomicI64::new(0),
        }
    }
}

impl Series {
    /// Counts a request that is over. A code of zero means that it had no answer.
    pub(super) fn record(&self, code: u16, bytes: u64, took: Duration) {
        if code == 0 {
            self.aborts.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.count(u64::from(code)).fetch_add(1, Ordering::Relaxed);
        self.durations.observe(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        self.sizes.observe(bytes);
    }

    /// The number of answers with each code.
    pub(super) fn codes(&self) -> impl Iterator<Item = (u64, u64)> {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let all = self.codes.iter().map(move |place| (load(&place.code), load(&place.count)));
        all.filter(|(code, _)| *code != 0)
    }

    /// The place of a code, taken now if it has none.
    fn count(&self, code: u64) -> &AtomicU64 {
        for place in &self.codes {
            let taken = match place.code.load(Ordering::Relaxed) {
                0 => {
                    let order = Ordering::Relaxed;
                    place
                        .code
                        .compare_exchange(0, code, order, order)
                        .map_or_else(|now| now, |_| code)
                }
                taken => taken,
            };
            if taken == code {
                return &place.count;
            }
        }
        &self.other_codes
    }
}

impl Histogram {
    pub(super) fn new(bounds: &'static Bounds) -> Histogram {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram { bounds, buckets, sum: AtomicU64::new(0) }
    }

    pub(super) fn observe(&self, value: u64) {
        let place = self.bounds.iter().position(|(bound, _)| value <= *bound);
        self.buckets[place.unwrap_or(self.bounds.len())].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// For each bucket how many values were at most its bound; the last is the number of all.
    pub(super) fn cumulative(&self) -> Vec<u64> {
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let sums = counts.scan(0, |sum: &mut u64, count| {
            *sum += count;
            Some(*sum)
        });
        sums.collect()
    }

    pub(super) fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }
}
