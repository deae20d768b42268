//! Whatever is asked, the server answers in a form that can be read, and never with a failure of
//! its own.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| orlop_fuzz::request::answer_all(bytes));
