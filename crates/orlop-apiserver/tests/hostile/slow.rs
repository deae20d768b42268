//! Clients that take their time: they send slowly, read nothing, or leave without a word.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use orlop_apiserver::serve::{Handle, Limits, Peer};
use orlop_apiserver::{Body, Pieces, RequestBody, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::frames::{HEADERS, get, preface, read_until, setting};
use crate::running::{LATE, MAPS, Running, Stream, exchange, read_to_end, status_of};

const MINUTE: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let running = Running::with(Limits::default(), SOON).await;
    let mut stream = running.admin("http/1.1").await;
    let head = format!("POST {MAPS} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n");
    stream.write_all(format!("{head}content-length: 100\r\n\r\n{{").as_bytes()).await.unwrap();
    let answer = read_to_end(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
    let status = status_of(&answer);
    assert_eq!(status["reason"], "Timeout");
    let message = "Timeout: request did not complete within the allotted timeout";
    assert_eq!(status["message"], message);
    running.end().await;
}

#[tokio::test]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let limits = Limits { first_request_timeout: SOON, idle_timeout: SOON, ..Limits::default() };
    let running = Running::with(limits, MINUTE).await;
    for (protocol, begin) in [
        ("http/1.1", b"GET / HT".to_vec()),
        ("h2", b"PRI * HT".to_vec()),
        ("h2", preface(&[])),
        ("h2", crate::frames::preface(&[])[..30].to_vec()),
    ] {
        let mut stream = running.stranger(protocol).await;
        stream.write_all(&begin).await.unwrap();
        read_to_end(&mut stream).await;
    }
    running.end().await;
}

/// Answers with a body that has no end, and counts what was taken of it.
struct Firehose(Arc<AtomicUsize>);

/// How long a piece of it is.
const PIECE: usize = 64 * 1024;

struct Drops(Arc<AtomicUsize>);

impl Handle for Firehose {
    async fn handle(&self, _: Request<RequestBody>, _: Arc<Peer>) -> Response<Body> {
        Response::new(Body::stream(Drops(self.0.clone())))
    }
}

impl Pieces for Drops {
    fn poll_piece(&mut self, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.fetch_add(PIECE, Ordering::Relaxed);
        Poll::Ready(Some(Bytes::from_static(&[b'x'; PIECE])))
    }
}

