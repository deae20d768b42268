//! Watches over WebSockets: one message per event, as browsers can read them.
//!
//! After `HandleWS` in `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/watch.go` and the
//! handshake of `golang.org/x/net/websocket`, which wants an Origin. Clients have nothing to say:
//! pings are answered, everything else is read past without being kept. Nothing is compressed.

use std::future::poll_fn;
use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{
    CONNECTION, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use sha1::{Digest as _, Sha1};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use crate::body::{Body, Pieces};
use crate::output::Format;
use crate::plain_text;
use crate::serve::Seat;

/// What RFC 6455 puts behind the key of a client.
const KEY_SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The longest payload of a control frame.
const CONTROL_LENGTH_MAX: u64 = 125;
/// How many pings may wait for their answer; more of them get none.
const PONGS_MAX: usize = 8;
/// How much is read at once of what is read past.
const READ_BYTES: usize = 1024;

const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nothing is wrong.
    Normal = 1000,
    /// The client does not keep to the protocol.
    ProtocolError = 1002,
}

/// Whether a request asks for a WebSocket.
pub(super) fn is_wanted(parts: &Parts) -> bool {
    has_word(&parts.headers, &UPGRADE, "websocket")
        && has_word(&parts.headers, &CONNECTION, "upgrade")
        && parts.extensions.get::<OnUpgrade>().is_some()
}

/// Answers with a WebSocket that carries events in a format.
pub(super) fn accept(
    parts: &Parts,
    events: impl Pieces + 'static,
    format: Format,
) -> Response<Body> {
    let response = shake_hands(&parts.headers);
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return response;
    }
    let Some(client) = parts.extensions.get::<OnUpgrade>().cloned() else {
        return plain_text::answer(StatusCode::BAD_REQUEST, "not a connection\n");
    };
    // The connection counts among those of the listener until this ends.
    let seat = parts.extensions.get::<Seat>().cloned();
    tokio::spawn(async move {
        if let Ok(client) = client.await {
            // Whatever fails, the client is gone.
            let _ = carry(TokioIo::new(client), events, format).await;
        }
        drop(seat);
    });
    response
}

fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|part| part.trim().eq_ignore_ascii_case(word))
}

/// The answer to a handshake: that protocols are switched, or what is wrong with it.
fn shake_hands(headers: &HeaderMap) -> Response<Body> {
    let text = |name: &HeaderName| {
        headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim()
    };
    let refuse = |code, why: &'static str| plain_text::answer(code, why);
    let key = text(&SEC_WEBSOCKET_KEY);
    if key.is_empty() {
        return refuse(StatusCode::BAD_REQUEST, "mismatch challenge/response");
    }
    if text(&SEC_WEBSOCKET_VERSION) != "13" {
        let mut refusal = refuse(StatusCode::BAD_REQUEST, "missing or bad WebSocket Version");
        let version = HeaderValue::from_static("13");
        refusal.headers_mut().insert(SEC_WEBSOCKET_VERSION, version);
        return refusal;
    }
    if text(&ORIGIN).is_empty() {
        return refuse(StatusCode::FORBIDDEN, "");
    }
    let protocol = text(&SEC_WEBSOCKET_PROTOCOL);
    if protocol.contains(',') {
        return refuse(StatusCode::BAD_REQUEST, "");
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let answer = response.headers_mut();
    answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answer.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    let accepted = HeaderValue::try_from(accept_key(key)).expect("base64 fits a header");
    answer.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    if let (false, Some(protocol)) = (protocol.is_empty(), headers.get(SEC_WEBSOCKET_PROTOCOL)) {
        answer.insert(SEC_WEBSOCKET_PROTOCOL, protocol.clone());
    }
    response
}

/// What shows a client that its handshake was understood.
fn accept_key(key: &str) -> String {
    BASE64_STANDARD.encode(Sha1::new().chain_update(key).chain_update(KEY_SUFFIX).finalize())
}

/// Sends events until there are no more or the client leaves.
async fn carry(
    client: impl AsyncRead + AsyncWrite,
    events: impl Pieces,
    format: Format,
) -> io::Result<()> {
    let (reader, mut writer) = tokio::io::split(client);
    let (pongs, due) = mpsc::channel(PONGS_MAX);
    let end = tokio::select! {
        end = listen(BufReader::with_capacity(READ_BYTES, reader), pongs) => end?,
        sent = send(&mut writer, events, format, due) => sent?,
    };
    let mut out = Vec::new();
    write_frame(CLOSE, &(end as u16).to_be_bytes(), &mut out);
    writer.write_all(&out).await?;
    writer.shutdown().await
}

/// Reads what the client says until it ends.
async fn listen(
    mut reader: impl AsyncRead + Unpin,
    pongs: mpsc::Sender<Vec<u8>>,
) -> io::Result<End> {
    loop {
        let (first, second) = (reader.read_u8().await?, reader.read_u8().await?);
        let length = match second & 0x7f {
            126 => u64::from(reader.read_u16().await?),
            127 => reader.read_u64().await?,
            length => u64::from(length),
        };
        if second & 0x80 == 0 {
            return Ok(End::ProtocolError);
        }
        let mask = reader.read_u32().await?.to_be_bytes();
        match first & 0x0f {
            CLOSE => return Ok(End::Normal),
            PING if length > CONTROL_LENGTH_MAX => return Ok(End::ProtocolError),
            PING => {
                let mut payload = Vec::new();
                (&mut reader).take(length).read_to_end(&mut payload).await?;
                for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
                    *byte ^= mask;
                }
                let _ = pongs.try_send(payload);
            }
            _ => {
                tokio::io::copy(&mut (&mut reader).take(length), &mut tokio::io::sink()).await?;
            }
        }
    }
}

