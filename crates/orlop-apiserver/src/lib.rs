//! The API server: one request's way from connection to answer.

mod authn;
mod authz;
mod body;
mod call;
mod catalog;
mod deadline;
mod decode_body;
mod definition;
mod flow;
mod negotiate;
mod options;
mod output;
mod panic_guard;
mod query;
mod request;
mod respond;
mod shared;
mod user;

pub use body::{Body, Pieces, RequestBody};
pub use catalog::Catalog;
pub use deadline::REQUEST_TIMEOUT_MAX;
pub use definition::{Definition, Storage};
pub use flow::FlowOptions;
pub use output::{Format, Output, Shape};
pub use request::RequestInfo;
pub use shared::Shared;
pub use user::User;
