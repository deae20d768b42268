//! A list as text, made piece by piece when it is wanted.
//!
//! It holds the view that it is made from, which shares everything with the cache, and nothing
//! else: however long the list is, no more than one piece of it is in memory.

use std::task::{Context, Poll};

use bytes::Bytes;
use orlop_machinery::status::Status;

use super::list::{Frame, ListHead, Page, as_kept};
use super::{Renderer, Role};
use crate::body::{Body, Pieces};

/// About how long a piece is.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;
/// What an object is taken to need before it is seen.
const OBJECT_BYTES: usize = 2048;
/// The most objects that one piece looks at: a filter may want few of many.
const LOOKED_AT_MAX: usize = 4096;

/// See the module's documentation.
pub(super) struct ListPieces {
    renderer: Renderer,
    page: Page,
    frame: Frame,
    /// The place to go on at.
    place: usize,
    has_started: bool,
    has_items: bool,
    has_ended: bool,
}

impl ListPieces {
    pub(super) fn new(renderer: Renderer, page: Page, head: &ListHead) -> ListPieces {
        let (frame, place) = (renderer.frame(head), page.start);
        let (has_started, has_items, has_ended) = (false, false, false);
        ListPieces { renderer, page, frame, place, has_started, has_items, has_ended }
    }

    /// The list as a body: one piece when it is short.
    pub(super) fn into_body(mut self) -> Result<Body, Status> {
        let first = self.next_piece()?.unwrap_or_default();
        if self.has_ended {
            return Ok(Body::Whole(first));
        }
        Ok(Body::stream(Started { first: Some(first), rest: self }))
    }

    /// The next piece, which is empty where many objects are not wanted; none at the end.
    ///
    /// # Errors
    ///
    /// When an object of the first piece cannot be read.
    pub(super) fn next_piece(&mut self) -> Result<Option<Bytes>, Status> {
        if self.has_ended {
            return Ok(None);
        }
        let expected = self.page.end.saturating_sub(self.place).saturating_mul(OBJECT_BYTES);
        let room = self.frame.before.len() + expected.min(PIECE_BYTES) + OBJECT_BYTES;
        let mut out = Vec::with_capacity(room);
        let is_first = !std::mem::replace(&mut self.has_started, true);
        if is_first {
            out.extend_from_slice(&self.frame.before);
        }
        self.write_some(&mut out, is_first)?;
        Ok(Some(out.into()))
    }

    fn write_some(&mut self, out: &mut Vec<u8>, is_first: bool) -> Result<(), Status> {
        let last = self.place.saturating_add(LOOKED_AT_MAX).min(self.page.end);
        let mut next = last;
        for (place, object) in self.page.items(self.place) {
            if place >= last {
                break;
            }
            if out.len() >= PIECE_BYTES {
                next = place;
                break;
            }
            let before = out.len();
            out.push(if self.has_items { b',' } else { b'[' });
            match self.renderer.write_json(as_kept(object), Role::Item, out) {
                Ok(()) => self.has_items = true,
                Err(status) if is_first => return Err(status),
                Err(status) => {
                    tracing::error!(%status, ?object, "left out of a list");
                    out.truncate(before);
                }
            }
        }
        self.place = next;
        if self.place >= self.page.end {
            out.extend_from_slice(if self.has_items { b"]" } else { self.frame.empty });
            out.extend_from_slice(&self.frame.after);
            self.has_ended = true;
        }
        Ok(())
    }
}

struct Started {
    first: Option<Bytes>,
    rest: ListPieces,
}

impl Pieces for Started {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        // After the first piece nothing fails.
        match self.rest.next_piece().unwrap_or_default() {
            // Others have their turn before the search goes on.
            Some(piece) if piece.is_empty() => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            piece => Poll::Ready(piece),
        }
    }
}
