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

    /// An apply would take fields from their managers: what the conflicts of
    /// [`apply`](crate::apply) say, and each field with what is said about it.
    #[must_use]
    pub fn apply_conflict(
        message: impl Into<String>,
        fields: impl IntoIterator<Item = (String, String)>,
    ) -> Status {
        let reason = cause_reason::FIELD_MANAGER_CONFLICT;
        let causes = fields.into_iter().map(|(field, why)| Cause::new(reason, why, field));
        let mut status = failure(409, Reason::Conflict, message);
        status.details_mut().causes = causes.collect();
        status
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

    /// The details are JSON.
    fn check(status: &Status, code: u16, reason: &str, message: &str, details: &str) {
        assert_eq!((status.code, status.reason.as_str()), (code, reason));
        assert_eq!(status.to_string(), message);
        let value = status.to_value();
        assert_eq!(value.at("status").str(), "Failure");
        assert_eq!(json::to_string(value.at("details")), details);
        assert_eq!(Status::from_value(&value), Some(status.clone()));
    }

    #[test]
    fn errors_about_an_object_name_it() {
        let deployments = GroupResource::new("apps", "deployments");
        let pods = GroupResource::new("", "pods");
        let status = Status::not_found(&deployments, "web");
        let details = r#"{"group":"apps","kind":"deployments","name":"web"}"#;
        check(&status, 404, "NotFound", "deployments.apps \"web\" not found", details);
        let details = r#"{"kind":"pods","name":"a"}"#;
        let status = Status::already_exists(&pods, "a");
        check(&status, 409, "AlreadyExists", "pods \"a\" already exists", details);
        let status = Status::conflict(&pods, "a", OPTIMISTIC_LOCK);
        let message = "Operation cannot be fulfilled on pods \"a\": the object has been modified; \
                       please apply your changes to the latest version and try again";
        check(&status, 409, "Conflict", message, details);
        let status = Status::generate_name_conflict(&pods, "a", 1);
        let message = "pods \"a\" already exists, the server was not able to generate a unique \
                       name for the object";
        let details = r#"{"kind":"pods","name":"a","retryAfterSeconds":1}"#;
        check(&status, 409, "AlreadyExists", message, details);
        let status = Status::method_not_supported(&deployments, "delete");
        let message = "delete is not supported on resources of kind \"deployments.apps\"";
        let details = r#"{"group":"apps","kind":"deployments"}"#;
        check(&status, 405, "MethodNotAllowed", message, details);
        let status = Status::server_timeout(&pods, "get", 2);
        let message = "The get operation against pods could not be completed at this time, please \
                       try again.";
        let details = r#"{"kind":"pods","name":"get","retryAfterSeconds":2}"#;
        check(&status, 500, "ServerTimeout", message, details);
    }

    #[test]
    fn what_the_store_cannot_give_is_told_by_causes() {
        let pods = GroupResource::new("", "pods");
        let status = Status::store_read_error(&pods, "/pods", &[("/pods/a", "bad")]);
        let message = "failed to read one or more pods from the storage";
        let cause = r#"{"field":"/pods/a","message":"bad","reason":"UnexpectedServerResponse"}"#;
        let details = format!(r#"{{"causes":[{cause}],"kind":"pods","name":"/pods"}}"#);
        check(&status, 500, "StorageReadError", message, &details);
        let status = Status::resource_version_too_large(9, 3, 1);
        let message = "Timeout: Too large resource version: 9, current: 3";
        let cause =
            r#"{"message":"Too large resource version","reason":"ResourceVersionTooLarge"}"#;
        let details = format!(r#"{{"causes":[{cause}],"retryAfterSeconds":1}}"#);
        check(&status, 504, "Timeout", message, &details);
        let details = r#"{"causes":[{"message":"x"}]}"#;
        let message = "Internal error occurred: x";
        check(&Status::internal_error("x"), 500, "InternalError", message, details);
    }

    #[test]
    fn an_apply_conflict_has_a_cause_for_each_field() {
        let status = Status::apply_conflict("failed", [(".a".to_owned(), "why".to_owned())]);
        let cause = r#"{"field":".a","message":"why","reason":"FieldManagerConflict"}"#;
        let details = format!(r#"{{"causes":[{cause}]}}"#);
        check(&status, 409, "Conflict", "failed", &details);
    }

    #[test]
    fn forbidden_says_as_much_as_is_known() {
        let check_one = |resource: &str, name: &str, message: &str, details: &str| {
            let status = Status::forbidden(&GroupResource::parse(resource), name, "no");
            check(&status, 403, "Forbidden", message, details);
        };
        check_one("", "", "forbidden: no", "{}");
        check_one("pods", "", "pods is forbidden: no", r#"{"kind":"pods"}"#);
        let details = r#"{"kind":"pods","name":"a"}"#;
        check_one("pods", "a", "pods \"a\" is forbidden: no", details);
    }

    #[test]
    fn errors_about_a_request_have_a_message() {
        let check_one = |status: &Status, code: u16, reason: &str, message: &str| {
            check(status, code, reason, message, "null");
        };
        check_one(&Status::unauthorized(""), 401, "Unauthorized", "not authorized");
        check_one(&Status::unauthorized("x"), 401, "Unauthorized", "x");
        check_one(&Status::gone("x"), 410, "Gone", "x");
        check_one(&Status::expired("x"), 410, "Expired", "x");
        check_one(&Status::bad_request("x"), 400, "BadRequest", "x");
        check_one(&Status::service_unavailable("x"), 503, "ServiceUnavailable", "x");
        let status = Status::too_many_requests_now("x");
        check_one(&status, 429, "TooManyRequests", "Too many requests: x");
        let status = Status::request_entity_too_large("limit is 3145728");
        let message = "Request entity too large: limit is 3145728";
        check_one(&status, 413, "RequestEntityTooLarge", message);
        check_one(&Status::failure(418, Reason::Other("Mine".into()), "x"), 418, "Mine", "x");
        let details = r#"{"retryAfterSeconds":1}"#;
        check(&Status::too_many_requests("x", 1), 429, "TooManyRequests", "x", details);
        check(&Status::timeout("x", 0), 504, "Timeout", "Timeout: x", "{}");
    }

    #[test]
    fn errors_about_media_types_list_those_that_are_known() {
        let known = ["application/json", "application/yaml"];
        let status = Status::not_acceptable(&known);
        let message = "only the following media types are accepted: application/json, \
                       application/yaml";
        check(&status, 406, "NotAcceptable", message, "null");
        let status = Status::not_acceptable_conversion("Table", &known[..1]);
        let message = "only the following media types are accepted when converting to Table: \
                       application/json";
        check(&status, 406, "NotAcceptable", message, "null");
        let status = Status::unsupported_media_type(&known[..1]);
        let message = "the body of the request was in an unknown format - accepted media types \
                       include: application/json";
        check(&status, 415, "UnsupportedMediaType", message, "null");
    }
}
