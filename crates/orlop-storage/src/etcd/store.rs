//! The contract, call by call, in etcd's calls.
//!
//! Large ranges are read in pages at one revision: the first page fixes it, the others follow at
//! exactly that revision, so the answer is one state of the store and no message gets huge.
//!
//! Deliberately not here: a transaction that etcd refuses for its size although the contract's
//! limit allows it (etcd counts its own framing too) is not split; it is invalid.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::watch;

use super::EtcdOptions;
use super::cluster::{Cluster, Failed, anything, explain_read};
use super::compact::{self, Compactor};
use super::convert::{self, Failure, bounds, header, is_permission_denied, number};
use super::rpc::Member;
use super::watch::open;
use super::wire::{self, RangeResponse, TxnResponse};
use crate::{
    Action, At, Error, Get, KeyRange, LeaseId, Outcome, Range, RangeRequest, Revision, Select,
    Store, Txn, Watch, WatchRequest,
};

/// The first page of a range, in keys; the following ones aim at `PAGE_BYTES`.
const PAGE_FIRST: usize = 500;
const PAGE_MIN: usize = 50;
const PAGE_MAX: usize = 10_000;
const PAGE_BYTES: usize = 16 << 20;

/// A store in an etcd cluster, version 3.4 or newer.
///
/// # Guarantees
/// A write is sent to one member once. If its outcome cannot be known it fails with
/// [`Error::Unknown`]; nothing is tried again behind the caller's back.
///
/// # Assumptions
/// Nobody else writes into the caller's ranges, or whoever does keeps to revisions as well. The
/// keys `health` and `compact_rev_key` are not the caller's. A user has access to all keys.
pub struct Etcd {
    cluster: Arc<Cluster>,
    /// Everything that runs in the background ends when this goes.
    stop: watch::Sender<()>,
}

impl Etcd {
    /// Connects, and waits for one linearizable read to be sure that the cluster works.
    ///
    /// # Errors
    /// [`Error::Invalid`] for options that cannot work, [`Error::Unavailable`] if no endpoint
    /// answers or the user is not let in.
    pub async fn connect(options: EtcdOptions) -> Result<Self, Error> {
        let cluster = Arc::new(Cluster::new(options)?);
        cluster.revision().await?;
        let (stop, stopped) = watch::channel(());
        if let Some(interval) = cluster.options.compact_every {
            let compactor = Compactor::new(Arc::clone(&cluster), interval);
            tokio::spawn(compactor.run(stopped.clone()));
        }
        let idle = Arc::clone(&cluster);
        tokio::spawn(async move { idle.keep_alive(stopped).await });
        Ok(Self { cluster, stop })
    }

    /// One page, at most `limit` records long; zero is no limit.
    async fn page(&self, request: &RangeRequest, limit: usize) -> Result<RangeResponse, Error> {
        let revision = match request.at {
            At::Latest => 0,
            At::Revision(revision) => self.readable(revision).await?,
        };
        let read = match bounds(&request.range) {
            Some((key, range_end)) => wire::RangeRequest {
                key,
                range_end,
                limit: i64::try_from(limit).unwrap_or(0),
                revision,
                keys_only: request.select == Select::Keys,
                count_only: request.select == Select::Count,
            },
            // No key can be in the range; what the header says is wanted nevertheless.
            None => wire::RangeRequest { revision, ..anything() },
        };
        let call = |member: Member| {
            let read = read.clone();
            async move { member.range(read).await }
        };
        match self.cluster.read(call).await {
            Ok(answer) => Ok(answer),
            Err(failed) => Err(self.explain_read(failed, request.at).await),
        }
    }

    /// The revision for etcd, unless there can be no such state.
    async fn readable(&self, revision: Revision) -> Result<i64, Error> {
        match number(revision) {
            Some(0) => Err(Error::Invalid { reason: "revision 0 cannot be read".into() }),
            Some(number) => Ok(number),
            None => Err(self.future(revision).await),
        }
    }

    async fn explain_read(&self, failed: Failed, at: At) -> Error {
        match (failed.failure, at) {
            (Failure::Compacted, _) => compact::compacted(&self.cluster, failed.endpoint).await,
            (Failure::Future, At::Revision(revision)) => self.future(revision).await,
            (failure, _) => explain_read(failure),
        }
    }

    /// What to say about a revision that the store has not reached.
    async fn future(&self, requested: Revision) -> Error {
        match self.cluster.revision().await {
            Ok(current) if current < requested => Error::FutureRevision { requested, current },
            Ok(_) => Error::Unavailable { reason: "the revision was reached just now".into() },
            Err(error) => error,
        }
    }

    async fn explain_write(&self, failed: Failed) -> Error {
        match failed.failure {
            Failure::Token => explain_read(Failure::Token),
            Failure::NotSent(reason) => Error::Unavailable { reason },
            Failure::Ambiguous(reason) => Error::Unknown { reason },
            Failure::Refused(error) => error,
            Failure::Compacted => compact::compacted(&self.cluster, failed.endpoint).await,
            Failure::Future | Failure::Lease => {
                Error::Unknown { reason: "etcd gave an answer that does not fit".into() }
            }
        }
    }
}

