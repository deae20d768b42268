//! SelfSubjectReview: who am I.
//!
//! After `pkg/registry/authentication/selfsubjectreview/rest.go`.

use std::sync::Arc;

use http::Response;
use orlop_machinery::Value;
use orlop_machinery::status::Status;
use orlop_machinery::time::Time;

use super::{answer, read, user_info};
use crate::body::Body;
use crate::call::Call;
use crate::server::Inner;

/// Tells who asks.
pub(super) async fn create(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let asked = read(server, call).await?;
    let now = Time::from_unix(server.now_seconds()).to_string();
    // What was sent is not a question; all of the answer is new.
    let review = Value::from([
        ("apiVersion", asked.at("apiVersion").clone()),
        ("kind", asked.at("kind").clone()),
        ("metadata", Value::from([("creationTimestamp", now)])),
        ("status", Value::from([("userInfo", user_info(&call.user))])),
    ]);
    answer(server, call, review)
}
