//! A client that lists, watches, loses its watch and resumes: a watch cache, as the store sees it.

use std::time::Duration;

use orlop_storage::{
    Delivery, Error, Event, KeyRange, RangeRequest, Revision, Store, Watch, WatchEnd, WatchRequest,
};
use rand::RngExt;
use rand::rngs::StdRng;
use tokio::sync::watch::Receiver;
use tokio::time::{sleep, timeout};

use super::{KINDS, is_down};
use crate::history::Recorder;

/// See the module's documentation.
pub(super) struct Watcher {
    store: Recorder,
    rng: StdRng,
    /// The revision to stop after, once it is known.
    closed: Receiver<Option<Revision>>,
    range: KeyRange,
    /// Everything up to here was listed or delivered.
    position: Revision,
}

/// How one watch went.
enum Went {
    /// The last revision was delivered.
    ToTheEnd,
    /// Watch again after the position.
    Resume,
    /// List again.
    Relist,
}

impl Watcher {
    pub(super) fn new(
        store: Recorder,
        mut rng: StdRng,
        closed: Receiver<Option<Revision>>,
    ) -> Self {
        let range = match rng.random_range(0..3) {
            0 => KeyRange::prefix("/registry/"),
            1 => KeyRange::prefix(KINDS[0]),
            _ => KeyRange::prefix(KINDS[1]),
        };
        Self { store, rng, closed, range, position: Revision::ZERO }
    }

    /// Watches until the last revision was seen.
    pub(super) async fn run(mut self) {
        let mut went = Went::Relist;
        loop {
            let next = match went {
                Went::ToTheEnd => return,
                Went::Relist => self.list().await,
                Went::Resume => Ok(()),
            };
            went = match next {
                Ok(()) if self.at_end() => return,
                Ok(()) => self.watch().await,
                Err(error) => self.after_error(&error).await,
            };
        }
    }

    async fn list(&mut self) -> Result<(), Error> {
        let listed = self.store.range(RangeRequest::new(self.range.clone())).await?;
        self.position = listed.revision;
        Ok(())
    }

    async fn watch(&mut self) -> Went {
        let mut request = WatchRequest::new(self.range.clone()).after(self.position);
        if self.rng.random_bool(0.5) {
            request = request.progress_every(Duration::from_millis(20));
        }
        match self.store.watch(request).await {
            Ok(watch) => self.follow(watch).await,
            Err(error) => self.after_error(&error).await,
        }
    }

    /// Reads a watch for a random while, sometimes slowly.
    async fn follow(&mut self, mut watch: Watch) -> Went {
        let deliveries = self.rng.random_range(1..20);
        for _ in 0..deliveries {
            if self.rng.random_bool(0.1) {
                watch.progress_requester().request();
            }
            if self.rng.random_bool(0.05) {
                sleep(Duration::from_millis(self.rng.random_range(1..20))).await;
            }
            match timeout(Duration::from_millis(50), watch.next()).await {
                Err(_) => {}
                Ok(Ok(delivery)) => self.take(&delivery),
                Ok(Err(WatchEnd::Lagged { resume_after })) => {
                    self.position = self.position.max(resume_after);
                    return Went::Resume;
                }
                Ok(Err(WatchEnd::Compacted { .. })) => return Went::Relist,
                Ok(Err(WatchEnd::Stopped { .. })) => {
                    sleep(Duration::from_millis(5)).await;
                    return Went::Resume;
                }
            }
            if self.at_end() {
                return Went::ToTheEnd;
            }
        }
        Went::Resume
    }

    fn take(&mut self, delivery: &Delivery) {
        let seen = match delivery {
            Delivery::Events(events) => events.last().map(Event::revision),
            Delivery::Progress(revision) => Some(*revision),
        };
        self.position = self.position.max(seen.unwrap_or_default());
    }

    async fn after_error(&self, error: &Error) -> Went {
        match error {
            Error::Compacted { .. } => Went::Relist,
            error if is_down(error) => {
                sleep(Duration::from_millis(5)).await;
                if self.position == Revision::ZERO { Went::Relist } else { Went::Resume }
            }
            error => panic!("a watcher: {error}"),
        }
    }

    fn at_end(&self) -> bool {
        self.closed.borrow().is_some_and(|last| self.position >= last)
    }
}