/// Waits until nothing more is taken.
async fn settle(taken: &AtomicUsize) -> usize {
    let wait = async {
        let mut last = 0;
        loop {
            tokio::time::sleep(SOON).await;
            let now = taken.load(Ordering::Relaxed);
            if now > 0 && now == last {
                return now;
            }
            last = now;
        }
    };
    tokio::time::timeout(LATE, wait).await.expect("what nobody reads is not made for ever")
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_not_made() {
    // Over HTTP/1.1 as much as the buffers of the kernel hold, and no more.
    let taken = Arc::new(AtomicUsize::new(0));
    let running = Running::serve(Firehose(taken.clone()), Limits::default()).await;
    let mut stream = running.stranger("http/1.1").await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let most = settle(&taken).await;
    assert!(most < 32 * 1024 * 1024, "{most}");
    drop(stream);
    // Over HTTP/2 as much as a stream may have waiting, however many there are.
    taken.store(0, Ordering::Relaxed);
    let mut stream = running.stranger("h2").await;
    stream.write_all(&preface(&setting(4, 0))).await.unwrap();
    for at in 0..100_u32 {
        stream.write_all(&get(at * 2 + 1, "/")).await.unwrap();
    }
    read_until(&mut stream, HEADERS).await;
    let most = settle(&taken).await;
    assert!(most <= 100 * (128 * 1024 + 2 * PIECE), "{most}");
    drop(stream);
    running.end().await;
}

#[tokio::test]
async fn a_list_waits_for_its_reader_and_nobody_else_does() {
    let running = Running::start().await;
    for at in 0..40 {
        running.make(&format!("map-{at}"), 500_000).await;
    }
    let mut stream = running.admin("http/1.1").await;
    let head = format!("GET {MAPS} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    running.is_well().await;
    assert_eq!(running.ask("DELETE", MAPS, "").await.code, 200);
    // It is the list of its moment, whole.
    let rest = read_to_end(&mut stream).await;
    assert_eq!(rest.matches("\"name\":\"map-").count(), 40);
    running.end().await;
}

async fn watch(running: &Running<Server>) -> Stream {
    let mut stream = running.admin("http/1.1").await;
    let head = format!("GET {MAPS}?watch=1 HTTP/1.1\r\nhost: a\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    stream
}

#[tokio::test]
async fn a_watch_that_nobody_reads_is_ended() {
    let limits = Limits { stall_timeout: Duration::from_secs(1), ..Limits::default() };
    let running = Running::with(limits, MINUTE).await;
    let stream = watch(&running).await;
    running.wait_for_watches(1).await;
    // More than the buffers of the kernel hold.
    for at in 0..30 {
        running.make(&format!("map-{at}"), 1_000_000).await;
    }
    running.wait_for_watches(0).await;
    drop(stream);
    running.end().await;
}

#[tokio::test]
async fn a_watch_whose_client_is_gone_is_dropped() {
    let running = Running::start().await;
    let (first, second) = (watch(&running).await, watch(&running).await);
    let mut third = running.admin("h2").await;
    third.write_all(&preface(&[])).await.unwrap();
    third.write_all(&get(1, &format!("{MAPS}?watch=1"))).await.unwrap();
    read_until(&mut third, HEADERS).await;
    running.wait_for_watches(3).await;
    drop(first);
    running.wait_for_watches(2).await;
    drop((second, third));
    running.wait_for_watches(0).await;
    running.end().await;
}

#[tokio::test]
async fn many_watches_see_every_change_and_leave_nothing_behind() {
    const CONNECTIONS: usize = 4;
    const WATCHES: usize = 100;
    let running = Running::start().await;
    let mut connections = Vec::new();
    let mut bodies = Vec::new();
    for _ in 0..CONNECTIONS {
        let stream = TokioIo::new(running.admin("h2").await);
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
        let (mut sender, connection) = handshake.await.unwrap();
        connections.push(tokio::spawn(connection));
        for _ in 0..WATCHES {
            let uri = format!("https://kubernetes{MAPS}?watch=1&timeoutSeconds=60");
            let request = Request::builder().uri(uri).body(Empty::<Bytes>::new()).unwrap();
            let answer = sender.send_request(request).await.unwrap();
            assert_eq!(answer.status(), 200);
            bodies.push((sender.clone(), answer.into_body()));
        }
    }
    running.wait_for_watches((CONNECTIONS * WATCHES) as u64).await;
    running.make("seen", 10).await;
    for (_, body) in &mut bodies {
        let frame = tokio::time::timeout(LATE, body.frame()).await.unwrap().unwrap().unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        assert!(text.contains("\"seen\""), "{text}");
    }
    drop(bodies);
    running.wait_for_watches(0).await;
    connections.into_iter().for_each(|connection| connection.abort());
    running.end().await;
}

#[tokio::test]
async fn a_connection_that_is_cut_in_the_middle_of_a_body_writes_nothing() {
    let running = Running::start().await;
    let mut stream = running.admin("http/1.1").await;
    let head = format!("POST {MAPS} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(b"{\"metadata\":{\"name\":\"cut\"}}").await.unwrap();
    stream.shutdown().await.unwrap();
    drop(stream);
    let mut stream = running.admin("http/1.1").await;
    let get = format!("GET {MAPS}/cut HTTP/1.1\r\nhost: a\r\nconnection: close");
    assert!(exchange(&mut stream, &get).await.starts_with("HTTP/1.1 404 "));
    running.end().await;
}
