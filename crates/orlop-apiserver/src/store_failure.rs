//! What a client is told when the store says no.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/errors/storage.go`. Conflicts are no failures
//! and mean something else to every caller; they are not answered here.

use orlop_machinery::continue_token;
use orlop_machinery::status::Status;
use orlop_storage::Error;

use crate::definition::Definition;

/// How long a client is asked to wait for a store that cannot be reached.
const RETRY_SECONDS: i32 = 2;

/// What a client is told that wanted to do `verb`.
pub(crate) fn store_error(definition: &Definition, verb: &str, error: &Error) -> Status {
    let resource = &definition.resource.plural;
    match error {
        Error::Unavailable { .. } | Error::Unknown { .. } | Error::Stopped { .. } => {
            tracing::warn!(%error, verb, %resource, "store");
            Status::server_timeout(&definition.group_resource(), verb, RETRY_SECONDS)
        }
        Error::Compacted { .. } => continue_token::list_expired(),
        Error::FutureRevision { requested, current } => {
            Status::resource_version_too_large(requested.0, current.0, 1)
        }
        Error::Invalid { reason } if reason.contains(" bytes") => {
            Status::request_entity_too_large("etcdserver: request is too large")
        }
        Error::NoSpace | Error::LeaseNotFound { .. } | Error::Invalid { .. } => {
            tracing::error!(%error, verb, %resource, "store");
            Status::internal_error(error)
        }
    }
}

/// What somebody is told for whom the server itself has used the store: what went wrong is not
/// about the request.
pub(crate) fn store_failure(error: Error) -> Status {
    match error {
        Error::Unavailable { .. } | Error::Unknown { .. } | Error::Stopped { .. } => {
            tracing::warn!(%error, "store");
            Status::timeout("the store cannot be reached", RETRY_SECONDS)
        }
        error => Status::internal_error(error),
    }
}
