//! HTTP/2 as a weapon: resets, streams, headers and windows without end.

use orlop_apiserver::serve::Limits;
use tokio::io::AsyncWriteExt as _;

use crate::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, FLOW_CONTROL_ERROR, GOAWAY,
    HEADERS, PING, PROTOCOL_ERROR, REFUSED_STREAM, RST_STREAM, SETTINGS, WINDOW_UPDATE, flood,
    frame, get, head, header, integer, preface, read, read_goaway, read_until, setting,
};
use crate::running::{MAPS, Running, Stream};

/// More than any client may send of anything; what socket buffers hold is far less.
const MUCH: usize = 64 * 1024 * 1024;

async fn open(running: &Running<orlop_apiserver::Server>) -> Stream {
    let mut stream = running.admin("h2").await;
    stream.write_all(&preface(&[])).await.unwrap();
    stream
}

/// Odd ids of streams.
fn streams(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|at| at * 2 + 1)
}

#[tokio::test]
async fn rapid_resets_end_the_connection() {
    let running = Running::start().await;
    let mut stream = open(&running).await;
    let cancel = 8_u32.to_be_bytes();
    let mut bytes = Vec::new();
    for id in streams(20_000) {
        bytes.extend(get(id, MAPS));
        bytes.extend(frame(RST_STREAM, 0, id, &cancel));
    }
    // The server closes before it has read all of it.
    let _ = stream.write_all(&bytes).await;
    assert!(matches!(read_goaway(&mut stream).await, Some(ENHANCE_YOUR_CALM) | None));
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn resets_that_the_server_is_made_to_send_end_the_connection() {
    let running = Running::start().await;
    let mut stream = open(&running).await;
    // A window update of nothing is an error of the stream, which the server has to reset.
    let mut bytes = Vec::new();
    for id in streams(20_000) {
        bytes.extend(frame(HEADERS, END_HEADERS, id, &head("POST", MAPS)));
        bytes.extend(frame(WINDOW_UPDATE, 0, id, &[0; 4]));
    }
    let _ = stream.write_all(&bytes).await;
    let why = read_goaway(&mut stream).await;
    assert!(matches!(why, Some(ENHANCE_YOUR_CALM | PROTOCOL_ERROR) | None), "{why:?}");
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn streams_beyond_the_limit_are_refused() {
    let limits = Limits { http2_streams_max: 10, ..Limits::default() };
    let running = Running::with(limits, std::time::Duration::from_secs(60)).await;
    let mut stream = open(&running).await;
    let settings = read_until(&mut stream, SETTINGS).await;
    assert!(settings.payload.chunks(6).any(|one| one == setting(3, 10)), "it says its limit");
    // Requests whose body does not come.
    for id in streams(15) {
        stream.write_all(&frame(HEADERS, END_HEADERS, id, &head("POST", MAPS))).await.unwrap();
    }
    for id in streams(15).skip(10) {
        let reset = read_until(&mut stream, RST_STREAM).await;
        assert_eq!((reset.stream, reset.error()), (id, REFUSED_STREAM));
    }
    // Those that were there before are served still.
    let body = br#"{"metadata":{"name":"late"}}"#;
    stream.write_all(&frame(DATA, END_STREAM, 1, body)).await.unwrap();
    let answer = read_until(&mut stream, HEADERS).await;
    assert_eq!(answer.stream, 1);
    drop(stream);
    running.end().await;
}

#[tokio::test]
async fn headers_that_go_on_and_on_end_the_connection() {
    let running = Running::start().await;
    for piece in [vec![], header("x", &"y".repeat(16_000)), header("x", "").repeat(1000)] {
        let mut stream = running.stranger("h2").await;
        stream.write_all(&preface(&[])).await.unwrap();
        let begin = frame(HEADERS, END_STREAM, 1, &head("GET", "/livez"));
        stream.write_all(&begin).await.unwrap();
        let more = frame(CONTINUATION, 0, 1, &piece).repeat(64);
        let taken = flood(&mut stream, &more, MUCH).await;
        assert!(taken < MUCH, "it goes on after {taken} bytes");
    }
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn headers_that_unfold_to_megabytes_are_refused() {
    let running = Running::start().await;
    let mut stream = running.stranger("h2").await;
    stream.write_all(&preface(&[])).await.unwrap();
    // One header that is remembered, and then only its number.
    let mut block = head("GET", "/livez");
    block.push(0x40);
    block.extend(integer(1));
    block.push(b'x');
    block.extend(integer(4000));
    block.extend([b'y'; 4000]);
    block.extend([0xbe; 12_000]);
    stream.write_all(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &block)).await.unwrap();
    loop {
        let frame = read(&mut stream).await;
        match frame.as_ref().map(|frame| frame.kind) {
            // 431 is not among the codes that have a number of their own.
            Some(HEADERS) => {
                let payload = frame.unwrap().payload;
                assert!(!payload.contains(&0x88), "it was answered 200");
                break;
            }
            Some(RST_STREAM | GOAWAY) | None => break,
            Some(_) => {}
        }
    }
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn windows_that_make_no_sense_are_errors() {
    let running = Running::start().await;
    let most = 0x7fff_ffff_u32.to_be_bytes();
    let cases: [(Vec<u8>, &[u32]); 4] = [
        (frame(WINDOW_UPDATE, 0, 0, &most).repeat(2), &[FLOW_CONTROL_ERROR]),
        (frame(WINDOW_UPDATE, 0, 0, &[0; 4]), &[PROTOCOL_ERROR]),
        (frame(SETTINGS, 0, 0, &setting(4, u32::MAX)), &[FLOW_CONTROL_ERROR, PROTOCOL_ERROR]),
        (frame(SETTINGS, 0, 0, &setting(5, 1)), &[PROTOCOL_ERROR]),
    ];
    for (bytes, expect) in cases {
        let mut stream = open(&running).await;
        stream.write_all(&bytes).await.unwrap();
        let why = read_goaway(&mut stream).await;
        assert!(why.is_none_or(|why| expect.contains(&why)), "{why:?} instead of {expect:?}");
    }
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn more_data_than_the_window_allows_ends_the_connection() {
    let running = Running::start().await;
    let mut stream = open(&running).await;
    let open = frame(HEADERS, END_HEADERS, 1, &head("PUT", "/api/v1/nodes/none"));
    stream.write_all(&open).await.unwrap();
    let data = frame(DATA, 0, 1, &[b' '; 16_384]);
    let taken = flood(&mut stream, &data, MUCH).await;
    assert!(taken < MUCH, "it goes on after {taken} bytes");
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn questions_without_end_are_not_answered_without_end() {
    let running = Running::start().await;
    for one in [frame(PING, 0, 0, &[7; 8]), frame(SETTINGS, 0, 0, &setting(4, 65_535))] {
        let mut stream = open(&running).await;
        // Nobody reads the answers, so the server stops to read.
        let taken = flood(&mut stream, &one.repeat(1000), MUCH).await;
        assert!(taken < MUCH, "it goes on after {taken} bytes");
        running.is_well().await;
    }
    running.end().await;
}

#[tokio::test]
async fn frames_that_are_out_of_place_end_the_connection() {
    let running = Running::start().await;
    let large = u32::try_from(1 << 20).unwrap();
    for bytes in [
        frame(DATA, 0, 0, b"x"),
        frame(DATA, 0, 99, b"x"),
        frame(CONTINUATION, 0, 1, b""),
        frame(HEADERS, END_HEADERS, 2, &head("GET", "/")),
        frame(HEADERS, END_HEADERS, 1, &[0xff; 64]),
        frame(SETTINGS, 0, 0, &[1, 2, 3]),
        frame(SETTINGS, 1, 0, &setting(1, large)),
        frame(PING, 0, 0, &[1]),
        frame(DATA, 0, 1, &vec![0; 1 << 20]),
        b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_vec(),
    ] {
        let mut stream = open(&running).await;
        let _ = stream.write_all(&bytes).await;
        read_goaway(&mut stream).await;
    }
    running.is_well().await;
    running.end().await;
}
