//! Protobuf as Kubernetes writes it: every built-in kind by its schema, no code per kind.
//!
//! [`encode`] and [`decode`] turn an object in normal form into a message and back. What they write
//! is byte for byte what upstream's generated code writes (`generated.pb.go` of
//! `staging/src/k8s.io/api`): fields in the order of their numbers, every field that is no pointer
//! written even when it is zero, lists and maps only when they have entries, map entries in the
//! order of their keys, embedded structs as messages of their own. `kind` and `apiVersion` do not
//! travel in the message but in the [envelope](seal) around it.
//!
//! What comes in is not trusted: lengths are checked before they are used, nesting is bounded as in
//! JSON, and no input makes the work more than a small multiple of its length.
//!
//! Where this differs from upstream:
//!
//! - Text that is not UTF-8 becomes text, each bad byte the replacement character, as upstream
//!   writes it when it goes on as JSON.
//! - JSON inside a message (`RawExtension`, `FieldsV1`, `JSON`) is read here, so what is no JSON is
//!   refused here and not later. It is written sorted and compact, whatever it was before.
//! - A message that stands several times where one is expected is merged, but not more than 256
//!   times in one object.
//! - Messages of errors name fields as JSON does, with a capital first letter.
//!
//! A message whose struct has no protobuf numbers (`Table`) is empty; whether a kind may be asked
//! for in protobuf is for the caller to know.

mod decode;
mod encode;
mod envelope;
mod frames;
mod leaf;
mod message;
mod reader;
#[cfg(test)]
mod sample;
mod writer;

pub use decode::decode;
pub use encode::{encode, encode_sealed};
pub use envelope::{Envelope, open, seal, seal_around};
pub use frames::{FrameError, FrameReader, WatchEvent, open_event, write_event, write_frame};
pub(crate) use message::Messages;
pub(crate) use writer::Writer;

use crate::json::SyntaxError;
use crate::quantity::QuantityError;

/// Why bytes are not the message that was expected.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ProtobufError {
    /// The bytes are no protobuf, or fields are not what they should be. In Go's words.
    #[error("{message}")]
    Malformed {
        /// What is wrong.
        message: String,
    },
    /// The bytes are no [envelope](seal). In upstream's words.
    #[error("{message}")]
    NoEnvelope {
        /// What is wrong.
        message: String,
    },
    /// A quantity cannot be read.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// JSON inside a message cannot be read.
    #[error(transparent)]
    Json(#[from] SyntaxError),
    /// Messages are nested too deeply.
    #[error("proto: exceeded max depth")]
    TooDeep,
    /// Too many messages stand several times where one is expected.
    #[error("proto: too many repeated occurrences of singular messages")]
    TooManyMerges,
}

/// How the value of a field is written.
mod wire {
    pub(super) const VARINT: u8 = 0;
    pub(super) const FIXED64: u8 = 1;
    pub(super) const BYTES: u8 = 2;
    pub(super) const START_GROUP: u8 = 3;
    pub(super) const END_GROUP: u8 = 4;
    pub(super) const FIXED32: u8 = 5;
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json;
    use crate::schema::{self, Schema, StructId};

    const TEXT: &str = "\
package p
Object
 kind string - omit
 apiVersion string - omit
 metadata Meta 1 omit
 spec Spec 2 omit
Meta
 name string 1 omit
 created time 8 omitzero
 labels {string} 11 omit
 finalizers [string] 14 omit
Spec
 on bool 1 omit
 maybe *bool 2 omit
 small int32 3
 large *int64 4 omit
 ratio *float64 5 omit
 data bytes 6
 at time 7 omit
 exactly *microtime 8 omit
 span duration 9 omit
 amount *quantity 10 omit
 port intstr 11 omit
 any *any 12 omit
 raw raw 13 omit
 items [Item] 14
 numbers [int64] 15 omit
 words <string> 16
 blobs {bytes} 17 omit
 extra {<string>} 18 omit
 amounts {quantity} 19 omit
 choice *Spec|bool 20 omit
 choices *Spec|[] 21 omit
 needs {Spec|[string]} 22 omit
 inner *Spec 23 omit
 zero Meta 24 omitzero
 text *string 25
Item
 name string 1
 deep string 2.1 omit
 deeper string 2.3.1 omit
 list [int32] 2.3.2 omit
";

