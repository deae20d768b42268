//! Whatever is in a message, reading it ends; what it holds is written as a message that holds the
//! same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_kinds::schema;
use orlop_machinery::protobuf;

fuzz_target!(|bytes: &[u8]| {
    _ = protobuf::open(bytes);
    let mut frames = protobuf::FrameReader::new();
    frames.push(bytes);
    while let Ok(Some(frame)) = frames.next_frame() {
        _ = protobuf::open_event(frame);
    }
    let Some((entry, message)) = orlop_fuzz::choose_kind(bytes) else { return };
    let Ok(object) = protobuf::decode(schema(), entry.id, message) else { return };
    let message = protobuf::encode(schema(), entry.id, &object);
    let again = protobuf::decode(schema(), entry.id, &message).expect("it was encoded");
    assert_eq!(again, object);
});
