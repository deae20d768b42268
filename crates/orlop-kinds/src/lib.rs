//! Every built-in kind of Kubernetes.
//!
//! One kind is one file and one word in the list of its group; everything else (routes, discovery,
//! OpenAPI, storage keys, tables) is derived from the [`catalog()`]. Rules that several kinds share
//! stand once, in `rules`.
//!
//! ```
//! use orlop_kinds::{catalog, schema};
//! use orlop_machinery::{decode, field::Errors, kind::Context, yaml};
//!
//! let text = b"{apiVersion: v1, kind: Pod, spec: {containers: [{image: nginx}]}}";
//! let kind = catalog().find_kind("v1", "Pod").expect("there are pods");
//! let mut pod = decode::decode(schema(), kind.id, yaml::parse(text)?)?.object;
//! catalog().set_defaults(kind, &mut pod);
//!
//! let mut errors = Errors::new();
//! kind.kind.validate(&Context::default(), &kind.node(&pod), &mut errors);
//! assert_eq!(errors.to_string(), "spec.containers[0].name: Required value\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

pub use self::apiextensions::custom_resource_definition_conditions;
pub use self::core::service::allocation as service_allocation;
pub use crate::core::binding::{BindError, bind_pod};
pub use apiextensions::conversion_rules;
pub use catalog::catalog;
pub use policy::eviction;
pub use rules::{cron_schedule, scale};
pub use schema::schema;
