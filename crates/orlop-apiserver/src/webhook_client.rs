//! Calls to programs of users that the server asks while it answers: webhooks.
//!
//! A [`WebhookClient`] belongs to one `clientConfig`. It posts JSON over TLS and gives back the
//! body of the answer, or an error in the words of upstream's client. It keeps connections, follows
//! no redirect (whoever answers a call is who the configuration names), reads no more than a bound,
//! and has a bound of calls that are under way. Neither bodies nor addresses of Services nor
//! anything else of a call is logged here.
//!
//! After `staging/src/k8s.io/apiserver/pkg/util/webhook/{client,webhook}.go` and
//! `staging/src/k8s.io/client-go/rest/{request,with_retry}.go`. As there, a webhook that asks for
//! it (`Retry-After` with 429 or 5xx) is called again, and HTTP/2 is offered to this machine only:
//! a single connection would send every call to one of several backends of a Service. Unlike there,
//! redirects are errors, and calls without effects may be repeated when a connection is lost.
//!
//! Not here: what calls say (conversion, admission), and credentials for webhooks.

mod connection;
mod failure;
mod service;
mod target;
mod tls;
mod trust;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Body as _;
use orlop_machinery::duration::Duration as GoDuration;
use orlop_machinery::json;
use orlop_machinery::status::{Outcome, ServerAnswer, Status};
use orlop_storage::{Clock, SystemClock};
use tokio::sync::Semaphore;

use crate::random::random_number;
use connection::{Connections, Sender};

pub use failure::CallError;
pub use service::{NoServices, ServiceResolver, cluster_address};
pub use target::{ClientConfig, ServiceReference};
pub use tls::SystemRoots;

/// How often a webhook may ask to be called again.
const ASKED_RETRIES_MAX: u32 = 10;
/// How often a call whose connection was lost is made, at most.
const LOST_STEPS: u32 = 5;
/// How much longer each wait between such calls is, as a fraction.
const LOST_FACTOR: (u32, u32) = (3, 2);
/// How much of an answer without a Status goes into an error.
const ERROR_TEXT_BYTES_MAX: usize = 2048;
/// What upstream's calls are sent by.
const USER_AGENT: &str = "kube-apiserver-admission";
const JSON: &str = "application/json";

/// What calls have in common.
#[derive(Clone, Debug)]
pub struct WebhookOptions {
    /// The time, for certificates.
    pub clock: Arc<dyn Clock>,
    /// The authorities that the machine trusts: for webhooks without a `caBundle`.
    pub system_roots: Arc<SystemRoots>,
    /// How large an answer may be.
    pub response_bytes_max: usize,
    /// How many calls of one webhook may be under way. Others wait, as long as they may take.
    pub calls_max: usize,
    /// How many connections to one webhook are kept while nobody uses them.
    pub idle_connections_max: usize,
    /// The first wait before a call is repeated because its connection was lost.
    pub lost_delay: Duration,
}

impl Default for WebhookOptions {
    fn default() -> WebhookOptions {
        WebhookOptions {
            clock: Arc::new(SystemClock),
            system_roots: Arc::default(),
            response_bytes_max: 64 << 20,
            calls_max: 64,
            idle_connections_max: 8,
            lost_delay: Duration::from_millis(50),
        }
    }
}

/// When a call is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// When the webhook asks for it.
    WhenAsked,
    /// Also when the connection was lost: for calls that have no effects.
    WhenLost,
}

/// What a webhook answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status: some sort of success.
    pub code: u16,
    /// The `Content-Type`, or JSON if the webhook did not say.
    pub content_type: String,
    /// The body.
    pub bytes: Bytes,
}

/// Somebody who is called.
pub struct WebhookClient {
    connections: Connections,
    calls: Semaphore,
    options: WebhookOptions,
}

/// One call, which may be made several times.
struct Call {
    url: String,
    path_and_query: String,
    body: Bytes,
}

