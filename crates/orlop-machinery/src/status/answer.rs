//! A status for an answer that has none: what a client makes of a bare HTTP status.
//!
//! After `NewGenericServerResponse` in
//! `staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go`.

use super::{Cause, Details, Reason, Status, cause_reason};
use crate::group_version::GroupResource;
use crate::text::quote;
use crate::value::Str;

/// An answer without a Status.
#[derive(Clone, Debug, Default)]
pub struct ServerAnswer<'a> {
    /// The HTTP status.
    pub code: u16,
    /// The HTTP method of the request.
    pub verb: &'a str,
    /// What was asked for, when it is known.
    pub resource: GroupResource,
    /// The name of the object, when it is known.
    pub name: &'a str,
    /// What the server said.
    pub message: &'a str,
    /// When to try again; 0 when it was not said.
    pub retry_after_seconds: i32,
    /// Whether it does not look like the API at all.
    pub is_unexpected: bool,
}

impl ServerAnswer<'_> {
    /// What the answer means.
    #[must_use]
    pub fn to_status(&self) -> Status {
        let (reason, mut message) = self.meaning();
        if !self.resource.is_empty() {
            let (verb, resource) = (self.verb.to_lowercase(), &self.resource);
            message += &match self.name {
                "" => format!(" ({verb} {resource})"),
                name => format!(" ({verb} {resource} {name})"),
            };
        }
        let mut status = Status::failure(self.code, reason, message);
        let cause =
            || Cause::new(cause_reason::UNEXPECTED_SERVER_RESPONSE, self.message, String::new());
        status.details = Some(Box::new(Details {
            group: self.resource.group.clone(),
            kind: self.resource.resource.clone(),
            name: Str::new(self.name),
            causes: self.is_unexpected.then(cause).into_iter().collect(),
            retry_after_seconds: self.retry_after_seconds,
            ..Details::default()
        }));
        status
    }

    fn meaning(&self) -> (Reason, String) {
        let (reason, message) = match self.code {
            400 => (Reason::BadRequest, "the server rejected our request for an unknown reason"),
            401 => {
                (Reason::Unauthorized, "the server has asked for the client to provide credentials")
            }
            403 => (Reason::Forbidden, self.message),
            404 => (Reason::NotFound, "the server could not find the requested resource"),
            405 => (
                Reason::MethodNotAllowed,
                "the server does not allow this method on the requested resource",
            ),
            406 if matches!(self.message, "" | "unknown") => (
                Reason::NotAcceptable,
                "the server was unable to respond with a content type that the client supports",
            ),
            406 => (Reason::NotAcceptable, self.message),
            409 if self.verb == "POST" => (Reason::AlreadyExists, "the server reported a conflict"),
            409 => (Reason::Conflict, "the server reported a conflict"),
            415 => (Reason::UnsupportedMediaType, self.message),
            422 => {
                (Reason::Invalid, "the server rejected our request due to an error in our request")
            }
            429 => (
                Reason::TooManyRequests,
                "the server has received too many requests and has asked us to try again later",
            ),
            503 => {
                (Reason::ServiceUnavailable, "the server is currently unable to handle the request")
            }
            504 => (
                Reason::Timeout,
                "the server was unable to return a response in the time allotted, but may still \
                 be processing the request",
            ),
            code => return self.unknown_meaning(code),
        };
        (reason, message.to_owned())
    }

    fn unknown_meaning(&self, code: u16) -> (Reason, String) {
        if code >= 500 {
            let said = quote(self.message);
            let message = format!(
                "an error on the server ({said}) has prevented the request from succeeding"
            );
            return (Reason::InternalError, message);
        }
        let message = format!(
            "the server responded with the status code {code} but did not return more information"
        );
        (Reason::Unknown, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_http_status_has_a_meaning() {
        let check = |code: u16, verb: &str, reason: &str, message: &str| {
            let answer = ServerAnswer { code, verb, message: "said", ..ServerAnswer::default() };
            let status = answer.to_status();
            assert_eq!((status.code, status.reason.as_str()), (code, reason));
            assert_eq!(status.message, message);
            assert!(status.details.unwrap().causes.is_empty());
        };
        let conflict = "the server reported a conflict";
        check(400, "GET", "BadRequest", "the server rejected our request for an unknown reason");
        check(
            401,
            "GET",
            "Unauthorized",
            "the server has asked for the client to provide credentials",
        );
        check(403, "GET", "Forbidden", "said");
        check(404, "GET", "NotFound", "the server could not find the requested resource");
        check(
            405,
            "GET",
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
        check(406, "GET", "NotAcceptable", "said");
        check(409, "POST", "AlreadyExists", conflict);
        check(409, "PUT", "Conflict", conflict);
        check(415, "GET", "UnsupportedMediaType", "said");
        check(
            422,
            "GET",
            "Invalid",
            "the server rejected our request due to an error in our request",
        );
        check(
            429,
            "GET",
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        );
        check(
            500,
            "GET",
            "InternalError",
            "an error on the server (\"said\") has prevented the request from succeeding",
        );
        check(
            503,
            "GET",
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        );
        check(
            504,
            "GET",
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be \
             processing the request",
        );
        check(
            418,
            "GET",
            "",
            "the server responded with the status code 418 but did not return more information",
        );
    }

    #[test]
    fn the_message_names_what_was_asked_for() {
        let resource = GroupResource::new("apps", "deployments");
        let mut answer =
            ServerAnswer { code: 404, verb: "GET", resource, ..ServerAnswer::default() };
        let text = "the server could not find the requested resource (get deployments.apps";
        assert_eq!(answer.to_status().message, format!("{text})"));
        answer.name = "web";
        answer.message = "page";
        answer.is_unexpected = true;
        let status = answer.to_status();
        assert_eq!(status.message, format!("{text} web)"));
        assert_eq!(status.cause("UnexpectedServerResponse").unwrap().message, "page");
        let unknown = ServerAnswer { code: 406, message: "unknown", ..ServerAnswer::default() };
        let expect =
            "the server was unable to respond with a content type that the client supports";
        assert_eq!(unknown.to_status().message, expect);
    }
}
