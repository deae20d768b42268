//! What API servers must keep to while they are killed, cut off from their store, or several. A
//! development crate: nothing ships it.
//!
//! | part | what it is |
//! |---|---|
//! | [`api_server`] | real processes with a store of their own, or several on one etcd |
//! | [`api_client`] | somebody who asks them over HTTPS |
//! | [`api_store`] | the API as a store, so that the traffic of the storage suite flows over it |
//! | [`complete`] | what the API does not say, put into the history for its checkers |
//! | [`verdict`] | traffic on servers that fail, judged |
//! | [`webhook_server`] | a webhook that answers as a test says, well or badly |

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this is test code: failing loudly is its purpose"
)]

pub mod api_client;
pub mod api_server;
pub mod api_store;
pub mod complete;
pub mod verdict;
pub mod webhook_server;

pub use api_client::{ApiClient, Reply};
pub use api_server::{ApiServer, Credentials};
pub use api_store::ApiStore;
pub use webhook_server::WebhookServer;
