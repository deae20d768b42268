//! A merge patch applied twice changes nothing the second time, and the patch between two documents
//! leads from one to the other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_machinery::json;
use orlop_machinery::patch::merge;

fuzz_target!(|bytes: &[u8]| {
    let (document, patch) = orlop_fuzz::halves(bytes);
    let (Ok(document), Ok(patch)) = (json::parse(document), json::parse(patch)) else { return };
    if let Ok(once) = merge::apply(document.clone(), patch.clone()) {
        assert_eq!(merge::apply(once.clone(), patch.clone()).expect("it was applied"), once);
        if let Ok(between) = merge::create_two_way(&document, &once) {
            let there = merge::apply(document, between).expect("it was made for this");
            // A patch cannot say that a field shall be null.
            if !json::to_string(&once).contains("null") {
                assert_eq!(there, once);
            }
        }
    }
});
