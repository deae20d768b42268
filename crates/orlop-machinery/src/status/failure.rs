//! The errors that the API answers with, each with its text.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go`, and for the last ones
//! `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/negotiation/errors.go` and
//! `staging/src/k8s.io/apiserver/pkg/storage/errors.go`.

use std::fmt;

use super::{Cause, Details, Outcome, Reason, Status, cause_reason};
use crate::group_version::GroupResource;
use crate::text::quote;
use crate::value::Str;

/// That the object is not the one that the writer has read.
pub const OPTIMISTIC_LOCK: &str = "the object has been modified; please apply your changes to the \
                                   latest version and try again";

impl Status {
    /// There is no such object.
    #[must_use]
    pub fn not_found(resource: &GroupResource, name: &str) -> Status {
        let message = format!("{resource} {} not found", quote(name));
        failure(404, Reason::NotFound, message).about(resource, name)
    }

    /// There is such an object already.
    #[must_use]
    pub fn already_exists(resource: &GroupResource, name: &str) -> Status {
        let message = format!("{resource} {} already exists", quote(name));
        failure(409, Reason::AlreadyExists, message).about(resource, name)
    }

    /// All names that the server chose are taken.
    #[must_use]
    pub fn generate_name_conflict(
        resource: &GroupResource,
        name: &str,
        retry_after_seconds: i32,
    ) -> Status {
        let message = format!(
            "{resource} {} already exists, the server was not able to generate a unique name for \
             the object",
            quote(name)
        );
        failure(409, Reason::AlreadyExists, message)
            .about(resource, name)
            .retry_after(retry_after_seconds)
    }

    /// Nobody knows who asks.
    #[must_use]
    pub fn unauthorized(reason: &str) -> Status {
        let message = if reason.is_empty() { "not authorized" } else { reason };
        failure(401, Reason::Unauthorized, message)
    }

    /// Who asks may not.
    #[must_use]
    pub fn forbidden(resource: &GroupResource, name: &str, why: impl fmt::Display) -> Status {
        let message = match (resource.is_empty(), name) {
            (true, _) => format!("forbidden: {why}"),
            (false, "") => format!("{resource} is forbidden: {why}"),
            (false, name) => format!("{resource} {} is forbidden: {why}", quote(name)),
        };
        failure(403, Reason::Forbidden, message).about(resource, name)
    }

    /// The object is not as the request expects it.
    #[must_use]
    pub fn conflict(resource: &GroupResource, name: &str, why: impl fmt::Display) -> Status {
        let name_quoted = quote(name);
        let message = format!("Operation cannot be fulfilled on {resource} {name_quoted}: {why}");
        failure(409, Reason::Conflict, message).about(resource, name)
    }

    /// It was there and never will be again. Use [`Status::expired`].
    #[must_use]
    pub fn gone(message: &str) -> Status {
        failure(410, Reason::Gone, message)
    }

    /// What was asked for is too old.
    #[must_use]
    pub fn expired(message: &str) -> Status {
        failure(410, Reason::Expired, message)
    }

