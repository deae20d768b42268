//! Events of a watch.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/watch.go`: JSON events are compact
//! and end with a line, whatever was asked for; protobuf ones have their length before them.

use bytes::Bytes;
use orlop_machinery::status::Status;
use orlop_machinery::{Value, decode, encode, protobuf};

use super::{Renderer, Role, Source, metas};
use crate::cache::{FrameKey, Seen};
use crate::object::Object;
use crate::output::{Format, Shape};

/// The annotation of the bookmark that ends the initial events of a watch.
pub(crate) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// The most bytes around an object.
const AROUND_MAX: usize = 96;

/// An object, as an event shows it.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// How the change looks.
    pub seen: Seen,
    /// The object.
    pub object: &'a Object,
    /// The version of the change.
    pub revision: u64,
    /// Whether a table has its headings.
    pub has_columns: bool,
}

impl Renderer {
    /// An event that shows an object. One that cannot be read becomes an error.
    pub(crate) fn event(&self, shown: Shown<'_>) -> Bytes {
        let mut out = Vec::with_capacity(shown.object.stored().len() + AROUND_MAX);
        self.write_event(shown, &mut out);
        out.into()
    }

    /// Appends such an event.
    pub(crate) fn write_event(&self, shown: Shown<'_>, out: &mut Vec<u8>) {
        let source = Source::Kept(shown.object, shown.revision);
        self.write_typed(shown.seen.event_type(), source, shown.has_columns, out);
    }

    /// What tells the written form of an event apart from others of the same change.
    pub(crate) fn frame_key(&self, seen: Seen, has_columns: bool) -> FrameKey {
        let has_columns = has_columns && matches!(self.output.shape, Shape::Table(..));
        FrameKey { seen, output: self.output, has_columns }
    }

    /// An event that says only how far the watch is.
    pub(crate) fn bookmark(&self, revision: u64, ends_initial: bool, has_columns: bool) -> Bytes {
        let definition = &self.definition;
        let mut metadata = Value::from([("resourceVersion", revision.to_string())]);
        if ends_initial {
            metadata.set("annotations", Value::from([(INITIAL_EVENTS_END, "true")]));
        }
        let bookmark = Value::from([
            ("apiVersion", Value::from(definition.api_version.clone())),
            ("kind", Value::from(definition.resource.kind.clone())),
            ("metadata", metadata),
        ]);
        // Fields that Go never leaves out are there too.
        let decoded = decode::decode(&definition.schema, definition.id, bookmark.clone());
        let bookmark = decoded.map_or(bookmark, |decoded| decoded.object);
        let mut out = Vec::with_capacity(512);
        self.write_typed("BOOKMARK", Source::Value(&bookmark), has_columns, &mut out);
        out.into()
    }

    /// The event that ends a watch that cannot go on.
    pub(crate) fn error(&self, status: &Status) -> Bytes {
        let mut out = Vec::new();
        self.write_error(status, &mut out);
        out.into()
    }

    fn write_typed(
        &self,
        event_type: &str,
        source: Source<'_>,
        has_columns: bool,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        let written = match self.output.format {
            Format::Protobuf => {
                self.sealed(source).map(|sealed| protobuf::write_event(event_type, &sealed, out))
            }
            Format::Json | Format::PrettyJson | Format::Yaml => {
                write_json_start(event_type, out);
                let written = self.write_json(source, Role::Whole { has_columns }, out);
                out.extend_from_slice(b"}\n");
                written
            }
        };
        if let Err(status) = written {
            tracing::error!(%status, definition = ?self.definition, "cannot show an event");
            out.truncate(start);
            self.write_error(&status, out);
        }
    }

    fn write_error(&self, status: &Status, out: &mut Vec<u8>) {
        let value = status.to_value();
        let (schema, id) = (metas().schema, metas().status);
        match self.output.format {
            Format::Protobuf => {
                let sealed = protobuf::encode_sealed(schema, id, &value);
                protobuf::write_event("ERROR", &sealed, out);
            }
            Format::Json | Format::PrettyJson | Format::Yaml => {
                write_json_start("ERROR", out);
                encode::write(schema, id, &value, out);
                out.extend_from_slice(b"}\n");
            }
        }
    }
}

fn write_json_start(event_type: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"type":""#);
    out.extend_from_slice(event_type.as_bytes());
    out.extend_from_slice(br#"","object":"#);
}
