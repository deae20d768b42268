//! What is written to logs, at whatever level, holds nothing that is secret.

use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::AsyncWriteExt as _;
use tracing_subscriber::filter::LevelFilter;

use crate::frames::{END_HEADERS, END_STREAM, HEADERS, frame, head, header, preface, read_until};
use crate::running::{Running, exchange};

const TOKEN: &str = "hunter2-token";
const PASSWORD: &str = "hunter2-password";

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// On one thread, so that the log of this test is that of its server.
#[tokio::test(flavor = "current_thread")]
async fn secrets_are_not_logged_at_any_level() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let running = Running::start().await;
    let token = format!("authorization: Bearer {TOKEN}");
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = format!(r#"{{"metadata":{{"name":"s"}},"stringData":{{"p":"{PASSWORD}"}}}}"#);
    let post = format!(
        "POST {secrets} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n{token}\r\n\r\n{secret}",
        secret.len()
    );
    let mut stream = running.admin("http/1.1").await;
    let answer = exchange(&mut stream, &post).await;
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    for (client, code) in [("admin", "200"), ("stranger", "401")] {
        let mut stream = match client {
            "admin" => running.admin("http/1.1").await,
            _ => running.stranger("http/1.1").await,
        };
        let get = format!("GET {secrets}/s HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{token}");
        let answer = exchange(&mut stream, &get).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {code}")), "{answer}");
    }
    let mut stream = running.stranger("h2").await;
    stream.write_all(&preface(&[])).await.unwrap();
    let mut block = head("GET", secrets);
    block.extend(header("authorization", &format!("Bearer {TOKEN}")));
    block.extend(header("x-remote-user", TOKEN));
    stream.write_all(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &block)).await.unwrap();
    read_until(&mut stream, HEADERS).await;
    drop(stream);
    running.end().await;
    drop(guard);
    let logged = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(!logged.is_empty(), "something is logged");
    let encoded = "aHVudGVyMi1wYXNzd29yZA";
    for word in [TOKEN, PASSWORD, encoded, "PRIVATE KEY"] {
        let line = logged.lines().find(|line| line.contains(word));
        assert_eq!(line, None, "{word} is in the log");
    }
}
