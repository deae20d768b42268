//! Checksums of what is on the disk.

/// The checksum of bytes that are in several pieces.
pub(super) fn of(pieces: &[&[u8]]) -> u32 {
    pieces.iter().fold(0, |sum, piece| crc32c::crc32c_append(sum, piece))
}

/// Whether the bytes have this checksum. A fuzzer, which would never get past it, is let through.
pub(super) fn is_right(expected: u32, pieces: &[&[u8]]) -> bool {
    cfg!(fuzzing) || of(pieces) == expected
}
