//! The events of one watch, made when its connection wants them.
//!
//! First what the watch starts with, then every change as it comes. An event that others see too
//! is written once for all of them. A watch holds no more than its queue and one piece.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use orlop_machinery::status::Status;
use orlop_storage::KeyRange;
use tokio::time::{Instant, Sleep};

use crate::body::Pieces;
use crate::cache::{
    Cache, CatchUp, Change, Item, Next, Notice, Seen, Step, Subscription, View, Wish,
};
use crate::metrics::WatchEvents;
use crate::render::{Renderer, Shown};

/// About how long a piece of the initial events is.
const PIECE_BYTES: usize = 64 * 1024;
/// The most objects that one piece looks at: a filter may want few of many.
const LOOKED_AT_MAX: usize = 4096;
/// How often a watch that wants it is told how far it is.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// How long before its end a watch is told how far it is.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);

/// See the module's documentation.
pub(super) struct WatchStream {
    pub renderer: Renderer,
    pub cache: Arc<Cache>,
    pub wish: Wish,
    pub phase: Phase,
    pub times: Times,
    /// What was sent, for metrics.
    pub sent: Arc<WatchEvents>,
    /// Whether the end of the initial events is to be told.
    pub ends_initial: bool,
    /// Whether the next event is the first: tables have their headings there.
    pub is_first: bool,
    /// No bookmark says less than what was told already.
    pub told: u64,
}

/// Where a watch is.
pub(super) enum Phase {
    /// It shows what is there.
    Showing(Box<State>),
    /// It reads what happened long ago.
    CatchingUp(CatchUp),
    /// It tells what happens.
    Following(Subscription),
    /// It has one error to tell.
    Failed(Status),
    /// There is nothing more.
    Ended,
}

/// What is there when a watch begins.
pub(super) struct State {
    view: View,
    place: usize,
    end: usize,
    subscription: Subscription,
}

/// When a watch ends, and when it is told how far it is.
pub(super) struct Times {
    end: Instant,
    /// None for those who do not want it.
    bookmark: Option<Instant>,
    /// Whether it is time, and nothing else was to be told since.
    is_bookmark_due: bool,
    timer: Pin<Box<Sleep>>,
}

impl Phase {
    /// The objects of a range, and every change after them.
    pub(super) fn state(view: View, range: &KeyRange, subscription: Subscription) -> Phase {
        let (place, end) = view.places(range);
        Phase::Showing(Box::new(State { view, place, end, subscription }))
    }
}

impl Times {
    /// For a watch that starts now.
    pub(super) fn new(life: Duration, wants_bookmarks: bool) -> Times {
        let now = Instant::now();
        // A client that wants more than a year gets a year.
        let end = now + life.min(Duration::from_secs(365 * 24 * 60 * 60));
        let bookmark = wants_bookmarks.then(|| next_bookmark(now, end));
        let first = bookmark.map_or(end, |bookmark| bookmark.min(end));
        let timer = Box::pin(tokio::time::sleep_until(first));
        Times { end, bookmark, is_bookmark_due: false, timer }
    }

    /// Whether the watch is over. Wakes the task when something is due.
    fn poll_is_over(&mut self, context: &mut Context<'_>) -> bool {
        while self.timer.as_mut().poll(context).is_ready() {
            let now = Instant::now();
            if now >= self.end {
                return true;
            }
            if self.bookmark.is_some_and(|bookmark| now >= bookmark) {
                self.is_bookmark_due = true;
                self.bookmark = Some(next_bookmark(now, self.end));
            }
            let next = self.bookmark.map_or(self.end, |bookmark| bookmark.min(self.end));
            self.timer.as_mut().reset(next);
        }
        false
    }
}

/// Every minute, and shortly before the end.
fn next_bookmark(now: Instant, end: Instant) -> Instant {
    let heartbeat = now + BOOKMARK_EVERY;
    match end.checked_sub(BOOKMARK_BEFORE_END) {
        Some(last) if last > now => heartbeat.min(last),
        _ => heartbeat,
    }
}

impl WatchStream {
    /// Some of what is there, and what comes after it once all of it was shown.
    fn show_some(&mut self, mut state: Box<State>) -> (Bytes, Phase) {
        let mut out = Vec::with_capacity(PIECE_BYTES.min((state.end - state.place) * 2048 + 512));
        let last = state.place.saturating_add(LOOKED_AT_MAX).min(state.end);
        let objects = state.view.objects.iter_from_place(state.place);
        for Item(object) in objects.take(last - state.place) {
            if out.len() >= PIECE_BYTES {
                break;
            }
            state.place += 1;
            if self.wish.filter.matches(object) {
                let has_columns = std::mem::take(&mut self.is_first);
                let (seen, revision) = (Seen::Added, object.revision());
                let start = out.len();
                self.renderer.write_event(Shown { seen, object, revision, has_columns }, &mut out);
                self.sent.send(out.len() - start);
            }
        }
        if state.place < state.end {
            return (out.into(), Phase::Showing(state));
        }
        self.told = state.view.revision;
        if self.ends_initial {
            let bookmark = self.bookmark(self.told, true);
            self.sent.send(bookmark.len());
            out.extend_from_slice(&bookmark);
        }
        (out.into(), Phase::Following(state.subscription))
    }

