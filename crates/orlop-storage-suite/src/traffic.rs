//! Traffic like that of Kubernetes, by many clients at once, recorded for the checkers.
//!
//! The mix is that of etcd's robustness tests (tests/robustness/traffic/kubernetes.go): clients
//! list, read, update what they have read and retry on conflict, and now and then create and
//! delete; watchers list, watch after the list, lose their watch and resume; somebody compacts.
//! Some transactions write two keys, which Kubernetes does not do, so that there is something to
//! be delivered whole.
//!
//! The seed decides what each client does; what they see of each other, and so the history, is up
//! to the scheduler.

mod client;
mod watcher;

use std::sync::Arc;
use std::time::Duration;

use orlop_storage::{Error, Expect, KeyRange, Outcome, Range, RangeRequest, Revision, Store, Txn};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use self::client::Client;
use self::watcher::Watcher;
use crate::history::{History, Recorder, Tape};

/// The two kinds of objects: keys are below these.
pub const KINDS: [&str; 2] = ["/registry/pods/", "/registry/services/"];

/// How much of what.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Clients that read and write.
    pub clients: usize,
    /// Operations of all clients together.
    pub operations: usize,
    /// Keys of each of the two kinds.
    pub keys: usize,
    /// Clients that watch.
    pub watchers: usize,
    /// Decides what everybody does.
    pub seed: u64,
    /// How often history is given up.
    pub compaction_interval: Option<Duration>,
    /// Whether some transactions write two keys.
    pub writes_pairs: bool,
    /// When clients stop, done or not; watchers have the same time again to catch up.
    pub time_max: Duration,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            clients: 8,
            operations: 2000,
            keys: 10,
            watchers: 8,
            seed: 0,
            compaction_interval: Some(Duration::from_millis(10)),
            writes_pairs: true,
            time_max: Duration::from_secs(30),
        }
    }
}

impl Traffic {
    /// Runs the traffic on a store and records it. Nobody else may write to the store meanwhile.
    ///
    /// Clients go on after errors, so that the store may be stopped and started again behind a
    /// proxy; it must serve again at the end.
    ///
    /// # Panics
    /// If the store does not answer at the beginning or the end, or a watcher does not catch up.
    pub async fn run(&self, store: Arc<dyn Store>) -> History {
        self.run_on(&[store]).await
    }

    /// As [`Traffic::run`], on several ways to one store: clients and watchers take turns in
    /// choosing theirs.
    ///
    /// # Panics
    /// As [`Traffic::run`], and if there is no store.
    pub async fn run_on(&self, stores: &[Arc<dyn Store>]) -> History {
        let (tape, first) = (Tape::new(), &stores[0]);
        let start = self.everything(first).await;
        let deadline = Instant::now() + self.time_max;
        let (closing, closed) = tokio::sync::watch::channel(None);

        let mut watchers = JoinSet::new();
        for number in 0..self.watchers {
            let store = &stores[number % stores.len()];
            let store = self.recorder(store, &tape, self.clients + number);
            let rng = self.rng(self.clients + number);
            let watcher = Watcher::new(store, rng, closed.clone());
            watchers.spawn(timeout_at(deadline + self.time_max, watcher.run()));
        }
        let compactor = self.compactor(self.recorder(first, &tape, self.clients + self.watchers));
        let compactor = tokio::spawn(compactor);
        let mut clients = JoinSet::new();
        for number in 0..self.clients {
            let recorder = self.recorder(&stores[number % stores.len()], &tape, number);
            let client = Client::new(number, recorder, self.rng(number), self);
            clients.spawn(timeout_at(deadline, client.run(self.operations / self.clients)));
        }
        let mut unfinished = 0;
        while let Some(ended) = clients.join_next().await {
            unfinished += usize::from(ended.expect("a client ends without a panic").is_err());
        }
        if unfinished > 0 {
            println!("{unfinished} of {} clients ran out of time", self.clients);
        }
        compactor.abort();
        let last = self.close(&self.recorder(first, &tape, self.clients + self.watchers)).await;
        closing.send_replace(Some(last));
        while let Some(ended) = watchers.join_next().await {
            let caught_up = ended.expect("a watcher ends without a panic");
            assert!(caught_up.is_ok(), "a watcher did not see revision {last} in time");
        }
        tape.history(start, self.everything(first).await)
    }

    fn recorder(&self, store: &Arc<dyn Store>, tape: &Arc<Tape>, client: usize) -> Recorder {
        Recorder::new(store.clone(), tape.clone(), client)
    }

    fn rng(&self, client: usize) -> StdRng {
        StdRng::seed_from_u64(self.seed.wrapping_mul(1_000_003).wrapping_add(client as u64))
    }

    async fn everything(&self, store: &Arc<dyn Store>) -> Range {
        let deadline = Instant::now() + self.time_max;
        loop {
            match store.range(RangeRequest::new(KeyRange::all())).await {
                Ok(range) => return range,
                Err(error) => {
                    assert!(Instant::now() < deadline, "the store does not serve: {error}");
                }
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Gives up some history now and then.
    fn compactor(&self, store: Recorder) -> impl Future<Output = ()> + use<> {
        let (interval, mut rng) = (self.compaction_interval, self.rng(usize::MAX));
        async move {
            let Some(interval) = interval else { return };
            loop {
                sleep(interval).await;
                if let Ok(newest) = store.revision().await {
                    let kept = rng.random_range(0..30);
                    let at = Revision(newest.0.saturating_sub(kept));
                    if at > Revision::ZERO {
                        drop(store.compact(at).await);
                    }
                }
            }
        }
    }

    /// The last writes. Whatever a watcher watches, it sees one of the answered revision or later.
    async fn close(&self, store: &Recorder) -> Revision {
        if self.writes_pairs {
            return self.close_kinds(store, &KINDS).await;
        }
        let first = self.close_kinds(store, &KINDS[..1]).await;
        self.close_kinds(store, &KINDS[1..]).await;
        first
    }

    async fn close_kinds(&self, store: &Recorder, kinds: &[&str]) -> Revision {
        let deadline = Instant::now() + self.time_max;
        for attempt in 0.. {
            let value = format!("closing {attempt}");
            let txn = kinds.iter().fold(Txn::new(), |txn, kind| {
                txn.put(format!("{kind}closing"), value.clone(), Expect::Anything)
            });
            match store.commit(txn).await {
                Ok(Outcome::Committed { revision }) => return revision,
                other => assert!(Instant::now() < deadline, "the store does not serve: {other:?}"),
            }
            sleep(Duration::from_millis(10)).await;
        }
        unreachable!("attempts do not run out")
    }
}

/// One of some choices, by weight.
fn weighted<T: Copy>(rng: &mut StdRng, choices: &[(u32, T)]) -> T {
    let sum: u32 = choices.iter().map(|(weight, _)| weight).sum();
    let mut left = rng.random_range(0..sum);
    for (weight, choice) in choices {
        match left.checked_sub(*weight) {
            Some(rest) => left = rest,
            None => return *choice,
        }
    }
    unreachable!("the weights add up")
}

/// Whether to wait a little: the store does not serve just now.
fn is_down(error: &Error) -> bool {
    matches!(
        error,
        Error::Unavailable { .. } | Error::Unknown { .. } | Error::Stopped { .. } | Error::NoSpace
    )
}
