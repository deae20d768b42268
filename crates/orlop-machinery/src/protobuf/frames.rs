//! Watches in protobuf: events one after the other, each with its length before it.
//!
//! The length is four bytes, the highest first (`apimachinery/pkg/util/framer`). An event is a
//! message without an envelope; the object inside it has one
//! (`apimachinery/pkg/apis/meta/v1/watch.go`, `runtime/serializer/codec_factory.go`).

use super::ProtobufError;
use super::envelope::field;
use super::reader::{Reader, read_text};
use super::writer::Writer;
use crate::value::Str;

/// A longer frame is refused (`runtime/serializer/streaming`).
const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

const TYPE: u32 = 1;
const OBJECT: u32 = 2;
const RAW: u32 = 1;

/// One event of a watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchEvent<'a> {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub ty: Str,
    /// The object in its envelope.
    pub object: &'a [u8],
}

/// Why a stream of frames cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A frame is longer than 16 MiB. It is passed over; the next one can be read.
    #[error("object to decode was longer than maximum allowed size")]
    TooLarge,
    /// The stream ended inside a frame.
    #[error("unexpected EOF")]
    UnexpectedEof,
}

/// Appends a frame.
///
/// # Panics
///
/// When the body is longer than four bytes can tell.
pub fn write_frame(body: &[u8], out: &mut Vec<u8>) {
    let len = u32::try_from(body.len()).expect("objects are far smaller than 4 GiB");
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(body);
}

/// Appends an event as a frame. The object is in its [envelope](super::seal) already.
///
/// # Panics
///
/// As [`write_frame`].
pub fn write_event(ty: &str, object: &[u8], out: &mut Vec<u8>) {
    let mut writer = Writer::with_capacity(object.len() + ty.len() + 32);
    writer.bytes_field(RAW, object);
    writer.close_field(OBJECT, 0);
    writer.bytes_field(TYPE, ty.as_bytes());
    write_frame(&writer.into_vec(), out);
}

/// Reads an event from the body of a frame.
///
/// # Errors
///
/// When it is none.
pub fn open_event(body: &[u8]) -> Result<WatchEvent<'_>, ProtobufError> {
    let mut event = WatchEvent::default();
    let mut reader = Reader::new(body);
    while let Some(tag) = reader.tag(|| "WatchEvent".into())? {
        match tag.number {
            TYPE => event.ty = read_text(field(&mut reader, tag, "Type")?),
            OBJECT => {
                let mut inner = Reader::new(field(&mut reader, tag, "Object")?);
                while let Some(tag) = inner.tag(|| "RawExtension".into())? {
                    match tag.number {
                        RAW => event.object = field(&mut inner, tag, "Raw")?,
                        _ => inner.skip(tag.wire)?,
                    }
                }
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    Ok(event)
}

/// Cuts a stream into the bodies of its frames.
///
/// It holds at most one frame and what came with it.
#[derive(Debug, Default)]
pub struct FrameReader {
    buffer: Vec<u8>,
    /// Up to here the buffer was given out.
    start: usize,
    /// How many bytes of a frame that is too large are still to come.
    left_to_skip: usize,
}

impl FrameReader {
    /// At the start of a stream.
    #[must_use]
    pub fn new() -> FrameReader {
        FrameReader::default()
    }

    /// Takes in what came from the stream.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.left_to_skip > 0 {
            let skipped = self.left_to_skip.min(bytes.len());
            self.left_to_skip -= skipped;
            bytes = &bytes[skipped..];
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The body of the next frame, when it is complete.
    ///
    /// # Errors
    ///
    /// When it is too large. It is passed over, and the frame after it is next.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let rest = &self.buffer[self.start..];
        let Some((header, rest)) = rest.split_first_chunk() else { return Ok(None) };
        let len = usize::try_from(u32::from_be_bytes(*header)).unwrap_or(usize::MAX);
        if len > FRAME_BYTES_MAX {
            let skipped = len.min(rest.len());
            self.left_to_skip = len - skipped;
            self.start += header.len() + skipped;
            return Err(FrameError::TooLarge);
        }
        if rest.len() < len {
            return Ok(None);
        }
        let body = self.start + header.len();
        self.start = body + len;
        Ok(Some(&self.buffer[body..body + len]))
    }

    /// Says that the stream ended.
    ///
    /// # Errors
    ///
    /// When it ended inside a frame.
    pub fn finish(&self) -> Result<(), FrameError> {
        let is_between = self.start == self.buffer.len() && self.left_to_skip == 0;
        if is_between { Ok(()) } else { Err(FrameError::UnexpectedEof) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_object_sealed() {
        let mut out = Vec::new();
        write_event("ADDED", b"obj", &mut out);
        assert_eq!(out, b"\0\0\0\x0e\x0a\x05ADDED\x12\x05\x0a\x03obj");
        let event = open_event(&out[4..]).unwrap();
        assert_eq!(event, WatchEvent { ty: Str::new("ADDED"), object: b"obj" });
    }

    /// The frames that come out when the stream comes in pieces of this size.
    fn frames(stream: &[u8], piece: usize) -> Vec<Result<Vec<u8>, FrameError>> {
        let mut reader = FrameReader::new();
        let mut seen = Vec::new();
        for piece in stream.chunks(piece) {
            reader.push(piece);
            loop {
                match reader.next_frame() {
                    Ok(None) => break,
                    Ok(Some(body)) => seen.push(Ok(body.to_vec())),
                    Err(error) => seen.push(Err(error)),
                }
            }
        }
        if let Err(error) = reader.finish() {
            seen.push(Err(error));
        }
        seen
    }

    #[test]
    fn frames_come_out_however_the_stream_is_cut() {
        let mut stream = Vec::new();
        for body in [b"abc".as_slice(), b"", b"defgh"] {
            write_frame(body, &mut stream);
        }
        let whole = vec![Ok(b"abc".to_vec()), Ok(Vec::new()), Ok(b"defgh".to_vec())];
        for piece in 1..=stream.len() {
            assert_eq!(frames(&stream, piece), whole, "{piece}");
        }
        stream.pop();
        assert_eq!(frames(&stream, 3)[2], Err(FrameError::UnexpectedEof));
    }

    #[test]
    fn a_frame_that_is_too_large_is_passed_over() {
        let mut stream = Vec::new();
        write_frame(&vec![0; FRAME_BYTES_MAX + 1], &mut stream);
        write_frame(b"next", &mut stream);
        for piece in [1000, 1 << 20, stream.len()] {
            let seen = frames(&stream, piece);
            assert_eq!(seen, [Err(FrameError::TooLarge), Ok(b"next".to_vec())]);
        }
    }
}
