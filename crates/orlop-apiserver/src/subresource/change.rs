//! A part of an object that is read as the whole and written with rules of its own.
//!
//! After `StatusREST` and its like in `pkg/registry`: the storage is that of the object, the
//! strategy is another.

use std::sync::Arc;

use http::{Method, Response};
use orlop_machinery::kind::Rules;
use orlop_machinery::status::Status;

use crate::body::Body;
use crate::call::Call;
use crate::options::GetOptions;
use crate::server::Inner;
use crate::verb::{self, method_not_allowed};

/// Reads or changes the object with the rules of the endpoint.
pub(super) async fn serve(
    server: &Arc<Inner>,
    call: &mut Call,
    rules: &dyn Rules,
) -> Result<Response<Body>, Status> {
    match call.parts.method {
        Method::GET => {
            let options = GetOptions::parse(call.query())?;
            verb::get::get(&server.reads, call, &options).await
        }
        Method::PUT => verb::update::update_at(server, call, rules).await,
        Method::PATCH => verb::patch::patch_at(server, call, rules).await,
        _ => Err(method_not_allowed()),
    }
}
