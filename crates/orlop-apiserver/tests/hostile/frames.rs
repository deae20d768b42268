//! HTTP/2 by hand: frames as bytes.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::running::{LATE, Stream};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) const PROTOCOL_ERROR: u32 = 1;
pub(crate) const FLOW_CONTROL_ERROR: u32 = 3;
pub(crate) const REFUSED_STREAM: u32 = 7;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;

/// How long a write may take before it is taken for one that does not go on.
const STALLED: Duration = Duration::from_secs(3);

/// A frame that came.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub kind: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The code of an error that ends a stream or the connection.
    pub(crate) fn error(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

/// A frame as bytes.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A setting of a SETTINGS frame.
pub(crate) fn setting(id: u16, value: u32) -> Vec<u8> {
    [id.to_be_bytes().as_slice(), &value.to_be_bytes()].concat()
}

/// What a connection starts with.
pub(crate) fn preface(settings: &[u8]) -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(SETTINGS, 0, 0, settings));
    bytes
}

/// A block of headers, without Huffman codes and without memory.
pub(crate) fn head(method: &str, path: &str) -> Vec<u8> {
    let mut block = literal(2, method);
    block.push(0x87);
    block.extend(literal(1, "kubernetes"));
    block.extend(literal(4, path));
    block
}

/// A header whose name stands in the table.
fn literal(name: u8, value: &str) -> Vec<u8> {
    let mut bytes = vec![name];
    bytes.extend(integer(value.len()));
    bytes.extend(value.as_bytes());
    bytes
}

/// A header with its name.
pub(crate) fn header(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0];
    bytes.extend(integer(name.len()));
    bytes.extend(name.as_bytes());
    bytes.extend(integer(value.len()));
    bytes.extend(value.as_bytes());
    bytes
}

/// A number with seven bits in its first byte.
pub(crate) fn integer(mut number: usize) -> Vec<u8> {
    if number < 127 {
        return vec![u8::try_from(number).unwrap()];
    }
    let mut bytes = vec![127];
    number -= 127;
    while number >= 128 {
        bytes.push(u8::try_from(number % 128).unwrap() | 128);
        number /= 128;
    }
    bytes.push(u8::try_from(number).unwrap());
    bytes
}

/// A whole request without a body.
pub(crate) fn get(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &head("GET", path))
}

/// Reads the next frame; none when the server has closed.
pub(crate) async fn read(stream: &mut Stream) -> Option<Frame> {
    let read = async {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).await.ok()?;
        let id = u32::from_be_bytes(head[5..9].try_into().unwrap());
        Some(Frame { kind: head[3], stream: id, payload })
    };
    tokio::time::timeout(LATE, read).await.expect("a frame, or the end, in time")
}

/// Reads until a frame of this kind.
pub(crate) async fn read_until(stream: &mut Stream, kind: u8) -> Frame {
    loop {
        let frame = read(stream).await.expect("a frame of the kind before the end");
        if frame.kind == kind {
            return frame;
        }
    }
}

/// Reads until the server has closed, and returns why it did, if it said so.
pub(crate) async fn read_goaway(stream: &mut Stream) -> Option<u32> {
    let mut why = None;
    while let Some(frame) = read(stream).await {
        if frame.kind == GOAWAY {
            why = Some(frame.error());
        }
    }
    why
}

/// Writes the same bytes again and again, without reading, until the server takes no more: it has
/// closed or does not read on. Returns how many bytes it took, at most `limit`.
pub(crate) async fn flood(stream: &mut Stream, bytes: &[u8], limit: usize) -> usize {
    let mut taken = 0;
    while taken < limit {
        match tokio::time::timeout(STALLED, stream.write_all(bytes)).await {
            Ok(Ok(())) => taken += bytes.len(),
            Ok(Err(_)) | Err(_) => return taken,
        }
    }
    taken
}
