//! A strategic merge patch is refused or applied to an object of any kind, and applying it ends
//! soon; the patch between two objects can be applied.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_kinds::schema;
use orlop_machinery::json;
use orlop_machinery::patch::strategic;

fuzz_target!(|bytes: &[u8]| {
    let Some((entry, bytes)) = orlop_fuzz::choose_kind(bytes) else { return };
    let (object, patch) = orlop_fuzz::halves(bytes);
    let Some(object) = orlop_fuzz::object(entry, object) else { return };
    if let Some(modified) = orlop_fuzz::object(entry, patch) {
        _ = strategic::create_two_way_merge_patch(schema(), entry.id, &object, &modified, &[]);
    }
    let Ok(patch) = json::parse(patch) else { return };
    _ = strategic::strategic_merge(schema(), entry.id, object, patch);
});
