//! The contract.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    At, Error, Expect, Get, LeaseId, Outcome, Range, RangeRequest, Revision, Txn, Watch,
    WatchRequest,
};

/// A revisioned, ordered map of bytes: what Kubernetes needs from etcd and nothing more.
///
/// The crate's documentation states what every engine guarantees; one behaviour suite checks it.
#[async_trait]
pub trait Store: Send + Sync + fmt::Debug {
    /// Reads one key.
    ///
    /// # Errors
    /// [`Error::Compacted`] and [`Error::FutureRevision`] for a revision that cannot be read;
    /// [`Error::Unavailable`] if a linearizable answer cannot be had.
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error>;

    /// Reads the keys of a range, in order.
    ///
    /// # Errors
    /// As [`Store::get`].
    async fn range(&self, request: RangeRequest) -> Result<Range, Error>;

    /// Makes all changes of the transaction at one new revision, or none if an expectation fails.
    ///
    /// # Errors
    /// After [`Error::Unknown`] and [`Error::Stopped`] the transaction may or may not have
    /// happened; after any other error it has not.
    async fn commit(&self, txn: Txn) -> Result<Outcome, Error>;

    /// Delivers every change in a range after a revision.
    ///
    /// # Errors
    /// [`Error::Compacted`] if the history after that revision is not kept any more.
    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error>;

    /// Gives up the history before `revision`, which stays the oldest one that can be read.
    ///
    /// # Errors
    /// [`Error::Compacted`] if that already happened, [`Error::FutureRevision`] if the store is
    /// not there yet.
    async fn compact(&self, revision: Revision) -> Result<(), Error>;

    /// Makes a lease that expires after `ttl`; records written under it are deleted then.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a `ttl` below one second or above a year.
    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error>;

    /// The newest revision: at least that of every write acknowledged before.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if a linearizable answer cannot be had.
    async fn revision(&self) -> Result<Revision, Error>;

    /// Whether the store can do its work now.
    ///
    /// # Errors
    /// Says why it cannot.
    async fn health(&self) -> Result<(), Error>;

    /// Writes one key if it is as expected.
    ///
    /// # Errors
    /// As [`Store::commit`].
    async fn put(&self, key: Bytes, value: Bytes, expect: Expect) -> Result<Outcome, Error> {
        self.commit(Txn::new().put(key, value, expect)).await
    }

    /// Deletes one key if it is as expected.
    ///
    /// # Errors
    /// As [`Store::commit`].
    async fn delete(&self, key: Bytes, expect: Expect) -> Result<Outcome, Error> {
        self.commit(Txn::new().delete(key, expect)).await
    }
}
