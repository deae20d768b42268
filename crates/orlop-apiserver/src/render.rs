//! Objects, lists and events as bytes, in the form that a client wants.
//!
//! Whole objects in JSON are the stored bytes with their resource version put in; everything else
//! is decoded and written by its schema. What stands in a list of a built-in kind has neither
//! `kind` nor `apiVersion`, as upstream writes it.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/response.go` and the serializers of
//! `apimachinery/pkg/runtime/serializer`.

mod event;
mod list;
mod list_pieces;
mod metas;
mod protobuf_list;
mod table;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use orlop_machinery::partial_object_metadata::{self, MetaVersion};
use orlop_machinery::status::Status;
use orlop_machinery::{Value, encode, json, protobuf, yaml};
use orlop_storage::Clock;

pub(crate) use event::Shown;
pub(crate) use list::{ListHead, Page};
use metas::metas;

use crate::definition::Definition;
use crate::object::Object;
use crate::output::{Format, Output, Shape};
use crate::respond::indent;

/// Writes objects of one definition in one form.
#[derive(Clone)]
pub(crate) struct Renderer {
    definition: Arc<Definition>,
    output: Output,
    clock: Arc<dyn Clock>,
    /// What the stored text of an object starts with that is left out inside a list; empty where
    /// nothing is.
    left_out: String,
}

/// What is written.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// An object as it is kept, with the resource version to show.
    Kept(&'a Object, u64),
    /// An object that somebody has read, with its resource version.
    Value(&'a Value),
}

/// Where it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Alone; a table has its headings or not.
    Whole { has_columns: bool },
    /// In a list.
    Item,
}

impl Renderer {
    /// Writes objects of a definition in a form.
    pub(crate) fn new(
        definition: Arc<Definition>,
        output: Output,
        clock: Arc<dyn Clock>,
    ) -> Renderer {
        let first = definition.schema.get(definition.id).in_order().next();
        let left_out = match first {
            Some(field) if field.name == "kind" => format!(
                r#"{{"kind":"{}","apiVersion":"{}","#,
                definition.resource.kind, definition.api_version
            ),
            _ => String::new(),
        };
        Renderer { definition, output, clock, left_out }
    }

    /// An answer that is one object.
    ///
    /// # Errors
    ///
    /// When the object cannot be read or cannot be shown in this form.
    pub(crate) fn object(&self, source: Source<'_>) -> Result<Bytes, Status> {
        if self.output.format == Format::Protobuf {
            return self.sealed(source).map(Bytes::from);
        }
        let mut out = Vec::with_capacity(source.size_hint() + 64);
        self.write_json(source, Role::Whole { has_columns: true }, &mut out)?;
        self.finish(out).map(Bytes::from)
    }

    /// Turns compact JSON into the text that was asked for.
    fn finish(&self, mut json: Vec<u8>) -> Result<Vec<u8>, Status> {
        match self.output.format {
            Format::PrettyJson => Ok(indent(&json)),
            Format::Yaml => {
                let value = json::parse(&json).map_err(Status::internal_error)?;
                Ok(yaml::to_string(&value).into_bytes())
            }
            Format::Json | Format::Protobuf => {
                json.push(b'\n');
                Ok(json)
            }
        }
    }

    /// Appends an object as compact JSON, in the shape that was asked for.
    fn write_json(&self, source: Source<'_>, role: Role, out: &mut Vec<u8>) -> Result<(), Status> {
        match (self.output.shape, role) {
            (Shape::Object, Role::Whole { .. }) => self.write_whole(source, out),
            (Shape::Object, Role::Item) => self.write_item(source, out),
            (Shape::Metadata(version), _) => self.write_metadata(source, version, out),
            (Shape::Table(..), Role::Whole { has_columns }) => {
                self.write_table(source, has_columns, out)
            }
            (Shape::Table(..), Role::Item) => self.write_row(source, out),
        }
    }

