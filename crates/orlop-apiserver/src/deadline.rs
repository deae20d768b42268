//! How long a request may take.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/filters/request_deadline.go` and
//! `.../pkg/server/filters/timeout.go`. The deadline holds until the answer begins: a list that is
//! being sent is the connection's business.

use std::future::Future;
use std::time::Duration;

use orlop_machinery::duration;
use orlop_machinery::status::Status;

use crate::query::Query;
use crate::request::RequestInfo;

/// How long a request may take when it does not ask for less.
pub const REQUEST_TIMEOUT_MAX: Duration = Duration::from_mins(1);

/// The time that a request has; none for what takes as long as the client wants.
///
/// # Errors
///
/// When the request asks for a time that is none.
pub(crate) fn deadline(
    info: &RequestInfo,
    query: &str,
    max: Duration,
) -> Result<Option<Duration>, Status> {
    if info.is_long_running() {
        return Ok(None);
    }
    let query = Query::parse(query);
    let wish = query.text("timeout");
    if wish.is_empty() {
        return Ok(Some(max));
    }
    let wish = wish.parse::<duration::Duration>().map_err(|error| {
        let message = format!("invalid timeout specified in the request URL - {error}");
        Status::bad_request(message)
    })?;
    let nanos = u64::try_from(wish.as_nanos()).unwrap_or_default();
    let is_less = nanos > 0 && Duration::from_nanos(nanos) < max;
    Ok(Some(if is_less { Duration::from_nanos(nanos) } else { max }))
}

/// Does something in the time that it has.
///
/// # Errors
///
/// Its own, or that the time is over.
pub(crate) async fn within<T>(
    time: Option<Duration>,
    work: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    match time {
        None => work.await,
        Some(time) => tokio::time::timeout(time, work).await.unwrap_or_else(|_| {
            Err(Status::timeout("request did not complete within the allotted timeout", 0))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_may_ask_for_less_time() {
        let check = |uri: &str, expect: &str| {
            let uri: http::Uri = uri.parse().unwrap();
            let info = RequestInfo::parse(&http::Method::GET, &uri);
            let time = deadline(&info, uri.query().unwrap_or_default(), REQUEST_TIMEOUT_MAX);
            let shown = time.map(|time| format!("{time:?}")).unwrap_or_else(|error| error.message);
            assert_eq!(shown, expect, "{uri}");
        };
        check("/api/v1/pods", "Some(60s)");
        check("/api/v1/pods?timeout=", "Some(60s)");
        check("/api/v1/pods?timeout=5s", "Some(5s)");
        check("/api/v1/pods?timeout=100ms", "Some(100ms)");
        check("/api/v1/pods?timeout=61s", "Some(60s)");
        check("/api/v1/pods?timeout=0s", "Some(60s)");
        check("/api/v1/pods?timeout=-5s", "Some(60s)");
        check("/api/v1/pods?timeout=5s&watch=1", "None");
        let wrong = "invalid timeout specified in the request URL - time: ";
        check("/api/v1/pods?timeout=x", &format!("{wrong}invalid duration \"x\""));
        check("/healthz?timeout=5", &format!("{wrong}missing unit in duration \"5\""));
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_longer_gets_no_answer() {
        let time = Some(Duration::from_secs(1));
        let slow = async { std::future::pending::<Result<(), Status>>().await };
        let status = within(time, slow).await.unwrap_err();
        assert_eq!((status.code, status.reason.as_str()), (504, "Timeout"));
        assert_eq!(status.message, "Timeout: request did not complete within the allotted timeout");
        assert_eq!(within(time, async { Ok(1) }).await, Ok(1));
        assert_eq!(within(None, async { Ok(2) }).await, Ok(2));
    }
}
