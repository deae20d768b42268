//! Protobuf of every kind, held against upstream's recorded messages.
//!
//! For each generally available kind upstream has one object with every field set, in JSON and in
//! protobuf. Reading the message gives the object, and writing the object gives the message, byte
//! for byte.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

mod recorded;

use std::sync::LazyLock;

use orlop_kinds::schema;
use orlop_machinery::decode::decode;
use orlop_machinery::protobuf;
use orlop_machinery::schema::StructId;
use proptest::prelude::*;

#[test]
fn every_kind_is_written_and_read_as_upstream_does() {
    let Some(folder) = recorded::folder() else { return };
    let mut count = 0;
    for file in recorded::files(&folder.join("api-testdata"), "pb") {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let Some(id) = recorded::find(name) else { continue };
        count += 1;
        let sealed = std::fs::read(&file).unwrap();
        let expect = recorded::json(&file.with_extension("json"));

        let envelope = protobuf::open(&sealed).unwrap();
        let mut object = protobuf::decode(schema(), id, envelope.raw).unwrap();
        // A WatchEvent is never sealed, and has no kind.
        if !envelope.kind.is_empty() {
            object.set("apiVersion", envelope.api_version);
            object.set("kind", envelope.kind);
        }
        assert_eq!(object, expect, "{name}");

        assert_eq!(protobuf::encode(schema(), id, &expect), envelope.raw, "{name}");
        assert_eq!(protobuf::encode_sealed(schema(), id, &expect), sealed, "{name}");
    }
    println!("{count} kinds");
    assert!(count > 80, "only {count} kinds were read");
}

/// The message of every kind.
static MESSAGES: LazyLock<Vec<(StructId, Vec<u8>)>> = LazyLock::new(|| {
    let Some(folder) = recorded::folder() else { return Vec::new() };
    let files = recorded::files(&folder.join("api-testdata"), "pb").into_iter();
    let messages = files.filter_map(|file| {
        let id = recorded::find(file.file_stem()?.to_str()?)?;
        let sealed = std::fs::read(&file).unwrap();
        Some((id, protobuf::open(&sealed).unwrap().raw.to_vec()))
    });
    messages.collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// However a message is damaged, it is refused or read; and what was read is written so that
    /// it reads as the same.
    #[test]
    fn damaged_messages_are_refused_or_settle(
        which: prop::sample::Index,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        if MESSAGES.is_empty() {
            return Ok(());
        }
        let (id, message) = which.get(&MESSAGES);
        let mut message = message.clone();
        for (at, byte) in damage {
            *at.get_mut(&mut message) = byte;
        }
        if let Ok(object) = protobuf::decode(schema(), *id, &message) {
            let written = protobuf::encode(schema(), *id, &object);
            let again = protobuf::decode(schema(), *id, &written).unwrap();
            prop_assert_eq!(protobuf::encode(schema(), *id, &again), written);
            // What is read is in normal form.
            let decoded = decode(schema(), *id, object.clone()).unwrap();
            prop_assert_eq!(decoded.object, object);
        }
    }
}
