//! Rules that several kinds share. Each stands once, in the file of what it is about.

pub(crate) mod preemption_policy;
pub(crate) mod status;
