//! Temporary.
use std::sync::Arc;
pub(crate) async fn serve(
    _s: &Arc<crate::server::Inner>,
    _c: &mut crate::call::Call,
) -> Result<http::Response<crate::body::Body>, orlop_machinery::status::Status> {
    Err(crate::verb::not_served())
}
