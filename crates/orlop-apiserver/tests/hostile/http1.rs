//! HTTP/1.1 that is odd, ambiguous or too large.

use tokio::io::AsyncWriteExt as _;

use crate::running::{MAPS, Running, exchange, read_to_end, status_of};

/// The first line of each answer in a text.
fn codes(answers: &str) -> Vec<&str> {
    let lines = answers.split("HTTP/1.1 ").skip(1);
    lines.map(|line| line.get(..3).unwrap_or_default()).collect()
}

#[tokio::test]
async fn requests_in_one_piece_are_answered_in_their_order() {
    let running = Running::start().await;
    let mut stream = running.admin("http/1.1").await;
    let requests = "GET /livez HTTP/1.1\r\nhost: a\r\n\r\nGET /nope HTTP/1.1\r\nhost: a\r\n\r\n\
                    GET /version HTTP/1.1\r\nhost: a\r\nconnection: close";
    let answers = exchange(&mut stream, requests).await;
    assert_eq!(codes(&answers), ["200", "404", "200"], "{answers}");
    running.end().await;
}

#[tokio::test]
async fn a_body_whose_length_is_in_doubt_is_refused() {
    let running = Running::start().await;
    let smuggled = "GET /smuggled HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    for headers in [
        "content-length: 5\r\ncontent-length: 6",
        "content-length: 5, 6",
        "content-length: +5",
        "content-length: -5",
        "content-length: 0x5",
        "content-length: 99999999999999999999999",
        "content-length : 5",
        "transfer-encoding: chunked, identity",
        "transfer-encoding: xchunked",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        " folded: 1\r\ncontent-length: 5",
        "na\u{0}me: 1",
        "name: a\u{0}b",
    ] {
        let mut stream = running.admin("http/1.1").await;
        let head = format!("POST {MAPS} HTTP/1.1\r\nhost: a\r\n{headers}\r\n\r\n{smuggled}");
        let answers = exchange(&mut stream, &head).await;
        assert_eq!(codes(&answers).len(), 1, "{headers}: {answers}");
        assert!(matches!(codes(&answers)[0], "400" | "501"), "{headers}: {answers}");
    }
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn chunks_come_before_a_length() {
    let running = Running::start().await;
    let mut stream = running.admin("http/1.1").await;
    // Whoever believes the length takes the second request for the body of the first.
    let body = "{\"metadata\":{\"name\":\"te\"}}";
    let head = format!(
        "POST {MAPS} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\
         transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n\
         GET /nope HTTP/1.1\r\nhost: a\r\nconnection: close",
        body.len()
    );
    let answers = exchange(&mut stream, &head).await;
    assert!(matches!(codes(&answers)[..], ["400"] | ["201"] | ["201", "404"]), "{answers}");
    running.end().await;
}