    /// A spec of which nothing is set.
    const ZERO_SPEC: &str = concat!(
        r#"{"at":null,"data":null,"items":null,"port":0,"raw":null,"small":0,"span":"0s","#,
        r#""text":null,"words":null}"#
    );

    fn schema() -> Schema {
        schema::parse(&[TEXT]).unwrap()
    }

    fn id(schema: &Schema, name: &str) -> StructId {
        schema.find(&format!("p.{name}")).unwrap()
    }

    /// The bytes of a text such as `0a 03 "abc"`.
    fn bytes(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for (at, part) in text.split('"').enumerate() {
            match at % 2 {
                1 => out.extend_from_slice(part.as_bytes()),
                _ => out.extend(
                    part.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()),
                ),
            }
        }
        out
    }

    fn decode_text(name: &str, message: &[u8]) -> String {
        let schema = schema();
        match decode(&schema, id(&schema, name), message) {
            Ok(object) => json::to_string(&object),
            Err(error) => error.to_string(),
        }
    }

    /// The object is written as the message, and the message read as the object.
    fn check(name: &str, object: &str, message: &str) {
        let schema = schema();
        let value = json::parse(object.as_bytes()).unwrap();
        let written = encode(&schema, id(&schema, name), &value);
        assert_eq!(written, bytes(message), "{object} is written as {written:02x?}");
        assert_eq!(decode_text(name, &written), json::to_string(&value));
    }

    /// The message is read as the object, however that is written.
    fn check_read(name: &str, message: &str, expect: &str) {
        assert_eq!(decode_text(name, &bytes(message)), expect, "{message}");
    }

    #[test]
    fn what_is_not_set_is_written_as_zero_unless_it_is_a_pointer() {
        check("Meta", "{}", r#"0a 00 42 00"#);
        check(
            "Spec",
            ZERO_SPEC,
            "08 00 18 00 3a 00 4a 02 08 00 5a 06 08 00 10 00 1a 00 6a 00 c2 01 04 0a 00 42 00",
        );
        check("Item", r#"{"name":""}"#, "0a 00 12 06 0a 00 1a 02 0a 00");
    }

    #[test]
    fn a_missing_struct_has_the_fields_that_are_never_left_out() {
        check_read("Object", "", &format!(r#"{{"metadata":{{}},"spec":{ZERO_SPEC}}}"#));
        check_read("Object", "12 00", &format!(r#"{{"metadata":{{}},"spec":{ZERO_SPEC}}}"#));
    }

    /// One field of a spec, written and read.
    fn check_field(field: &str, message: &str) {
        let schema = schema();
        let id = id(&schema, "Spec");
        let mut object = decode(&schema, id, b"").unwrap();
        let value = json::parse(format!("{{{field}}}").as_bytes()).unwrap();
        for (key, value) in value.map().iter() {
            object.set(key, value.clone());
        }
        let written = encode(&schema, id, &object);
        let message = bytes(message);
        let found = written.windows(message.len()).any(|part| part == message);
        assert!(found, "{field} is written as {written:02x?}");
        assert_eq!(decode(&schema, id, &written).unwrap(), object, "{field}");
    }

    #[test]
    fn every_type_has_its_form() {
        for (field, message) in [
            (r#""on":true"#, "08 01"),
            (r#""maybe":false"#, "10 00"),
            (r#""small":-1"#, "18 ff ff ff ff ff ff ff ff ff 01"),
            (r#""large":0"#, "20 00"),
            (r#""large":300"#, "20 ac 02"),
            (r#""ratio":0.5"#, "29 00 00 00 00 00 00 e0 3f"),
            (r#""data":"AP8=""#, "32 02 00 ff"),
            (r#""data":"""#, "32 00"),
            (r#""at":"1970-01-01T00:00:05Z""#, "3a 04 08 05 10 00"),
            (r#""exactly":"1970-01-01T00:00:00.000001Z""#, "42 05 08 00 10 e8 07"),
            (r#""span":"1m0s""#, "4a 07 08 80 b0 9d c2 df 01"),
            (r#""amount":"0""#, r#"52 03 0a 01 "0""#),
            (r#""amount":"1500m""#, r#"52 07 0a 05 "1500m""#),
            (r#""port":80"#, "5a 06 08 00 10 50 1a 00"),
            (r#""port":"http""#, r#"5a 0a 08 01 10 00 1a 04 "http""#),
            (r#""any":[1]"#, r#"62 05 0a 03 "[1]""#),
            (r#""raw":{"a":1}"#, r#"6a 09 0a 07 "{" 22 "a" 22 ":1}""#),
            (r#""items":[{"name":"a"}]"#, r#"72 0b 0a 01 "a" 12 06 0a 00 1a 02 0a 00"#),
            (r#""numbers":[1,0]"#, "78 01 78 00"),
            (r#""words":[]"#, "82 01 00"),
            (r#""words":["a",""]"#, r#"82 01 05 0a 01 "a" 0a 00"#),
            (r#""blobs":{"a":"","b":"AA=="}"#, r#"8a 01 05 0a 01 "a" 12 00 8a 01 06 0a 01 "b""#),
            (r#""extra":{"a":["b"]}"#, r#"92 01 08 0a 01 "a" 12 03 0a 01 "b""#),
            (r#""amounts":{"cpu":"1"}"#, r#"9a 01 0a 0a 03 "cpu" 12 03 0a 01 "1""#),
            (r#""choice":true"#, "a2 01 02 08 01"),
            (r#""choice":false"#, "a2 01 02 08 00"),
            (r#""text":"""#, "ca 01 00"),
        ] {
            check_field(field, message);
        }
    }

    #[test]
    fn a_struct_or_something_else_is_told_apart() {
        let zero = ZERO_SPEC;
        for (field, message) in [
            (format!(r#""choice":{zero}"#), "a2 01 1f 08 01 12 1b"),
            (format!(r#""choices":{zero}"#), "aa 01 1d 0a 1b"),
            (format!(r#""choices":[{zero},{zero}]"#), "aa 01 3a 12 1b"),
            (format!(r#""needs":{{"a":{zero}}}"#), r#"b2 01 22 0a 01 "a" 12 1d 0a 1b"#),
            (r#""needs":{"a":["b"]}"#.to_owned(), r#"b2 01 08 0a 01 "a" 12 03 12 01 "b""#),
        ] {
            check_field(&field, message);
        }
    }

    #[test]
    fn what_can_be_written_otherwise_is_read() {
        // Numbers packed together, and both kinds mixed.
        check_read("Item", "12 08 1a 06 12 02 05 06 10 07", r#"{"list":[5,6,7],"name":""}"#);
        // Fields in any order, and fields that nobody knows.
        check_read(
            "Item",
            r#"f8 07 01 12 03 0a 01 "b" 25 00 00 00 00 0a 01 "a""#,
            r#"{"deep":"b","name":"a"}"#,
        );
        // The last of several values counts; maps and lists get all of them.
        check_read(
            "Object",
            concat!(
                r#"0a 0e 0a 01 "a" 5a 06 0a 01 "k" 12 01 "x" 72 01 "f""#,
                r#"0a 0e 0a 01 "b" 5a 06 0a 01 "k" 12 01 "y" 72 01 "g""#,
                r#"12 02 18 01 0a 06 5a 04 0a 02 "l0" 12 02 18 02"#
            ),
            concat!(
                r#"{"metadata":{"finalizers":["f","g"],"labels":{"k":"y","l0":""},"name":"b"},"#,
                r#""spec":{"at":null,"data":null,"items":null,"port":0,"raw":null,"small":2,"#,
                r#""span":"0s","text":null,"words":null}}"#
            ),
        );
        // Numbers of 32 bits are cut.
        check_read("Item", "12 08 1a 06 10 81 80 80 80 10", r#"{"list":[1],"name":""}"#);
        // What is no UTF-8.
        check_read(
            "Item",
            r#"0a 06 "a" e2 82 "b" ff "c""#,
            "{\"name\":\"a\u{fffd}\u{fffd}b\u{fffd}c\"}",
        );
    }

    #[test]
    fn what_is_not_the_message_is_refused_in_gos_words() {
        for (name, message, expect) in [
            ("Object", "08 01", "proto: wrong wireType = 0 for field Metadata"),
            ("Object", "0a 05 00", "unexpected EOF"),
            ("Meta", "09 00", "proto: wrong wireType = 1 for field Name"),
            ("Meta", "04", "proto: Meta: wiretype end group for non-group"),
            ("Meta", "5a 02 08 01", "proto: wrong wireType = 0 for field Labels"),
            (
                "Spec",
                "52 03 0a 01 78",
                concat!(
                    "quantities must match the regular expression ",
                    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                ),
            ),
            ("Spec", "62 03 0a 01 7b", "unexpected end of JSON input"),
            ("Spec", "5a 02 08 02", "impossible IntOrString.Type"),
            ("Spec", "29 00 00 00 00 00 00 f0 7f", "json: unsupported value: +Inf"),
            (
                "Meta",
                "42 08 08 ff ff ff ff ff ff 7f",
                "Time.MarshalJSON: year outside of range [0,9999]",
            ),
        ] {
            check_read(name, message, expect);
        }
    }

    /// A spec with specs inside it, so that there are so many levels; the last one is given.
    fn nested(levels: usize, last: &[u8]) -> Vec<u8> {
        let mut writer = Writer::with_capacity(0);
        writer.bytes(last);
        for _ in 1..levels {
            writer.close_field(23, 0);
        }
        writer.into_vec()
    }

    #[test]
    fn nesting_is_bounded_as_in_json() {
        let schema = schema();
        let id = id(&schema, "Spec");
        let deepest = decode(&schema, id, &nested(json::DEPTH_MAX, b"\x08\x01")).unwrap();
        assert!(decode(&schema, id, &encode(&schema, id, &deepest)).unwrap() == deepest);
        let result = decode(&schema, id, &nested(json::DEPTH_MAX + 1, b"\x08\x01"));
        assert!(result == Err(ProtobufError::TooDeep));
        let result = decode(&schema, id, &nested(100_000, b""));
        assert!(result == Err(ProtobufError::TooDeep));

        // JSON inside counts too.
        let with_json = |levels| decode(&schema, id, &nested(levels, b"\x62\x09\x0a\x07[[[1]]]"));
        assert!(with_json(json::DEPTH_MAX - 3).is_ok());
        for levels in json::DEPTH_MAX - 2..json::DEPTH_MAX + 20 {
            assert!(with_json(levels) == Err(ProtobufError::TooDeep));
        }
    }

    #[test]
    fn merging_is_bounded() {
        let schema = schema();
        let id = id(&schema, "Object");
        assert!(decode(&schema, id, &b"\x0a\x00".repeat(257)).is_ok());
        let error = decode(&schema, id, &b"\x0a\x00".repeat(258)).unwrap_err();
        assert_eq!(error, ProtobufError::TooManyMerges);
    }

    #[test]
    fn many_entries_in_any_order_are_read_quickly() {
        let schema = schema();
        let mut writer = Writer::with_capacity(0);
        for at in 0..200_000 {
            let len = writer.len();
            writer.bytes_field(1, format!("{at:06}").as_bytes());
            writer.close_field(11, len);
        }
        let object = decode(&schema, id(&schema, "Meta"), &writer.into_vec()).unwrap();
        assert_eq!(object.at("labels").map().len(), 200_000);
    }

    proptest! {
        #[test]
        fn objects_come_back_as_they_were(seed: u64) {
            let schema = schema();
            let mut sampler = sample::Sampler::new(&schema, seed);
            for name in ["Object", "Spec", "Item"] {
                let id = id(&schema, name);
                let object = sampler.object(id);
                let message = encode(&schema, id, &object);
                prop_assert_eq!(decode(&schema, id, &message).unwrap(), object);
            }
        }

        #[test]
        fn no_bytes_are_a_panic_and_what_is_read_settles(message: Vec<u8>) {
            settles(&message)?;
        }

        #[test]
        fn no_damage_is_a_panic(seed: u64, at: prop::sample::Index, byte: u8) {
            let schema = schema();
            let id = id(&schema, "Spec");
            let object = sample::Sampler::new(&schema, seed).object(id);
            let mut message = encode(&schema, id, &object);
            *at.get_mut(&mut message) = byte;
            settles(&message)?;
        }
    }

    /// Whatever is read is in normal form: writing it and reading that changes nothing.
    fn settles(message: &[u8]) -> Result<(), TestCaseError> {
        let schema = schema();
        let id = id(&schema, "Spec");
        drop(open(message));
        drop(open_event(message));
        if let Ok(object) = decode(&schema, id, message) {
            let written = encode(&schema, id, &object);
            let again = decode(&schema, id, &written).unwrap();
            prop_assert_eq!(encode(&schema, id, &again), written);
        }
        Ok(())
    }
}