    /// The request makes no sense.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Status {
        failure(400, Reason::BadRequest, message)
    }

    /// Too many requests: try again later.
    #[must_use]
    pub fn too_many_requests(message: &str, retry_after_seconds: i32) -> Status {
        failure(429, Reason::TooManyRequests, message).retry_after(retry_after_seconds)
    }

    /// The server takes no more requests.
    #[must_use]
    pub fn too_many_requests_now(message: &str) -> Status {
        failure(429, Reason::TooManyRequests, format!("Too many requests: {message}"))
    }

    /// The server is not up.
    #[must_use]
    pub fn service_unavailable(message: &str) -> Status {
        failure(503, Reason::ServiceUnavailable, message)
    }

    /// The resource cannot do that.
    #[must_use]
    pub fn method_not_supported(resource: &GroupResource, action: &str) -> Status {
        let quoted = quote(&resource.to_string());
        let message = format!("{action} is not supported on resources of kind {quoted}");
        failure(405, Reason::MethodNotAllowed, message).about(resource, "")
    }

    /// The server could not do it now.
    #[must_use]
    pub fn server_timeout(
        resource: &GroupResource,
        operation: &str,
        retry_after_seconds: i32,
    ) -> Status {
        let message = format!(
            "The {operation} operation against {resource} could not be completed at this time, \
             please try again."
        );
        failure(500, Reason::ServerTimeout, message)
            .about(resource, operation)
            .retry_after(retry_after_seconds)
    }

    /// The server has a fault.
    #[must_use]
    pub fn internal_error(why: impl fmt::Display) -> Status {
        let why = why.to_string();
        let mut status =
            failure(500, Reason::InternalError, format!("Internal error occurred: {why}"));
        status.details_mut().causes = vec![Cause::new("", why, "")];
        status
    }

    /// It took too long; it may happen still.
    #[must_use]
    pub fn timeout(message: &str, retry_after_seconds: i32) -> Status {
        failure(504, Reason::Timeout, format!("Timeout: {message}"))
            .retry_after(retry_after_seconds)
    }

    /// The body is too large.
    #[must_use]
    pub fn request_entity_too_large(message: &str) -> Status {
        let message = format!("Request entity too large: {message}");
        failure(413, Reason::RequestEntityTooLarge, message)
    }

    /// No format that the client accepts can be written.
    #[must_use]
    pub fn not_acceptable(accepted: &[&str]) -> Status {
        let accepted = accepted.join(", ");
        let message = format!("only the following media types are accepted: {accepted}");
        failure(406, Reason::NotAcceptable, message)
    }

    /// The same for an object in another form, such as a table.
    #[must_use]
    pub fn not_acceptable_conversion(target: &str, accepted: &[&str]) -> Status {
        let accepted = accepted.join(", ");
        let message = format!(
            "only the following media types are accepted when converting to {target}: {accepted}"
        );
        failure(406, Reason::NotAcceptable, message)
    }

    /// The format of the body cannot be read.
    #[must_use]
    pub fn unsupported_media_type(accepted: &[&str]) -> Status {
        let accepted = accepted.join(", ");
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: \
             {accepted}"
        );
        failure(415, Reason::UnsupportedMediaType, message)
    }

    /// A version was asked for that the store has not come to.
    #[must_use]
    pub fn resource_version_too_large(
        asked: u64,
        current: u64,
        retry_after_seconds: i32,
    ) -> Status {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let mut status = Status::timeout(&message, retry_after_seconds);
        let reason = cause_reason::RESOURCE_VERSION_TOO_LARGE;
        status.details_mut().causes = vec![Cause::new(reason, "Too large resource version", "")];
        status
    }

    /// The store has objects that cannot be read: each by its key and what is wrong with it.
    #[must_use]
    pub fn store_read_error(
        resource: &GroupResource,
        prefix: &str,
        unreadable: &[(&str, &str)],
    ) -> Status {
        let message = format!("failed to read one or more {resource} from the storage");
        let mut status = failure(500, Reason::StoreReadError, message).about(resource, prefix);
        let reason = cause_reason::UNEXPECTED_SERVER_RESPONSE;
        let causes = unreadable.iter().map(|(key, why)| Cause::new(reason, *why, *key));
        status.details_mut().causes = causes.collect();
        status
    }

    /// A failure that is none of the above.
    #[must_use]
    pub fn failure(code: u16, reason: Reason, message: impl Into<String>) -> Status {
        failure(code, reason, message)
    }

    /// It went well.
    #[must_use]
    pub fn success() -> Status {
        Status { outcome: Outcome::Success, code: 200, ..Status::default() }
    }

    /// The details, made when there are none.
    pub fn details_mut(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }

    fn about(mut self, resource: &GroupResource, name: &str) -> Status {
        let details = self.details_mut();
        details.group = resource.group.clone();
        details.kind = resource.resource.clone();
        details.name = Str::new(name);
        self
    }

    fn retry_after(mut self, seconds: i32) -> Status {
        self.details_mut().retry_after_seconds = seconds;
        self
    }
}