    fn write_whole(&self, source: Source<'_>, out: &mut Vec<u8>) -> Result<(), Status> {
        if let Some(spliced) = self.spliced(source, 0) {
            spliced.write(out);
            return Ok(());
        }
        let value = self.value(source)?;
        encode::write(&self.definition.schema, self.definition.id, &value, out);
        Ok(())
    }

    fn write_item(&self, source: Source<'_>, out: &mut Vec<u8>) -> Result<(), Status> {
        if self.left_out.is_empty() {
            return self.write_whole(source, out);
        }
        if let Source::Kept(object, _) = source
            && object.stored().starts_with(self.left_out.as_bytes())
            && let Some(spliced) = self.spliced(source, self.left_out.len())
        {
            out.push(b'{');
            spliced.write(out);
            return Ok(());
        }
        let mut value = self.value(source)?.into_owned();
        value.remove("kind");
        value.remove("apiVersion");
        encode::write(&self.definition.schema, self.definition.id, &value, out);
        Ok(())
    }

    fn write_metadata(
        &self,
        source: Source<'_>,
        version: MetaVersion,
        out: &mut Vec<u8>,
    ) -> Result<(), Status> {
        if let Source::Kept(object, revision) = source
            && let Some(metadata) = object.spliced_metadata(revision)
        {
            out.extend_from_slice(br#"{"kind":"PartialObjectMetadata","apiVersion":""#);
            out.extend_from_slice(version.api_version().as_bytes());
            out.extend_from_slice(br#"","metadata":"#);
            metadata.write(out);
            out.push(b'}');
            return Ok(());
        }
        let partial = partial_object_metadata::from_object(&*self.value(source)?, version);
        encode::write(metas().schema, metas().partial_object_metadata, &partial, out);
        Ok(())
    }

    /// The stored text with the resource version, where it can go out as it is.
    fn spliced<'a>(&self, source: Source<'a>, skip: usize) -> Option<crate::object::Spliced<'a>> {
        match source {
            Source::Kept(object, revision) => object.spliced(revision, skip),
            Source::Value(_) => None,
        }
    }

    /// The object in its protobuf envelope.
    fn sealed(&self, source: Source<'_>) -> Result<Vec<u8>, Status> {
        let value = self.value(source)?;
        match self.output.shape {
            Shape::Object => {
                let (schema, id) = (&*self.definition.schema, self.definition.id);
                Ok(protobuf::encode_sealed(schema, id, &value))
            }
            Shape::Metadata(version) => {
                let partial = partial_object_metadata::from_object(&value, version);
                let id = metas().partial_object_metadata;
                Ok(protobuf::encode_sealed(metas().schema, id, &partial))
            }
            Shape::Table(..) => Err(no_table_in_protobuf()),
        }
    }

    /// The object as a message, as it stands in a list.
    fn message(&self, source: Source<'_>) -> Result<Vec<u8>, Status> {
        let value = self.value(source)?;
        match self.output.shape {
            Shape::Object => {
                let (schema, id) = (&*self.definition.schema, self.definition.id);
                Ok(protobuf::encode(schema, id, &value))
            }
            Shape::Metadata(version) => {
                let partial = partial_object_metadata::from_object(&value, version);
                let id = metas().partial_object_metadata;
                Ok(protobuf::encode(metas().schema, id, &partial))
            }
            Shape::Table(..) => Err(no_table_in_protobuf()),
        }
    }

    fn value<'a>(&self, source: Source<'a>) -> Result<Cow<'a, Value>, Status> {
        match source {
            Source::Value(value) => Ok(Cow::Borrowed(value)),
            Source::Kept(object, revision) => {
                object.value(&self.definition, revision).map(Cow::Owned)
            }
        }
    }
}

impl Source<'_> {
    fn size_hint(&self) -> usize {
        match self {
            Source::Kept(object, _) => object.stored().len(),
            Source::Value(_) => 1024,
        }
    }
}

/// Negotiation does not let it come to this.
fn no_table_in_protobuf() -> Status {
    Status::not_acceptable_conversion("Table", &["application/json", "application/yaml"])
}

#[cfg(test)]
mod tests;