impl WebhookClient {
    /// A client of the webhook that a `clientConfig` names. Nothing is connected yet.
    ///
    /// # Errors
    /// When the configuration names nobody, or has no certificate where it should.
    pub fn new(
        config: &ClientConfig,
        resolver: Arc<dyn ServiceResolver>,
        options: WebhookOptions,
    ) -> Result<WebhookClient, CallError> {
        let target = target::Target::new(config)?;
        let tls = tls::client_config(config, &target, &options)?;
        Ok(WebhookClient {
            connections: Connections::new(target, tls, resolver, options.idle_connections_max),
            calls: Semaphore::new(options.calls_max),
            options,
        })
    }

    /// Posts JSON and reads the answer. The time counts for everything: waiting for others,
    /// connecting, and all repetitions.
    ///
    /// # Errors
    /// When there is no answer in time, or it is no success.
    pub async fn post(
        &self,
        body: Bytes,
        timeout: Duration,
        repeat: Repeat,
    ) -> Result<Answer, CallError> {
        let target = self.connections.target();
        let nanos = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        let path_and_query = format!("{}?timeout={}", target.path, GoDuration::from_nanos(nanos));
        let url = format!("https://{}{path_and_query}", target.authority);
        let call = Call { url, path_and_query, body };
        match tokio::time::timeout(timeout, self.post_repeatedly(&call, repeat)).await {
            Ok(result) => result,
            Err(_) => Err(CallError::late(&call.url)),
        }
    }

    async fn post_repeatedly(&self, call: &Call, repeat: Repeat) -> Result<Answer, CallError> {
        let permit = self.calls.acquire().await;
        let _permit = permit.expect("the semaphore is never closed");
        let (mut asked, mut lost) = (0, 0);
        let mut delay = self.options.lost_delay;
        loop {
            let error = match self.post_once(call).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if let Some(wait) = error.retry_after() {
                asked += 1;
                if asked > ASKED_RETRIES_MAX {
                    return Err(error);
                }
                tokio::time::sleep(wait).await;
            } else if error.is_lost() && repeat == Repeat::WhenLost {
                lost += 1;
                if lost >= LOST_STEPS {
                    return Err(error);
                }
                tokio::time::sleep(jitter(delay)).await;
                delay = delay * LOST_FACTOR.0 / LOST_FACTOR.1;
            } else {
                return Err(error);
            }
        }
    }

    async fn post_once(&self, call: &Call) -> Result<Answer, CallError> {
        let (response, sender) = self.connections.send(call).await?;
        let (parts, body) = response.into_parts();
        let max = self.options.response_bytes_max;
        let is_too_large = body.size_hint().lower() > max as u64;
        if is_too_large {
            return Err(CallError::TooLarge { max });
        }
        let bytes = match Limited::new(body, max).collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return Err(CallError::TooLarge { max });
            }
            Err(error) => return Err(CallError::body(&*error)),
        };
        self.connections.give_back(sender);
        judge(parts.status, &parts.headers, bytes)
    }
}

impl fmt::Debug for WebhookClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("WebhookClient").finish_non_exhaustive()
    }
}

impl Call {
    fn request(
        &self,
        sender: &Sender,
        authority: &str,
    ) -> Result<http::Request<Full<Bytes>>, CallError> {
        let uri = match sender {
            Sender::Http1(_) => self.path_and_query.clone(),
            Sender::Http2(_) => self.url.clone(),
        };
        http::Request::post(uri)
            .header(header::HOST, authority)
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT, "application/json, */*")
            .header(header::CONTENT_TYPE, JSON)
            .body(Full::new(self.body.clone()))
            .map_err(|error| CallError::Configuration(error.to_string()))
    }
}

/// A wait that is up to a fifth longer, so that calls that failed together do not come back
/// together.
fn jitter(delay: Duration) -> Duration {
    let thousandths = random_number().map_or(0, |number| number % 200);
    delay + delay * u32::try_from(thousandths).unwrap_or_default() / 1000
}

