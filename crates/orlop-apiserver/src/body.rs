//! What an answer is made of: bytes that are there, or bytes that come.
//!
//! One enum instead of a box per answer: most answers are one piece of bytes.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// The body of an answer.
pub enum Body {
    /// One piece; may be empty.
    Whole(Bytes),
    /// Pieces that belong together, such as an object with its version put in.
    Pieces(VecDeque<Bytes>),
    /// Pieces that are made when they are wanted: long lists, watches. It ends with none.
    Stream(Box<dyn Pieces>),
}

/// Makes the pieces of a long answer, one at a time.
pub trait Pieces: Send {
    /// The next piece; none at the end. Never an empty one.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// The body of a request, whoever brings it.
pub type RequestBody = http_body_util::combinators::UnsyncBoxBody<
    Bytes,
    Box<dyn std::error::Error + Send + Sync + 'static>,
>;

impl Body {
    /// A body without bytes.
    #[must_use]
    pub fn empty() -> Body {
        Body::Whole(Bytes::new())
    }

    /// A body that comes piece by piece.
    #[must_use]
    pub fn stream(pieces: impl Pieces + 'static) -> Body {
        Body::Stream(Box::new(pieces))
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Body {
        Body::Whole(bytes.into())
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match self.get_mut() {
            Body::Whole(bytes) => Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty()),
            Body::Pieces(pieces) => pieces.pop_front(),
            Body::Stream(pieces) => match pieces.poll_piece(context) {
                Poll::Ready(piece) => piece,
                Poll::Pending => return Poll::Pending,
            },
        };
        Poll::Ready(piece.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Whole(bytes) => bytes.is_empty(),
            Body::Pieces(pieces) => pieces.is_empty(),
            Body::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Body::Pieces(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum())
            }
            Body::Stream(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Body::Whole(bytes) => write!(out, "Whole({} bytes)", bytes.len()),
            Body::Pieces(pieces) => write!(out, "Pieces({})", pieces.len()),
            Body::Stream(_) => out.write_str("Stream"),
        }
    }
}
