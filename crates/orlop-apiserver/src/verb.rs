//! What can be done with a resource: one verb, one file.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod patch;
pub(crate) mod update;
