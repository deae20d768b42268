//! The version 2 document as protobuf: what old clients download instead of JSON.
//!
//! The messages are those of gnostic (`vendor/github.com/google/gnostic-models/openapiv2`), and
//! what stands in them is what gnostic reads from the JSON: all but values of vendor extensions,
//! defaults and examples, which travel as YAML text. In gnostic's messages fields are numbered in
//! their order, so the table needs no numbers.
//!
//! The document is trusted: it is one of ours. What gnostic would refuse (fields that it does not
//! know) is left out here.

mod table;
mod yaml;

use crate::protobuf::Writer;
use crate::value::Value;

use table::{Choice, Field, Key, Message, Shape, TABLE, When};

/// An OpenAPI version 2 document as a message of type `openapi.v2.Document`.
///
/// ```
/// use orlop_machinery::{json, openapi::gnostic};
///
/// let document = json::parse(br#"{"swagger": "2.0", "info": {"title": "x"}}"#).unwrap();
/// assert_eq!(gnostic::encode(&document), b"\x0a\x032.0\x12\x03\x0a\x01x");
/// ```
#[must_use]
pub fn encode(document: &Value) -> Vec<u8> {
    let mut encoder = Encoder { writer: Writer::with_capacity(CAPACITY) };
    encoder.message(&TABLE.messages[0], document);
    encoder.writer.into_vec()
}

/// Where the buffer starts. The document of a cluster needs some MiB.
const CAPACITY: usize = 64 * 1024;

struct Encoder {
    writer: Writer,
}

impl Encoder {
    /// What stands in a message.
    fn message(&mut self, message: &'static Message, value: &Value) {
        match message {
            Message::Fields(fields) => {
                for field in fields.iter().rev() {
                    self.field(field, value);
                }
            }
            Message::OneOf(choices) => {
                if let Some(choice) = choose(choices, value) {
                    self.value(&choice.shape, choice.number, value);
                }
            }
            // A single value stands for a list of one.
            Message::OneOrMany(shape) => match value {
                Value::List(items) => self.items(shape, 1, items),
                value => self.value(shape, 1, value),
            },
        }
    }

    fn field(&mut self, field: &'static Field, value: &Value) {
        let number = field.number;
        let Key::Name(name) = &field.key else {
            let entries = value.map().iter().rev();
            for (key, value) in entries.filter(|(key, _)| field.key.matches(key)) {
                self.named(&field.shape, number, (key, value));
            }
            return;
        };
        let Some(value) = value.get(name) else { return };
        match &field.shape {
            Shape::Many(shape) => self.items(shape, number, value.list()),
            // What is zero is not written.
            shape if shape.is_scalar() && value.is_empty() => {}
            shape => self.value(shape, number, value),
        }
    }

    fn items(&mut self, shape: &'static Shape, number: u32, items: &[Value]) {
        for item in items.iter().rev() {
            self.value(shape, number, item);
        }
    }

    /// An entry of a map: a message of a name and a value.
    fn named(&mut self, shape: &'static Shape, number: u32, (name, value): (&str, &Value)) {
        let len = self.writer.len();
        self.value(shape, 2, value);
        self.writer.bytes_field(1, name.as_bytes());
        self.writer.close_field(number, len);
    }

    fn value(&mut self, shape: &'static Shape, number: u32, value: &Value) {
        let len = self.writer.len();
        match shape {
            Shape::Text => return self.writer.bytes_field(number, value.str().as_bytes()),
            Shape::Truth => return self.writer.varint_field(number, value.bool().into()),
            Shape::Whole => return self.writer.varint_field(number, value.int().cast_unsigned()),
            Shape::Number => {
                let bits = value.as_float().unwrap_or_default().to_bits();
                return self.writer.fixed64_field(number, bits);
            }
            Shape::Any => self.writer.bytes_field(2, yaml::print(value).as_bytes()),
            Shape::Message(at) => self.message(&TABLE.messages[*at], value),
            Shape::Named(shape) => {
                for entry in value.map().iter().rev() {
                    self.named(shape, 1, entry);
                }
            }
            Shape::Many(shape) => self.items(shape, 1, value.list()),
        }
        self.writer.close_field(number, len);
    }
}

