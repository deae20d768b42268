//! What is around a message: a prefix by which it is recognized, and the name of its kind.
//!
//! After `runtime.Unknown` and `serializer/protobuf/protobuf.go` of
//! `staging/src/k8s.io/apimachinery/pkg/runtime`.

use super::ProtobufError;
use super::leaf::expect_wire;
use super::reader::{Reader, Tag, read_text};
use super::wire;
use super::writer::Writer;
use crate::text::quote;
use crate::value::Str;

const PREFIX: [u8; 4] = *b"k8s\0";

const TYPE_META: u32 = 1;
const RAW: u32 = 2;
const CONTENT_ENCODING: u32 = 3;
const CONTENT_TYPE: u32 = 4;
const API_VERSION: u32 = 1;
const KIND: u32 = 2;

/// An opened envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The version of the message's kind; may be empty.
    pub api_version: Str,
    /// The message's kind; may be empty.
    pub kind: Str,
    /// The message.
    pub raw: &'a [u8],
    /// How the message is packed. Nobody packs it, and nobody looks.
    pub content_encoding: Str,
    /// What the message is written in; empty for protobuf.
    pub content_type: Str,
}

/// Puts a message into an envelope.
#[must_use]
pub fn seal(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let mut writer = Writer::with_capacity(raw.len() + api_version.len() + kind.len() + 32);
    let len = write_end(&mut writer);
    writer.bytes(raw);
    write_start(&mut writer, len, api_version, kind);
    writer.into_vec()
}

/// What stands before and behind a message of a known length that is written elsewhere.
#[must_use]
pub fn seal_around(api_version: &str, kind: &str, length: usize) -> (Vec<u8>, Vec<u8>) {
    let mut end = Writer::with_capacity(8);
    write_end(&mut end);
    let mut start = Writer::with_capacity(api_version.len() + kind.len() + 32);
    start.field_start(RAW, length);
    write_type_meta(&mut start, api_version, kind);
    (start.into_vec(), end.into_vec())
}

/// Takes a message out of its envelope.
///
/// # Errors
///
/// When it is none, in upstream's words.
pub fn open(bytes: &[u8]) -> Result<Envelope<'_>, ProtobufError> {
    if bytes.is_empty() {
        return Err(no_envelope("empty data"));
    }
    let Some(body) = bytes.strip_prefix(&PREFIX) else {
        return Err(no_envelope(concat!(
            "provided data does not appear to be a protobuf message, ",
            "expected prefix [107 56 115 0]"
        )));
    };
    if body.is_empty() {
        return Err(no_envelope("empty body"));
    }
    let mut envelope = Envelope::default();
    let mut reader = Reader::new(body);
    while let Some(tag) = reader.tag(|| "Unknown".into())? {
        match tag.number {
            TYPE_META => envelope.read_type_meta(field(&mut reader, tag, "TypeMeta")?)?,
            RAW => envelope.raw = field(&mut reader, tag, "Raw")?,
            CONTENT_ENCODING => {
                let bytes = field(&mut reader, tag, "ContentEncoding")?;
                envelope.content_encoding = read_text(bytes);
            }
            CONTENT_TYPE => {
                let bytes = field(&mut reader, tag, "ContentType")?;
                envelope.content_type = read_text(bytes);
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    Ok(envelope)
}

impl Envelope<'_> {
    /// Says what is missing when the kind is to be known from the envelope alone.
    ///
    /// # Errors
    ///
    /// When the kind or its version is not named, in upstream's words.
    pub fn check_kind(&self) -> Result<(), ProtobufError> {
        let missing = if self.kind.is_empty() {
            "Kind"
        } else if self.api_version.is_empty() {
            "apiVersion"
        } else {
            return Ok(());
        };
        Err(no_envelope(format!(
            "Object '{missing}' is missing in 'runtime.TypeMeta{{APIVersion:{}, Kind:{}}}'",
            quote(&self.api_version),
            quote(&self.kind)
        )))
    }

    fn read_type_meta(&mut self, bytes: &[u8]) -> Result<(), ProtobufError> {
        let mut reader = Reader::new(bytes);
        while let Some(tag) = reader.tag(|| "TypeMeta".into())? {
            match tag.number {
                API_VERSION => {
                    let bytes = field(&mut reader, tag, "APIVersion")?;
                    self.api_version = read_text(bytes);
                }
                KIND => self.kind = read_text(field(&mut reader, tag, "Kind")?),
                _ => reader.skip(tag.wire)?,
            }
        }
        Ok(())
    }
}

/// Writes what stands behind the message; tells how long that is.
pub(super) fn write_end(writer: &mut Writer) -> usize {
    writer.bytes_field(CONTENT_TYPE, b"");
    writer.bytes_field(CONTENT_ENCODING, b"");
    writer.len()
}

/// Writes what stands before the message that was written after `len`.
pub(super) fn write_start(writer: &mut Writer, len: usize, api_version: &str, kind: &str) {
    writer.close_field(RAW, len);
    write_type_meta(writer, api_version, kind);
}

fn write_type_meta(writer: &mut Writer, api_version: &str, kind: &str) {
    let len = writer.len();
    writer.bytes_field(KIND, kind.as_bytes());
    writer.bytes_field(API_VERSION, api_version.as_bytes());
    writer.close_field(TYPE_META, len);
    writer.bytes(&PREFIX);
}

/// The bytes of a field that has its length before it.
pub(super) fn field<'a>(
    reader: &mut Reader<'a>,
    tag: Tag,
    name: &str,
) -> Result<&'a [u8], ProtobufError> {
    expect_wire(tag, wire::BYTES, || name.to_owned())?;
    reader.bytes()
}

