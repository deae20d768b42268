//! Objects as rows of a table.
//!
//! After `asTable` in `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/response.go`.

use std::borrow::Cow;

use orlop_machinery::kind::Context;
use orlop_machinery::partial_object_metadata::MetaVersion;
use orlop_machinery::status::Status;
use orlop_machinery::table::IncludeObject;
use orlop_machinery::{Map, Value, encode, json};

use super::event::INITIAL_EVENTS_END;
use super::{Renderer, Source, metas};
use crate::object::write_number;
use crate::output::Shape;

impl Renderer {
    /// Appends a table of one object.
    pub(super) fn write_table(
        &self,
        source: Source<'_>,
        has_columns: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Status> {
        self.write_table_start(has_columns, out, |out| {
            if matches!(source, Source::Kept(_, 0)) {
                out.extend_from_slice(b"{}");
                return;
            }
            out.extend_from_slice(br#"{"resourceVersion":""#);
            match source {
                Source::Kept(_, revision) => write_number(revision, out),
                Source::Value(value) => {
                    let version = value.path(&["metadata", "resourceVersion"]).str();
                    out.extend_from_slice(version.as_bytes());
                }
            }
            out.extend_from_slice(br#""}"#);
        });
        out.push(b'[');
        self.write_row(source, out)?;
        out.extend_from_slice(b"]}");
        Ok(())
    }

    /// Appends everything before the rows.
    pub(super) fn write_table_start(
        &self,
        has_columns: bool,
        out: &mut Vec<u8>,
        write_metadata: impl FnOnce(&mut Vec<u8>),
    ) {
        out.extend_from_slice(br#"{"kind":"Table","apiVersion":""#);
        out.extend_from_slice(self.table().0.api_version().as_bytes());
        out.extend_from_slice(br#"","metadata":"#);
        write_metadata(out);
        out.extend_from_slice(br#","columnDefinitions":"#);
        self.write_columns(has_columns, out);
        out.extend_from_slice(br#","rows":"#);
    }

    fn write_columns(&self, has_columns: bool, out: &mut Vec<u8>) {
        if !has_columns {
            out.extend_from_slice(b"null");
            return;
        }
        for (place, column) in self.definition.kind.headings().iter().enumerate() {
            out.push(if place == 0 { b'[' } else { b',' });
            let column = Value::from(column);
            encode::write(metas().schema, metas().column, &column, out);
        }
        out.push(b']');
    }

    /// Appends the row of an object.
    pub(super) fn write_row(&self, source: Source<'_>, out: &mut Vec<u8>) -> Result<(), Status> {
        let value = self.row_value(source)?;
        let now_seconds = i64::try_from(self.clock.now().as_secs()).unwrap_or(i64::MAX);
        let context = Context { now_seconds, ..Context::default() };
        let row = self.definition.kind.row(&context, &value);
        let mut fields = Map::with_capacity(2);
        fields.insert("cells", Value::List(row.cells));
        if !row.conditions.is_empty() {
            fields.insert("conditions", Value::List(row.conditions));
        }
        encode::write(metas().schema, metas().row, &Value::Map(fields), out);
        // The object goes inside.
        out.pop();
        out.extend_from_slice(br#","object":"#);
        let (version, include) = self.table();
        let ends_initial_events =
            value.path(&["metadata", "annotations", INITIAL_EVENTS_END]).str() == "true";
        match include {
            IncludeObject::Object => self.write_whole(source, out)?,
            IncludeObject::None if !ends_initial_events => out.extend_from_slice(b"null"),
            IncludeObject::None | IncludeObject::Metadata => {
                self.write_metadata(source, version, out)?;
            }
        }
        out.push(b'}');
        Ok(())
    }

    /// What cells are made of. What is stored in this version is in normal form already, and
    /// defaults that came later than the object do not show in columns.
    fn row_value<'a>(&self, source: Source<'a>) -> Result<Cow<'a, Value>, Status> {
        match source {
            Source::Kept(object, _) => {
                json::parse(object.stored()).map(Cow::Owned).map_err(Status::internal_error)
            }
            Source::Value(value) => Ok(Cow::Borrowed(value)),
        }
    }

    /// What was asked for, where a table was.
    fn table(&self) -> (MetaVersion, IncludeObject) {
        match self.output.shape {
            Shape::Table(version, include) => (version, include),
            Shape::Object | Shape::Metadata(_) => Default::default(),
        }
    }
}
