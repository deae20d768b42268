//! How each engine is opened for a test: fresh, empty, and with what must outlive it.
//!
//! A function here answers none if its engine cannot be had on this machine; the tests then say so
//! and pass, except in continuous integration.

use std::env;
use std::sync::Arc;

use anyhow::{Context, Result};
use orlop_storage::{Embedded, Etcd, EtcdOptions, Expect, Memory, Revision, Store, embedded};
use tempfile::TempDir;

use crate::ReferenceStore;

/// A store and what must be kept until the test is over.
pub type Opened<Guard> = Option<(Arc<dyn Store>, Guard)>;

/// The model itself.
pub async fn reference() -> Opened<()> {
    Some((Arc::new(ReferenceStore::new()), ()))
}

/// The engine in memory.
pub async fn memory() -> Opened<()> {
    Some((Arc::new(Memory::new()), ()))
}

/// The engine in a folder.
pub async fn embedded() -> Opened<TempDir> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Embedded::open(embedded::Options::new(folder.path())).expect("an empty folder");
    Some((Arc::new(store), folder))
}

/// The engine on a server of its own.
pub async fn etcd() -> Opened<crate::etcd_server::EtcdServer> {
    if !crate::etcd_server::etcd_available() {
        return None;
    }
    let server = crate::etcd_server::EtcdServer::start().expect("an etcd server");
    let options = EtcdOptions::new([server.endpoint()]).compact_every(None);
    Some((Arc::new(Etcd::connect(options).await.expect("a connection")), server))
}

/// Says that an engine is not available here, which continuous integration (`CI=true`) is not
/// content with.
///
/// # Panics
/// In continuous integration.
pub fn assert_not_required() {
    let required = env::var("CI").is_ok_and(|value| value == "true");
    assert!(!required, "the engine must be available in continuous integration");
    println!("skipped: the engine is not available here");
}

/// Whether there is no etcd here, which continuous integration is not content with.
pub fn is_etcd_missing() -> bool {
    let missing = !crate::etcd_server::etcd_available();
    if missing {
        assert_not_required();
    }
    missing
}

/// Puts a key, whatever it holds.
///
/// # Errors
/// When the store does.
pub async fn put(store: &dyn Store, key: &str, value: impl Into<bytes::Bytes>) -> Result<Revision> {
    let outcome = store.put(key.to_string().into(), value.into(), Expect::Anything).await?;
    outcome.committed().context("nothing was expected")
}
