//! One connection per endpoint, and which of them is used.
//!
//! All calls go to one endpoint until it fails; then to the next. The invariant: a read may be
//! sent again while its time lasts, a write only if it certainly was not sent before.
//!
//! Deliberately not here: balancing. Etcd's members all pass linearizable work to the leader, so
//! spreading calls gains nothing, and knowing which member answered is what makes failures clear.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};
use tonic::transport::Endpoint;

use super::EtcdOptions;
use super::convert::{Failure, HEALTH_KEY, header};
use super::rpc::{Login, Member};
use super::wire::RangeRequest;
use crate::{Error, Revision};

/// How long to wait when every endpoint has failed in a row.
const ROUND_PAUSE: Duration = Duration::from_millis(100);

/// The endpoints of an etcd cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) options: EtcdOptions,
    endpoints: Vec<Endpoint>,
    /// One for each endpoint, in their order.
    members: Vec<Member>,
    login: Arc<Login>,
    /// The index of the endpoint in use.
    current: AtomicUsize,
    /// How many watches there were; wraps around.
    watches: AtomicUsize,
}

/// A call that failed, and the endpoint that said so.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) failure: Failure,
    pub(super) endpoint: usize,
}

impl Cluster {
    pub(super) fn new(options: EtcdOptions) -> Result<Self, Error> {
        let endpoints = options.to_endpoints()?;
        let login = Arc::new(Login::new(options.user.clone()));
        let member = |endpoint| Member::new(endpoint, Arc::clone(&login));
        let members = endpoints.iter().map(member).collect();
        let (current, watches) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Self { options, endpoints, members, login, current, watches })
    }

    /// How many endpoints there are; at least one.
    pub(super) fn size(&self) -> usize {
        self.endpoints.len()
    }

    /// How long to wait for one endpoint: a silent one must leave time for the others.
    pub(super) fn patience(&self) -> Duration {
        self.options.request_timeout / u32::try_from(self.size()).unwrap_or(1)
    }

    /// The endpoint for a new watch: watches are spread over the members.
    pub(super) fn next_watch(&self) -> usize {
        self.watches.fetch_add(1, Ordering::Relaxed) % self.size()
    }

    /// The member at an endpoint, on the connection that all calls share.
    pub(super) fn member(&self, index: usize) -> &Member {
        &self.members[index]
    }

    /// The member at an endpoint, on a connection of its own.
    pub(super) fn connect(&self, index: usize) -> Member {
        Member::new(&self.endpoints[index], Arc::clone(&self.login))
    }

    /// Makes a call that changes nothing, at the current endpoint and then the others, until one
    /// answers or the time is up.
    pub(super) async fn read<T, F>(&self, call: impl Fn(Member) -> F) -> Result<T, Failed>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        self.attempt(call, self.patience(), Failure::is_passing).await
    }

    /// Makes a call that changes something: once, at the first endpoint that takes it.
    pub(super) async fn write<T, F>(&self, call: impl Fn(Member) -> F) -> Result<T, Failed>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let not_sent = |failure: &Failure| matches!(failure, Failure::NotSent(_));
        self.attempt(call, self.options.request_timeout, not_sent).await
    }

    async fn attempt<T, F>(
        &self,
        call: impl Fn(Member) -> F,
        patience: Duration,
        may_repeat: impl Fn(&Failure) -> bool,
    ) -> Result<T, Failed>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let deadline = Instant::now() + self.options.request_timeout;
        for attempt in 1.. {
            let endpoint = self.current.load(Ordering::Relaxed);
            let until = deadline.min(Instant::now() + patience);
            let failure = match timeout_at(until, call(self.member(endpoint).clone())).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(failure)) => failure,
                Err(_) => Failure::Ambiguous("no answer in time".into()),
            };
            if failure.is_passing() {
                self.leave(endpoint, &failure);
            }
            // An attempt without time would end in doubt where there was certainty.
            let left = deadline.saturating_duration_since(Instant::now());
            if !may_repeat(&failure) || left <= ROUND_PAUSE * 2 {
                return Err(Failed { failure, endpoint });
            }
            if attempt % self.size() == 0 {
                sleep(ROUND_PAUSE).await;
            }
        }
        unreachable!("the loop only ends by returning")
    }

    /// Turns to the next endpoint, unless somebody else already did.
    fn leave(&self, endpoint: usize, failure: &Failure) {
        tracing::debug!(endpoint = %self.endpoints[endpoint].uri(), ?failure, "etcd call failed");
        let next = (endpoint + 1) % self.size();
        let order = Ordering::Relaxed;
        // Losing the race means that another call has turned away from this endpoint before.
        let _ = self.current.compare_exchange(endpoint, next, order, order);
    }

    /// The newest revision, linearizable.
    pub(super) async fn revision(&self) -> Result<Revision, Error> {
        match self.read(|member| async move { member.range(anything()).await }).await {
            Ok(answer) => Ok(header(answer.header.as_ref())),
            Err(failed) => Err(explain_read(failed.failure)),
        }
    }

    /// Reads something now and then, so that a connection that died while idle is found before
    /// the next write needs it. Ends with the store.
    pub(super) async fn keep_alive(&self, mut stop: watch::Receiver<()>) {
        loop {
            tokio::select! {
                () = sleep(self.options.keep_alive_every) => {}
                _ = stop.changed() => return,
            }
            tokio::select! {
                answer = self.revision() => if let Err(error) = answer {
                    tracing::warn!(%error, "no endpoint of etcd answers");
                },
                _ = stop.changed() => return,
            }
        }
    }
}

/// A read for the sake of the answer's header.
pub(super) fn anything() -> RangeRequest {
    let key = Bytes::from_static(HEALTH_KEY.as_bytes());
    RangeRequest { key, count_only: true, ..RangeRequest::default() }
}

/// A failed read that says nothing about revisions, in the words of the contract.
pub(super) fn explain_read(failure: Failure) -> Error {
    let reason = match failure {
        Failure::Refused(error) => return error,
        Failure::NotSent(reason) | Failure::Ambiguous(reason) => reason,
        Failure::Token => "etcd does not accept the login".into(),
        Failure::Compacted | Failure::Future | Failure::Lease => {
            "etcd gave an answer that does not fit".into()
        }
    };
    Error::Unavailable { reason }
}
