//! Long answers go out packed, when the client can unpack them.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/writers.go`. An
//! answer is packed piece by piece while it is sent, so packing needs no memory for the whole.
//!
//! Deliberately not here: which answers may be packed. Watches never are.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::Write;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use http::{HeaderMap, HeaderValue, Response};

use crate::body::{Body, Pieces};

/// Shorter answers are not worth it.
const THRESHOLD: usize = 128 * 1024;
/// How much is packed at a time.
const STEP: usize = 64 * 1024;

/// Packs an answer when it is long and the client accepts it.
pub(crate) async fn compress(request: &HeaderMap, response: Response<Body>) -> Response<Body> {
    if !accepts_gzip(request) || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let (first, rest) = begin(body).await;
    let length: usize = first.iter().map(Bytes::len).sum();
    if length <= THRESHOLD {
        // Then nothing is left to come.
        return Response::from_parts(parts, whole(first));
    }
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    parts.headers.remove(CONTENT_LENGTH);
    let encoder = Some(GzEncoder::new(Vec::new(), Compression::new(1)));
    let source = Resumed { first, rest };
    Response::from_parts(parts, Body::stream(Packed { source, encoder }))
}

fn accepts_gzip(request: &HeaderMap) -> bool {
    let text = request.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    text.is_some_and(|text| text.split(',').any(|token| token.trim() == "gzip"))
}

/// The pieces that come first: all of them, or enough to know that it is worth it.
async fn begin(body: Body) -> (VecDeque<Bytes>, Option<Box<dyn Pieces>>) {
    let mut pieces = match body {
        Body::Whole(bytes) => return (VecDeque::from([bytes]), None),
        Body::Pieces(pieces) => return (pieces, None),
        Body::Stream(pieces) => pieces,
    };
    let mut first = VecDeque::new();
    let mut length = 0;
    while length <= THRESHOLD {
        let Some(piece) = poll_fn(|context| pieces.poll_piece(context)).await else {
            return (first, None);
        };
        length += piece.len();
        first.push_back(piece);
    }
    (first, Some(pieces))
}

fn whole(mut pieces: VecDeque<Bytes>) -> Body {
    match pieces.len() {
        0 => Body::empty(),
        1 => Body::Whole(pieces.pop_front().unwrap_or_default()),
        _ => Body::Pieces(pieces),
    }
}

/// Pieces of which some were looked at.
struct Resumed {
    first: VecDeque<Bytes>,
    rest: Option<Box<dyn Pieces>>,
}

impl Pieces for Resumed {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(mut piece) = self.first.pop_front() {
            if piece.len() > STEP {
                self.first.push_front(piece.split_off(STEP));
            }
            return Poll::Ready(Some(piece));
        }
        match &mut self.rest {
            Some(pieces) => pieces.poll_piece(context),
            None => Poll::Ready(None),
        }
    }
}

/// The same, packed.
struct Packed {
    source: Resumed,
    /// None at the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Pieces for Packed {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while let Some(encoder) = &mut self.encoder {
            let piece = match self.source.poll_piece(context) {
                Poll::Ready(piece) => piece,
                Poll::Pending => return Poll::Pending,
            };
            let packed = match piece {
                Some(piece) => {
                    encoder.write_all(&piece).expect("writing to memory does not fail");
                    std::mem::take(encoder.get_mut())
                }
                None => {
                    let encoder = self.encoder.take();
                    let end = encoder.and_then(|encoder| encoder.finish().ok());
                    end.unwrap_or_default()
                }
            };
            if !packed.is_empty() {
                return Poll::Ready(Some(Bytes::from(packed)));
            }
        }
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use http_body_util::BodyExt;
    use std::io::Read;

    /// Yields a piece of each length, and waits once before each.
    struct Slow(VecDeque<usize>, bool);

    impl Pieces for Slow {
        fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
            self.1 = !self.1;
            if self.1 {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(self.0.pop_front().map(|length| Bytes::from(vec![b'a'; length])))
        }
    }

    async fn check(accept: &'static str, body: Body, length: usize, is_packed: bool) {
        let request = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accept))]);
        let response = compress(&request, Response::new(body)).await;
        assert_eq!(response.headers().contains_key(CONTENT_ENCODING), is_packed);
        assert_eq!(response.headers().contains_key(VARY), is_packed);
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let text = if is_packed {
            assert!(bytes.len() < length / 10);
            let mut text = Vec::new();
            GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
            text
        } else {
            bytes.to_vec()
        };
        assert_eq!(text.len(), length);
        assert!(text.iter().all(|byte| *byte == b'a'));
    }

    fn pieces(lengths: &[usize]) -> VecDeque<Bytes> {
        lengths.iter().map(|length| Bytes::from(vec![b'a'; *length])).collect()
    }

    #[tokio::test]
    async fn only_long_answers_are_packed() {
        check("gzip", Body::from(vec![b'a'; THRESHOLD]), THRESHOLD, false).await;
        check("gzip", Body::from(vec![b'a'; THRESHOLD + 1]), THRESHOLD + 1, true).await;
        check("gzip", Body::empty(), 0, false).await;
        check("gzip", Body::Pieces(pieces(&[1, 2, 3])), 6, false).await;
        check("gzip", Body::Pieces(pieces(&[100_000, 100_000])), 200_000, true).await;
    }

    #[tokio::test]
    async fn only_clients_that_can_unpack_get_packed_answers() {
        for accept in ["", "identity", "deflate, br", "gzip;q=1"] {
            check(accept, Body::from(vec![b'a'; 200_000]), 200_000, false).await;
        }
        check("deflate, gzip ,br", Body::from(vec![b'a'; 200_000]), 200_000, true).await;
    }

    #[tokio::test]
    async fn streams_are_packed_on_their_way() {
        let stream =
            |lengths: &[usize]| Body::stream(Slow(lengths.iter().copied().collect(), false));
        check("gzip", stream(&[]), 0, false).await;
        check("gzip", stream(&[1, 70_000]), 70_001, false).await;
        check("gzip", stream(&[1, 70_000, 70_000, 500_000, 3]), 640_004, true).await;
    }
}
