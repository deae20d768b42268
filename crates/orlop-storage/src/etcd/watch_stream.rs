//! One watch on one connection to one member of etcd.
//!
//! A stream is bound to its endpoint for life: progress from another member would say nothing
//! about the events of this one (etcd issue 20221). It always starts *at* the last revision that
//! was delivered, not behind it: then etcd refuses it exactly if that revision is compacted, and
//! cannot lose a deletion at the edge of compaction (etcd issue 19179). What was delivered before
//! comes again and is dropped here.
//!
//! Deliberately not here: what to do when the stream is lost (`watch`).

use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use super::cluster::Cluster;
use super::compact::oldest;
use super::convert::{self, Failure, HEALTH_KEY, answers_progress_in_order, bounds, header};
use super::rpc::{Member, WatchCall};
use super::wire::{self, WatchCreateRequest, WatchResponse};
use crate::{Error, Event, KeyRange, Revision};

/// How long etcd may take to say what the oldest revision is.
const OLDEST_PATIENCE: Duration = Duration::from_secs(1);

/// What a stream is to deliver.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) range: &'a KeyRange,
    /// Everything up to here was delivered.
    pub(super) position: Revision,
    /// Whether the watch must be able to say how far it is.
    pub(super) progress: bool,
}

/// A watch that etcd has confirmed.
#[derive(Debug)]
pub(super) struct WatchStream {
    member: Member,
    call: WatchCall,
    id: i64,
    /// The revision of the member when it made the watch.
    pub(super) revision: Revision,
    /// Whether a progress request is answered behind the events before it.
    pub(super) in_order: bool,
    /// Whether every change of the store comes, not only those of the range. Then each one is
    /// progress, since each revision is a change of something.
    pub(super) wide: bool,
}

/// What a stream says.
#[derive(Debug)]
pub(super) enum Heard {
    /// Changes of the range, perhaps none, and the revision up to which they are all.
    Events(Vec<Event>, Revision),
    /// Everything up to here was delivered.
    Progress(Revision),
    /// The history that is still wanted is gone.
    Compacted(Revision),
    /// The connection or the member is gone.
    Lost(String),
}

impl WatchStream {
    /// Opens a stream at an endpoint on a connection of its own.
    pub(super) async fn open(
        cluster: &Cluster,
        endpoint: usize,
        wanted: &Wanted<'_>,
    ) -> Result<Self, Failure> {
        let opening = Self::start(cluster.connect(endpoint), wanted);
        match timeout(cluster.patience(), opening).await {
            Ok(opened) => opened,
            Err(_) => Err(Failure::Ambiguous("the watch was not confirmed in time".into())),
        }
    }

    async fn start(member: Member, wanted: &Wanted<'_>) -> Result<Self, Failure> {
        let in_order = match member.version().await {
            Ok(version) => answers_progress_in_order(&version),
            // Not allowed to ask: then better not trust it.
            Err(Failure::Refused(_)) => false,
            Err(failure) => return Err(failure),
        };
        let wide = wanted.progress && !in_order;
        let mut call = member.watch(create(wanted, wide)).await?;
        let Some(created) = call.message().await?.filter(|response| response.created) else {
            return Err(Failure::Ambiguous("etcd did not confirm the watch".into()));
        };
        if created.canceled {
            let reason = created.cancel_reason;
            return Err(Failure::Refused(Error::Unavailable { reason }));
        }
        let (id, revision) = (created.watch_id, header(created.header.as_ref()));
        Ok(Self { member, call, id, revision, in_order, wide })
    }

    /// Waits for the next message. Cancel safe.
    pub(super) async fn message(&mut self) -> Result<Option<WatchResponse>, Failure> {
        self.call.message().await
    }

    /// Asks how far the stream is. The question may be lost; only an answer counts.
    pub(super) fn ask(&self) {
        self.call.ask_progress();
    }

    /// What a message means for somebody who has seen `wanted.position`; none if nothing.
    pub(super) async fn hear(
        &self,
        message: Result<Option<WatchResponse>, Failure>,
        wanted: &Wanted<'_>,
    ) -> Option<Heard> {
        let response = match message {
            Ok(Some(response)) => response,
            Ok(None) => return Some(Heard::Lost("etcd closed the stream".into())),
            Err(failure) => return Some(Heard::Lost(format!("{failure:?}"))),
        };
        if response.compact_revision > 0 {
            return Some(Heard::Compacted(convert::revision(response.compact_revision)));
        }
        if response.canceled {
            return Some(Heard::Lost(response.cancel_reason));
        }
        let revisions = response.events.iter().filter_map(|event| event.kv.as_ref());
        let Some(last) = revisions.map(|pair| pair.mod_revision).max() else {
            // What older members say to nobody in particular may overtake events.
            let trusted = self.in_order || response.watch_id == self.id;
            return trusted.then(|| Heard::Progress(header(response.header.as_ref())));
        };
        let last = convert::revision(last);
        match changes(&response, wanted) {
            Ok(events) => Some(Heard::Events(events, last)),
            Err(NoPrevious { revision }) => {
                let oldest = timeout(OLDEST_PATIENCE, oldest(&self.member)).await;
                // The state before that change is gone, so this much is known at least.
                let oldest = oldest.ok().and_then(Result::ok).unwrap_or(revision);
                Some(Heard::Compacted(oldest))
            }
        }
    }
}

fn create(wanted: &Wanted<'_>, wide: bool) -> WatchCreateRequest {
    let everything = KeyRange::all();
    let range = if wide { &everything } else { wanted.range };
    // A range without keys never has changes, like the key that nobody writes.
    let (key, range_end) = bounds(range).unwrap_or((HEALTH_KEY.into(), Bytes::new()));
    WatchCreateRequest {
        key,
        range_end,
        // Beyond what etcd can count to there will never be anything to deliver.
        start_revision: convert::number(wanted.position.max(Revision(1))).unwrap_or(i64::MAX),
        progress_notify: true,
        prev_kv: true,
    }
}

/// What the key was before is compacted.
struct NoPrevious {
    revision: Revision,
}

/// The changes in a response that are wanted.
fn changes(response: &WatchResponse, wanted: &Wanted<'_>) -> Result<Vec<Event>, NoPrevious> {
    let is_wanted = |pair: &wire::KeyValue| {
        convert::revision(pair.mod_revision) > wanted.position && wanted.range.contains(&pair.key)
    };
    let mut changes = Vec::new();
    for event in &response.events {
        if let Some(pair) = event.kv.as_ref().filter(|pair| is_wanted(pair)) {
            changes.push(change(event, pair)?);
        }
    }
    Ok(changes)
}

fn change(event: &wire::Event, pair: &wire::KeyValue) -> Result<Event, NoPrevious> {
    let revision = convert::revision(pair.mod_revision);
    let previous = || event.prev_kv.as_ref().map(convert::record).ok_or(NoPrevious { revision });
    if event.kind == wire::DELETE {
        return Ok(Event::Deleted { revision, previous: previous()? });
    }
    let record = convert::record(pair);
    if pair.create_revision == pair.mod_revision {
        return Ok(Event::Created { record });
    }
    Ok(Event::Updated { record, previous: previous()? })
}