#[async_trait]
impl Store for Etcd {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        let range = KeyRange::key(Bytes::copy_from_slice(key));
        let answer = self.page(&RangeRequest::new(range).at(at), 1).await?;
        let record = answer.kvs.first().map(convert::record);
        Ok(Get { record, revision: header(answer.header.as_ref()) })
    }

    async fn range(&self, mut request: RangeRequest) -> Result<Range, Error> {
        let wanted = if request.limit == 0 { usize::MAX } else { request.limit };
        let mut page = self.page(&request, PAGE_FIRST.min(wanted)).await?;
        let empty = bounds(&request.range).is_none();
        let mut range = Range {
            records: Vec::new(),
            count: if empty { 0 } else { u64::try_from(page.count).unwrap_or(0) },
            revision: header(page.header.as_ref()),
        };
        if empty || request.select == Select::Count {
            return Ok(range);
        }
        let latest = request.at == At::Latest;
        loop {
            let bytes: usize = page.kvs.iter().map(|pair| pair.key.len() + pair.value.len()).sum();
            let average = bytes / page.kvs.len().max(1);
            range.records.extend(page.kvs.iter().map(convert::record));
            let left = wanted.saturating_sub(range.records.len());
            let (true, Some(last), 1..) = (page.more, range.records.last(), left) else {
                return Ok(range);
            };
            request.range = request.range.after(last.key());
            if latest {
                request.at = At::Revision(range.revision);
            }
            let fitting = (PAGE_BYTES / average.max(1)).clamp(PAGE_MIN, PAGE_MAX);
            page = match self.page(&request, fitting.min(left)).await {
                // The newest state was asked for, so there is none that is too old.
                Err(Error::Compacted { .. }) if latest => {
                    let reason = "the state was compacted while it was read".into();
                    return Err(Error::Unavailable { reason });
                }
                page => page?,
            };
        }
    }

    async fn commit(&self, txn: Txn) -> Result<Outcome, Error> {
        txn.validate()?;
        let prepared = convert::txn(&txn);
        let call = |member: Member| {
            let txn = prepared.clone();
            async move { member.txn(txn).await }
        };
        match self.cluster.write(call).await {
            Ok(answer) => Ok(outcome(&answer)),
            Err(Failed { failure: Failure::Lease, .. }) => Err(missing_lease(&txn)),
            Err(failed) => Err(self.explain_write(failed).await),
        }
    }

    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error> {
        if let Some(after) = request.after {
            // Etcd creates a watch of compacted history and cancels it a moment later; a read
            // tells before. The first revision has no changes, so zero is as good as one.
            let at = At::Revision(after.max(Revision(1)));
            let probe = RangeRequest::new(request.range.clone()).at(at).select(Select::Count);
            match self.page(&probe, 1).await {
                Ok(_) | Err(Error::FutureRevision { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        open(Arc::clone(&self.cluster), request, self.stop.subscribe()).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        let Some(target) = number(revision) else {
            return Err(self.future(revision).await);
        };
        if target == 0 {
            return Err(Error::Invalid { reason: "revision 0 cannot be compacted".into() });
        }
        match compact::compact(&self.cluster, target).await {
            Ok(()) => Ok(()),
            Err(Failed { failure: Failure::Future, .. }) => Err(self.future(revision).await),
            Err(failed) => Err(self.explain_write(failed).await),
        }
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error> {
        LeaseId::validate_ttl(ttl)?;
        let seconds = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
        let seconds = seconds + i64::from(ttl.subsec_nanos() > 0);
        let call = |member: Member| async move { member.grant_lease(seconds).await };
        match self.cluster.write(call).await {
            Ok(answer) => Ok(LeaseId::from_number(answer.id.cast_unsigned())
                .expect("etcd never grants lease 0, which is its word for no lease")),
            Err(failed) => Err(self.explain_write(failed).await),
        }
    }

    async fn revision(&self) -> Result<Revision, Error> {
        self.cluster.revision().await
    }

    async fn health(&self) -> Result<(), Error> {
        match self.cluster.read(|member| async move { member.range(anything()).await }).await {
            Ok(_) => Ok(()),
            Err(failed) if is_permission_denied(&failed.failure) => Ok(()),
            Err(failed) => Err(explain_read(failed.failure)),
        }
    }
}

impl fmt::Debug for Etcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etcd").field("options", &self.cluster.options).finish_non_exhaustive()
    }
}

fn outcome(answer: &TxnResponse) -> Outcome {
    let revision = header(answer.header.as_ref());
    if answer.succeeded {
        return Outcome::Committed { revision };
    }
    let record = |range: &RangeResponse| range.kvs.first().map(convert::record);
    let current = answer.responses.iter().map(|response| response.range.as_ref().and_then(record));
    Outcome::Conflict { current: current.collect(), revision }
}

/// Etcd does not name the lease; with more than one in a transaction it may be a later one.
fn missing_lease(txn: &Txn) -> Error {
    let leases = txn.writes.iter().filter_map(|write| match write.action {
        Action::Put { lease, .. } => lease,
        Action::Delete | Action::Keep => None,
    });
    match leases.min() {
        Some(lease) => Error::LeaseNotFound { lease },
        None => Error::Unavailable { reason: "etcd misses a lease that nobody named".into() },
    }
}
