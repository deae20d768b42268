//! The loop that keeps definitions: it follows their changes, decides, has them served, and writes
//! what it decided.
//!
//! Nothing is asked for at intervals. Changes come from the cache of definitions, several at once
//! when there are many; all of a batch are decided before anything is written, and written side by
//! side. A write is of one version of a definition: when somebody was faster it is dropped, and
//! the change that made it fail is decided about when it comes. Writes that fail otherwise are
//! tried again, later and later.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use orlop_machinery::field_selector::FieldSelector;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::time::Time;
use orlop_machinery::{Str, Value};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use super::backoff::Backoff;
use super::ending::Endings;
use super::facts::{Edition, Facts};
use super::served::{Serve, Served, ServedChange};
use super::state::{Decision, ServedAs, Serving, State};
use super::status_write::{StatusChange, write_status};
use crate::cache::{Cache, Change, Filter, Item, Next, Scope, Subscription, View, Wish};
use crate::definition::Definition;
use crate::object::Object;
use crate::server::Inner;

/// The most changes that are decided about before any of them is written.
const BATCH_MAX: usize = 64;
/// How many definitions are written side by side.
const WRITES_MAX: usize = 16;
/// How many may wait to hear that all changes are served.
pub(super) const ASKS_MAX: usize = 1024;

/// Somebody who waits until everything that changed before is served.
pub(super) type Ask = oneshot::Sender<()>;

/// See the module's documentation.
pub(crate) struct Follower {
    server: Arc<Inner>,
    serve: Arc<dyn Serve>,
    /// What definitions are.
    definition: Arc<Definition>,
    cache: Arc<Cache>,
    wish: Wish,
    subscription: Subscription,
    state: State,
    asks: mpsc::Receiver<Ask>,
    writes: JoinSet<Written>,
    permits: Arc<Semaphore>,
    /// The versions of definitions about which something is being written.
    writing: HashMap<Str, u64>,
    /// Definitions that could not be written lately.
    failing: HashMap<Str, Backoff>,
    endings: Arc<Endings>,
    ending: JoinSet<(Str, Str)>,
    /// By the name of the definition, its uid and its end.
    ends: HashMap<Str, (Str, AbortHandle)>,
}

/// How a write ended.
struct Written {
    name: Str,
    revision: u64,
    edition: Edition,
    result: Result<(), Backoff>,
}

/// What happened meanwhile.
enum Woken {
    Changed(Batch),
    Asked(Ask),
    Written(Written),
    Ended(Str, Str),
}

/// Changes that came.
#[derive(Default)]
struct Batch {
    changes: Vec<Arc<Change>>,
    /// Whether no more will come from where these came from.
    is_last: bool,
}

/// Definitions that are decided about together.
#[derive(Default)]
struct Round {
    /// Those that are to be decided about.
    queue: VecDeque<Str>,
    /// Those that were decided about.
    decided: Vec<Str>,
    /// Those that were read for it.
    read: HashMap<Str, Value>,
    /// What changes in what is served.
    changes: Vec<ServedChange>,
    /// Whether the server has just started.
    is_first: bool,
}

