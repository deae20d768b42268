//! Whatever is in a snapshot, reading it ends, and what it accepts can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    orlop_fuzz::read(orlop_fuzz::folder_with("0000000000000000.snapshot", bytes));
});
