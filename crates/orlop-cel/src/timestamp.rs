//! Points in time: seconds since 1970 and billionths, between the years 1 and 9999.

/// A point in time, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Since 1970.
    pub seconds: i64,
    /// Billionths of a second on top: 0 to 999,999,999.
    pub nanos: u32,
}

/// The first second of the year 1.
pub const SECONDS_MIN: i64 = -62_135_596_800;
/// The last second of the year 9999.
pub const SECONDS_MAX: i64 = 253_402_300_799;
