//! Whatever the text, compiling and evaluating it ends, with an error or within the budget.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_fuzz::peers;

fuzz_target!(|text: &str| {
    let _ = peers::ours(text);
});
