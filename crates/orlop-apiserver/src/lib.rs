//! The API server: one request's way from connection to answer.

mod accept;
mod authz;
mod body;
mod call;
mod catalog;
mod definition;
pub mod discovery;
pub mod health;
pub mod metrics;
pub mod non_resource;
pub mod openapi;
mod output;
mod plain_text;
mod request;
mod shared;
mod user;
mod version;

pub use body::{Body, Pieces, RequestBody};
pub use catalog::Catalog;
pub use definition::{Definition, Storage};
pub use output::{Format, Output, Shape};
pub use request::RequestInfo;
pub use shared::Shared;
pub use user::User;
pub use version::Version;