/// What upstream's client makes of an answer.
fn judge(code: StatusCode, headers: &HeaderMap, bytes: Bytes) -> Result<Answer, CallError> {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let said = text(header::CONTENT_TYPE).unwrap_or_default();
    let content_type = if said.is_empty() { JSON } else { said };
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if media_type.is_empty() {
        return Err(CallError::MediaType);
    }
    let code = code.as_u16();
    if (200..=206).contains(&code) {
        return Ok(Answer { code, content_type: content_type.to_owned(), bytes });
    }
    let after = text(header::RETRY_AFTER).and_then(|seconds| seconds.trim().parse::<u32>().ok());
    let is_text = said.is_empty() || media_type.starts_with("text/");
    let status = status_in(&bytes).unwrap_or_else(|| {
        let end = bytes.len().min(ERROR_TEXT_BYTES_MAX);
        let shown = String::from_utf8_lossy(&bytes[..end]);
        let message = if is_text { shown.trim() } else { "unknown" };
        let seconds = i32::try_from(after.unwrap_or_default()).unwrap_or(i32::MAX);
        let retry_after_seconds = seconds;
        ServerAnswer {
            code,
            verb: "POST",
            message,
            retry_after_seconds,
            is_unexpected: true,
            ..ServerAnswer::default()
        }
        .to_status()
    });
    let may_retry = code == 429 || code >= 500;
    let retry_after = after.filter(|_| may_retry).map(|after| Duration::from_secs(after.into()));
    Err(CallError::Refused { status: Box::new(status), retry_after })
}

/// The failure that a webhook describes itself.
fn status_in(bytes: &[u8]) -> Option<Status> {
    let status = Status::from_value(&json::parse(bytes).ok()?)?;
    (status.outcome == Outcome::Failure).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: u16, headers: &[(&'static str, &str)], body: &'static str, expect: &str) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let code = StatusCode::from_u16(code).unwrap();
        let shown = match judge(code, &map, Bytes::from_static(body.as_bytes())) {
            Ok(answer) => format!("{} {}", answer.code, answer.content_type),
            Err(error) => match error.retry_after() {
                Some(after) => format!("{error}, again in {after:?}"),
                None => error.to_string(),
            },
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn answers_are_judged_as_upstream_judges_them() {
        let text = [("content-type", "text/plain")];
        let json = [("content-type", JSON)];
        check(200, &[], "{}", "200 application/json");
        check(206, &text, "x", "206 text/plain");
        check(200, &[("content-type", ";;")], "x", "Internal error occurred: mime: no media type");
        let boom = "an error on the server (\"boom\") has prevented the request from succeeding";
        check(500, &text, " boom\n", boom);
        check(500, &[], "boom", boom);
        let unknown =
            "an error on the server (\"unknown\") has prevented the request from succeeding";
        check(500, &json, "{}", unknown);
        check(404, &text, "", "the server could not find the requested resource");
        let redirect = "the server responded with the status code 307 but did not return more \
                        information";
        check(307, &[("location", "https://elsewhere/")], "", redirect);
        let status = r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"mine"}"#;
        check(500, &json, status, "mine");
    }

    #[test]
    fn only_overload_and_faults_may_ask_for_another_call() {
        let after = [("retry-after", "2"), ("content-type", "text/plain")];
        let busy = "the server has received too many requests and has asked us to try again later";
        check(429, &after, "", &format!("{busy}, again in 2s"));
        check(404, &after, "", "the server could not find the requested resource");
        check(429, &[("retry-after", "tomorrow")], "", busy);
    }

    #[test]
    fn waits_grow_by_a_fifth_at_most() {
        for _ in 0..100 {
            let delay = jitter(Duration::from_millis(100));
            assert!((100..120).contains(&delay.as_millis()), "{delay:?}");
        }
    }
}
