//! The contract's words and etcd's, both ways, and what a failure of etcd means.
//!
//! Pure. The invariant: a failure counts as [`Failure::NotSent`] or [`Failure::Refused`] only if
//! the request certainly changed nothing; whatever is not known for sure is
//! [`Failure::Ambiguous`]. The texts are those of etcd's `api/v3rpc/rpctypes/error.go`, which are
//! part of its protocol: clients have nothing else to tell the errors apart.

use bytes::Bytes;
use tonic::{Code, ConnectError, Status};

use super::wire::{
    self, Compare, CompareTo, DeleteRangeRequest, KeyValue, PutRequest, RequestOp, ResponseHeader,
    TxnRequest,
};
use crate::{Action, Error, Expect, KeyRange, LeaseId, Record, Revision, Txn, Write};

/// A key that no user of the store has; read for the sake of the answer's header.
pub(super) const HEALTH_KEY: &str = "health";

/// What a failed call means for the caller.
#[derive(Debug)]
pub(super) enum Failure {
    /// The request never left, or was turned away unread: another endpoint may take it.
    NotSent(String),
    /// The request may have been carried out.
    Ambiguous(String),
    /// The answer is no, and would be so at every endpoint. Nothing was changed.
    Refused(Error),
    /// The revision is compacted; etcd does not say which one is the oldest.
    Compacted,
    /// The revision is in the future; etcd does not say what the newest is.
    Future,
    /// The lease of the write does not exist; etcd does not say which one.
    Lease,
    /// The token is invalid or too old. Nothing was changed.
    Token,
}

impl Failure {
    /// Whether a read may be tried again.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::NotSent(_) | Self::Ambiguous(_))
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let message = status.message();
        let unavailable = || Self::Refused(Error::Unavailable { reason: message.to_string() });
        let invalid = || Self::Refused(Error::Invalid { reason: message.to_string() });
        if never_connected(&status) {
            return Self::NotSent(with_causes(&status));
        }
        match (status.code(), message.strip_prefix("etcdserver: ").unwrap_or(message)) {
            (_, "mvcc: required revision has been compacted") => Self::Compacted,
            (_, "mvcc: required revision is a future revision") => Self::Future,
            (_, "mvcc: database space exceeded") => Self::Refused(Error::NoSpace),
            (_, "requested lease not found") => Self::Lease,
            (_, "invalid auth token" | "revision of auth store is old") => Self::Token,
            // Said before a proposal is made, so another member may do better.
            (_, "no leader" | "too many requests" | "rpc not supported for learner") => {
                Self::NotSent(message.to_string())
            }
            (_, text) if is_malformed(text) => invalid(),
            (
                Code::InvalidArgument
                | Code::PermissionDenied
                | Code::Unauthenticated
                | Code::FailedPrecondition
                | Code::Unimplemented
                | Code::DataLoss,
                _,
            ) => unavailable(),
            _ => Self::Ambiguous(with_causes(&status)),
        }
    }
}

/// Whether etcd finds fault with the request itself.
fn is_malformed(text: &str) -> bool {
    // The last one is the limit of a gRPC message, whatever is in it.
    let starts = [
        "request is too large",
        "too many operations in txn request",
        "duplicate key given in txn request",
        "key is not provided",
        "too large lease TTL",
        "grpc: received message larger",
    ];
    starts.iter().any(|start| text.starts_with(start))
}

/// The message of a failure and those of what caused it, which say more.
fn with_causes(status: &Status) -> String {
    let mut text = status.message().to_string();
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text
}

/// Whether the connection that the request needed did not come about.
fn never_connected(status: &Status) -> bool {
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        if error.is::<ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// Whether etcd answered, and only this user may not have the answer.
pub(super) fn is_permission_denied(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(Error::Unavailable { reason })
        if reason == "etcdserver: permission denied")
}

/// A revision of etcd's, which are never negative.
pub(super) fn revision(number: i64) -> Revision {
    Revision(u64::try_from(number).unwrap_or(0))
}

/// A revision for etcd; none if it is beyond what etcd can count to.
pub(super) fn number(revision: Revision) -> Option<i64> {
    i64::try_from(revision.0).ok()
}

/// The revision in an answer's header, which every answer of etcd has.
pub(super) fn header(header: Option<&ResponseHeader>) -> Revision {
    revision(header.map_or(0, |header| header.revision))
}

/// A record of etcd's.
pub(super) fn record(pair: &KeyValue) -> Record {
    let lease = LeaseId::from_number(pair.lease.cast_unsigned());
    let (created, modified) = (revision(pair.create_revision), revision(pair.mod_revision));
    Record::new(&pair.key, &pair.value, created, modified, lease)
}

/// First key and end of a range as etcd wants them; none if no key can be in it.
///
/// Keys of etcd are not empty, so the first possible one is a zero byte, and a single zero byte
/// as the end is etcd's word for "no end".
pub(super) fn bounds(range: &KeyRange) -> Option<(Bytes, Bytes)> {
    let zero = Bytes::from_static(b"\0");
    let start = if range.start().is_empty() { zero.clone() } else { range.start().clone() };
    match range.end() {
        None => Some((start, zero)),
        Some(end) if *end <= start => None,
        Some(end) => Some((start, end.clone())),
    }
}

