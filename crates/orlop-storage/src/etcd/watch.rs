//! A watch that outlives its connections.
//!
//! A task follows one [`WatchStream`] after the other and puts what they say into a buffer. The
//! invariant is `position`: everything up to it was put into the buffer and nothing behind it, so
//! the next stream goes on exactly there, whatever happened to the last one.
//!
//! Progress: members that answer progress requests in order are asked. For older ones the task
//! watches the whole store, as every revision is a change of some key and therefore shows how far
//! the stream is; that costs traffic, and only watches that want progress pay it.
//!
//! Deliberately not here: waiting for slow consumers. They are cut off and may resume.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, sleep_until};

use super::cluster::{Cluster, explain_read};
use super::convert::{Failure, is_permission_denied};
use super::watch_buffer::{Consumer, Feeder, Full, buffer};
use super::watch_stream::{Heard, Wanted, WatchStream};
use super::wire::WatchResponse;
use crate::{
    Delivery, Error, KeyRange, ProgressRequester, Revision, Watch, WatchEnd, WatchRequest,
    WatchSource,
};

/// Between two progress requests for the same answer, the first and the longest pause.
const ASK_FIRST: Duration = Duration::from_millis(10);
const ASK_MAX: Duration = Duration::from_secs(1);
/// How often a quiet watch moves its position, so that a new stream finds it uncompacted.
const QUIET_ASK: Duration = Duration::from_secs(60);
/// Between two attempts to open a stream, the first and the longest pause.
const OPEN_FIRST: Duration = Duration::from_millis(50);
const OPEN_MAX: Duration = Duration::from_secs(2);
/// A stream that lived this long was a good one.
const GOOD_LIFE: Duration = Duration::from_secs(2);

type Lookup = Pin<Box<dyn Future<Output = Revision> + Send>>;

/// Opens a watch; returns when a member of etcd has confirmed it.
pub(super) async fn open(
    cluster: Arc<Cluster>,
    request: WatchRequest,
    mut stop: watch::Receiver<()>,
) -> Result<Watch, Error> {
    let after = match request.after {
        Some(after) => after,
        None => cluster.revision().await?,
    };
    let (feeder, consumer) = buffer(cluster.options.watch_buffer);
    let requests = Arc::new(Notify::new());
    let interval = request.progress_every.unwrap_or(QUIET_ASK);
    let mut watcher = Watcher {
        endpoint: cluster.next_watch(),
        cluster,
        range: request.range,
        after,
        position: after,
        reached: false,
        every: request.progress_every,
        interval,
        tick: Instant::now() + interval,
        progress: request.progress_every.is_some(),
        progress_denied: false,
        requests: Arc::clone(&requests),
        lookup: None,
        target: None,
        due: false,
        ask: None,
        failures: 0,
    };
    let first = watcher.open_first().await?;
    let task = tokio::spawn(async move {
        let end = tokio::select! {
            end = watcher.follow(first, &feeder) => end,
            _ = stop.changed() => WatchEnd::Stopped { reason: "the store was dropped".into() },
        };
        feeder.end(end);
    });
    Ok(Watch::new(EtcdWatch { consumer, requests, task: task.abort_handle() }))
}

#[derive(Debug)]
struct EtcdWatch {
    consumer: Consumer,
    requests: Arc<Notify>,
    task: AbortHandle,
}

#[async_trait]
impl WatchSource for EtcdWatch {
    async fn next(&mut self) -> Result<Delivery, WatchEnd> {
        self.consumer.next().await
    }

    fn progress_requester(&self) -> ProgressRequester {
        let requests = Arc::clone(&self.requests);
        // Requests that nobody has looked at yet are one: the answer covers them all.
        ProgressRequester::new(move || requests.notify_one())
    }
}