impl Follower {
    /// Reads all definitions and has them served.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(super) async fn new(
        server: &Arc<Inner>,
        serve: Arc<dyn Serve>,
        definition: &Arc<Definition>,
        asks: mpsc::Receiver<Ask>,
    ) -> Result<Follower, Status> {
        let everything = (LabelSelector::default(), FieldSelector::default());
        let filter = Arc::new(Filter::new(definition, everything.0, everything.1)?);
        let wish = Wish { scope: Scope::All, filter };
        let cache = server.reads.caches.get(definition);
        cache.any().await?;
        let (view, subscription) = cache.watch_with_state(&wish);
        let mut follower = Follower {
            endings: Arc::new(Endings::new(server, &serve, definition)),
            server: server.clone(),
            serve,
            definition: definition.clone(),
            cache,
            wish,
            subscription,
            state: State::default(),
            asks,
            writes: JoinSet::new(),
            permits: Arc::new(Semaphore::new(WRITES_MAX)),
            writing: HashMap::new(),
            failing: HashMap::new(),
            ending: JoinSet::new(),
            ends: HashMap::new(),
        };
        follower.start_over(&view, true);
        Ok(follower)
    }

    /// Runs until the server stops.
    pub(crate) async fn run(mut self) {
        while !self.cache.is_stopped() {
            match self.wait().await {
                Woken::Changed(batch) => self.take(&batch),
                Woken::Asked(ask) => {
                    // Whatever happened before is waiting by now.
                    while let Some(batch) = self.waiting_changes() {
                        self.take(&batch);
                    }
                    // Who does not wait any more need not hear.
                    let _ = ask.send(());
                }
                Woken::Written(written) => self.note(written),
                Woken::Ended(name, uid) => {
                    if self.ends.get(&name).is_some_and(|(known, _)| *known == uid) {
                        self.ends.remove(&name);
                    }
                }
            }
            // A long row of changes leaves others their turn.
            tokio::task::yield_now().await;
        }
    }

    async fn wait(&mut self) -> Woken {
        let subscription = &mut self.subscription;
        let changed = poll_fn(|context| match Batch::poll(subscription, context) {
            Some(batch) => Poll::Ready(batch),
            None => Poll::Pending,
        });
        tokio::select! {
            biased;
            Some(ask) = self.asks.recv() => Woken::Asked(ask),
            batch = changed => Woken::Changed(batch),
            Some(Ok(written)) = self.writes.join_next() => Woken::Written(written),
            Some(Ok((name, uid))) = self.ending.join_next() => Woken::Ended(name, uid),
        }
    }

    /// Changes that have come already.
    fn waiting_changes(&mut self) -> Option<Batch> {
        if self.cache.is_stopped() {
            return None;
        }
        Batch::poll(&mut self.subscription, &mut Context::from_waker(Waker::noop()))
    }

    fn take(&mut self, batch: &Batch) {
        if batch.is_last {
            // Everything that was in the batch is in the view, too.
            let (view, subscription) = self.cache.watch_with_state(&self.wish);
            self.subscription = subscription;
            return self.start_over(&view, false);
        }
        let mut round = Round::default();
        // Of several changes of one definition the last says it all.
        let last: HashMap<&[u8], usize> =
            batch.changes.iter().enumerate().map(|(place, it)| (it.key(), place)).collect();
        for (place, change) in batch.changes.iter().enumerate() {
            if last.get(change.key()) != Some(&place) {
                continue;
            }
            match &change.object {
                Some(object) => self.observe(&mut round, object),
                None => self.forget(&mut round, &self.name(change.key())),
            }
        }
        self.decide(round);
    }

    /// Decides about everything that has changed since, or about everything at the start.
    fn start_over(&mut self, view: &View, is_first: bool) {
        let mut round = Round { is_first, ..Round::default() };
        let mut objects: Vec<&Arc<Object>> =
            view.objects.iter().map(|Item(object)| object).collect();
        let names: HashSet<Str> = objects.iter().map(|object| self.name(object.key())).collect();
        let gone: Vec<Str> =
            self.state.names().filter(|name| !names.contains(*name)).cloned().collect();
        gone.iter().for_each(|name| self.forget(&mut round, name));
        // Who came first is decided about first, on every server.
        objects.sort_by_key(|object| object.revision());
        for object in objects {
            if self.state.revision(&self.name(object.key())) != Some(object.revision()) {
                self.observe(&mut round, object);
            }
        }
        self.decide(round);
    }

    fn name(&self, key: &[u8]) -> Str {
        let name = key.get(self.definition.storage.prefix.len()..).unwrap_or_default();
        Str::from_utf8_lossy(name)
    }

    fn observe(&mut self, round: &mut Round, object: &Arc<Object>) {
        let name = self.name(object.key());
        let value = match object.value(&self.definition, object.revision()) {
            Ok(value) => value,
            Err(status) => {
                return tracing::warn!(%name, why = %status.message, "a definition is unreadable");
            }
        };
        let facts = Facts::read(&self.definition.node(&value), object.revision());
        self.state.observe(&name, object.clone(), facts);
        round.read.insert(name.clone(), value);
        round.queue.push_back(name);
    }

    fn forget(&mut self, round: &mut Round, name: &Str) {
        let (serving, woken) = self.state.forget(name);
        if serving == Serving::Ended {
            round.changes.push(ServedChange::Remove(name.clone()));
        }
        round.queue.extend(woken);
        self.failing.remove(name);
        if let Some((_, end)) = self.ends.remove(name) {
            end.abort();
        }
    }

    /// Decides about all that are queued and those whom that concerns, has it served, and lets it
    /// be written.
    fn decide(&mut self, mut round: Round) {
        while let Some(name) = round.queue.pop_front() {
            round.queue.extend(self.state.decide(&name));
            round.decided.push(name);
        }
        round.decided.sort_unstable();
        round.decided.dedup();
        let now = Time::from_unix(self.server.now_seconds()).to_string();
        for name in &round.decided {
            match self.state.serving(name) {
                Serving::Same => {}
                Serving::Ended => round.changes.push(ServedChange::Remove(name.clone())),
                Serving::As(served) => {
                    let read = round.read.remove(name);
                    round.changes.extend(self.served(name, &served, read, &now));
                }
            }
        }
        if !round.changes.is_empty() {
            self.serve.serve(round.changes);
        }
        for name in &round.decided {
            self.write(name);
            self.end(name, round.is_first);
        }
    }

    /// A definition as it is served from now on.
    fn served(
        &self,
        name: &Str,
        served: &ServedAs,
        read: Option<Value>,
        now: &str,
    ) -> Option<ServedChange> {
        let mut object = match read {
            Some(object) => object,
            None => {
                let object = self.state.object(name)?;
                object.value(&self.definition, object.revision()).ok()?
            }
        };
        if let Some(decision) = self.state.decision(name) {
            decision.wanted.apply(&mut object, now);
        }
        let ServedAs { is_established, is_terminating, .. } = *served;
        let name = name.clone();
        Some(ServedChange::Set(Served { name, object, is_established, is_terminating }))
    }

    /// Lets what was decided be written.
    fn write(&mut self, name: &Str) {
        let Some(Decision { revision, edition, wanted }) = self.state.decision(name) else {
            return;
        };
        if self.writing.get(name) == Some(&revision) {
            return;
        }
        self.writing.insert(name.clone(), revision);
        let (server, definition) = (self.server.clone(), self.definition.clone());
        let (name, permits) = (name.clone(), self.permits.clone());
        let mut backoff = self.failing.get(&name).copied().unwrap_or_default();
        self.writes.spawn(async move {
            let permit = permits.acquire().await;
            let change = StatusChange::Decision { revision, wanted };
            let written = write_status(&server, &definition, &name, change).await;
            drop(permit);
            let result = match written {
                Ok(_) => Ok(()),
                // Whatever was faster is decided about when it comes.
                Err(it) if it.is(&Reason::Conflict) || it.is(&Reason::NotFound) => Ok(()),
                Err(status) => {
                    tracing::warn!(%name, why = %status.message, "a status cannot be written");
                    tokio::time::sleep(backoff.next()).await;
                    Err(backoff)
                }
            };
            Written { name, revision, edition, result }
        });
    }

    /// Lets a definition end that is to.
    fn end(&mut self, name: &Str, is_inherited: bool) {
        let Some(uid) = self.state.ending(name).cloned() else { return };
        if self.ends.get(name).is_some_and(|(known, _)| *known == uid) {
            return;
        }
        let (endings, ended) = (self.endings.clone(), (name.clone(), uid.clone()));
        let end = self.ending.spawn(async move {
            let (name, uid) = &ended;
            endings.end(name, uid, is_inherited).await;
            ended
        });
        if let Some((_, other)) = self.ends.insert(name.clone(), (uid, end)) {
            other.abort();
        }
    }

    fn note(&mut self, written: Written) {
        let Written { name, revision, edition, result } = written;
        if self.writing.get(&name) == Some(&revision) {
            self.writing.remove(&name);
        }
        match result {
            Ok(()) => {
                self.failing.remove(&name);
                self.state.settle(&name, edition);
            }
            Err(backoff) => {
                self.failing.insert(name.clone(), backoff);
                self.decide(Round { queue: VecDeque::from([name]), ..Round::default() });
            }
        }
    }
}

impl Batch {
    /// The changes that have come; none while there are none.
    fn poll(subscription: &mut Subscription, context: &mut Context<'_>) -> Option<Batch> {
        let mut batch = Batch::default();
        while batch.changes.len() < BATCH_MAX && !batch.is_last {
            match subscription.poll_next(context) {
                Poll::Ready(Next::Old(change, _)) => batch.changes.push(change),
                Poll::Ready(Next::New(notice, _)) => batch.changes.push(notice.change.clone()),
                Poll::Ready(Next::End) => batch.is_last = true,
                Poll::Pending => break,
            }
        }
        (batch.is_last || !batch.changes.is_empty()).then_some(batch)
    }
}
