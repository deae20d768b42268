//! The API as a client sees it, asked in the same process: one file for each thing it can do.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod cluster;
mod events_expire;
mod objects;
mod reviews;
mod subresources;
