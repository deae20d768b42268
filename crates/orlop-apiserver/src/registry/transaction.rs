//! The one place that changes the store.

use bytes::Bytes;
use orlop_machinery::status::Status;
use orlop_storage::{Action, Expect, LeaseId, Outcome, Record, Txn, Write};

use super::store_error;
use crate::admission::Admitted;
use crate::definition::Definition;
use crate::server::Inner;

/// How often a write is decided anew because somebody else was faster.
pub(super) const ATTEMPTS_MAX: usize = 1000;

/// How a transaction ended.
pub(super) enum Committed {
    /// It happened, at this revision.
    At(u64),
    /// The object is not what it was taken for, but this.
    Changed(Option<Record>),
    /// Something else that the write needs is taken.
    Blocked,
}

/// Writes an object and what goes with it, if all of it is as expected.
pub(super) async fn commit(
    server: &Inner,
    definition: &Definition,
    // A proof: nothing is written without it.
    _: Admitted,
    own: Write,
    others: Vec<Write>,
) -> Result<Committed, Status> {
    let verb = match (&own.action, own.expect) {
        (Action::Delete, _) => "delete",
        (_, Expect::Absent) => "create",
        _ => "update",
    };
    let expect = own.expect;
    let mut writes = Vec::with_capacity(1 + others.len());
    writes.push(own);
    writes.extend(others);
    let outcome = server.store.commit(Txn { writes }).await;
    match outcome.map_err(|error| store_error(definition, verb, &error))? {
        Outcome::Committed { revision } => Ok(Committed::At(revision.0)),
        Outcome::Conflict { current, .. } => {
            let current = current.into_iter().next().flatten();
            let is_as_expected = match expect {
                Expect::Anything => true,
                Expect::Absent => current.is_none(),
                Expect::Revision(revision) => {
                    current.as_ref().is_some_and(|record| record.modified() == revision)
                }
            };
            Ok(if is_as_expected { Committed::Blocked } else { Committed::Changed(current) })
        }
    }
}

/// A put of an object.
pub(super) fn put(key: &str, value: Bytes, expect: Expect, lease: Option<LeaseId>) -> Write {
    let key = Bytes::copy_from_slice(key.as_bytes());
    Write { key, expect, action: Action::Put { value, lease } }
}

/// A deletion of the version of an object that is in `record`.
pub(super) fn removal(record: &Record) -> Write {
    Write {
        key: Bytes::copy_from_slice(record.key()),
        expect: Expect::Revision(record.modified()),
        action: Action::Delete,
    }
}

/// That a write was decided too often.
pub(super) fn too_many_attempts(definition: &Definition, verb: &str) -> Status {
    Status::server_timeout(&definition.group_resource(), verb, 1)
}
