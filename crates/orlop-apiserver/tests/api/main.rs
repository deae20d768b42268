//! The API as a client sees it, asked in the same process: one file for each thing it can do.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "a test")]

mod bad_input_bodies;
mod bad_input_paths;
mod bad_input_queries;
mod cluster;
mod every_kind;
mod metrics;
mod events_expire;
mod objects;
mod reviews;
mod shutdown;
mod subresources;
