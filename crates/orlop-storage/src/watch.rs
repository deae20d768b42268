//! Watching a range from a revision on.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::{KeyRange, Record, Revision, WatchEnd};

/// Which changes to deliver.
#[derive(Clone, Debug)]
pub struct WatchRequest {
    /// Of which keys.
    pub range: KeyRange,
    /// Those after this revision, which may be in the future; none is from now on.
    pub after: Option<Revision>,
    /// How often to say [`Delivery::Progress`] while nothing changes; none is only on request.
    pub progress_every: Option<Duration>,
}

impl WatchRequest {
    /// Changes of `range` from now on.
    #[must_use]
    pub fn new(range: KeyRange) -> Self {
        Self { range, after: None, progress_every: None }
    }

    /// Changes after `revision`.
    #[must_use]
    pub fn after(self, revision: Revision) -> Self {
        Self { after: Some(revision), ..self }
    }

    /// Says how far it is every `interval` while nothing changes.
    #[must_use]
    pub fn progress_every(self, interval: Duration) -> Self {
        Self { progress_every: Some(interval), ..self }
    }
}

/// One change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The key came into being.
    Created {
        /// What it is now.
        record: Record,
    },
    /// The key got a new value.
    Updated {
        /// What it is now.
        record: Record,
        /// What it was before.
        previous: Record,
    },
    /// The key went away.
    Deleted {
        /// The revision that deleted it.
        revision: Revision,
        /// What it was before.
        previous: Record,
    },
}

impl Event {
    /// The revision of the transaction that made the change.
    #[must_use]
    pub fn revision(&self) -> Revision {
        match self {
            Self::Created { record } | Self::Updated { record, .. } => record.modified(),
            Self::Deleted { revision, .. } => *revision,
        }
    }

    /// The key that changed.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        match self {
            Self::Created { record } | Self::Updated { record, .. } => record.key(),
            Self::Deleted { previous, .. } => previous.key(),
        }
    }

    /// What the key was before.
    #[must_use]
    pub fn previous(&self) -> Option<&Record> {
        match self {
            Self::Created { .. } => None,
            Self::Updated { previous, .. } | Self::Deleted { previous, .. } => Some(previous),
        }
    }

    /// What the key is now.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        match self {
            Self::Created { record } | Self::Updated { record, .. } => Some(record),
            Self::Deleted { .. } => None,
        }
    }
}

/// What a watch says next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The changes of one or more whole transactions, in order of revisions, shared by all
    /// watchers of the range. Never empty.
    Events(Arc<[Event]>),
    /// Every change up to this revision was delivered before.
    Progress(Revision),
}

/// A running watch; dropping it ends it.
#[derive(Debug)]
pub struct Watch(Box<dyn WatchSource>);

impl Watch {
    /// A watch fed by an engine.
    #[must_use]
    pub fn new(source: impl WatchSource + 'static) -> Self {
        Self(Box::new(source))
    }

    /// Waits for the next delivery. Cancel safe: a delivery is not lost with the future.
    ///
    /// # Errors
    /// The watch has ended; the reason says how to go on.
    pub async fn next(&mut self) -> Result<Delivery, WatchEnd> {
        self.0.next().await
    }

    /// A handle that asks this watch for a [`Delivery::Progress`], usable while another task
    /// waits for the next delivery.
    #[must_use]
    pub fn progress_requester(&self) -> ProgressRequester {
        self.0.progress_requester()
    }
}

/// What an engine supplies for a watch.
#[async_trait]
pub trait WatchSource: Send + fmt::Debug {
    /// See [`Watch::next`].
    async fn next(&mut self) -> Result<Delivery, WatchEnd>;

    /// See [`Watch::progress_requester`].
    fn progress_requester(&self) -> ProgressRequester;
}

/// Asks a watch how far it is.
#[derive(Clone)]
pub struct ProgressRequester(Arc<dyn Fn() + Send + Sync>);

impl ProgressRequester {
    /// A requester that calls `request`.
    #[must_use]
    pub fn new(request: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(request))
    }

    /// Asks for one [`Delivery::Progress`] with at least the newest revision of this moment.
    pub fn request(&self) {
        (self.0)();
    }
}

impl fmt::Debug for ProgressRequester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressRequester")
    }
}