/// The transaction as etcd's; if an expectation fails, it reads all keys instead.
pub(super) fn txn(txn: &Txn) -> TxnRequest {
    TxnRequest {
        compare: txn.writes.iter().filter_map(compare).collect(),
        success: txn.writes.iter().filter_map(change).collect(),
        failure: txn.writes.iter().map(|write| get(write.key.clone())).collect(),
    }
}

/// The read of one key, inside a transaction.
pub(super) fn get(key: Bytes) -> RequestOp {
    let range = wire::RangeRequest { key, ..wire::RangeRequest::default() };
    RequestOp { request: Some(wire::Request::Range(range)) }
}

/// The put of one key, inside a transaction.
pub(super) fn put(key: Bytes, value: Bytes, lease: Option<LeaseId>) -> RequestOp {
    let lease = LeaseId::number(lease).cast_signed();
    RequestOp { request: Some(wire::Request::Put(PutRequest { key, value, lease })) }
}

fn compare(write: &Write) -> Option<Compare> {
    let (result, target, to) = match write.expect {
        Expect::Anything => return None,
        Expect::Absent => (wire::EQUAL, wire::MODIFIED, CompareTo::Modified(0)),
        Expect::Revision(revision) => match number(revision) {
            Some(number) if number > 0 => {
                (wire::EQUAL, wire::MODIFIED, CompareTo::Modified(number))
            }
            // No record has such a revision, and etcd's zero would mean "absent".
            _ => (wire::LESS, wire::VERSION, CompareTo::Version(0)),
        },
    };
    Some(Compare { result, target, key: write.key.clone(), to: Some(to) })
}

fn change(write: &Write) -> Option<RequestOp> {
    let key = write.key.clone();
    match &write.action {
        Action::Put { value, lease } => Some(put(key, value.clone(), *lease)),
        Action::Delete => {
            let delete = wire::Request::DeleteRange(DeleteRangeRequest { key });
            Some(RequestOp { request: Some(delete) })
        }
        Action::Keep => None,
    }
}

/// Whether members of this version answer a progress request only after the events before it.
///
/// Before 3.4.31 and 3.5.13 the answer could overtake events (etcd issue 15220).
pub(super) fn answers_progress_in_order(version: &str) -> bool {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse::<u32>().ok());
    let mut part = || parts.next().flatten().unwrap_or(0);
    match (part(), part(), part()) {
        (3, 4, patch) => patch >= 31,
        (3, 5, patch) => patch >= 13,
        (major, minor, _) => (major, minor) >= (3, 6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: Code, message: &str, expect: &str) {
        let found = match Failure::from(Status::new(code, message)) {
            Failure::NotSent(_) => "not sent".to_string(),
            Failure::Ambiguous(_) => "ambiguous".to_string(),
            Failure::Compacted => "compacted".to_string(),
            Failure::Future => "future".to_string(),
            Failure::Lease => "lease".to_string(),
            Failure::Token => "token".to_string(),
            Failure::Refused(error) => error.to_string(),
        };
        assert_eq!(found, expect, "{message}");
    }

    #[test]
    fn only_what_certainly_did_not_happen_counts_as_such() {
        check(Code::Unavailable, "etcdserver: no leader", "not sent");
        check(Code::Unavailable, "etcdserver: leader changed", "ambiguous");
        check(Code::Unavailable, "etcdserver: request timed out", "ambiguous");
        check(Code::Unavailable, "etcdserver: server stopped", "ambiguous");
        check(Code::Unavailable, "transport is closing", "ambiguous");
        check(Code::Unknown, "h2 protocol error", "ambiguous");
        check(Code::Cancelled, "operation was canceled", "ambiguous");
        check(
            Code::OutOfRange,
            "etcdserver: mvcc: required revision has been compacted",
            "compacted",
        );
        check(
            Code::ResourceExhausted,
            "etcdserver: mvcc: database space exceeded",
            "no space left on the device that holds the store",
        );
        check(
            Code::InvalidArgument,
            "etcdserver: request is too large",
            "invalid request: etcdserver: request is too large",
        );
        check(
            Code::PermissionDenied,
            "etcdserver: permission denied",
            "the store is unavailable: etcdserver: permission denied",
        );
    }

    #[test]
    fn ranges_keep_their_meaning_at_the_edges() {
        let check = |range: KeyRange, expect: Option<(&[u8], &[u8])>| {
            let found = bounds(&range);
            let found = found.as_ref().map(|(start, end)| (start.as_ref(), end.as_ref()));
            assert_eq!(found, expect, "{range:?}");
        };
        check(KeyRange::all(), Some((b"\0", b"\0")));
        check(KeyRange::prefix("/a/"), Some((b"/a/", b"/a0")));
        check(KeyRange::key("/a"), Some((b"/a", b"/a\0")));
        check(KeyRange::new("", "\0"), None);
        check(KeyRange::new("b", "a"), None);
    }

    #[test]
    fn versions_with_the_ordering_fix_are_known() {
        for version in ["3.4.31", "3.4.44", "3.5.13", "3.6.0", "3.6.0-rc.1", "3.7.1", "4.0.0"] {
            assert!(answers_progress_in_order(version), "{version}");
        }
        for version in ["", "2.3.8", "3.3.27", "3.4.23", "3.5.0", "3.5.12", "nonsense"] {
            assert!(!answers_progress_in_order(version), "{version}");
        }
    }
}
