//! The API server: one request's way from connection to answer.
//!
//! [`Server`] is the whole of it as a value: it answers requests, whether they come from a socket
//! ([`serve`]) or from the same process. `chain` states the order of the steps.

mod accept;
mod admission;
mod allocation;
mod authn;
mod authz;
mod backend;
mod body;
mod bootstrap;
mod cache;
mod call;
mod catalog;
mod chain;
pub mod conversion;
mod custom_resource;
mod custom_resource_definitions;
mod deadline;
mod decode_body;
mod definition;
mod deprecation;
pub mod discovery;
mod event_recorder;
mod event_ttl;
mod flow;
mod form;
pub mod health;
mod impersonation;
mod measured_store;
pub mod metrics;
mod negotiate;
pub mod non_resource;
mod object;
mod object_counts;
mod objects;
pub mod openapi;
mod options;
mod output;
mod own_objects;
mod own_services;
mod panic_guard;
pub mod pki;
mod plain_text;
mod query;
mod random;
mod reads;
mod registry;
mod render;
mod request;
mod respond;
mod review;
pub mod serve;
mod server;
mod server_options;
mod store_failure;
mod subresource;
#[cfg(test)]
mod test_registry;
mod time;
mod user;
mod verb;
mod version;
pub mod webhook_client;
mod write_hook;

pub use body::{Body, Pieces, RequestBody};
pub use catalog::Catalog;
pub use deadline::REQUEST_TIMEOUT_MAX;
pub use definition::{Definition, Storage};
pub use flow::FlowOptions;
pub use output::{Format, Output, Shape};
pub use request::RequestInfo;
pub use server::{Server, StartError};
pub use server_options::{Options, RequestHeader, ServiceNetwork, ServiceNetworkError};
pub use user::User;
pub use version::Version;