fn no_envelope(message: impl Into<String>) -> ProtobufError {
    ProtobufError::NoEnvelope { message: message.into() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_out_of_its_envelope() {
        let sealed = seal("apps/v1", "Deployment", b"raw");
        assert_eq!(
            sealed,
            b"k8s\0\x0a\x15\x0a\x07apps/v1\x12\x0aDeployment\x12\x03raw\x1a\0\x22\0"
        );
        let envelope = open(&sealed).unwrap();
        assert_eq!(envelope.api_version, "apps/v1");
        assert_eq!(envelope.kind, "Deployment");
        assert_eq!(envelope.raw, b"raw");
    }

    #[test]
    fn an_envelope_around_a_message_is_the_same() {
        for length in [0, 3, 300, 100_000] {
            let raw = vec![7; length];
            let (start, end) = seal_around("apps/v1", "DeploymentList", length);
            assert_eq!([start, raw.clone(), end].concat(), seal("apps/v1", "DeploymentList", &raw));
        }
    }

    fn check(bytes: &[u8], expect: &str) {
        let result = open(bytes).and_then(|envelope| envelope.check_kind());
        assert_eq!(result.unwrap_err().to_string(), expect);
    }

    #[test]
    fn what_is_no_envelope_is_refused_in_upstreams_words() {
        let wrong = concat!(
            "provided data does not appear to be a protobuf message, ",
            "expected prefix [107 56 115 0]"
        );
        check(b"", "empty data");
        check(b"k8", wrong);
        check(b"{\"kind\":1}", wrong);
        check(b"k8s\0", "empty body");
        check(b"k8s\0\x08\x01", "proto: wrong wireType = 0 for field TypeMeta");
        check(b"k8s\0\x0a\x05", "unexpected EOF");
        check(b"k8s\0\x0c", "proto: Unknown: wiretype end group for non-group");
        check(
            b"k8s\0\x12\x00",
            r#"Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:"", Kind:""}'"#,
        );
        check(
            b"k8s\0\x0a\x03\x12\x01A",
            r#"Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:"", Kind:"A"}'"#,
        );
    }
}
