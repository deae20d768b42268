//! The API server: one request's way from connection to answer.

mod authz;
mod body;
mod call;
mod catalog;
mod definition;
mod output;
pub mod pki;
mod request;
pub mod serve;
mod server_options;
mod shared;
mod user;

pub use body::{Body, Pieces, RequestBody};
pub use catalog::Catalog;
pub use definition::{Definition, Storage};
pub use output::{Format, Output, Shape};
pub use request::RequestInfo;
pub use server_options::{Options, RequestHeader, ServiceNetwork, ServiceNetworkError};
pub use shared::Shared;
pub use user::User;
