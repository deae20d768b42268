//! The API as a client sees it, asked in the same process: one file for each thing it can do.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod bad_input_bodies;
mod bad_input_paths;
mod bad_input_queries;
mod cluster;
mod objects;
mod reviews;
mod subresources;
