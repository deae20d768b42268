//! Protobuf of every kind, held against upstream's recorded messages.
//!
//! For each generally available kind upstream has one object with every field set, in JSON and in
//! protobuf. Reading the message gives the object, and writing the object gives the message, byte
//! for byte.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

mod recorded;

use orlop_kinds::schema;
use orlop_machinery::protobuf;

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