    fn bookmark(&mut self, revision: u64, ends_initial: bool) -> Bytes {
        let has_columns = std::mem::take(&mut self.is_first);
        self.renderer.bookmark(revision, ends_initial, has_columns)
    }

    /// An event that nobody else sees.
    fn tell(&mut self, change: &Change, seen: Seen) -> Bytes {
        self.told = self.told.max(change.revision);
        let has_columns = std::mem::take(&mut self.is_first);
        self.render(change, seen, has_columns)
    }

    /// An event that others see too.
    fn tell_shared(&mut self, notice: &Notice, seen: Seen) -> Bytes {
        let change = &notice.change;
        self.told = self.told.max(change.revision);
        let key = self.renderer.frame_key(seen, std::mem::take(&mut self.is_first));
        notice.frame(key, || self.render(change, seen, key.has_columns))
    }

    fn render(&self, change: &Change, seen: Seen, has_columns: bool) -> Bytes {
        let Some(object) = change.shown(seen) else { return Bytes::new() };
        self.renderer.event(Shown { seen, object, revision: change.revision, has_columns })
    }

    /// Counts a piece that is one event.
    fn count(&self, polled: (Poll<Bytes>, Phase)) -> (Poll<Bytes>, Phase) {
        if let (Poll::Ready(event), _) = &polled
            && !event.is_empty()
        {
            self.sent.send(event.len());
        }
        polled
    }

    fn poll_following(
        &mut self,
        mut subscription: Subscription,
        context: &mut Context<'_>,
    ) -> (Poll<Bytes>, Phase) {
        // Read first: once nothing waits, everything up to here was told.
        let reached = subscription.reached().unwrap_or_default();
        let piece = match subscription.poll_next(context) {
            Poll::Ready(Next::Old(change, seen)) => self.tell(&change, seen),
            Poll::Ready(Next::New(notice, seen)) => self.tell_shared(&notice, seen),
            Poll::Ready(Next::End) => return (Poll::Ready(Bytes::new()), Phase::Ended),
            Poll::Pending if std::mem::take(&mut self.times.is_bookmark_due) => {
                self.told = self.told.max(reached);
                self.bookmark(self.told, false)
            }
            Poll::Pending => return (Poll::Pending, Phase::Following(subscription)),
        };
        (Poll::Ready(piece), Phase::Following(subscription))
    }

    fn poll_catching_up(
        &mut self,
        mut catch_up: CatchUp,
        context: &mut Context<'_>,
    ) -> (Poll<Bytes>, Phase) {
        match catch_up.poll_next(context) {
            Poll::Pending => (Poll::Pending, Phase::CatchingUp(catch_up)),
            Poll::Ready(Step::Change(change, seen)) => {
                (Poll::Ready(self.tell(&change, seen)), Phase::CatchingUp(catch_up))
            }
            Poll::Ready(Step::Joined(subscription)) => {
                (Poll::Ready(Bytes::new()), Phase::Following(subscription))
            }
            Poll::Ready(Step::Expired(status)) => {
                (Poll::Ready(self.renderer.error(&status)), Phase::Ended)
            }
            Poll::Ready(Step::End) => (Poll::Ready(Bytes::new()), Phase::Ended),
        }
    }
}

impl Pieces for WatchStream {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.times.poll_is_over(context) {
            self.phase = Phase::Ended;
        }
        loop {
            let (piece, phase) = match std::mem::replace(&mut self.phase, Phase::Ended) {
                Phase::Ended => return Poll::Ready(None),
                Phase::Failed(status) => (Poll::Ready(self.renderer.error(&status)), Phase::Ended),
                Phase::Showing(_) | Phase::CatchingUp(_) if self.cache.is_stopped() => {
                    return Poll::Ready(None);
                }
                Phase::Showing(state) => {
                    let (piece, phase) = self.show_some(state);
                    (Poll::Ready(piece), phase)
                }
                Phase::CatchingUp(catch_up) => {
                    let polled = self.poll_catching_up(catch_up, context);
                    self.count(polled)
                }
                Phase::Following(subscription) => {
                    let polled = self.poll_following(subscription, context);
                    self.count(polled)
                }
            };
            self.phase = phase;
            match piece {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(piece) if !piece.is_empty() => return Poll::Ready(Some(piece)),
                // Others have their turn before the search among what is there goes on.
                Poll::Ready(_) if matches!(self.phase, Phase::Showing(_)) => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(_) => {}
            }
        }
    }
}
