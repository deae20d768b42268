//! Requests in an input, and a server that answers them.
//!
//! An input is up to [`REQUESTS_MAX`] requests with a zero byte between them, each written as in
//! HTTP/1.1: method and path, headers, an empty line, the body. Lines end in a line feed.
//! Everything but the ids that the server makes up follows from the input: the clock stands still,
//! and waiting takes no time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use orlop_apiserver::serve::Peer;
use orlop_apiserver::{Body, Options, RequestBody, Server, User};
use orlop_machinery::{Value, json};
use orlop_storage::{Clock, Memory};

/// The most requests of one input.
const REQUESTS_MAX: usize = 4;
/// The most pieces that are read of one answer: a watch may have no end.
const PIECES_MAX: usize = 64;
/// What upstream answers with 500 although the client is wrong.
const UPSTREAMS_OWN_FAULTS: [&str; 4] = [
    "strconv.ParseUint: parsing ",
    "target.",
    "no preferred addresses found",
    "failed to allocate a serviceIP",
];

#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now(&self) -> Duration {
        Duration::from_secs(1_800_000_000)
    }
}

/// Answers all requests of an input, by a new server, and judges the answers.
pub fn answer_all(bytes: &[u8]) {
    let requests: Vec<Request<RequestBody>> =
        bytes.split(|byte| *byte == 0).take(REQUESTS_MAX).filter_map(request).collect();
    if requests.is_empty() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime of one thread");
    runtime.block_on(async {
        let options = Options {
            clock: Arc::new(Noon),
            ..Options::new(std::net::Ipv4Addr::LOCALHOST.into(), 6443)
        };
        let server = Server::start(Arc::new(Memory::new()), options).await.expect("it starts");
        let groups = vec!["system:masters".into()];
        let peer = Peer::acting_for(User { name: "admin".into(), groups, ..User::default() });
        for request in requests {
            judge(server.answer(request, &peer).await).await;
        }
    });
}

fn request(bytes: &[u8]) -> Option<Request<RequestBody>> {
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let mut words = lines.next()?.splitn(2, |byte| *byte == b' ');
    let mut request = Request::builder().method(words.next()?).uri(words.next()?);
    let mut rest = lines.next().unwrap_or_default();
    loop {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { break };
        request = request.header(&line[..colon], line[colon + 1..].trim_ascii());
    }
    let body = Full::new(Bytes::copy_from_slice(rest)).map_err(|never| match never {});
    request.body(body.boxed_unsync()).ok()
}

/// An answer is no failure of the server, and is what it says it is.
async fn judge(answer: Response<Body>) {
    let (parts, mut body) = answer.into_parts();
    let mut bytes = Vec::new();
    let mut is_whole = false;
    for _ in 0..PIECES_MAX {
        match body.frame().await {
            None => {
                is_whole = true;
                break;
            }
            Some(frame) => {
                let data = frame.expect("a body does not fail").into_data();
                bytes.extend_from_slice(&data.expect("there are no trailers"));
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let code = parts.status.as_u16();
    let is_excused = UPSTREAMS_OWN_FAULTS.iter().any(|fault| text.contains(fault));
    assert!(code < 500 || matches!(code, 501 | 503 | 504) || is_excused, "{code} {text}");
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_whole || bytes.is_empty() || parts.headers.contains_key(header::CONTENT_ENCODING) {
        return;
    }
    if content_type == "application/json" {
        for line in lines(&bytes) {
            let value = json::parse(line).unwrap_or_else(|error| panic!("{error}: {text}"));
            let is_status = value.at("kind").str() == "Status";
            assert!(!is_status || is_complete(&value), "{text}");
        }
    }
    if content_type == "application/vnd.kubernetes.protobuf" {
        assert!(bytes.starts_with(b"k8s\0"), "{text}");
    }
}

/// The documents in a body: one, or an event on each line.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    if json::parse(bytes).is_ok() {
        return vec![bytes];
    }
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect()
}

/// A failure says with which code.
fn is_complete(status: &Value) -> bool {
    status.at("status").str() == "Success" || status.at("code").as_int().is_some()
}
