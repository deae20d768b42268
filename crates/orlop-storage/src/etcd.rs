//! The engine for more than one machine: an etcd v3 cluster, 3.4 or newer.
//!
//! - `options`: what the caller chooses.
//! - `cluster`: one connection per endpoint, which endpoint is used, what may be tried again.
//! - `convert`: the contract's words and etcd's, both ways; what a failure means.
//! - `rpc`, `wire`: a thin client of etcd; no code generator, so nothing but Rust builds it.
//! - `store`: the contract, call by call.
//! - `compact`: giving up history, in step with every other API server of the cluster.
//! - `watch`, `watch_stream`, `watch_buffer`: a watch that outlives its connections.
//!
//! The invariant of all of it: a write is sent to etcd once. A failure after which it may have
//! happened is [`crate::Error::Unknown`]; only what certainly never left is tried elsewhere.
//!
//! Not here: running etcd, its members, its backups and its authentication.

mod cluster;
mod compact;
mod convert;
mod options;
mod rpc;
mod store;
mod watch;
mod watch_buffer;
mod watch_stream;
mod wire;

pub use options::EtcdOptions;
pub use store::Etcd;
