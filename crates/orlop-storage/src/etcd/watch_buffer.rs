//! What lies between the task that reads a watch from etcd and the one that consumes it.
//!
//! Bounded by the number of events; one delivery that is larger alone still passes. A consumer
//! that is too slow is cut off with what it has not taken yet still readable, in order, before
//! the end. Progress takes no room: of several in a row only the last stays.
//!
//! The invariant: nothing is added after the end, and there is always an end once the writing
//! side is gone, however it went.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::{Delivery, Event, Revision, WatchEnd};

/// How long a consumer may take nothing from a full buffer. One that is at work makes etcd wait
/// instead, so that it can read a long history in one go.
const PATIENCE: Duration = Duration::from_millis(25);

/// The two ends of an empty buffer with room for `capacity` events.
pub(super) fn buffer(capacity: usize) -> (Feeder, Consumer) {
    let (deliveries, taken) = (VecDeque::new(), Instant::now());
    let queue = Mutex::new(Queue { deliveries, events: 0, taken, end: None });
    let shared = Shared { queue, readable: Notify::new(), writable: Notify::new() };
    let shared = Arc::new(shared);
    (Feeder { shared: Arc::clone(&shared), capacity }, Consumer { shared })
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    readable: Notify,
    writable: Notify,
}

#[derive(Debug)]
struct Queue {
    deliveries: VecDeque<Delivery>,
    /// The events in all deliveries together.
    events: usize,
    /// When the consumer last took something, or began.
    taken: Instant,
    end: Option<WatchEnd>,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The buffer is full and nobody takes anything out of it.
#[derive(Debug)]
pub(super) struct Full;

/// The side of the task that reads from etcd.
#[derive(Debug)]
pub(super) struct Feeder {
    shared: Arc<Shared>,
    capacity: usize,
}

impl Feeder {
    /// Adds events, waiting for room while the consumer makes some.
    pub(super) async fn events(&self, events: Arc<[Event]>) -> Result<(), Full> {
        while !self.try_events(&events) {
            let until = self.shared.queue().taken + PATIENCE;
            timeout_at(until, self.shared.writable.notified()).await.map_err(|_| Full)?;
        }
        Ok(())
    }

    fn try_events(&self, events: &Arc<[Event]>) -> bool {
        let mut queue = self.shared.queue();
        if queue.events > 0 && queue.events + events.len() > self.capacity {
            return false;
        }
        queue.events += events.len();
        queue.deliveries.push_back(Delivery::Events(Arc::clone(events)));
        self.shared.readable.notify_one();
        true
    }

    /// Says how far the watch is.
    pub(super) fn progress(&self, revision: Revision) {
        let mut queue = self.shared.queue();
        if let Some(Delivery::Progress(last)) = queue.deliveries.back_mut() {
            *last = revision;
        } else {
            queue.deliveries.push_back(Delivery::Progress(revision));
        }
        self.shared.readable.notify_one();
    }

    /// Ends the watch.
    pub(super) fn end(self, end: WatchEnd) {
        self.shared.queue().end = Some(end);
        // The consumer is woken by the drop of `self`.
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        let failed = || WatchEnd::Stopped { reason: "the task of the watch has ended".into() };
        self.shared.queue().end.get_or_insert_with(failed);
        self.shared.readable.notify_one();
    }
}

/// The side of the consumer.
#[derive(Debug)]
pub(super) struct Consumer {
    shared: Arc<Shared>,
}

impl Consumer {
    /// The next delivery, or the end when there is none left.
    pub(super) async fn next(&mut self) -> Result<Delivery, WatchEnd> {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            self.shared.readable.notified().await;
        }
    }

    fn try_next(&mut self) -> Option<Result<Delivery, WatchEnd>> {
        let mut queue = self.shared.queue();
        let Some(delivery) = queue.deliveries.pop_front() else {
            return queue.end.clone().map(Err);
        };
        if let Delivery::Events(events) = &delivery {
            queue.events -= events.len();
            queue.taken = Instant::now();
            self.shared.writable.notify_one();
        }
        Some(Ok(delivery))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;

    fn events(revisions: std::ops::Range<u64>) -> Arc<[Event]> {
        let event = |revision| Event::Created {
            record: Record::new(b"k", b"v", Revision(revision), Revision(revision), None),
        };
        revisions.map(event).collect()
    }

    async fn drain(mut consumer: Consumer) -> (Vec<String>, WatchEnd) {
        let mut found = Vec::new();
        loop {
            match consumer.next().await {
                Ok(Delivery::Events(events)) => found.push(format!("{} events", events.len())),
                Ok(Delivery::Progress(revision)) => found.push(format!("progress {revision}")),
                Err(end) => return (found, end),
            }
        }
    }

    #[tokio::test]
    async fn a_slow_consumer_gets_what_fitted_and_then_the_end() {
        let (feeder, consumer) = buffer(3);
        feeder.events(events(1..3)).await.unwrap();
        feeder.progress(Revision(2));
        feeder.events(events(3..4)).await.unwrap();
        feeder.events(events(4..5)).await.unwrap_err();
        feeder.end(WatchEnd::Lagged { resume_after: Revision(3) });
        let (found, end) = drain(consumer).await;
        assert_eq!(found, ["2 events", "progress 2", "1 events"]);
        assert_eq!(end, WatchEnd::Lagged { resume_after: Revision(3) });
    }

    #[tokio::test]
    async fn a_delivery_larger_than_the_buffer_passes_alone() {
        let (feeder, mut consumer) = buffer(3);
        feeder.events(events(1..10)).await.unwrap();
        feeder.events(events(10..11)).await.unwrap_err();
        assert!(matches!(consumer.next().await, Ok(Delivery::Events(found)) if found.len() == 9));
        feeder.events(events(10..11)).await.unwrap();
    }

    #[tokio::test]
    async fn a_full_buffer_waits_a_moment_for_its_consumer() {
        let (feeder, consumer) = buffer(1);
        feeder.events(events(1..2)).await.unwrap();
        let consumer = tokio::spawn(async move {
            tokio::time::sleep(PATIENCE / 2).await;
            drain(consumer).await
        });
        feeder.events(events(2..3)).await.unwrap();
        drop(feeder);
        assert_eq!(consumer.await.unwrap().0, ["1 events", "1 events"]);
    }

    #[tokio::test]
    async fn progress_takes_no_room_and_the_last_one_stays() {
        let (feeder, consumer) = buffer(1);
        for revision in 1..100 {
            feeder.progress(Revision(revision));
        }
        drop(feeder);
        let (found, end) = drain(consumer).await;
        assert_eq!(found, ["progress 99"]);
        assert!(matches!(end, WatchEnd::Stopped { .. }));
    }
}
