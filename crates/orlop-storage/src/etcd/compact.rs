//! Giving up history, in step with every other API server of the cluster.
//!
//! The protocol is that of Kubernetes' `staging/src/k8s.io/apiserver/pkg/storage/etcd3/compact.go`
//! and works together with it: the version of the key `compact_rev_key` is a clock that all API
//! servers advance by compare-and-swap, once per interval. Who advances it gives up the history
//! before the revision it remembers from one interval ago; who loses only takes note of the time.
//!
//! Also here: how to learn what the oldest revision is, which etcd says only to watchers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::cluster::{Cluster, Failed, explain_read};
use super::convert::{self, Failure, number};
use super::rpc::Member;
use super::wire::{self, Compare, CompareTo, TxnRequest, TxnResponse, WatchCreateRequest};
use crate::{Error, Revision};

/// Lies outside of every range of Kubernetes; its version counts the compactions.
const COMPACT_KEY: Bytes = Bytes::from_static(b"compact_rev_key");

/// Compacts once per interval what is older than the interval.
#[derive(Debug)]
pub(super) struct Compactor {
    cluster: Arc<Cluster>,
    interval: Duration,
    /// The version of the key when it was last seen; zero is "does not exist".
    clock: i64,
    /// The newest revision of that moment; zero before the first.
    revision: Revision,
}

impl Compactor {
    pub(super) fn new(cluster: Arc<Cluster>, interval: Duration) -> Self {
        Self { cluster, interval, clock: 0, revision: Revision::ZERO }
    }

    /// Compacts until the store is dropped.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<()>) {
        loop {
            tokio::select! {
                () = sleep(self.interval) => {}
                _ = stop.changed() => return,
            }
            let turn = tokio::select! {
                turn = self.turn() => turn,
                _ = stop.changed() => return,
            };
            match turn {
                Ok(Some(revision)) => tracing::debug!(%revision, "compacted etcd"),
                Ok(None) => {}
                Err(failed) => tracing::warn!(?failed, "compaction of etcd failed"),
            }
        }
    }

    /// Advances the clock if nobody else did, and compacts if so.
    async fn turn(&mut self) -> Result<Option<Revision>, Failed> {
        let old = self.revision;
        let answer = self.advance(old).await?;
        self.revision = convert::header(answer.header.as_ref());
        if !answer.succeeded {
            let found = answer.responses.first().and_then(|response| response.range.as_ref());
            let key = found.and_then(|range| range.kvs.first());
            // Without an answer the key is gone, and counts from zero again.
            self.clock = key.map_or(0, |key| key.version);
            return Ok(None);
        }
        self.clock += 1;
        match number(old) {
            Some(target) if target > 0 => match compact(&self.cluster, target).await {
                Ok(()) => Ok(Some(old)),
                // Somebody who does not know the protocol was faster.
                Err(Failed { failure: Failure::Compacted, .. }) => Ok(None),
                Err(failed) => Err(failed),
            },
            // The first turn has nothing to remember.
            _ => Ok(None),
        }
    }

    /// Writes the revision to compact to, if the clock still stands where it was seen.
    async fn advance(&self, revision: Revision) -> Result<TxnResponse, Failed> {
        let unchanged = Compare {
            result: wire::EQUAL,
            target: wire::VERSION,
            key: COMPACT_KEY,
            to: Some(CompareTo::Version(self.clock)),
        };
        let advance = TxnRequest {
            compare: vec![unchanged],
            success: vec![convert::put(COMPACT_KEY, revision.to_string().into(), None)],
            failure: vec![convert::get(COMPACT_KEY)],
        };
        let call = |member: Member| {
            let advance = advance.clone();
            async move { member.txn(advance).await }
        };
        self.cluster.write(call).await
    }
}

/// Compacts to a revision of etcd's.
pub(super) async fn compact(cluster: &Cluster, target: i64) -> Result<(), Failed> {
    cluster.write(|member| async move { member.compact(target).await }).await
}

/// The error for a compacted revision, with the oldest one that this endpoint still has.
pub(super) async fn compacted(cluster: &Cluster, endpoint: usize) -> Error {
    let lookup = oldest(cluster.member(endpoint));
    match timeout(cluster.options.request_timeout, lookup).await {
        Ok(Ok(oldest)) => Error::Compacted { oldest },
        Ok(Err(failure)) => explain_read(failure),
        Err(_) => Error::Unavailable {
            reason: "compacted, and etcd does not say what the oldest revision is".into(),
        },
    }
}

/// The oldest revision kept, learned by asking for a watch from the very beginning: etcd cancels
/// it with the number. Waits for ever if nothing was compacted yet.
pub(super) async fn oldest(member: &Member) -> Result<Revision, Failure> {
    let create =
        WatchCreateRequest { key: COMPACT_KEY, start_revision: 1, ..WatchCreateRequest::default() };
    let mut watch = member.watch(create).await?;
    while let Some(answer) = watch.message().await? {
        if answer.compact_revision > 0 {
            return Ok(convert::revision(answer.compact_revision));
        }
        if answer.canceled {
            break;
        }
    }
    Err(Failure::NotSent("etcd does not say what the oldest revision is".into()))
}
