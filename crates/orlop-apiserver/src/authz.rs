//! Who may do what.
//!
//! Until there are roles: members of `system:masters` may do everything, everybody may read what
//! tells nothing (health, version), and nobody else may do anything.

/// Proof that a request was found to be allowed. Only [`authorize`] makes one.
#[derive(Debug)]
pub(crate) struct Authorized(());
