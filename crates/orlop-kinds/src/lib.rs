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
mod apiextensions;
mod apiregistration;
mod apps;
mod authentication;
mod authorization;
mod autoscaling;
mod batch;
mod certificates;
mod coordination;
mod core;
mod discovery;
mod events;
mod flowcontrol;
mod networking;
mod node;
mod policy;
mod rbac;
mod resource;
mod rules;
mod scheduling;
mod storage;

pub use self::core::service::allocation as service_allocation;
pub use crate::core::binding::{BindError, bind_pod};
pub use catalog::catalog;
pub use policy::eviction;
pub use rules::{cron_schedule, scale};
pub use schema::schema;
