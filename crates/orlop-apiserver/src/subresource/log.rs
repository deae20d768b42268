//! `log`: what a container has printed.
//!
//! After `pkg/registry/core/pod/rest/log.go`, `LogLocation` in `pkg/registry/core/pod/strategy.go`,
//! `ValidatePodLogOptions` in `pkg/apis/core/validation/validation.go` and
//! `staging/src/k8s.io/apiserver/pkg/registry/generic/rest`.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::group_version::{GroupKind, GroupResource};
use orlop_machinery::meta::Meta;
use orlop_machinery::status::{ServerAnswer, Status};
use orlop_machinery::time::Time;

use super::connection::{Location, choose_container, failed, kubelet_of, read_pod};
use crate::backend::forward_body;
use crate::body::Body;
use crate::call::Call;
use crate::query::Query;
use crate::server::Inner;

/// How much of an error is read that a node answers with.
const ERROR_LENGTH_MAX: usize = 50_000;

/// Answers with the log of a container. A pod that never came to a node has none.
pub(super) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let query_text = call.query().to_owned();
    let query = Query::parse(&query_text);
    let options = LogOptions::parse(&query).map_err(Status::bad_request)?;
    options.validate(&call.info.name)?;
    let pod = read_pod(server, &call.info, &call.info.name).await?;
    let container = choose_container(&pod, query.text("container"))?;
    let node = pod.path(&["spec", "nodeName"]).str();
    if node.is_empty() {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return Ok(response);
    }
    let address = kubelet_of(server, &call.info, node).await?;
    let meta = Meta::of(&pod);
    let path = format!("/containerLogs/{}/{}/{container}", meta.namespace(), meta.name());
    let location = Location { address, path, query: options.to_query() };
    stream(&call.info.name, &location).await
}

async fn stream(name: &str, location: &Location) -> Result<Response<Body>, Status> {
    let url = location.url();
    let wrong = |error: String| failed(format!("Get \"{url}\": {error}"));
    let request = Request::builder()
        .method(Method::GET)
        .uri(location.target())
        .header(header::HOST, location.address.authority())
        .body(crate::body::RequestBody::default())
        .map_err(|error| wrong(error.to_string()))?;
    let mut response = location.address.send(request).await.map_err(wrong)?;
    let code = response.status();
    if code != StatusCode::OK && code != StatusCode::PARTIAL_CONTENT {
        let message = Limited::new(response.body_mut(), ERROR_LENGTH_MAX).collect().await;
        let message = message.map(|body| body.to_bytes()).unwrap_or_default();
        let answer = ServerAnswer {
            code: code.as_u16(),
            verb: "GET",
            resource: GroupResource::new("", "pods/log"),
            name,
            message: &String::from_utf8_lossy(&message),
            is_unexpected: true,
            ..ServerAnswer::default()
        };
        return Err(answer.to_status());
    }
    let (_, body) = response.into_parts();
    let mut response = Response::new(forward_body(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

/// What of a log is wanted.
#[derive(Debug, Default)]
struct LogOptions {
    is_following: bool,
    is_previous: bool,
    has_timestamps: bool,
    since_seconds: Option<i64>,
    since_time: Option<Time>,
    tail_lines: Option<i64>,
    limit_bytes: Option<i64>,
    has_stream: bool,
}

impl LogOptions {
    fn parse(query: &Query<'_>) -> Result<LogOptions, String> {
        let truth = |name: &str| query.truth(name).unwrap_or_default();
        let since_time = match query.text("sinceTime") {
            "" => None,
            text => Some(text.parse::<Time>().map_err(|error| error.to_string())?),
        };
        Ok(LogOptions {
            is_following: truth("follow"),
            is_previous: truth("previous"),
            since_seconds: query.integer("sinceSeconds")?,
            since_time,
            has_timestamps: truth("timestamps"),
            tail_lines: query.integer("tailLines")?,
            limit_bytes: query.integer("limitBytes")?,
            has_stream: query.has("stream"),
        })
    }

    fn validate(&self, name: &str) -> Result<(), Status> {
        let mut errors = Errors::new();
        let mut at_least = |field: &'static str, value: Option<i64>, min: i64, detail: &str| {
            if let Some(value) = value.filter(|value| *value < min) {
                errors.invalid_value(&Path::field(field), value, detail);
            }
        };
        at_least("tailLines", self.tail_lines, 0, "must be greater than or equal to 0");
        at_least("limitBytes", self.limit_bytes, 1, "must be greater than 0");
        if self.since_time.is_none() {
            at_least("sinceSeconds", self.since_seconds, 1, "must be greater than 0");
        }
        if self.since_time.is_some() && self.since_seconds.is_some() {
            let detail = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            // A path of one empty name is printed so.
            errors.forbidden(&Path::field("[]"), detail);
        }
        if self.has_stream {
            errors.forbidden(&Path::field("stream"), "may not be specified");
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(Status::invalid(&GroupKind::new("", "PodLogOptions"), name, &errors))
    }

    /// The parameters as a node reads them, in the order of their names.
    fn to_query(&self) -> String {
        let number = |value: Option<i64>| value.map(|value| value.to_string());
        let truth = |value: bool| value.then(|| "true".to_owned());
        let mut out = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("follow", truth(self.is_following)),
            ("limitBytes", number(self.limit_bytes)),
            ("previous", truth(self.is_previous)),
            ("sinceSeconds", number(self.since_seconds)),
            ("sinceTime", self.since_time.map(|time| time.to_string())),
            ("tailLines", number(self.tail_lines)),
            ("timestamps", truth(self.has_timestamps)),
        ] {
            if let Some(value) = value {
                out.append_pair(name, &value);
            }
        }
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expect: &str) {
        let options = LogOptions::parse(&Query::parse(query));
        let judged = options.and_then(|options| {
            options.validate("p").map_err(|status| status.message)?;
            Ok(options.to_query())
        });
        assert_eq!(judged.unwrap_or_else(|message| message), expect, "{query}");
    }

    #[test]
    fn a_node_is_asked_for_what_the_client_wants() {
        check("", "");
        check("follow=maybe&foo=bar&previous=false", "follow=true");
        check(
            "tailLines=3&sinceTime=2020-01-01T00:00:00Z&limitBytes=3&follow=true&timestamps=1",
            "follow=true&limitBytes=3&sinceTime=2020-01-01T00%3A00%3A00Z&tailLines=3\
             &timestamps=true",
        );
    }

    #[test]
    fn bad_options_are_refused() {
        check("tailLines=x", "strconv.ParseInt: parsing \"x\": invalid syntax");
        check(
            "sinceTime=x",
            "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"",
        );
        check(
            "tailLines=-1&limitBytes=0&sinceSeconds=0",
            "PodLogOptions \"p\" is invalid: [tailLines: Invalid value: -1: must be greater than \
             or equal to 0, limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: \
             Invalid value: 0: must be greater than 0]",
        );
        check(
            "sinceTime=2020-01-01T00:00:00Z&sinceSeconds=3",
            "PodLogOptions \"p\" is invalid: []: Forbidden: at most one of `sinceTime` or \
             `sinceSeconds` may be specified",
        );
        check(
            "stream=Stdout",
            "PodLogOptions \"p\" is invalid: stream: Forbidden: may not be specified",
        );
    }
}
