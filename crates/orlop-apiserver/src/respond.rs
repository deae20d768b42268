//! Answers: how they are written, and what every answer says.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters` and, for headers,
//! `.../pkg/endpoints/filters` (`audit_init.go`, `cachecontrol.go`, `warning.go`). Objects that
//! come from the store are not written here but copied.

mod gzip;
mod indent;
mod warning;

use std::sync::LazyLock;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use orlop_machinery::schema::{Schema, StructId};
use orlop_machinery::status::Status;
use orlop_machinery::uid::Uid;
use orlop_machinery::{Value, encode, json, protobuf, yaml};

use crate::body::Body;
use crate::negotiate::negotiate_plain;
use crate::output::Format;
use crate::plain_text;

pub(crate) use gzip::compress;
pub(crate) use indent::indent;
pub(crate) use warning::add_warnings;

/// The header by which a request is found again in logs.
pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// The longest that a client may choose.
const AUDIT_ID_MAX: usize = 256;

/// An answer that says how a request ended.
pub(crate) fn status(status: &Status, headers: &HeaderMap, query: &str) -> Response<Body> {
    let code = StatusCode::from_u16(status.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut object = status.to_value();
    object.set("code", i64::from(code.as_u16()));
    let mut response = match negotiate_plain(headers, query) {
        Some(format) => value(code, orlop_kinds::schema(), status_id(), &object, format),
        // Whatever the client accepts: it has to know what went wrong.
        None => {
            let schema = orlop_kinds::schema();
            value(code, schema, status_id(), &object, Format::PrettyJson)
        }
    };
    let details = status.details.as_ref();
    let seconds = details.map_or(0, |details| details.retry_after_seconds);
    if seconds > 0 {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An answer that something was done, in the client's form. It says so without its code.
pub(crate) fn success(
    code: StatusCode,
    status: &Status,
    headers: &HeaderMap,
    query: &str,
) -> Response<Body> {
    let mut object = status.to_value();
    object.remove("code");
    let format = negotiate_plain(headers, query).unwrap_or(Format::PrettyJson);
    value(code, orlop_kinds::schema(), status_id(), &object, format)
}

/// An answer with an object in normal form, which has its kind and version.
pub(crate) fn value(
    code: StatusCode,
    schema: &Schema,
    id: StructId,
    object: &Value,
    format: Format,
) -> Response<Body> {
    let bytes = write_value(schema, id, object, format);
    with_content_type(code, format.content_type(), bytes)
}

/// An object in normal form, in the form that the client wants.
pub(crate) fn write_value(
    schema: &Schema,
    id: StructId,
    object: &Value,
    format: Format,
) -> Vec<u8> {
    match format {
        Format::Json => {
            let mut bytes = encode::to_vec(schema, id, object);
            bytes.push(b'\n');
            bytes
        }
        Format::PrettyJson => indent(&encode::to_vec(schema, id, object)),
        Format::Yaml => write_yaml(&encode::to_vec(schema, id, object)),
        Format::Protobuf => protobuf::encode_sealed(schema, id, object),
    }
}

/// YAML has all that JSON has, sorted.
fn write_yaml(json: &[u8]) -> Vec<u8> {
    let value = json::parse(json).unwrap_or_default();
    yaml::to_string(&value).into_bytes()
}

/// What a request gets that is one too many.
pub(crate) fn too_many_requests() -> Response<Body> {
    let text = "Too many requests, please try again later.\n";
    let mut response = plain_text::answer(StatusCode::TOO_MANY_REQUESTS, text);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// What a request gets that comes after the end has begun: another server may have time.
pub(crate) fn shutting_down() -> Response<Body> {
    let unavailable = Status::service_unavailable("apiserver is shutting down");
    let mut response = status(&unavailable, &HeaderMap::new(), "");
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// What a request gets that panicked.
pub(crate) fn panicked() -> Response<Body> {
    let text = "This request caused apiserver to panic. Look in the logs for details.\n";
    plain_text::answer(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// The id of a request: the client's own, or a new one.
pub(crate) fn audit_id(headers: &HeaderMap, random: [u8; 16]) -> HeaderValue {
    let own = headers.get(AUDIT_ID).filter(|id| (1..=AUDIT_ID_MAX).contains(&id.len()));
    own.cloned().unwrap_or_else(|| {
        let id = Uid::from_random(random).to_string();
        HeaderValue::from_str(&id).expect("a uid is letters, digits and dashes")
    })
}

/// Sets what every answer says.
pub(crate) fn set_headers(response: &mut Response<Body>, audit_id: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(AUDIT_ID, audit_id);
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

fn with_content_type(code: StatusCode, ty: &'static str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(ty));
    response
}

fn status_id() -> StructId {
    static ID: LazyLock<StructId> = LazyLock::new(|| {
        let name = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
        orlop_kinds::schema().find(name).expect("every schema has a Status")
    });
    *ID
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::ACCEPT;
    use orlop_machinery::group_version::GroupResource;

    fn body(response: &Response<Body>) -> Vec<u8> {
        match response.body() {
            Body::Whole(bytes) => bytes.to_vec(),
            other => panic!("{other:?}"),
        }
    }

    fn missing() -> Status {
        Status::not_found(&GroupResource::new("", "pods"), "a")
    }

    fn answer(accept: &'static str, query: &str) -> Response<Body> {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
        status(&missing(), &headers, query)
    }

    #[test]
    fn a_status_comes_in_the_form_that_is_accepted() {
        let response = answer("application/json", "");
        assert_eq!(response.status(), 404);
        let expect = concat!(
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","#,
            r#""message":"pods \"a\" not found","reason":"NotFound","#,
            r#""details":{"name":"a","kind":"pods"},"code":404}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(body(&response)).unwrap(), expect);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        let pretty = String::from_utf8(body(&answer("", "pretty=1"))).unwrap();
        assert!(pretty.starts_with("{\n  \"kind\": \"Status\",\n"), "{pretty}");
        assert!(pretty.contains("\n  \"metadata\": {},\n"), "{pretty}");
        assert!(pretty.ends_with("\n  \"code\": 404\n}"), "{pretty}");
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(String::from_utf8(body(&answer(table, ""))).unwrap(), expect);
        let unknown = String::from_utf8(body(&answer("text/plain", ""))).unwrap();
        assert_eq!(unknown, pretty);
        let response = answer("application/yaml", "");
        assert!(body(&response).starts_with(b"apiVersion: v1\ncode: 404\n"));
        let response = answer("application/vnd.kubernetes.protobuf", "");
        assert!(body(&response).starts_with(b"k8s\0"));
    }

    #[test]
    fn a_status_says_when_to_try_again() {
        let headers = HeaderMap::new();
        assert!(!status(&missing(), &headers, "").headers().contains_key(RETRY_AFTER));
        let response = status(&Status::too_many_requests("x", 7), &headers, "");
        assert_eq!(response.headers()[RETRY_AFTER], "7");
        assert_eq!(response.status(), 429);
    }

    #[test]
    fn some_answers_are_text() {
        let response = too_many_requests();
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()[RETRY_AFTER], "1");
        assert_eq!(response.headers()[CONTENT_TYPE], "text/plain; charset=utf-8");
        assert_eq!(body(&response), b"Too many requests, please try again later.\n");
        assert_eq!(panicked().status(), 500);
    }

    #[test]
    fn every_answer_has_an_id_and_is_not_cached() {
        let mut response = panicked();
        let mut headers = HeaderMap::new();
        set_headers(&mut response, audit_id(&headers, [0; 16]));
        assert_eq!(response.headers()["audit-id"], "00000000-0000-4000-8000-000000000000");
        assert_eq!(response.headers()["cache-control"], "no-cache, private");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        headers.insert(AUDIT_ID, HeaderValue::from_static("mine"));
        assert_eq!(audit_id(&headers, [0; 16]), "mine");
        headers.insert(AUDIT_ID, HeaderValue::from_str(&"a".repeat(257)).unwrap());
        assert_ne!(audit_id(&headers, [0; 16]).len(), 257);
        let mut response = panicked();
        let kept = HeaderValue::from_static("public, immutable");
        response.headers_mut().insert(CACHE_CONTROL, kept);
        set_headers(&mut response, HeaderValue::from_static("x"));
        assert_eq!(response.headers()["cache-control"], "public, immutable");
    }
}
