//! An object of any kind can be decoded, defaulted, prepared, checked and shown; what is decoded
//! once stays the same when it is decoded again, and in protobuf.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_kinds::catalog::catalog;
use orlop_kinds::schema;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::Context;
use orlop_machinery::{decode, encode, json, protobuf};

fuzz_target!(|bytes: &[u8]| {
    let Some((entry, text)) = orlop_fuzz::choose_kind(bytes) else { return };
    let Some(object) = orlop_fuzz::object(entry, text) else { return };
    let (schema, id) = (schema(), entry.id);
    let again = decode::decode(schema, id, object.clone()).expect("it was decoded once");
    assert_eq!(again.object, object);
    assert!(again.unknown.is_empty());
    let text = encode::to_vec(schema, id, &object);
    assert_eq!(json::parse(&text).as_ref(), Ok(&object));
    let message = protobuf::encode(schema, id, &object);
    protobuf::decode(schema, id, &message).expect("it was encoded");

    let context = Context::default();
    let mut object = object;
    catalog().set_defaults(entry, &mut object);
    let mut defaulted = object.clone();
    catalog().set_defaults(entry, &mut defaulted);
    assert_eq!(defaulted, object, "defaults are set once");
    let old = object.clone();
    entry.kind.prepare_create(&context, &mut object);
    let mut errors = Errors::new();
    entry.kind.validate(&context, &entry.node(&object), &mut errors);
    entry.kind.prepare_update(&context, &mut object, &old);
    entry.kind.validate_update(&context, &entry.node(&object), &entry.node(&old), &mut errors);
    entry.kind.warn(&context, &entry.node(&object), &mut Vec::new());
    assert_eq!(entry.kind.row(&context, &object).cells.len(), entry.kind.columns().len());
    drop(errors.to_string());
});
