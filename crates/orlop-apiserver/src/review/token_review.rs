//! TokenReview: whose token is this.
//!
//! After `pkg/registry/authentication/tokenreview/storage.go`. The server knows no tokens yet, so
//! it knows nobody by one.

use std::sync::Arc;

use http::Response;
use orlop_machinery::Value;
use orlop_machinery::status::Status;

use super::{answer, read};
use crate::body::Body;
use crate::call::Call;
use crate::server::Inner;

/// Tells whose token it is.
pub(super) async fn create(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let mut review = read(server, call).await?;
    if review.path(&["spec", "token"]).is_empty() {
        let message = "token is required for TokenReview in authentication";
        return Err(Status::bad_request(message));
    }
    review.set("status", Value::from([("error", "invalid bearer token")]));
    answer(server, call, review)
}
