//! Every built-in kind of Kubernetes.
//!
//! One kind is one file and one word in the list of its group; everything else (routes, discovery,
//! OpenAPI, storage keys, tables) is derived from the [`catalog`]. Rules that several kinds share
//! stand once, in `rules`.

#[macro_use]
mod kinds;

pub mod catalog;
pub mod schema;

mod admissionregistration;
mod apiregistration;
mod apps;
mod authentication;
mod authorization;
mod certificates;
mod coordination;
mod core;
mod events;
mod flowcontrol;
mod networking;
mod rbac;
mod rules;
mod scheduling;
mod storage;

pub use catalog::catalog;
pub use rules::scale;
pub use schema::schema;
