//! Randomness of the machine, as a failure that a client can be told.

use orlop_machinery::status::Status;
use orlop_machinery::uid::Uid;

/// Any number.
pub(crate) fn random_number() -> Result<u64, Status> {
    getrandom::u64().map_err(Status::internal_error)
}

/// A uid that no object has.
pub(crate) fn random_uid() -> Result<Uid, Status> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Status::internal_error)?;
    Ok(Uid::from_random(bytes))
}
