//! A JSON patch is refused or applied, and applying it ends soon.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_machinery::json;
use orlop_machinery::patch::json::JsonPatch;

fuzz_target!(|bytes: &[u8]| {
    let (document, patch) = orlop_fuzz::halves(bytes);
    let (Ok(document), Ok(patch)) = (json::parse(document), JsonPatch::parse(patch)) else {
        return;
    };
    if let Ok(changed) = patch.apply(document) {
        json::parse(&json::to_vec(&changed)).expect("it was written as JSON");
    }
});
