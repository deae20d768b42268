//! The API server: one request's way from connection to answer.

mod admission;
mod allocation;
mod authz;
mod body;
mod bootstrap;
mod call;
mod catalog;
mod definition;
mod event_recorder;
mod event_ttl;
mod objects;
mod output;
mod random;
mod request;
mod shared;
mod store_failure;
#[cfg(test)]
mod test_registry;
mod time;
mod user;
mod write_hook;

pub use body::{Body, Pieces, RequestBody};
pub use catalog::Catalog;
pub use definition::{Definition, Storage};
pub use output::{Format, Output, Shape};
pub use request::RequestInfo;
pub use shared::Shared;
pub use user::User;