impl Drop for EtcdWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The state of the task.
struct Watcher {
    cluster: Arc<Cluster>,
    range: KeyRange,
    after: Revision,
    /// Everything up to here is in the buffer. Starts at `after`, which may be in the future.
    position: Revision,
    /// Whether the store is known to have got to `after`; before that there is no progress.
    reached: bool,
    every: Option<Duration>,
    interval: Duration,
    /// When to say or learn something although nothing happened.
    tick: Instant,
    /// Whether progress was ever asked for, so that the streams must be able to tell it.
    progress: bool,
    /// Whether a stream that can tell was refused for lack of permissions.
    progress_denied: bool,
    requests: Arc<Notify>,
    /// Finds out what the newest revision is, for somebody who wants progress up to it.
    lookup: Option<Lookup>,
    /// Somebody waits for progress up to here.
    target: Option<Revision>,
    /// It is time to say something.
    due: bool,
    /// When to ask the member, and the pause after that; only while something is wanted.
    ask: Option<(Instant, Duration)>,
    /// The endpoint of the next stream.
    endpoint: usize,
    /// Streams in a row that did not come about or did not live long.
    failures: u32,
}

/// What the task wakes up for.
enum Wake {
    Message(Result<Option<WatchResponse>, Failure>),
    Requested,
    Newest(Revision),
    Ask,
    Tick,
}

/// Why the task leaves a stream.
enum Leave {
    Reopen,
    End(WatchEnd),
}