fn failure(code: u16, reason: Reason, message: impl Into<String>) -> Status {
    Status { code, reason, message: message.into(), ..Status::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    /// Without the fields that every failure has.
    fn check(status: &Status, expect: &str) {
        let mut value = status.to_value();
        assert_eq!(value.remove("apiVersion"), Some("v1".into()));
        assert_eq!(value.remove("kind"), Some("Status".into()));
        assert_eq!(value.remove("status"), Some("Failure".into()));
        value.remove("metadata");
        assert_eq!(json::to_string(&value), expect);
        assert_eq!(status.to_string(), status.message);
        assert_eq!(Status::from_value(&status.to_value()), Some(status.clone()));
    }

    #[test]
    fn errors_about_an_object_name_it() {
        let deployments = GroupResource::new("apps", "deployments");
        let pods = GroupResource::new("", "pods");
        check(
            &Status::not_found(&deployments, "web"),
            r#"{"code":404,"details":{"group":"apps","kind":"deployments","name":"web"},"message":"deployments.apps \"web\" not found","reason":"NotFound"}"#,
        );
        check(
            &Status::already_exists(&pods, "a"),
            r#"{"code":409,"details":{"kind":"pods","name":"a"},"message":"pods \"a\" already exists","reason":"AlreadyExists"}"#,
        );
        check(
            &Status::generate_name_conflict(&pods, "a", 1),
            r#"{"code":409,"details":{"kind":"pods","name":"a","retryAfterSeconds":1},"message":"pods \"a\" already exists, the server was not able to generate a unique name for the object","reason":"AlreadyExists"}"#,
        );
        check(
            &Status::conflict(&pods, "a", OPTIMISTIC_LOCK),
            r#"{"code":409,"details":{"kind":"pods","name":"a"},"message":"Operation cannot be fulfilled on pods \"a\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict"}"#,
        );
        check(
            &Status::method_not_supported(&deployments, "delete"),
            r#"{"code":405,"details":{"group":"apps","kind":"deployments"},"message":"delete is not supported on resources of kind \"deployments.apps\"","reason":"MethodNotAllowed"}"#,
        );
        check(
            &Status::server_timeout(&pods, "get", 2),
            r#"{"code":500,"details":{"kind":"pods","name":"get","retryAfterSeconds":2},"message":"The get operation against pods could not be completed at this time, please try again.","reason":"ServerTimeout"}"#,
        );
        check(
            &Status::store_read_error(&pods, "/pods", &[("/pods/a", "bad")]),
            r#"{"code":500,"details":{"causes":[{"field":"/pods/a","message":"bad","reason":"UnexpectedServerResponse"}],"kind":"pods","name":"/pods"},"message":"failed to read one or more pods from the storage","reason":"StorageReadError"}"#,
        );
    }

    #[test]
    fn forbidden_says_as_much_as_is_known() {
        let pods = GroupResource::new("", "pods");
        let none = GroupResource::default();
        check(
            &Status::forbidden(&none, "", "no"),
            r#"{"code":403,"details":{},"message":"forbidden: no","reason":"Forbidden"}"#,
        );
        check(
            &Status::forbidden(&pods, "", "no"),
            r#"{"code":403,"details":{"kind":"pods"},"message":"pods is forbidden: no","reason":"Forbidden"}"#,
        );
        check(
            &Status::forbidden(&pods, "a", "no"),
            r#"{"code":403,"details":{"kind":"pods","name":"a"},"message":"pods \"a\" is forbidden: no","reason":"Forbidden"}"#,
        );
    }

    #[test]
    fn errors_about_a_request_have_a_message() {
        for (status, expect) in [
            (
                Status::unauthorized(""),
                r#"{"code":401,"message":"not authorized","reason":"Unauthorized"}"#,
            ),
            (
                Status::unauthorized("Unauthorized"),
                r#"{"code":401,"message":"Unauthorized","reason":"Unauthorized"}"#,
            ),
            (Status::gone("x"), r#"{"code":410,"message":"x","reason":"Gone"}"#),
            (Status::expired("x"), r#"{"code":410,"message":"x","reason":"Expired"}"#),
            (Status::bad_request("x"), r#"{"code":400,"message":"x","reason":"BadRequest"}"#),
            (
                Status::too_many_requests("x", 1),
                r#"{"code":429,"details":{"retryAfterSeconds":1},"message":"x","reason":"TooManyRequests"}"#,
            ),
            (
                Status::too_many_requests_now("x"),
                r#"{"code":429,"message":"Too many requests: x","reason":"TooManyRequests"}"#,
            ),
            (
                Status::service_unavailable("x"),
                r#"{"code":503,"message":"x","reason":"ServiceUnavailable"}"#,
            ),
            (
                Status::internal_error("x"),
                r#"{"code":500,"details":{"causes":[{"message":"x"}]},"message":"Internal error occurred: x","reason":"InternalError"}"#,
            ),
            (
                Status::timeout("x", 0),
                r#"{"code":504,"details":{},"message":"Timeout: x","reason":"Timeout"}"#,
            ),
            (
                Status::request_entity_too_large("limit is 3145728"),
                r#"{"code":413,"message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge"}"#,
            ),
            (
                Status::not_acceptable(&["application/json", "application/yaml"]),
                r#"{"code":406,"message":"only the following media types are accepted: application/json, application/yaml","reason":"NotAcceptable"}"#,
            ),
            (
                Status::not_acceptable_conversion("Table", &["application/json"]),
                r#"{"code":406,"message":"only the following media types are accepted when converting to Table: application/json","reason":"NotAcceptable"}"#,
            ),
            (
                Status::unsupported_media_type(&["application/json"]),
                r#"{"code":415,"message":"the body of the request was in an unknown format - accepted media types include: application/json","reason":"UnsupportedMediaType"}"#,
            ),
            (
                Status::resource_version_too_large(9, 3, 1),
                r#"{"code":504,"details":{"causes":[{"message":"Too large resource version","reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1},"message":"Timeout: Too large resource version: 9, current: 3","reason":"Timeout"}"#,
            ),
            (
                Status::failure(418, Reason::Other("Teapot".into()), "x"),
                r#"{"code":418,"message":"x","reason":"Teapot"}"#,
            ),
        ] {
            check(&status, expect);
        }
    }
}
