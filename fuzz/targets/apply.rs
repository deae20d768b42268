//! Applying the same thing twice changes nothing the second time, and whatever two writers send,
//! applying ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_kinds::schema;
use orlop_machinery::apply::{ApplyOptions, FieldManager, OnConflict, Typing};
use orlop_machinery::time::Time;

fuzz_target!(|bytes: &[u8]| {
    let Some((entry, bytes)) = orlop_fuzz::choose_kind(bytes) else { return };
    let (live, applied) = orlop_fuzz::halves(bytes);
    let Some(live) = orlop_fuzz::object(entry, live) else { return };
    let Some(applied) = orlop_fuzz::object(entry, applied) else { return };
    let typing = Typing::Struct(schema(), entry.id);
    let (api_version, kind) = (entry.resource.api_version(), &entry.resource.kind);
    let manager = FieldManager::new(typing, &api_version, kind);
    let now = Time::from_unix(0);
    let options = ApplyOptions { on_conflict: OnConflict::Force, now };
    let live = manager.update(&orlop_machinery::Value::Null, live, "first", now);
    _ = manager.apply(
        &live,
        &applied,
        "second",
        &ApplyOptions { on_conflict: OnConflict::Fail, now },
    );
    if let Ok(once) = manager.apply(&live, &applied, "second", &options) {
        let twice = manager.apply(&once.object, &applied, "second", &options);
        let twice = twice.expect("it was applied");
        assert!(!twice.is_changed);
        assert_eq!(twice.object, once.object);
    }
});
