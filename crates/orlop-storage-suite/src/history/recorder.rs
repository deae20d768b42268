//! Notes what clients do and see, without changing either.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use orlop_storage::{
    At, Delivery, Error, Get, LeaseId, Outcome, ProgressRequester, Range, RangeRequest, Revision,
    Store, Txn, Watch, WatchEnd, WatchRequest, WatchSource,
};

use super::{Answer, Call, History, Request, WatchLog};

/// What all clients of one run write on.
#[derive(Debug, Default)]
pub struct Tape {
    /// Counts up with every beginning and every end: the order of real time.
    ticks: AtomicU64,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    calls: Vec<Call>,
    watches: Vec<WatchLog>,
}

impl Tape {
    /// An empty tape.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What is on the tape. A call that is not answered yet has an unknown outcome.
    #[must_use]
    pub fn history(&self, start: Range, end: Range) -> History {
        let log = self.log();
        let mut calls = log.calls.clone();
        calls.sort_by_key(|call| call.invoked);
        History { start, calls, watches: log.watches.clone(), end }
    }

    fn invoke(&self, client: usize, request: Request) -> usize {
        let mut log = self.log();
        let invoked = self.ticks.fetch_add(1, Ordering::SeqCst);
        let answer = Answer::Unknown;
        log.calls.push(Call { client, invoked, returned: None, request, answer });
        log.calls.len() - 1
    }

    fn answer(&self, call: usize, answer: Answer) {
        let mut log = self.log();
        let returned = self.ticks.fetch_add(1, Ordering::SeqCst);
        if !matches!(answer, Answer::Unknown) {
            log.calls[call].returned = Some(returned);
        }
        log.calls[call].answer = answer;
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One client's store: every call and every watch through it is on the tape.
#[derive(Clone, Debug)]
pub struct Recorder {
    store: Arc<dyn Store>,
    tape: Arc<Tape>,
    client: usize,
}

impl Recorder {
    /// A client of `store` that writes on `tape`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, tape: Arc<Tape>, client: usize) -> Self {
        Self { store, tape, client }
    }

    async fn record<T>(
        &self,
        request: Request,
        answered: impl Future<Output = Result<T, Error>>,
        answer: impl FnOnce(&T) -> Answer,
    ) -> Result<T, Error> {
        let call = self.tape.invoke(self.client, request);
        let result = answered.await;
        self.tape.answer(
            call,
            match &result {
                Ok(result) => answer(result),
                Err(error) => refusal(error),
            },
        );
        result
    }
}

fn refusal(error: &Error) -> Answer {
    match error {
        Error::Compacted { oldest } => Answer::RefusedCompacted { oldest: *oldest },
        Error::FutureRevision { current, .. } => Answer::RefusedFuture { current: *current },
        Error::Unknown { .. } | Error::Stopped { .. } => Answer::Unknown,
        other => Answer::Failed(other.to_string()),
    }
}

#[async_trait]
impl Store for Recorder {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        let request = Request::Get(Bytes::copy_from_slice(key), at);
        self.record(request, self.store.get(key, at), |got| Answer::Get(got.clone())).await
    }

    async fn range(&self, request: RangeRequest) -> Result<Range, Error> {
        let asked = Request::Range(request.clone());
        self.record(asked, self.store.range(request), |found| Answer::Range(found.clone())).await
    }

    async fn commit(&self, txn: Txn) -> Result<Outcome, Error> {
        let request = Request::Commit(txn.clone());
        let answer = |outcome: &Outcome| Answer::Outcome(outcome.clone());
        self.record(request, self.store.commit(txn), answer).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error> {
        let (range, after) = (request.range.clone(), request.after);
        let watch = self.store.watch(request).await?;
        let mut log = self.tape.log();
        let deliveries = Vec::new();
        log.watches.push(WatchLog { client: self.client, range, after, deliveries, end: None });
        let number = log.watches.len() - 1;
        Ok(Watch::new(RecordedWatch { watch, tape: self.tape.clone(), number }))
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        let compacted = self.store.compact(revision);
        self.record(Request::Compact(revision), compacted, |()| Answer::Compacted).await
    }

    /// Leases are outside the history: see the module's assumptions.
    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error> {
        self.store.grant_lease(ttl).await
    }

    async fn revision(&self) -> Result<Revision, Error> {
        let answer = |revision: &Revision| Answer::Revision(*revision);
        self.record(Request::Revision, self.store.revision(), answer).await
    }

    async fn health(&self) -> Result<(), Error> {
        self.store.health().await
    }
}

#[derive(Debug)]
struct RecordedWatch {
    watch: Watch,
    tape: Arc<Tape>,
    /// Its place in the log.
    number: usize,
}

#[async_trait]
impl WatchSource for RecordedWatch {
    async fn next(&mut self) -> Result<Delivery, WatchEnd> {
        let next = self.watch.next().await;
        let mut log = self.tape.log();
        let watch = &mut log.watches[self.number];
        match &next {
            Ok(delivery) => watch.deliveries.push(delivery.clone()),
            Err(end) => watch.end = Some(end.clone()),
        }
        next
    }

    fn progress_requester(&self) -> ProgressRequester {
        self.watch.progress_requester()
    }
}