impl Watcher {
    fn wanted(&self) -> Wanted<'_> {
        let progress = self.progress && !self.progress_denied;
        Wanted { range: &self.range, position: self.position, progress }
    }

    /// The first stream, while the time of one call lasts.
    async fn open_first(&mut self) -> Result<WatchStream, Error> {
        let deadline = Instant::now() + self.cluster.options.request_timeout;
        loop {
            match self.try_open().await {
                Ok(opened) => return Ok(opened),
                Err(failure) if Instant::now() >= deadline || !failure.is_passing() => {
                    return Err(explain_read(failure));
                }
                Err(_) => sleep(self.pause()).await,
            }
        }
    }

    /// One attempt; a failure turns to the next endpoint.
    async fn try_open(&mut self) -> Result<WatchStream, Failure> {
        let mut opened = WatchStream::open(&self.cluster, self.endpoint, &self.wanted()).await;
        let denied = opened.as_ref().is_err_and(is_permission_denied);
        if denied && self.wanted().progress {
            tracing::warn!("no progress of watches: this etcd is too old, the user not allowed");
            self.progress_denied = true;
            opened = WatchStream::open(&self.cluster, self.endpoint, &self.wanted()).await;
        }
        if opened.is_err() {
            self.turn();
        }
        opened
    }

    fn turn(&mut self) {
        self.failures += 1;
        self.endpoint = (self.endpoint + 1) % self.cluster.size();
    }

    /// How long to wait before the next attempt: longer with each failure, the first is free.
    fn pause(&self) -> Duration {
        match self.failures {
            0 | 1 => Duration::ZERO,
            failures => OPEN_FIRST.saturating_mul(1 << (failures - 2).min(16)).min(OPEN_MAX),
        }
    }

    /// Follows streams until there is a reason to end.
    async fn follow(&mut self, first: WatchStream, feeder: &Feeder) -> WatchEnd {
        let mut opened = first;
        loop {
            let born = Instant::now();
            match self.drain(opened, feeder).await {
                Leave::End(end) => return end,
                Leave::Reopen if born.elapsed() >= GOOD_LIFE => self.failures = 1,
                Leave::Reopen => {}
            }
            opened = loop {
                sleep(self.pause()).await;
                match self.try_open().await {
                    Ok(opened) => break opened,
                    Err(failure) => tracing::debug!(?failure, "etcd watch not reopened"),
                }
            };
        }
    }

    /// Takes what one stream has to say until it is lost.
    async fn drain(&mut self, mut stream: WatchStream, feeder: &Feeder) -> Leave {
        self.reached |= stream.revision >= self.after;
        self.ask_now();
        loop {
            let wake = self.wake(&mut stream).await;
            match wake {
                Wake::Message(message) => {
                    let heard = stream.hear(message, &self.wanted()).await;
                    if let Some(leave) = self.take(heard, feeder).await {
                        return leave;
                    }
                }
                Wake::Requested => {
                    self.progress = true;
                    self.lookup = Some(newest(Arc::clone(&self.cluster)));
                    if !stream.in_order && !stream.wide && !self.progress_denied {
                        return Leave::Reopen;
                    }
                }
                Wake::Newest(revision) => {
                    self.lookup = None;
                    self.reached |= revision >= self.after;
                    self.target = self.target.max(Some(revision.max(self.after)));
                    self.ask_now();
                }
                Wake::Ask => self.ask_member(&stream),
                Wake::Tick => self.on_tick(&stream),
            }
            self.answer(feeder);
        }
    }

    async fn wake(&mut self, stream: &mut WatchStream) -> Wake {
        let idle = self.target.is_none() && self.lookup.is_none();
        let lookup = async {
            match &mut self.lookup {
                Some(lookup) => lookup.await,
                None => pending().await,
            }
        };
        let ask = async {
            match self.ask {
                Some((at, _)) => sleep_until(at).await,
                None => pending().await,
            }
        };
        tokio::select! {
            message = stream.message() => Wake::Message(message),
            // One question after the other: a later one is about a later moment.
            () = self.requests.notified(), if idle => Wake::Requested,
            revision = lookup => Wake::Newest(revision),
            () = ask => Wake::Ask,
            () = sleep_until(self.tick) => Wake::Tick,
        }
    }

    async fn take(&mut self, heard: Option<Heard>, feeder: &Feeder) -> Option<Leave> {
        match heard? {
            Heard::Events(events, last) => {
                if !events.is_empty() {
                    self.tick = Instant::now() + self.interval;
                    if let Err(Full) = feeder.events(events.into()).await {
                        let resume_after = self.position;
                        return Some(Leave::End(WatchEnd::Lagged { resume_after }));
                    }
                }
                self.advance(last);
                None
            }
            Heard::Progress(revision) => {
                if revision >= self.position {
                    self.advance(revision);
                    if std::mem::take(&mut self.due) {
                        self.target = self.target.max(Some(revision));
                    }
                }
                None
            }
            Heard::Compacted(oldest) => Some(Leave::End(WatchEnd::Compacted { oldest })),
            Heard::Lost(reason) => {
                tracing::debug!(reason, position = %self.position, "etcd watch stream lost");
                self.turn();
                Some(Leave::Reopen)
            }
        }
    }

    /// Everything up to `revision` is in the buffer.
    fn advance(&mut self, revision: Revision) {
        self.reached |= revision >= self.after;
        self.position = self.position.max(revision);
    }

    /// Says how far the watch is if somebody waits for it and it is that far.
    fn answer(&mut self, feeder: &Feeder) {
        if self.reached && self.target.is_some_and(|target| self.position >= target) {
            feeder.progress(self.position);
            self.target = None;
            self.tick = Instant::now() + self.interval;
        }
        if self.target.is_none() && !self.due {
            self.ask = None;
        }
    }

    fn ask_now(&mut self) {
        if self.target.is_some() || self.due {
            self.ask = Some((Instant::now(), ASK_FIRST));
        }
    }

    /// Asks again and again, as the member forgets the question while it has events to send.
    fn ask_member(&mut self, stream: &WatchStream) {
        let pause = self.ask.map_or(ASK_FIRST, |(_, pause)| pause);
        self.ask = Some((Instant::now() + pause, (pause * 2).min(ASK_MAX)));
        if stream.in_order {
            stream.ask();
        }
    }

    fn on_tick(&mut self, stream: &WatchStream) {
        self.tick = Instant::now() + self.interval;
        if !stream.in_order && stream.wide && self.every.is_some() {
            // All there was has been seen: the position is the newest revision.
            self.target = self.target.max(Some(self.position));
        } else if self.every.is_some() {
            self.due = true;
            self.ask_now();
        } else if stream.in_order {
            stream.ask();
        }
    }
}

/// The newest revision, as soon as it can be had.
fn newest(cluster: Arc<Cluster>) -> Lookup {
    Box::pin(async move {
        loop {
            match cluster.revision().await {
                Ok(revision) => return revision,
                Err(error) => tracing::debug!(%error, "no newest revision for progress"),
            }
            sleep(OPEN_FIRST).await;
        }
    })
}
