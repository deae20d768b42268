//! `attach`: connects to what runs in a container.
//!
//! After `AttachREST` in `pkg/registry/core/pod/rest/subresources.go`.

use std::sync::Arc;

use http::Response;
use orlop_machinery::status::Status;

use super::connection;
use crate::body::Body;
use crate::call::Call;
use crate::server::Inner;

/// Connects the client to what runs in a container.
pub(super) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    connection::stream_to_container(server, call, "attach").await
}