#[tokio::test]
async fn broken_chunks_end_the_connection() {
    let running = Running::start().await;
    for chunks in
        ["zz\r\n", "ffffffffffffffffff\r\n", "5\r\nabcdefgh\r\n", "-1\r\n", "5;\u{0}\r\nabcdefgh"]
    {
        let mut stream = running.admin("http/1.1").await;
        let head = format!(
            "POST {MAPS} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"
        );
        let answers = exchange(&mut stream, &head).await;
        assert!(codes(&answers).len() <= 1, "{chunks:?}: {answers}");
        assert!(!answers.contains(" 201 "), "{chunks:?}: {answers}");
    }
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    let running = Running::start().await;
    for head in [
        "\u{16}\u{3}\u{1}",
        "GET",
        "GET /",
        "GET / HTTP/9.9\r\nhost: a",
        "GET  /two HTTP/1.1\r\nhost: a",
        "G\u{e9}T / HTTP/1.1\r\nhost: a",
        "GET /\u{1} HTTP/1.1\r\nhost: a",
        "PRI * HTTP/2.0\r\n\r\nSM",
    ] {
        let mut stream = running.stranger("http/1.1").await;
        let answers = exchange(&mut stream, head).await;
        assert!(matches!(codes(&answers)[..], [] | ["400"]), "{head:?}: {answers}");
    }
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn odd_requests_are_answered() {
    let running = Running::start().await;
    for (head, code) in [
        ("GET /livez HTTP/1.0", "HTTP/1.0 200"),
        ("GET https://elsewhere/livez HTTP/1.1\r\nhost: a\r\nconnection: close", "HTTP/1.1 200"),
        ("GET /livez HTTP/1.1\r\nconnection: close", "HTTP/1.1 200"),
        ("OPTIONS * HTTP/1.1\r\nhost: a\r\nconnection: close", "HTTP/1.1 "),
        ("CONNECT a:1 HTTP/1.1\r\nhost: a\r\nconnection: close", "HTTP/1.1 404"),
        ("GET /api/v1/pods%zz HTTP/1.1\r\nhost: a\r\nconnection: close", "HTTP/1.1 400"),
    ] {
        let mut stream = running.admin("http/1.1").await;
        let answers = exchange(&mut stream, head).await;
        assert!(answers.starts_with(code), "{head}: {answers}");
        assert!(!answers.starts_with("HTTP/1.1 5"), "{head}: {answers}");
    }
    running.end().await;
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let running = Running::start().await;
    // What was read at once is not counted, so that twice the bound may pass.
    let long = "x".repeat(600 * 1024);
    let many: String = (0..5000).map(|at| format!("h{at}: v\r\n")).collect();
    for (head, code) in [
        (format!("GET /livez?{} HTTP/1.1\r\nhost: a", "x".repeat(70_000)), "414"),
        (format!("GET /livez HTTP/1.1\r\nhost: a\r\nx: {long}"), "431"),
        (format!("GET /livez HTTP/1.1\r\nhost: a\r\n{many}connection: close"), "431"),
    ] {
        let mut stream = running.stranger("http/1.1").await;
        // The server may close before it has read all of it.
        let _ = stream.write_all(format!("{head}\r\n\r\n").as_bytes()).await;
        let answers = read_to_end(&mut stream).await;
        assert!(matches!(codes(&answers)[..], [found] if found == code), "{code}: {answers}");
    }
    running.is_well().await;
    running.end().await;
}

#[tokio::test]
async fn a_body_is_asked_for_only_when_it_is_wanted() {
    let running = Running::start().await;
    let post = |length: usize| {
        format!(
            "POST {MAPS} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n\
             content-type: application/json\r\nexpect: 100-continue"
        )
    };
    // Nobody asks for a body that is too long, or of somebody who may not send it.
    let mut stream = running.admin("http/1.1").await;
    let answer = exchange(&mut stream, &post(4 * 1024 * 1024)).await;
    assert_eq!(codes(&answer), ["413"], "{answer}");
    assert_eq!(status_of(&answer)["reason"], "RequestEntityTooLarge");
    let mut stream = running.stranger("http/1.1").await;
    let answer = exchange(&mut stream, &post(30)).await;
    assert_eq!(codes(&answer), ["403"], "{answer}");
    let body = "{\"metadata\":{\"name\":\"expected\"}}";
    let mut stream = running.admin("http/1.1").await;
    stream.write_all(format!("{}\r\n\r\n{body}", post(body.len())).as_bytes()).await.unwrap();
    let answer = read_to_end(&mut stream).await;
    assert!(matches!(codes(&answer)[..], ["100", "201"] | ["201"]), "{answer}");
    running.end().await;
}

#[tokio::test]
async fn a_body_that_nobody_reads_does_not_become_a_request() {
    let running = Running::start().await;
    let mut stream = running.stranger("http/1.1").await;
    let body = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
    let head = format!(
        "POST {MAPS} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}\
         GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close",
        body.len()
    );
    let answers = exchange(&mut stream, &head).await;
    assert!(matches!(codes(&answers)[..], ["403"] | ["403", "200"]), "{answers}");
    running.end().await;
}