/// Sends every event, and answers to pings, until the events end.
async fn send(
    writer: &mut (impl AsyncWrite + Unpin),
    mut events: impl Pieces,
    format: Format,
    mut pongs: mpsc::Receiver<Vec<u8>>,
) -> io::Result<End> {
    let mut out = Vec::new();
    loop {
        out.clear();
        tokio::select! {
            piece = poll_fn(|context| events.poll_piece(context)) => match piece {
                Some(piece) => write_events(&piece, format, &mut out),
                None => return Ok(End::Normal),
            },
            Some(payload) = pongs.recv() => write_frame(PONG, &payload, &mut out),
        }
        writer.write_all(&out).await?;
        writer.flush().await?;
    }
}

/// Writes a message for each event of a piece, without what separates them in a stream.
fn write_events(piece: &Bytes, format: Format, out: &mut Vec<u8>) {
    if format != Format::Protobuf {
        for event in piece.split_inclusive(|byte| *byte == b'\n') {
            write_frame(TEXT, event, out);
        }
        return;
    }
    let mut rest = &piece[..];
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let (event, next) = after.split_at(length.min(after.len()));
        write_frame(BINARY, event, out);
        rest = next;
    }
}

/// Writes a whole message, which servers do not mask.
fn write_frame(opcode: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.push(0x80 | opcode);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length @ 0..=125), _) => out.push(length),
        (_, Ok(length)) => {
            out.push(126);
            out.extend_from_slice(&length.to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll};

    use super::*;

    /// Events that are there, and no end.
    struct Open(Option<Bytes>);

    impl Pieces for Open {
        fn poll_piece(&mut self, _context: &mut Context<'_>) -> Poll<Option<Bytes>> {
            self.0.take().map_or(Poll::Pending, |piece| Poll::Ready(Some(piece)))
        }
    }

    fn written(piece: &'static [u8], format: Format) -> Vec<u8> {
        let mut out = Vec::new();
        write_events(&Bytes::from_static(piece), format, &mut out);
        out
    }

    #[test]
    fn every_event_is_a_message() {
        assert_eq!(written(b"{1}\n{22}\n", Format::Json), b"\x81\x04{1}\n\x81\x05{22}\n");
        let pieces = b"\0\0\0\x01a\0\0\0\x02bc";
        assert_eq!(written(pieces, Format::Protobuf), b"\x82\x01a\x82\x02bc");
    }

    #[test]
    fn lengths_take_as_many_bytes_as_they_need() {
        let check = |length: usize, expect: &[u8]| {
            let mut out = Vec::new();
            write_frame(TEXT, &vec![0; length], &mut out);
            assert_eq!(out[1..out.len() - length], *expect, "{length}");
        };
        check(125, &[125]);
        check(126, &[126, 0, 126]);
        check(65535, &[126, 255, 255]);
        check(65536, &[127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn a_handshake_has_a_key_a_version_and_an_origin() {
        let check = |left_out: Option<HeaderName>, expect: u16| {
            let mut headers = HeaderMap::new();
            headers.insert(SEC_WEBSOCKET_KEY, HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="));
            headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
            headers.insert(ORIGIN, HeaderValue::from_static("https://example.test"));
            if let Some(name) = left_out {
                headers.remove(name);
            }
            let answer = shake_hands(&headers);
            assert_eq!(answer.status().as_u16(), expect);
            answer
        };
        let answer = check(None, 101);
        assert_eq!(answer.headers()[SEC_WEBSOCKET_ACCEPT], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        check(Some(SEC_WEBSOCKET_KEY), 400);
        check(Some(SEC_WEBSOCKET_VERSION), 400);
        check(Some(ORIGIN), 403);
    }

    /// What a client gets that says something and then nothing.
    async fn talk(said: &[u8]) -> Vec<u8> {
        let (mut client, server) = tokio::io::duplex(1024);
        client.write_all(said).await.unwrap();
        let events = Open(Some(Bytes::from_static(b"{}\n")));
        carry(server, events, Format::Json).await.unwrap();
        let mut got = Vec::new();
        client.read_to_end(&mut got).await.unwrap();
        got
    }

    #[tokio::test]
    async fn a_client_that_leaves_is_let_go() {
        let got = talk(b"\x88\x80\0\0\0\0").await;
        assert!(got.ends_with(b"\x88\x02\x03\xe8"), "{got:?}");
    }

    #[tokio::test]
    async fn what_a_client_says_is_read_past() {
        let got = talk(b"\x81\x82\x01\x01\x01\x01ab\x88\x80\0\0\0\0").await;
        assert!(got.ends_with(b"\x88\x02\x03\xe8"), "{got:?}");
    }

    #[tokio::test]
    async fn frames_without_a_mask_end_the_connection() {
        let got = talk(b"\x81\x02ab").await;
        assert!(got.ends_with(b"\x88\x02\x03\xea"), "{got:?}");
    }

    #[tokio::test]
    async fn pings_are_answered() {
        let (mut client, server) = tokio::io::duplex(1024);
        let carried = tokio::spawn(carry(server, Open(None), Format::Json));
        client.write_all(b"\x89\x82\x01\x02\x01\x02\x60\x60").await.unwrap();
        let mut got = [0; 4];
        client.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"\x8a\x02ab");
        drop(client);
        assert!(carried.await.unwrap().is_err());
    }
}
