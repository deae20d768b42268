//! A list as one protobuf message in its envelope.
//!
//! The envelope says before the list how long it is, so all items are written before anything can
//! be sent: the answer is held in pieces, and nothing beside it.

use std::collections::VecDeque;

use bytes::Bytes;
use orlop_machinery::protobuf;
use orlop_machinery::status::Status;

use super::list::{ListHead, Page, as_kept};
use super::list_pieces::PIECE_BYTES;
use super::{Renderer, Source, metas};
use crate::body::Body;

/// Every list has its metadata as its first field and its items as the second.
const METADATA: u8 = 0x0a;
const ITEMS: u8 = 0x12;

/// Writes a list.
pub(super) async fn build(
    renderer: &Renderer,
    page: &Page,
    head: &ListHead,
) -> Result<Body, Status> {
    let mut current = Vec::with_capacity(PIECE_BYTES);
    write_head(head, &mut current);
    let mut pieces = VecDeque::new();
    let mut place = page.start;
    while place < page.end {
        let mut next = page.end;
        for (at, object) in page.items(place) {
            if current.len() >= PIECE_BYTES {
                next = at;
                break;
            }
            write_field(ITEMS, &renderer.message(as_kept(object))?, &mut current);
        }
        place = next;
        pieces.push_back(Bytes::from(std::mem::take(&mut current)));
        // Long lists let others have their turn.
        tokio::task::yield_now().await;
    }
    if !current.is_empty() {
        pieces.push_back(current.into());
    }
    Ok(seal(renderer, pieces))
}

/// Writes a short list.
pub(super) fn build_of(
    renderer: &Renderer,
    objects: &[Source<'_>],
    head: &ListHead,
) -> Result<Body, Status> {
    let mut out = Vec::new();
    write_head(head, &mut out);
    for object in objects {
        write_field(ITEMS, &renderer.message(*object)?, &mut out);
    }
    Ok(seal(renderer, VecDeque::from([out.into()])))
}

fn write_head(head: &ListHead, out: &mut Vec<u8>) {
    let metadata = protobuf::encode(metas().schema, metas().list_meta, &head.to_value());
    write_field(METADATA, &metadata, out);
}

fn seal(renderer: &Renderer, mut pieces: VecDeque<Bytes>) -> Body {
    let length: usize = pieces.iter().map(Bytes::len).sum();
    let (api_version, kind) = renderer.list_type();
    let (start, end) = protobuf::seal_around(&api_version, &kind, length);
    pieces.push_front(start.into());
    pieces.push_back(end.into());
    Body::Pieces(pieces)
}

fn write_field(tag: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    let mut length = content.len();
    while length >= 0x80 {
        out.push(u8::try_from(length & 0x7f | 0x80).expect("seven bits and one"));
        length >>= 7;
    }
    out.push(u8::try_from(length).expect("seven bits"));
    out.extend_from_slice(content);
}
