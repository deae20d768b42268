//! What every engine of the storage contract must pass. A development crate: nothing ships it.
//!
//! | part | what it checks |
//! |---|---|
//! | [`suite`] | named behaviours, one test per case and engine ([`store_suite!`]) |
//! | [`random_ops`] | random operations, against the [`Model`] |
//! | [`traffic`] and [`history`] | many clients, against linearizability and watch guarantees |
//! | [`sim_disk`] and [`kill_loop`] | disks and processes that fail under an engine |
//! | [`etcd_server`] | what can happen to the etcd engine's servers |
//!
//! [`engines`] is the one place that knows how each engine is opened, and [`ReferenceStore`] is the
//! model as an engine of its own, which shows that the suite asks for nothing impossible.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this is test code: failing loudly is its purpose"
)]

pub mod chaos;
pub mod engines;
pub mod etcd_server;
pub mod history;
pub mod kill_loop;
pub mod model;
pub mod random_ops;
pub mod restarting;
pub mod sim_disk;
pub mod suite;
pub mod traffic;

mod reference_store;

pub use model::Model;
pub use reference_store::ReferenceStore;
