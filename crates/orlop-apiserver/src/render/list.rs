//! Lists: what stands around the items, and which items there are.

use std::sync::Arc;

use orlop_machinery::status::Status;
use orlop_machinery::{Map, Str, Value, encode, json};

use super::list_pieces::ListPieces;
use super::{Renderer, Role, Source, metas, protobuf_list};
use crate::body::Body;
use crate::cache::{Filter, Item, View};
use crate::object::Object;
use crate::output::{Format, Shape};

/// What a list says about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListHead {
    /// The version of all of it; 0 for what is not kept.
    pub revision: u64,
    /// With what to ask for the next part; empty when there is none.
    pub continue_token: String,
    /// How many follow in later parts, when it is known.
    pub remaining: Option<i64>,
}

/// The items of a list: places of a view, and which of the objects there are wanted.
#[derive(Clone)]
pub(crate) struct Page {
    /// The objects.
    pub view: View,
    /// The first place.
    pub start: usize,
    /// The first place that is not in it.
    pub end: usize,
    /// Which of them; all without one.
    pub filter: Option<Arc<Filter>>,
}

/// The text around the items of a list.
pub(super) struct Frame {
    pub before: Vec<u8>,
    pub after: Vec<u8>,
    /// What stands for no items at all.
    pub empty: &'static [u8],
}

impl Renderer {
    /// An answer that is a list.
    ///
    /// # Errors
    ///
    /// When the first objects cannot be read. Later ones that cannot are left out: the answer has
    /// begun.
    pub(crate) async fn list(self, page: Page, head: ListHead) -> Result<Body, Status> {
        match self.output.format {
            Format::Protobuf => protobuf_list::build(&self, &page, &head).await,
            Format::Json => ListPieces::new(self, page, &head).into_body(),
            Format::PrettyJson | Format::Yaml => {
                let finisher = self.clone();
                let mut pieces = ListPieces::new(self, page, &head);
                let mut whole = Vec::new();
                while let Some(piece) = pieces.next_piece()? {
                    whole.extend_from_slice(&piece);
                    tokio::task::yield_now().await;
                }
                whole.truncate(whole.trim_ascii_end().len());
                finisher.finish(whole).map(Body::from)
            }
        }
    }

    /// An answer that is a short list of objects in the order in which they are given.
    ///
    /// # Errors
    ///
    /// When an object cannot be read.
    pub(crate) fn list_of(&self, objects: &[Source<'_>], head: &ListHead) -> Result<Body, Status> {
        if self.output.format == Format::Protobuf {
            return protobuf_list::build_of(self, objects, head);
        }
        let frame = self.frame(head);
        let mut out = frame.before;
        for (place, object) in objects.iter().enumerate() {
            out.push(if place == 0 { b'[' } else { b',' });
            self.write_json(*object, Role::Item, &mut out)?;
        }
        out.extend_from_slice(if objects.is_empty() { frame.empty } else { b"]" });
        out.extend_from_slice(frame.after.trim_ascii_end());
        self.finish(out).map(Body::from)
    }

    /// The text around the items.
    pub(super) fn frame(&self, head: &ListHead) -> Frame {
        let (api_version, kind) = self.list_type();
        let mut before = Vec::with_capacity(256);
        let (mut after, mut empty): (Vec<u8>, &'static [u8]) = (b"}\n".to_vec(), b"[]");
        match self.output.shape {
            Shape::Table(..) => {
                self.write_table_start(true, &mut before, |out| head.write(out));
            }
            Shape::Object if self.left_out.is_empty() => {
                before.extend_from_slice(br#"{"apiVersion":"#);
                json::write(&Value::from(api_version), &mut before);
                before.extend_from_slice(br#","items":"#);
                after = head.sorted_end(&kind);
            }
            Shape::Object | Shape::Metadata(_) => {
                if matches!(self.output.shape, Shape::Metadata(_)) {
                    empty = b"null";
                }
                before.extend_from_slice(br#"{"kind":""#);
                before.extend_from_slice(kind.as_bytes());
                before.extend_from_slice(br#"","apiVersion":""#);
                before.extend_from_slice(api_version.as_bytes());
                before.extend_from_slice(br#"","metadata":"#);
                head.write(&mut before);
                before.extend_from_slice(br#","items":"#);
            }
        }
        Frame { before, after, empty }
    }

    /// What a list of such objects is called.
    pub(super) fn list_type(&self) -> (Str, Str) {
        match self.output.shape {
            Shape::Metadata(version) => {
                (Str::const_new(version.api_version()), Str::const_new("PartialObjectMetadataList"))
            }
            Shape::Object | Shape::Table(..) => {
                (self.definition.api_version.clone(), self.definition.resource.list_kind.clone())
            }
        }
    }
}

impl ListHead {
    /// As an object.
    pub(super) fn to_value(&self) -> Value {
        let mut value = Value::Map(Map::new());
        if self.revision > 0 {
            value.set("resourceVersion", self.revision.to_string());
        }
        if !self.continue_token.is_empty() {
            value.set("continue", self.continue_token.as_str());
        }
        if let Some(remaining) = self.remaining {
            value.set("remainingItemCount", remaining);
        }
        value
    }

    fn write(&self, out: &mut Vec<u8>) {
        encode::write(metas().schema, metas().list_meta, &self.to_value(), out);
    }

    /// What stands behind the items of objects that are written in the order of names.
    fn sorted_end(&self, kind: &str) -> Vec<u8> {
        let mut metadata = self.to_value();
        metadata.set("continue", self.continue_token.as_str());
        let mut out = br#","kind":"#.to_vec();
        json::write(&Value::from(kind), &mut out);
        out.extend_from_slice(br#","metadata":"#);
        json::write(&metadata, &mut out);
        out.extend_from_slice(b"}\n");
        out
    }
}

impl Page {
    /// The wanted objects from a place on, each with its place.
    pub(super) fn items(&self, from: usize) -> impl Iterator<Item = (usize, &Arc<Object>)> {
        let places = from..self.end;
        let items = places.zip(self.view.objects.iter_from_place(from));
        items
            .map(|(place, Item(object))| (place, object))
            .filter(|(_, object)| self.filter.as_ref().is_none_or(|filter| filter.matches(object)))
    }
}

impl Page {
    /// The place of the wanted object that has so many wanted ones before it.
    pub(crate) fn place_of(&self, number: usize) -> Option<usize> {
        match self.filter {
            None => self.start.checked_add(number).filter(|place| *place < self.end),
            Some(_) => self.items(self.start).nth(number).map(|(place, _)| place),
        }
    }
}

/// An object as it is in its view.
pub(super) fn as_kept(object: &Object) -> Source<'_> {
    Source::Kept(object, object.revision())
}
