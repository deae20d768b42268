//! JSON and YAML of every kind, held against upstream's recorded text.
//!
//! For each generally available kind upstream has one object with every field set, in both formats.
//! Reading the text, strictly, gives the object without a complaint; writing it gives the text
//! again, to the last byte and in the same order.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

mod recorded;

use orlop_kinds::schema;
use orlop_machinery::strict::{FieldValidation, read_json, read_yaml};
use orlop_machinery::{decode, encode, yaml};

/// JSON text without the space between its words.
fn compact(text: &[u8]) -> Vec<u8> {
    let mut is_inside = false;
    let mut is_escaped = false;
    let mut keep = |byte: u8| {
        let is_quote = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_inside ^= is_quote;
        is_inside || is_quote || !byte.is_ascii_whitespace()
    };
    text.iter().copied().filter(|&byte| keep(byte)).collect()
}

#[test]
fn every_kind_reads_and_writes_the_text_of_upstream() {
    let Some(folder) = recorded::folder() else { return };
    let mut count = 0;
    for file in recorded::files(&folder.join("api-testdata"), "json") {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let Some(id) = recorded::find(name) else { continue };
        count += 1;
        let text = std::fs::read(&file).unwrap();
        let object = read_json(schema(), id, &text, FieldValidation::Strict).unwrap().object;
        let written = encode::to_vec(schema(), id, &object);
        assert_eq!(
            String::from_utf8(written).unwrap(),
            String::from_utf8(compact(&text)).unwrap(),
            "{name}"
        );

        let text = std::fs::read(file.with_extension("yaml")).unwrap();
        let from_yaml = read_yaml(schema(), id, &text, FieldValidation::Strict).unwrap().object;
        assert_eq!(from_yaml, object, "{name}");
        assert_eq!(yaml::to_string(&object).as_bytes(), text, "{name}");

        let again = decode::decode(schema(), id, object.clone()).unwrap();
        assert_eq!(again.object, object, "{name}");
    }
    println!("{count} kinds");
    assert!(count > 80, "only {count} kinds were read");
}
