//! Answers in plain text, as Go's `http.Error` writes them.

use http::{HeaderValue, Response, StatusCode, header};

use crate::body::Body;

/// What a path gets that nobody serves.
pub(crate) fn not_found() -> Response<Body> {
    answer(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// A text.
pub(crate) fn answer(code: StatusCode, text: impl Into<String>) -> Response<Body> {
    let mut answer = Response::new(Body::from(text.into()));
    *answer.status_mut() = code;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}
