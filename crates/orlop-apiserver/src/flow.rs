//! How many requests are served at once.
//!
//! After `staging/src/k8s.io/apiserver/pkg/server/filters/maxinflight.go`: one limit for reads, one
//! for writes. What takes as long as the client wants is not counted, and members of
//! `system:masters` always get an answer, so that a cluster can be saved by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::request::RequestInfo;
use crate::user::{MASTERS, User};

/// The verbs that change nothing.
const READS: [&str; 3] = ["get", "list", "watch"];

/// The most requests that are served at once. Zero is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowOptions {
    /// Of those that only read.
    pub reads_max: usize,
    /// Of those that may write.
    pub writes_max: usize,
}

impl Default for FlowOptions {
    fn default() -> FlowOptions {
        FlowOptions { reads_max: 400, writes_max: 200 }
    }
}

/// Counts the requests that are being served.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    reads: Arc<Lane>,
    writes: Arc<Lane>,
}

/// Too many requests are being served already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A place among the requests that are being served. Free again when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Place(Option<Arc<Lane>>);

#[derive(Debug, Default)]
struct Lane {
    limit: usize,
    taken: AtomicUsize,
}

impl Flow {
    /// With these limits.
    pub(crate) fn new(options: FlowOptions) -> Flow {
        let lane = |limit| Arc::new(Lane { limit, taken: AtomicUsize::new(0) });
        Flow { reads: lane(options.reads_max), writes: lane(options.writes_max) }
    }

    /// Takes a place.
    ///
    /// # Errors
    ///
    /// When there is none and the user is not one of those who always get an answer.
    pub(crate) fn enter(&self, user: &User, info: &RequestInfo) -> Result<Place, Full> {
        if info.is_long_running() {
            return Ok(Place::default());
        }
        let lane = if READS.contains(&info.verb) { &self.reads } else { &self.writes };
        if lane.take() {
            return Ok(Place(Some(lane.clone())));
        }
        if user.is_in(MASTERS) { Ok(Place::default()) } else { Err(Full) }
    }

    /// How many reads and writes are being served.
    #[cfg(test)]
    fn taken(&self) -> (usize, usize) {
        (self.reads.taken.load(Ordering::Relaxed), self.writes.taken.load(Ordering::Relaxed))
    }
}

impl Lane {
    fn take(&self) -> bool {
        let next = |taken| (self.limit == 0 || taken < self.limit).then_some(taken + 1);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(lane) = &self.0 {
            lane.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(method: &str, uri: &str) -> RequestInfo {
        RequestInfo::parse(&method.parse().unwrap(), &uri.parse().unwrap())
    }

    #[test]
    fn reads_and_writes_have_their_own_limits() {
        let flow = Flow::new(FlowOptions { reads_max: 2, writes_max: 1 });
        let user = User::anonymous();
        let list = info("GET", "/api/v1/pods");
        let first = flow.enter(&user, &list).unwrap();
        let second = flow.enter(&user, &list).unwrap();
        assert!(flow.enter(&user, &list).is_err());
        let write = flow.enter(&user, &info("POST", "/api/v1/namespaces")).unwrap();
        assert!(flow.enter(&user, &info("POST", "/healthz")).is_err());
        assert_eq!(flow.taken(), (2, 1));
        drop((first, write));
        assert_eq!(flow.taken(), (1, 0));
        let third = flow.enter(&user, &list).unwrap();
        drop((second, third));
        assert_eq!(flow.taken(), (0, 0));
    }

    #[test]
    fn some_are_never_turned_away() {
        let flow = Flow::new(FlowOptions { reads_max: 1, writes_max: 1 });
        let user = User::anonymous();
        let list = info("GET", "/api/v1/pods");
        let place = flow.enter(&user, &list).unwrap();
        let watch = flow.enter(&user, &info("GET", "/api/v1/pods?watch=1")).unwrap();
        let log = flow.enter(&user, &info("GET", "/api/v1/namespaces/a/pods/b/log")).unwrap();
        let admin = User { groups: vec![MASTERS.into()], ..User::default() };
        let admins = flow.enter(&admin, &list).unwrap();
        assert_eq!(flow.taken(), (1, 0));
        drop((watch, log, admins));
        assert_eq!(flow.taken(), (1, 0));
        drop(place);
        assert_eq!(flow.taken(), (0, 0));
    }

    #[test]
    fn zero_is_no_limit() {
        let flow = Flow::new(FlowOptions { reads_max: 0, writes_max: 0 });
        let list = info("GET", "/api/v1/pods");
        let places: Vec<_> = (0..1000).map(|_| flow.enter(&User::anonymous(), &list)).collect();
        assert!(places.iter().all(Result::is_ok));
    }
}
