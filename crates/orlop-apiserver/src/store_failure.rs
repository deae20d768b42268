//! What a client is told when the store says no.
//!
//! Only what is nobody's fault but the server's: conflicts, and revisions that are gone, mean
//! something else to every caller and are not answered here.

use orlop_machinery::status::Status;
use orlop_storage::Error;

/// The status for an operation that the store could not do.
pub(crate) fn store_failure(error: Error) -> Status {
    Status::internal_error(error)
}
