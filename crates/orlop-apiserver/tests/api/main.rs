//! The API as a client sees it, asked in the same process: one file for each thing it can do.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "a test")]

mod answers;
mod bad_input_bodies;
mod bad_input_paths;
mod bad_input_queries;
mod bad_input_random;
mod chunking;
mod cluster;
mod configuration;
mod custom_resource_definitions;
mod custom_resources;
mod deletion;
mod dynamic_resources;
mod events;
mod events_expire;
mod every_kind;
mod field_validation;
mod metrics;
mod namespaces;
mod objects;
mod pods;
mod resource_versions;
mod reviews;
mod services;
mod shutdown;
mod subresources;
mod watching;
mod workload_status;
