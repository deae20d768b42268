//! The API server: one request's way from connection to answer.

mod authz;
mod body;
mod cache;
mod call;
mod catalog;
mod definition;
mod object;
mod options;
mod output;
mod reads;
mod registry {
    mod errors;
    pub(crate) use errors::store_error;
}
mod render;
mod request;
mod shared;
mod user;
mod verb {
    pub(crate) mod get;
    pub(crate) mod list;
    pub(crate) mod watch;
}

pub use body::{Body, Pieces, RequestBody};
pub use catalog::Catalog;
pub use definition::{Definition, Storage};
pub use output::{Format, Output, Shape};
pub use request::RequestInfo;
pub use shared::Shared;
pub use user::User;