/// The choice that fits a value.
fn choose(choices: &'static [Choice], value: &Value) -> Option<&'static Choice> {
    let is_fallback = |choice: &&Choice| matches!(choice.when, When::Otherwise);
    let mut conditional = choices.iter().filter(|choice| !is_fallback(choice));
    let found = conditional.find(|choice| choice.when.matches(value));
    found.or_else(|| choices.iter().find(is_fallback))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    fn check(document: &str, expect: &[u8]) {
        let written = encode(&json::parse(document.as_bytes()).unwrap());
        assert_eq!(written.escape_ascii().to_string(), expect.escape_ascii().to_string());
    }

    #[test]
    fn what_is_zero_is_not_written() {
        check("{}", b"");
        check(r#"{"swagger":"","info":{},"paths":{}}"#, b"\x12\x00\x42\x00");
        check(
            r#"{"definitions":{"A":{"maximum":0,"uniqueItems":false,"minItems":0}}}"#,
            b"\x4a\x07\x0a\x05\x0a\x01A\x12\x00",
        );
    }

    /// A schema as the only definition.
    fn check_schema(schema: &str, expect: &[u8]) {
        let document = format!(r#"{{"definitions":{{"A":{schema}}}}}"#);
        let written = encode(&json::parse(document.as_bytes()).unwrap());
        let start = [b"\x0a\x01A\x12".as_slice(), &[u8::try_from(expect.len()).unwrap()]].concat();
        let at = written.windows(start.len()).position(|part| part == start).unwrap();
        let message = &written[at + start.len()..];
        assert_eq!(
            message.escape_ascii().to_string(),
            expect.escape_ascii().to_string(),
            "{schema}"
        );
    }

    #[test]
    fn schemas_hold_one_thing_or_another() {
        check_schema(r#"{"type":"object"}"#, b"\xb2\x01\x08\x0a\x06object");
        check_schema(r#"{"type":["a","b"]}"#, b"\xb2\x01\x06\x0a\x01a\x0a\x01b");
        check_schema(r##"{"items":{"$ref":"#"}}"##, b"\xba\x01\x05\x0a\x03\x0a\x01#");
        check_schema(r#"{"additionalProperties":false}"#, b"\xaa\x01\x02\x10\x00");
        check_schema(
            r#"{"additionalProperties":{"format":"x"}}"#,
            b"\xaa\x01\x05\x0a\x03\x12\x01x",
        );
        check_schema(
            r#"{"maximum":2,"maxLength":300}"#,
            b"\x39\x00\x00\x00\x00\x00\x00\x00\x40\x58\xac\x02",
        );
        check_schema(
            r#"{"default":1,"enum":["a"]}"#,
            b"\x2a\x04\x12\x021\n\xa2\x01\x04\x12\x02a\n",
        );
        check_schema(
            r#"{"x-b":[1],"x-a":true,"unknown":1}"#,
            &[
                b"\xfa\x01\x0e\x0a\x03x-a\x12\x07\x12\x05true\n".as_slice(),
                b"\xfa\x01\x0d\x0a\x03x-b\x12\x06\x12\x04- 1\n",
            ]
            .concat(),
        );
    }

    #[test]
    fn parameters_and_responses_are_told_apart() {
        let path = |operation: &str| format!(r#"{{"paths":{{"/a":{{"get":{operation}}}}}}}"#);
        let around = |operation: &[u8]| {
            let size = |extra: usize| u8::try_from(operation.len() + extra).unwrap();
            let start = [0x42, size(10), 0x12, size(8), 0x0a, 2, b'/', b'a', 0x12, size(2)];
            [&start, [0x12, size(0)].as_slice(), operation].concat()
        };
        for (operation, expect) in [
            (
                r#"{"parameters":[{"in":"body","name":"b","schema":{}}]}"#,
                b"\x42\x0f\x0a\x0d\x0a\x0b\x12\x01b\x1a\x04body\x2a\x00".as_slice(),
            ),
            (
                r#"{"parameters":[{"in":"query","name":"q","required":true,"type":"string"}]}"#,
                b"\x42\x1a\x0a\x18\x12\x16\x1a\x14\x08\x01\x12\x05query\x22\x01q\x32\x06string",
            ),
            (r##"{"parameters":[{"$ref":"#"}]}"##, b"\x42\x05\x12\x03\x0a\x01#"),
            (
                r#"{"responses":{"200":{"description":"d","schema":{"type":"file"}},"x-a":1}}"#,
                concat!(
                    "\x4a\x25\x0a\x16\x0a\x03200\x12\x0f\x0a\x0d\x0a\x01d\x12\x08",
                    "\x12\x06\x32\x04file\x12\x0b\x0a\x03x-a\x12\x04\x12\x021\n"
                )
                .as_bytes(),
            ),
        ] {
            check(&path(operation), &around(expect));
        }
    }
}
